"""`coco-segmentation` on seeded files against pycocotools: figures of all classes and of each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.evaluators.presets.coco_data import FIGURES, by_pycocotools, write_files
from tests.evaluators.presets.coco_masks import random_mask_files

from vidscore_evaluators.formats import read_pair
from vidscore_evaluators.presets import find_preset
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import score
from vidscore_evaluators.selection import Selection
from vidscore_evaluators.tally import merge_tallies

PRESET = "coco-segmentation"


def compare(folder: Path, seed: int) -> int:
    """Hold the preset against pycocotools; gives the number of compared figures."""
    truth, results = random_mask_files(seed)
    if not results:
        return 0  # pycocotools cannot read results of nothing
    report = score(PRESET, *write_files(folder, truth, results))
    rows = {(row.label, row.measure): row.value for row in report.rows()}
    count = 0
    for label, figures in by_pycocotools(truth, results, "segm").items():
        for name, expected in figures.items():
            actual = rows.get((label, name))  # a class with nothing at all has no row
            assert actual == pytest.approx(expected, abs=1e-9), (seed, label, name)
            count += 1
    return count


@pytest.mark.parametrize("seed", range(12))
def test_all_figures_are_those_of_pycocotools(tmp_path: Path, seed: int) -> None:
    compare(tmp_path, seed)


@pytest.mark.parametrize("seed", range(20, 26))
def test_chosen_images_have_the_figures_of_image_ids(tmp_path: Path, seed: int) -> None:
    """COCO's demo scores results of a hundred images against a truth of all, by ``imgIds``."""
    truth, results = random_mask_files(seed)
    ids = sorted(image["id"] for image in truth["images"])
    chosen = ids[: max(1, len(ids) // 2)]
    of_chosen = [entry for entry in results if entry["image_id"] in chosen]
    if not of_chosen:
        return
    paths = write_files(tmp_path, truth, of_chosen)
    expected = by_pycocotools(truth, of_chosen, "segm", chosen)
    first = Selection(frames=[(0, chosen[-1])])
    named = Selection(frames=chosen)
    for selection in (first, named):
        report = score(PRESET, *paths, select=selection)
        rows = {(row.label, row.measure): row.value for row in report.rows()}
        for label, figures in expected.items():
            found = {name: rows.get((label, name)) for name in figures}
            assert found == pytest.approx(figures, abs=1e-9), (seed, label)


def test_results_of_masks_are_scored_by_the_area_of_the_mask(tmp_path: Path) -> None:
    """The truth's range is that of its field ``area``, whatever its mask's."""
    truth, results = random_mask_files(3)
    assert any("bbox" not in entry and "area" not in entry for entry in results)
    for scale in (0.01, 100.0):
        for entry in truth["annotations"]:
            entry["area"] *= scale
        expected = by_pycocotools(truth, results, "segm")[None]
        report = score(PRESET, *write_files(tmp_path / str(scale), truth, results))
        found = {name: report.value(name) for name in FIGURES}
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.nightly
def test_all_figures_of_many_files_are_those_of_pycocotools(tmp_path: Path) -> None:
    assert sum(compare(tmp_path / str(seed), seed) for seed in range(1000, 1300)) > 10_000


@pytest.mark.slow
def test_the_seeded_files_tell_masks_from_boxes(tmp_path: Path) -> None:
    """Boxes of the same masks have other figures, so that agreement means something."""
    different = 0
    for seed in range(12):
        truth, results = random_mask_files(seed)
        if results:
            paths = write_files(tmp_path / str(seed), truth, results)
            reports = [score(preset, *paths) for preset in (PRESET, "coco-detection")]
            figures = [{name: report.value(name) for name in FIGURES} for report in reports]
            different += figures[0] != pytest.approx(figures[1], abs=1e-9)
    assert different > 8


@pytest.mark.parametrize("seed", [3, 5, 8])
def test_any_split_and_order_of_frames_gives_the_same_bits(tmp_path: Path, seed: int) -> None:
    [entry] = find_preset(PRESET).evaluators
    evaluator = create_evaluator(entry.name, entry.parameters)
    pair = read_pair(*write_files(tmp_path, *random_mask_files(seed)))
    sides = pair.truth.annotations, pair.detections.annotations
    whole = evaluator.report(evaluator.tally(*sides))
    random = np.random.default_rng(seed)
    part_of = random.integers(0, 3, 1001)
    tallies = []
    for part in random.permutation(3).tolist():
        pieces = []
        for side in sides:
            rows = np.flatnonzero(part_of[side.frame_numbers] == part)
            pieces.append(side.take_frames(random.permutation(rows)))
        tallies.append(evaluator.tally(*pieces))
    merged = evaluator.report(merge_tallies(tallies))
    assert merged.rows() == whole.rows()
    assert merged.truth_digest == whole.truth_digest

"""`coco-segmentation` on seeded files against pycocotools: figures of all classes and of each."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.evaluators.presets.coco_data import (
    FIGURES,
    by_pycocotools,
    check_any_split,
    compare,
    write_files,
)
from tests.evaluators.presets.coco_masks import random_mask_files

from vidscore_evaluators.scoring import score
from vidscore_evaluators.selection import Selection

PRESET = "coco-segmentation"


@pytest.mark.parametrize("seed", range(12))
def test_all_figures_equal_those_of_pycocotools(tmp_path: Path, seed: int) -> None:
    compare(PRESET, tmp_path, random_mask_files(seed), "segm")


@pytest.mark.parametrize("seed", range(20, 26))
def test_selected_images_have_the_figures_of_image_ids(tmp_path: Path, seed: int) -> None:
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
    seeds = range(1000, 1300)
    counts = [
        compare(PRESET, tmp_path / str(seed), random_mask_files(seed), "segm") for seed in seeds
    ]
    assert sum(counts) > 10_000


@pytest.mark.slow
def test_the_seeded_files_distinguish_masks_from_boxes(tmp_path: Path) -> None:
    """Boxes of the same masks have other figures, so agreement means something."""
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
    check_any_split(PRESET, write_files(tmp_path, *random_mask_files(seed)), seed)

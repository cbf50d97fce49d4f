"""`coco-detection` on seeded files against pycocotools: figures of all classes and of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.evaluators.presets.coco_data import (
    FIGURES,
    by_pycocotools,
    check_any_split,
    compare,
    random_files,
    write_files,
)

from vidscore_evaluators.formats import read_pair
from vidscore_evaluators.presets import find_preset
from vidscore_evaluators.scoring import score

PRESET = "coco-detection"


@pytest.mark.parametrize("seed", range(12))
def test_all_figures_equal_those_of_pycocotools(tmp_path: Path, seed: int) -> None:
    compare(PRESET, tmp_path, random_files(seed), "bbox")


@pytest.mark.nightly
def test_all_figures_of_many_files_are_those_of_pycocotools(tmp_path: Path) -> None:
    seeds = range(1000, 1500)
    counts = [compare(PRESET, tmp_path / str(seed), random_files(seed), "bbox") for seed in seeds]
    assert sum(counts) > 30_000


@pytest.mark.slow
def test_the_seeded_files_distinguish_scorers(tmp_path: Path) -> None:
    """Each parameter of the preset matters somewhere, so agreement means something."""
    [entry] = find_preset(PRESET).evaluators
    different = dict.fromkeys(set(entry.parameters) - {"thresholds", "box_areas"}, 0)
    for seed in range(25):
        truth, results = random_files(seed)
        if not results:
            continue
        paths = write_files(tmp_path / str(seed), truth, results)
        expected = by_pycocotools(truth, results)[None]
        for name in different:
            parameters = {key: value for key, value in entry.parameters.items() if key != name}
            report = score("coco", *paths, **parameters)
            actual = {figure: report.value(figure) for figure in FIGURES}
            different[name] += actual != pytest.approx(expected, abs=1e-9)
    assert min(different.values()) > 0, different


def test_half_an_overlap_is_computed_as_by_pycocotools(tmp_path: Path) -> None:
    """Boxes with decimals whose IoU is 1/2 on paper: rounding decides, with areas as width times
    height. With areas of corners other pairs count.
    """
    random = np.random.default_rng(16)
    truth, results = one_image([], [])
    truth["images"] = [{"id": number} for number in range(300)]
    for number in range(300):
        x, y, width = np.round(random.uniform(0, 50, 3), 2).tolist()
        height = round(2 * random.integers(100, 3000) / 100, 2)
        common = {"image_id": number, "category_id": 1}
        box = {"bbox": [x, y, width, height], "area": 1.0, "iscrowd": 0}
        truth["annotations"].append(common | box | {"id": number + 1})
        half = [x, y, width, round(height / 2, 2)]
        results.append(common | {"bbox": half, "score": round(float(random.random()), 3)})
    paths = write_files(tmp_path, truth, results)
    [entry] = find_preset(PRESET).evaluators
    expected = by_pycocotools(truth, results)[None]["ap_50"]
    assert score(PRESET, *paths).value("ap_50") == pytest.approx(expected, abs=1e-9)
    of_corners = score("coco", *paths, **{**entry.parameters, "box_areas": "corners"})
    assert of_corners.value("ap_50") != pytest.approx(expected, abs=1e-3)


def test_nine_tenths_is_the_threshold_of_numpy() -> None:
    """pycocotools' thresholds are those of linspace, to the bit; its 0.9 is 0.8999999999999999."""
    [entry] = find_preset(PRESET).evaluators
    assert list(entry.parameters["thresholds"]) == np.linspace(0.5, 0.95, 10).tolist()


@pytest.mark.parametrize("seed", [3, 5, 8])
def test_any_split_and_order_of_frames_gives_the_same_bits(tmp_path: Path, seed: int) -> None:
    """Ties are resolved by values in the tally: sequence, frame and row of the frame."""
    check_any_split(PRESET, write_files(tmp_path, *random_files(seed)), seed)


def test_workers_and_streams_give_the_same_bits(tmp_path: Path) -> None:
    paths = write_files(tmp_path, *random_files(5))
    alone, several = (score(PRESET, *paths, workers=count) for count in (1, 2))
    assert alone.rows() == several.rows()


def one_image(
    boxes: list[list[float]], found: list[tuple[list[float], float]], **extra: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    annotations = [
        {"id": n, "image_id": 1, "category_id": 1, "bbox": box, "area": 1.0, "iscrowd": 0} | extra
        for n, box in enumerate(boxes, start=1)
    ]
    truth = {
        "images": [{"id": 1}],
        "categories": [{"id": 1, "name": "c1"}],
        "annotations": annotations,
    }
    results = [
        {"image_id": 1, "category_id": 1, "bbox": box, "score": value} for box, value in found
    ]
    return truth, results


def test_equal_scores_are_ordered_by_their_row(tmp_path: Path) -> None:
    """A false detection before or after a true one of its score: AP 1/2 or 1."""
    box, far = [0.0, 0.0, 10.0, 10.0], [50.0, 50.0, 10.0, 10.0]
    values = []
    for index, rows in enumerate(([(far, 0.5), (box, 0.5)], [(box, 0.5), (far, 0.5)])):
        paths = write_files(tmp_path / str(index), *one_image([box], rows))
        values.append(score(PRESET, *paths).value("ap"))
    assert values == [pytest.approx(0.5), pytest.approx(1.0)]


def test_an_ignored_object_that_is_not_a_crowd_is_scored(tmp_path: Path) -> None:
    """pycocotools overwrites `ignore`; only the evaluator `coco` honours it."""
    box = [0.0, 0.0, 10.0, 10.0]
    paths = write_files(tmp_path, *one_image([box], [(box, 0.5)], ignore=1))
    assert score(PRESET, *paths).value("ap") == 1.0
    assert score("coco", *paths).value("ap") is None


def test_given_areas_are_a_column_only_if_they_differ(tmp_path: Path) -> None:
    """0.1 + 0.2 - 0.1 is not 0.2; integers need no column."""
    whole, parts = [1.0, 2.0, 3.0, 4.0], [0.1, 0.1, 0.2, 0.7]
    truth, results = one_image([whole], [(whole, 0.5), (parts, 0.4)])
    pair = read_pair(*write_files(tmp_path, truth, results))
    assert "box_area" not in pair.truth.annotations.columns
    column = pair.detections.annotations.columns["box_area"].tolist()
    assert np.isnan(column[0])
    assert column[1] == 0.2 * 0.7

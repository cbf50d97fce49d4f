"""Warnings about boxes beyond images of known size, and about fractions of images on one side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vidscore_evaluators import score
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.formats import Pair, read_pair
from vidscore_evaluators.formats.plain_arrays import read_arrays
from vidscore_evaluators.plausibility.inputs import warnings_of_side
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.specification import BenchmarkSpec, SequenceSpec

INSIDE, BEYOND = [10, 20, 30, 40], [700, 20, 30, 40]


def write_coco(folder: Path, *, detected: list[int], **image: Any) -> tuple[Path, Path]:
    """Truth of four images with an object each, and results with a box each."""
    numbers = range(1, 5)
    truth = {
        "images": [{"id": number, **image} for number in numbers],
        "categories": [{"id": 1, "name": "car"}],
        "annotations": [
            {"id": number, "image_id": number, "category_id": 1, "bbox": INSIDE}
            for number in numbers
        ],
    }
    results = [
        {"image_id": number, "category_id": 1, "bbox": detected, "score": number / 10}
        for number in numbers
    ]
    paths = (folder / "truth.json", folder / "results.json")
    paths[0].write_text(json.dumps(truth))
    paths[1].write_text(json.dumps(results))
    return paths


def beyond(warnings: tuple[ReportWarning, ...]) -> list[ReportWarning]:
    return [warning for warning in warnings if warning.code == "beyond_image"]


def test_coco_gives_the_size_of_its_images(tmp_path: Path) -> None:
    report = score("coco", *write_coco(tmp_path, detected=BEYOND, width=640, height=480))
    [warning] = beyond(report.warnings)
    assert warning.count == 4
    assert "the first of them in frame 1 of sequence images" in warning.message


@pytest.mark.parametrize(
    "image",
    [
        {"width": 800, "height": 480},
        {"width": 640},
        {"width": "640", "height": None},
        {"width": -640, "height": 480},
        {},
    ],
)
def test_boxes_inside_images_or_in_images_of_unknown_size_give_no_warning(
    tmp_path: Path, image: dict[str, Any]
) -> None:
    assert not beyond(score("coco", *write_coco(tmp_path, detected=BEYOND, **image)).warnings)


def test_the_largest_image_of_a_sequence_counts(tmp_path: Path) -> None:
    truth, results = write_coco(tmp_path, detected=BEYOND, width=640, height=480)
    document = json.loads(truth.read_text())
    document["images"][2]["width"] = 800
    truth.write_text(json.dumps(document))
    assert not beyond(score("coco", truth, results).warnings)


def test_what_files_and_specification_both_say_is_reported_once(tmp_path: Path) -> None:
    truth, results = write_coco(tmp_path, detected=BEYOND, width=640, height=480)
    images = SequenceSpec("images", first_frame=1, frame_count=4, image_width=640, image_height=480)
    report = score("coco", truth, results, specification=BenchmarkSpec(sequences=(images,)))
    assert len(beyond(report.warnings)) == 1


def write_motchallenge(folder: Path, size: str) -> Path:
    """Truth of four frames, with an object at the right of 1,000 pixels, and its seqinfo.ini."""
    sequence = folder / "MOT-01"
    (sequence / "gt").mkdir(parents=True)
    rows = [f"{frame},1,900,20,30,40,1,1,1" for frame in range(1, 5)]
    (sequence / "gt" / "gt.txt").write_text("\n".join(rows) + "\n")
    (sequence / "seqinfo.ini").write_text(f"[Sequence]\nseqLength=4\n{size}")
    return folder


def read_twice(folder: Path) -> Pair:
    detections = folder.parent / "detections"
    detections.mkdir()
    rows = [f"{frame},1,900,20,30,40,1" for frame in range(1, 5)]
    (detections / "MOT-01.txt").write_text("\n".join(rows) + "\n")
    return read_pair(folder, detections)


@pytest.mark.parametrize(
    ("size", "sides"),
    [
        ("imWidth=640\nimHeight=480\n", 2),
        ("imWidth=1000\nimHeight=480\n", 0),
        ("imWidth=640\n", 0),
        ("imWidth=wide\nimHeight=480\n", 0),
        ("", 0),
    ],
)
def test_a_seqinfo_gives_the_size_of_the_images_of_both_sides(
    tmp_path: Path, size: str, sides: int
) -> None:
    pair = read_twice(write_motchallenge(tmp_path / "truth", size))
    assert len(beyond(pair.warnings)) == sides


def test_a_given_size_counts_if_files_have_none(tmp_path: Path) -> None:
    truth, results = write_coco(tmp_path, detected=BEYOND)
    assert len(beyond(read_pair(truth, results, image_size=(640, 480)).warnings)) == 1
    assert not beyond(read_pair(truth, results, image_size=(800, 480)).warnings)


def of_one_side(greatest: float, count: int = 20) -> list[str]:
    places = np.linspace(0, greatest, count)
    columns = {"sequence": ["s"] * count, "frame": list(range(count)), "x": places, "y": places}
    annotations = read_arrays(columns, "detections").annotations
    return [warning.code for warning in warnings_of_side(Side.DETECTIONS, annotations)]


def test_coordinates_that_all_lie_between_0_and_1_look_like_fractions() -> None:
    assert of_one_side(1.0) == ["reads_as_shares_of_the_image"]
    assert of_one_side(1.5) == []
    assert of_one_side(1.0, count=3) == []

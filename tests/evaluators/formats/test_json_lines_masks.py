"""Masks of JSON lines: reading, boxes, writing and faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.evaluators.formats.helpers import detections_of, truth_of, validate_file, write
from tests.evaluators.formats.json_schema import is_valid
from tests.evaluators.formats.test_json_lines import BOX, MASK, SCHEMA, line, lines_of

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats.convert import convert


def test_masks_are_read_with_their_own_boxes_or_given_ones(tmp_path: Path) -> None:
    text = {"size": [2, 3], "counts": "06"}
    frames = line(objects=[{"mask": MASK}, {"mask": text, "box": BOX}]), line(frame=1)
    side = detections_of(write(tmp_path / "a.jsonl", lines_of(*frames))).annotations
    assert side.coordinates.tolist() == [[0, 0, 2, 2], BOX]
    assert side.masks is not None
    assert side.masks.sizes.tolist() == [[2, 3], [2, 3]]
    assert side.masks.runs.tolist() == [1, 2, 3, 0, 6]


def test_masks_of_only_some_objects_are_read_as_their_boxes(tmp_path: Path) -> None:
    frames = line(objects=[{"mask": MASK}, {"box": BOX}])
    side = detections_of(write(tmp_path / "a.jsonl", lines_of(frames))).annotations
    assert side.coordinates.tolist() == [[0, 0, 2, 2], BOX]
    assert side.masks is None


@pytest.mark.parametrize(
    ("mask", "field", "problem"),
    [
        (
            {"size": [2, 3], "counts": [1, 2]},
            ".counts",
            "found runs of 3 pixels, expected runs that fill the size, 6 pixels",
        ),
        ({"size": [2, 3], "counts": "7"}, ".counts", "found runs of more than 6 pixels"),
        ({"size": [1 << 28, 2], "counts": [1]}, ".size", "found 268435456 by 2, expected height"),
        (
            {"size": [3, 2], "counts": [6]},
            ".size",
            "found 3 by 2, expected 2 by 3, as the first mask of the frame",
        ),
        ("06", "", 'found "06", expected an object with size and counts'),
    ],
)
def test_a_fault_of_a_mask_is_reported_with_its_place(
    tmp_path: Path, mask: Any, field: str, problem: str
) -> None:
    text = lines_of(line(frame=1), line(objects=[{"mask": MASK}, {"mask": mask}]))
    faults = validate_file(write(tmp_path / "a", text), format_name="jsonl")
    [fault] = [fault for fault in faults if fault.description.startswith(problem)]
    assert (fault.line, fault.field) == (2, f"objects[1].mask{field}")


def test_masks_are_written_and_read_back(tmp_path: Path) -> None:
    frames = line(objects=[{"mask": MASK, "track": 1}, {"mask": MASK, "box": BOX}])
    truth = truth_of(write(tmp_path / "a.jsonl", lines_of(frames)))
    (tmp_path / "b.jsonl").write_bytes(convert(truth, "jsonl", Side.TRUTH).files[""])
    written = json.loads((tmp_path / "b.jsonl").read_bytes())
    assert written["objects"][0] == {"mask": {"size": [2, 3], "counts": "123"}, "track": 1}
    assert is_valid(written, SCHEMA, SCHEMA)
    again = truth_of(tmp_path / "b.jsonl")
    assert fingerprint(again.annotations) == fingerprint(truth.annotations)

"""Unscored objects cannot be missed."""

from __future__ import annotations

import numpy as np
import pytest
from tests.evaluators.plausibility.traffic import BOX, Columns, traffic

from vidscore_evaluators import score
from vidscore_evaluators.specification import BenchmarkSpec, FrameRanges, SequenceSpec

FRAMES, EVERY = 200, 40


def car(frame: int) -> tuple[float, ...]:
    """Where a car is in every fortieth frame."""
    return (200.0 + 3 * frame, 100.0, 250.0 + 3 * frame, 150.0)


def columns(boxes: dict[int, list[tuple[float, ...]]], *flags: str) -> Columns:
    """Boxes by frame; the n-th of a frame has the n-th flag."""
    rows = [(frame, number) for frame, own in boxes.items() for number in range(len(own))]
    made: Columns = {
        "sequence": ["a"] * len(rows),
        "frame": [frame for frame, _ in rows],
        "class": ["car"] * len(rows),
        "confidence": [1.0 if flags else 0.5 + frame / 1000 for frame, _ in rows],
        **({"flags": [flags[number] for _, number in rows]} if flags else {}),
    }
    corners = np.array([boxes[frame][number] for frame, number in rows]).T
    return made | dict(zip(BOX, corners, strict=True))


@pytest.mark.parametrize("flag", ["region", "ignore", "crowd", "distractor"])
def test_frames_with_nothing_to_find_need_no_detection(flag: str) -> None:
    cars = {frame: [car(frame)] for frame in range(0, FRAMES, EVERY)}
    truth = {frame: [(0.0, 0.0, 100.0, 50.0), *cars.get(frame, [])] for frame in range(FRAMES)}
    report = score("f1", columns(truth, flag, ""), columns(cars))
    assert report.value("f1") == 1.0
    assert report.warnings == ()


@pytest.mark.parametrize("flag", ["ignore", "crowd", "distractor"])
def test_ground_truth_of_only_dont_care_objects_has_no_object(flag: str) -> None:
    truth, detections = traffic()
    truth = truth | {"flags": np.full(len(truth["frame"]), flag)}
    found = [warning.code for warning in score("f1", truth, detections).warnings]
    assert found == ["no_objects"]


def test_no_detections_are_right_if_there_is_nothing_to_find() -> None:
    truth, detections = traffic()
    truth = truth | {"flags": np.full(len(truth["frame"]), "region")}
    nothing = {name: column[:0] for name, column in detections.items()}
    assert [warning.code for warning in score("f1", truth, nothing).warnings] == ["no_objects"]


@pytest.mark.parametrize("evaluator", ["f1", "map", "clear", "ospa"])
def test_detections_in_dont_care_frames_are_a_note_and_no_warning(evaluator: str) -> None:
    """A detector does not know the don't-care frames."""
    truth, detections = traffic()
    entry = SequenceSpec("north", dont_care_frames=FrameRanges(((0, 9),)))
    report = score(evaluator, truth, detections, specification=BenchmarkSpec(sequences=(entry,)))
    [note] = report.warnings
    assert (note.code, note.is_note) == ("detections_in_dont_care_frames", True)
    north = (detections["sequence"] == "north") & (detections["frame"] < 10)
    assert note.count == north.sum()

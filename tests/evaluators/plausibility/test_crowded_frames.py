"""Frames with more objects than a sample takes of them: no false alarm, and mistakes are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.evaluators.plausibility.changes import joined, numbered, scaled, shifted
from tests.evaluators.plausibility.traffic import BOX, Columns, rows_where, with_boxes

from vidscore_evaluators import score


def crowd(objects: int, frames: int, *, seed: int = 0, step_px: float = 6.0) -> Columns:
    """Many small objects that move, with about 3,600 square pixels for each."""
    random = np.random.default_rng(seed)
    extent = 60.0 * objects**0.5
    places = random.uniform((0, 0), (extent, 0.75 * extent), (objects, 2))
    sizes = random.uniform((16, 8), (26, 14), (objects, 2))
    boxes = []
    for _ in range(frames):
        places = places + random.normal(0, step_px, places.shape)
        boxes.append(np.concatenate([places, places + sizes], axis=1))
    columns: dict[str, Any] = {
        "sequence": np.full(objects * frames, f"video {seed}"),
        "frame": np.arange(frames).repeat(objects),
        "class": np.tile(np.array(["car", "bus", "van"])[np.arange(objects) % 3], frames),
        "track_id": np.tile(np.arange(objects), frames),
    }
    return with_boxes(columns, *np.concatenate(boxes).T)


def detected(truth: Columns, *, seed: int = 0) -> Columns:
    """A good detector: five of six objects are found to half a pixel."""
    random = np.random.default_rng(seed)
    found = rows_where(truth, random.random(len(truth["frame"])) < 5 / 6)
    count = len(found["frame"])
    boxes = [found[name] + random.normal(0, 0.5, count) for name in BOX]
    return with_boxes(found, *boxes) | {"confidence": random.uniform(0.4, 1.0, count)}


def codes(truth: Columns, detections: Columns, evaluator: str = "map") -> list[str]:
    return [warning.code for warning in score(evaluator, truth, detections).warnings]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("objects", "frames"), [(60, 4), (300, 1), (300, 4), (600, 1), (600, 4), (1500, 1)]
)
def test_a_good_detector_of_a_crowd_gives_no_warning(objects: int, frames: int, seed: int) -> None:
    truth = crowd(objects, frames, seed=seed)
    assert codes(truth, detected(truth, seed=seed)) == []


def with_alarms(side: Columns, per_frame: int) -> Columns:
    """Less confident detections of nothing, to the right of everything."""
    alarms = rows_where(side, np.arange(len(side["frame"])) % 20 < per_frame)
    x1, y1, x2, y2 = (alarms[name] for name in BOX)
    right = float(side["x2"].max())
    moved = with_boxes(alarms, x1 + right, y1, x2 + right, y2)
    return joined(side, moved | {"confidence": alarms["confidence"] / 4})


@pytest.mark.parametrize("seed", range(4, 8))
@pytest.mark.parametrize("alarms", [0, 6])
def test_the_crowded_frame_of_one_video_among_others_gives_no_warning(
    seed: int, alarms: int
) -> None:
    """A detection whose object is not in the sample is neither unrelated nor a false alarm."""
    others = joined(*(crowd(20, 4, seed=number) for number in range(4)))
    crowded = crowd(9000, 1, seed=seed)
    found = joined(with_alarms(detected(others), alarms), detected(crowded, seed=seed))
    assert codes(joined(others, crowded), found) == []


@pytest.mark.parametrize("by", [0.6, 1.6])
def test_boxes_of_another_size_in_a_crowd_that_stands_still_are_not_unrelated(by: float) -> None:
    """Hardly any of them has an IoU of 0.5 with its object, but all lie on one: here, not there."""
    truth = crowd(60, 12, step_px=0.0)
    found = detected(truth)
    centres = [(found[first] + found[last]) / 2 for first, last in (("x1", "x2"), ("y1", "y2"))]
    halves = [(found[last] - found[first]) / 2 for first, last in (("x1", "x2"), ("y1", "y2"))]
    (x, y), (across, down) = centres, [by * half for half in halves]
    assert codes(truth, with_boxes(found, x - across, y - down, x + across, y + down)) == []


WRONG: dict[str, Callable[[Columns], Columns]] = {
    "reads_rows_first": lambda side: with_boxes(
        side, *(side[name] for name in ("y1", "x1", "y2", "x2"))
    ),
    "reads_at_another_scale": lambda side: scaled(side, 1.5, 1.5),
    "reads_from_another_origin": lambda side: shifted(side, 50.0, 30.0),
    "reads_one_frame_earlier": lambda side: side | {"frame": side["frame"] + 1},
    "labels_mixed_up": lambda side: numbered(side, labels=3, step=1),
}


@pytest.mark.parametrize("code", WRONG)
@pytest.mark.parametrize("objects", [60, 150])
def test_a_mistake_in_detections_of_a_crowd_is_named(objects: int, code: str) -> None:
    truth = crowd(objects, 16)
    detections = WRONG[code](detected(truth))
    if code == "labels_mixed_up":
        truth = numbered(truth, labels=3)
    assert code in codes(truth, detections)


@pytest.mark.parametrize("objects", [60, 150])
def test_detections_of_another_crowd_are_unrelated(objects: int) -> None:
    truth, other = crowd(objects, 12), detected(crowd(objects, 12, seed=1))
    other["sequence"] = truth["sequence"][: len(other["frame"])]
    assert codes(truth, other) == ["nothing_overlaps"]


def test_a_tracker_that_is_steady_only_in_crowds_is_not_taken_for_the_truth() -> None:
    """A sample has equally many detections of each crowded frame, and all of its objects."""
    random = np.random.default_rng(0)
    crowds = joined(*(crowd(50, 4, seed=seed) for seed in range(3)))
    crowds = rows_where(crowds, random.random(len(crowds["frame"])) < 0.9)
    pairs = joined(*(crowd(2, 4, seed=seed) for seed in range(3, 7)))
    pairs = rows_where(pairs, np.arange(len(pairs["frame"])) > 0)  # one comes later
    found = joined(detected(crowds), pairs | {"confidence": np.ones(len(pairs["frame"]))})
    assert codes(joined(crowds, pairs), found, "hota") == []

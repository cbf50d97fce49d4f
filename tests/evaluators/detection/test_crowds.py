"""A crowd absorbs only what lies in it, under every base and at every threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vidscore_evaluators import score
from vidscore_evaluators._dont_care import RULES
from vidscore_evaluators._scene_builder import make_scene
from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations, ObjectFlag
from vidscore_evaluators.detection._outcomes import FALSE, assigned_outcomes
from vidscore_evaluators.report import Report
from vidscore_evaluators.similarity import Similarity
from vidscore_evaluators.testing import Thing, make_annotations

CROWD = ObjectFlag.CROWD.value
Box = tuple[float, float, float, float]


def side(*things: Thing) -> Annotations:
    return make_annotations({("", "s"): {0: things}}, arity=len(things[0].coordinates))


PERSON = Thing((0, 0, 10, 10), "p")
FOUND = Thing((0, 0, 10, 10), "p", 0.9)
SCORES = {"map": "ap", "log-amr": "log_amr"}


@pytest.mark.parametrize("base", ["iou", "giou"])
@pytest.mark.parametrize("threshold", [0.05, 0.0, -0.5, -1.0])
def test_a_crowd_elsewhere_in_the_frame_absorbs_nothing(base: str, threshold: float) -> None:
    """A false positive 300 px from the crowd stays one at every threshold."""
    truth = side(PERSON, Thing((500, 500, 520, 520), "p", flags=CROWD))
    detections = side(FOUND, Thing((200, 0, 210, 10), "p", 0.8))
    report = score("f1", truth, detections, base=base, threshold=threshold)
    assert report.value("true_positives") == 1
    assert report.value("false_positives") == 1
    for name, measure in SCORES.items():
        curve = score(name, truth, detections, base=base).curve(f"{measure}_by_threshold")
        alone = score(name, side(PERSON), detections, base=base)
        assert curve == alone.curve(f"{measure}_by_threshold")


@pytest.mark.parametrize(
    ("base", "threshold", "absorbed"),
    [
        # A quarter of the detection lies in the crowd: 0.25 for IoU; (1 + t)/2 <= 0.25 for GIoU.
        ("iou", 0.25, True),
        ("iou", 0.3, False),
        ("iou", 0.0, True),
        ("giou", -0.5, True),
        ("giou", -0.45, False),
        ("giou", -1.0, True),
        ("giou", 0.25, False),
    ],
)
@pytest.mark.parametrize("name", ["f1", "errors"])
def test_the_share_inside_a_crowd_has_its_own_threshold(
    name: str, base: str, threshold: float, absorbed: bool
) -> None:
    """The threshold t for IoU, (1 + t)/2 for GIoU."""
    truth = side(PERSON, Thing((100, 100, 200, 200), "p", flags=CROWD))
    detections = side(FOUND, Thing((195, 100, 215, 110), "p", 0.8))
    background: dict[str, Any] = {"background_threshold": -1.0} if name == "errors" else {}
    report = score(name, truth, detections, base=base, threshold=threshold, **background)
    assert mistakes(report) == (0 if absorbed else 1)


def mistakes(report: Report) -> int:
    if report.evaluator == "f1":
        return int(report.value("false_positives") or 0)
    kinds = ("poor_localisation", "duplicate", "false_alarm")
    return sum(int(report.value(kind) or 0) for kind in kinds)


@pytest.mark.parametrize(("distance", "absorbed"), [(9.0, True), (10.0, False), (400.0, False)])
def test_a_crowd_that_is_a_point_absorbs_points_within_the_cutoff(
    distance: float, absorbed: bool
) -> None:
    """At threshold 0 every pair of points is similar enough, but for a crowd they must be near."""
    truth = side(Thing((0, 0), "p"), Thing((100, 100), "p", flags=CROWD))
    detections = side(Thing((0, 0), "p", 0.9), Thing((100 + distance, 100), "p", 0.8))
    report = score("f1", truth, detections, base="euclidean", cutoff_px=10.0, threshold=0.0)
    assert report.value("false_positives") == (0 if absorbed else 1)


def greedy_false_alarms(
    truth: list[Box], absorbers: list[tuple[Box, bool]], detections: list[Box]
) -> int:
    """Remaining false positives if every pair is similar enough, one by one, in plain loops.

    A detection takes real truth while there is some, then the absorber that covers most of it.
    """
    free, singles = len(truth), [box for box, many in absorbers if not many]
    crowds = [box for box, many in absorbers if many]
    false = 0
    for box in detections:
        if free:
            free -= 1
            continue
        inside = max((overlap(box, crowd) / area(box) for crowd in crowds), default=0.0)
        alike = [iou(box, single) for single in singles]
        if inside > 0.0 and inside >= max(alike, default=-1.0):
            continue
        if alike:
            del singles[alike.index(max(alike))]
        else:
            false += 1
    return false


def area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def overlap(first: Box, second: Box) -> float:
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    return max(width, 0.0) * max(height, 0.0)


def iou(first: Box, second: Box) -> float:
    shared = overlap(first, second)
    return shared / (area(first) + area(second) - shared)


@pytest.mark.parametrize("seed", range(60))
def test_at_the_minimum_threshold_crowds_and_ignored_objects_absorb_as_greedily_as_above(
    seed: int,
) -> None:
    """At an IoU of 0, `map` and `errors` have the false alarms of a plain greedy matching."""
    random = np.random.default_rng(seed)

    def boxes(count: int) -> list[Box]:
        low, size = random.uniform(0, 60, (count, 2)), random.uniform(5, 30, (count, 2))
        return [tuple(row) for row in np.concatenate([low, low + size], 1).tolist()]

    truth, singles, crowds = boxes(2), boxes(int(random.integers(0, 3))), boxes(1)
    detections = boxes(9)
    absorbers = [*((box, False) for box in singles), *((box, True) for box in crowds)]
    things = [Thing(box, "p") for box in truth]
    things += [Thing(box, "p", flags=ObjectFlag.IGNORE.value) for box in singles]
    things += [Thing(box, "p", flags=CROWD) for box in crowds]
    found = [Thing(box, "p", 0.9 - row / 20) for row, box in enumerate(detections)]
    false = greedy_false_alarms(truth, absorbers, detections)
    sides = (side(*things), side(*found))
    report = score("errors", *sides, threshold=0.0, background_threshold=0.0)
    scene = make_scene(align(*sides), RULES["standard"], Similarity())
    outcomes = assigned_outcomes(scene, Similarity(), "greedy", [0.0, 0.5])
    assert np.count_nonzero(outcomes[:, 0] == FALSE) == false
    assert mistakes(report) == false

"""Overlap, matching by class, and confidence: sections 3.1, 3.2 and 3.5, worked by hand."""

from __future__ import annotations

import math

import pytest
from tests.evaluators.neovision2.helpers import (
    FAR,
    TEN,
    car,
    counts,
    points,
    score_corners,
    score_frame,
    warned,
)

from vidscore_evaluators.testing import Thing

# A box of 60 that shares x by 10 with (0, 0, 6, 10): 20 / 100 where x is 2.
SIX = car(0, 0, 6, 10)


def shifted(x: float) -> Thing:
    return car(x, 0, x + 6, 10)


@pytest.mark.parametrize(
    ("shift", "found"),
    [
        pytest.param(4.0, True, id="a ratio of exactly 0.2 counts"),
        pytest.param(4.0 + 1e-10, True, id="so does one that rounding could have made less"),
        pytest.param(4.0001, False, id="a smaller one does not"),
        pytest.param(6.0, False, id="touching is no overlap"),
    ],
)
def test_a_pair_counts_from_the_threshold_on(shift: float, found: bool) -> None:
    assert counts(score_frame([SIX], [shifted(shift)])) == (1, int(found), int(not found))


def test_a_fifth_in_decimals_counts_although_binary_fractions_are_below_it() -> None:
    """0.6 - 0.4 is 0.19999999999999996 in binary64, and so is the ratio."""
    assert counts(score_frame([car(0, 0, 0.6, 1)], [car(0.4, 0, 1, 1)])) == (1, 1, 0)


def test_the_threshold_is_a_parameter() -> None:
    """TEN and its left half overlap by exactly a half."""
    half = car(0, 0, 5, 10)
    assert counts(score_frame([car(*TEN)], [half], overlap_threshold=0.5)) == (1, 1, 0)
    assert counts(score_frame([car(*TEN)], [half], overlap_threshold=0.51)) == (1, 0, 1)
    assert counts(score_frame([car(*TEN)], [car(*TEN)], overlap_threshold=1.0)) == (1, 1, 0)


def test_rotated_boxes_are_compared_by_their_envelopes() -> None:
    """A diamond in TEN has half its area, and its envelope."""
    diamond = Thing((5, 0, 10, 5, 5, 10, 0, 5), "Car")
    crossed = Thing((0, 0, 10, 10, 10, 0, 0, 10), "Car")
    square = Thing((0, 0, 10, 0, 10, 10, 0, 10), "Car")
    for shape in (diamond, crossed, square):
        assert counts(score_corners([square], [shape], overlap_threshold=1.0)) == (1, 1, 0)


def test_an_object_is_detected_once() -> None:
    report = score_frame([car(*TEN)], [car(*TEN), car(*TEN), car(1, 0, 11, 10)])
    assert counts(report) == (1, 1, 2)


def test_the_number_of_pairs_is_maximal_even_at_the_cost_of_the_best_overlap() -> None:
    """The detection in the middle overlaps both objects; the left one fits only the left object."""
    truth = [car(0, 0, 10, 10), car(10, 0, 20, 10)]
    detections = [car(-3, 0, 7, 10), car(4, 0, 14, 10)]
    assert counts(score_frame(truth, detections)) == (2, 2, 0)


def test_classes_are_matched_separately() -> None:
    report = score_frame([car(*TEN)], [Thing(TEN, "Truck")])
    assert counts(report) == (1, 0, 0)
    assert counts(report, "Truck") == (0, 0, 1)


def test_without_detections_everything_is_missed() -> None:
    report = score_frame([car(*TEN), car(*FAR)], [])
    assert report.value("missed_detections", domain="Tower", label="Car") == 2
    assert report.value("nmotda", domain="Tower", label="Car") == 0


def test_a_box_without_area_never_matches_and_gives_a_warning() -> None:
    report = score_frame([car(5, 5, 5, 9)], [car(5, 5, 5, 9), car(5, 5, 5, 5), car(0, 0, 9, 9)])
    assert counts(report) == (1, 0, 3)
    assert warned(report) == {"objects_without_area": 1, "detections_without_area": 2}


@pytest.mark.parametrize(
    ("threshold", "let_through"),
    [(0.0, 1), (0.05, 1), (0.7, 1), (math.nextafter(0.7, 1), 0), (1.0, 0)],
)
def test_confidences_at_the_threshold_or_above_are_scored(
    threshold: float, let_through: int
) -> None:
    sure = car(*TEN, confidence=0.7)
    report = score_frame([car(*TEN)], [sure], confidence_threshold=threshold)
    assert counts(report) == (1, let_through, 0)


def test_by_default_a_confidence_of_0_is_scored() -> None:
    """No threshold of the curve accepts it, but the score does (reading 12)."""
    report = score_frame([car(*TEN)], [car(*TEN, confidence=0.0)])
    assert counts(report) == (1, 1, 0)
    assert set(points(report).values()) == {(0, 0)}


@pytest.mark.parametrize("decimal", ["0.95", "0.85", "0.75", "0.65", "0.55", "0.45", "0.35"])
def test_a_curve_includes_detections_exactly_at_its_decimal_threshold(decimal: str) -> None:
    threshold = float(decimal)
    below = math.nextafter(threshold, 0)
    report = score_frame(
        [car(*TEN)], [car(*TEN, confidence=threshold), car(*FAR, confidence=below)]
    )
    assert points(report)[threshold] == (1, 0)
    assert points(report)[round(threshold - 0.1, 2)] == (1, 1)


def test_the_score_threshold_does_not_affect_curves() -> None:
    detections = [car(*TEN, confidence=0.5), car(*FAR, confidence=0.01)]
    report = score_frame([car(*TEN)], detections, confidence_threshold=0.6)
    assert counts(report) == (1, 0, 0)
    assert points(report)[0.45] == (1, 0)
    assert report.value("az", domain="Tower", label="Car") == 1


def test_a_falling_threshold_changes_the_matching() -> None:
    """At 0.85 the more confident detection has an object; at 0.75 both do, as it moves."""
    truth = [car(0, 0, 10, 10), car(10, 0, 20, 10)]
    detections = [car(5, 0, 15, 10, confidence=0.9), car(-3, 0, 7, 10, confidence=0.8)]
    curve = points(score_frame(truth, detections))
    assert (curve[0.95], curve[0.85], curve[0.75]) == ((0, 0), (1, 0), (2, 0))

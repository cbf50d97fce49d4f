"""ROC curves and Az (sections 3.5 and 3.6), worked by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluators.neovision2.helpers import FAR, TEN, car, points, region, score_frame

from vidscore_evaluators.neovision2.scores import OperatingPoints, area_under_curve

TEN_THRESHOLDS = [0.95, 0.85, 0.75, 0.65, 0.55, 0.45, 0.35, 0.25, 0.15, 0.05]


def az(
    corners: Sequence[tuple[int, int]], objects: int = 4, frames: int = 2, limit: float = 1.0
) -> float | None:
    """Az of (false positives, true positives) points."""
    false, true = (
        np.array([corner[axis] for corner in corners], dtype=np.int64) for axis in (0, 1)
    )
    thresholds = np.linspace(1, 0, len(corners))
    return area_under_curve(OperatingPoints(thresholds, true, false), objects, frames, limit)


@pytest.mark.parametrize(
    ("corners", "expected"),
    [
        pytest.param([], 0, id="no points: level at 0"),
        pytest.param([(0, 4)], 1, id="all found, nothing false"),
        pytest.param([(0, 2)], 1 / 2, id="level after the last point"),
        pytest.param([(2, 4)], 1 / 2, id="a straight line from (0, 0)"),
        pytest.param([(0, 1), (2, 2)], 3 / 8, id="no start at (0, 0) where a point has x = 0"),
        pytest.param([(1, 4)], 3 / 4, id="rising to half way, level from there"),
        pytest.param([(4, 4)], 1 / 4, id="cut at the limit, at half the height"),
        pytest.param([(1, 4), (3, 0)], 1 / 4 + 3 / 8, id="y falls where it falls"),
        pytest.param([(1, 1), (1, 4), (1, 2)], 3 / 4, id="the best of points that share an x"),
        pytest.param([(2, 4), (1, 4)], 3 / 4, id="in the order of x"),
        pytest.param([(0, 2), (2, 2), (9, 4)], 1 / 2, id="a point on the limit"),
    ],
)
def test_az_is_the_area_up_to_one_false_positive_per_frame(
    corners: list[tuple[int, int]], expected: float
) -> None:
    """Four objects in two frames: two false positives are the limit."""
    assert az(corners) == expected


def test_the_limit_is_a_parameter_and_az_is_divided_by_it() -> None:
    """Up to 0.5 per frame the line from (0, 0) to (1, 1) has the mean height 1/4; up to 2, 3/4."""
    assert az([(2, 4)], limit=0.5) == 1 / 4
    assert az([(2, 4)], limit=2.0) == 3 / 4


def test_az_is_undefined_without_objects() -> None:
    assert az([(0, 0)], objects=0) is None


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), max_size=6),
    st.integers(1, 9),
    st.floats(0.01, 100),
)
def test_az_is_between_0_and_1_and_does_not_depend_on_the_order_of_points(
    corners: list[tuple[int, int]], frames: int, limit: float
) -> None:
    area = az(corners, 5, frames, limit)
    assert area is not None
    assert 0 <= area <= 1
    assert az(corners[::-1], 5, frames, limit) == area


def test_a_curve_has_the_ten_thresholds_of_the_protocol_and_five_columns() -> None:
    detections = [car(*TEN, confidence=0.5), car(*FAR, confidence=0.3)]
    curve = score_frame([car(*TEN), car(*FAR[:2], 900, 900)], detections).curve(
        "roc", domain="Tower", label="Car"
    )
    assert [point["threshold"] for point in curve.points()] == TEN_THRESHOLDS
    assert curve.points()[-1] == {
        "threshold": 0.05,
        "detection_rate": 0.5,
        "false_positives_per_frame": 1.0,
        "true_positives": 1,
        "false_positives": 1,
    }


def test_a_curve_begins_at_the_origin_and_its_area_is_in_the_report() -> None:
    """One of two cars from 0.5 on, a false positive from 0.3 on; a half up to one per frame."""
    detections = [car(*TEN, confidence=0.5), car(*FAR, confidence=0.3)]
    report = score_frame([car(*TEN), car(*FAR[:2], 900, 900)], detections, az_limit=0.5)
    for label, measure in (("Car", "az"), (None, "detection_only_az")):
        curve = report.curve("roc", domain="Tower", label=label).columns
        assert curve["true_positives"] == [0] * 5 + [1] * 5
        assert curve["false_positives"] == [0] * 7 + [1] * 3
        assert report.value(measure, domain="Tower", label=label) == 0.5


def test_without_objects_there_is_no_detection_rate() -> None:
    [*_, last] = score_frame([], [car(*TEN)]).curve("roc", domain="Tower", label="Car").points()
    assert last["detection_rate"] is None
    assert last["false_positives_per_frame"] == 1.0


def test_all_thresholds_are_the_distinct_confidences_of_matched_detections() -> None:
    """One in a region is not matched; one of another class has its point only there."""
    detections = [
        car(*TEN, confidence=0.25),
        car(*FAR, confidence=0.25),
        car(*FAR, confidence=0.01),
        car(900, 0, 910, 10, confidence=0.7),
    ]
    report = score_frame([car(*TEN), region(900, 0, 910, 10)], detections, thresholds="all")
    assert points(report) == {0.25: (1, 1), 0.01: (1, 2)}
    assert points(report, "Truck") == {}
    assert points(report, None) == {0.25: (1, 1), 0.01: (1, 1)}

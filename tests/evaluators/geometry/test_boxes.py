"""Envelopes, areas and overlap ratios of upright boxes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.geometry import (
    bounding_boxes,
    box_areas,
    identical,
    intersection_areas,
    overlap_ratios,
)


def boxes(*rows: tuple[float, ...]) -> np.ndarray:
    return np.array(rows, dtype=np.float64)


def test_the_envelope_of_a_turned_square_is_the_upright_box_around_its_corners() -> None:
    diamond = boxes((5, 0, 10, 5, 5, 10, 0, 5))
    assert bounding_boxes(diamond).tolist() == [[0, 0, 10, 10]]


def test_any_two_opposite_corners_in_any_order_give_the_same_box() -> None:
    given_as = boxes((1, 2, 5, 9), (5, 9, 1, 2), (1, 9, 5, 2), (5, 2, 1, 9))
    assert bounding_boxes(given_as).tolist() == [[1, 2, 5, 9]] * 4


@given(
    st.integers(1, 4).flatmap(
        lambda points: st.lists(
            st.lists(st.floats(-1e9, 1e9), min_size=2 * points, max_size=2 * points), min_size=1
        )
    )
)
def test_an_envelope_reaches_from_the_least_to_the_greatest_coordinate_of_each_axis(
    objects: list[list[float]],
) -> None:
    expected = [
        [min(points[::2]), min(points[1::2]), max(points[::2]), max(points[1::2])]
        for points in objects
    ]
    assert bounding_boxes(np.array(objects)).tolist() == expected


@pytest.mark.parametrize("width", [0, 1, 5])
def test_coordinates_that_are_no_points_have_no_envelope(width: int) -> None:
    with pytest.raises(ValueError, match=f"{width} coordinates are not points"):
        bounding_boxes(np.zeros((3, width)))


def test_no_boxes_have_no_envelopes() -> None:
    assert bounding_boxes(np.zeros((0, 8))).shape == (0, 4)


def test_a_box_from_0_to_10_is_10_wide_and_not_11() -> None:
    assert box_areas(boxes((0, 0, 10, 10), (-3, 2, -1, 4.5))).tolist() == [100, 5]


def test_boxes_that_only_touch_share_nothing() -> None:
    first, second = boxes((0, 0, 10, 10)), boxes((10, 0, 20, 10))
    assert intersection_areas(first, second).tolist() == [0]
    assert overlap_ratios(first, second).tolist() == [0]


def test_a_sixth_shared_on_each_side_is_a_ratio_of_a_fifth() -> None:
    """Two boxes of 60 that share 20 cover 100 together: 20 / 100."""
    assert overlap_ratios(boxes((0, 0, 6, 10)), boxes((4, 0, 10, 10))).tolist() == [0.2]


def test_boxes_without_area_have_the_ratio_0_even_with_themselves() -> None:
    flat = boxes((3, 3, 3, 8), (2, 2, 2, 2))
    assert overlap_ratios(flat, flat).tolist() == [0, 0]


def test_boxes_are_identical_where_all_four_coordinates_are_equal() -> None:
    first = boxes((0, 0, 1, 1), (0, 0, 1, 1), (0.0, 0, 1, 1))
    second = boxes((0, 0, 1, 1), (0, 0, 1, 2), (-0.0, 0, 1, 1))
    assert identical(first, second).tolist() == [True, False, True]


coordinate = st.floats(-1e9, 1e9)


@given(st.tuples(*[coordinate] * 4), st.tuples(*[coordinate] * 4))
def test_a_ratio_is_between_0_and_1_and_the_same_both_ways(
    one: tuple[float, ...], other: tuple[float, ...]
) -> None:
    first, second = bounding_boxes(boxes(one)), bounding_boxes(boxes(other))
    [there] = overlap_ratios(first, second).tolist()
    [back] = overlap_ratios(second, first).tolist()
    assert 0 <= there == back <= 1


@given(st.lists(st.tuples(*[coordinate] * 4), min_size=1, max_size=5), st.integers(0, 4))
def test_a_value_does_not_depend_on_what_stands_beside_it(
    rows: list[tuple[float, ...]], index: int
) -> None:
    all_boxes = bounding_boxes(boxes(*rows))
    row = index % len(rows)
    together = overlap_ratios(all_boxes, all_boxes[::-1])[row]
    alone = overlap_ratios(all_boxes[[row]], all_boxes[::-1][[row]])[0]
    assert together == alone

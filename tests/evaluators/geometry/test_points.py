"""Points near each other, against comparing all of a group."""

from __future__ import annotations

import math
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vidscore_evaluators import geometry
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.geometry import (
    GroupedPoints,
    SortedPoints,
    greatest_square,
    isolated_pairs,
    near_points,
    sorted_points,
)

Group = list[tuple[float, float]]
"""Points of one side and group."""

PLACES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e9, 1e9), st.just(-0.0))
GROUP = st.lists(st.tuples(PLACES, PLACES), max_size=12)
SQUARES = st.one_of(st.integers(0, 9).map(float), st.floats(0, 1e18), st.just(float("inf")))


def points_of(groups: list[Group]) -> GroupedPoints:
    coordinates = np.array([point for group in groups for point in group], dtype=np.float64)
    starts = np.cumsum([0, *(len(group) for group in groups)])
    return GroupedPoints.of(coordinates.reshape(-1, 2), starts)


def all_sorted(points: GroupedPoints) -> SortedPoints:
    return sorted_points(points, np.arange(len(points.counts)))


def side_of(groups: list[Group]) -> SortedPoints:
    return all_sorted(points_of(groups))


def squared(point: FloatArray, other: FloatArray) -> float:
    """A squared distance, computed as IEEE 754 has it."""
    along_x, along_y = (float(point[axis]) - float(other[axis]) for axis in (0, 1))
    return along_x * along_x + along_y * along_y


def compared(left: Group, right: Group, most: float) -> list[tuple[int, int, float]]:
    """Places of all near pairs, and their squared distances, computed as IEEE 754 has it."""
    found = []
    for row, point in enumerate(sorted(left)):
        for column, other in enumerate(sorted(right)):
            square = squared(np.array(point), np.array(other))
            if square <= most:
                found.append((row, column, square))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("room", [1, 1 << 18], ids=["many calls", "one call"])
@given(sides=st.lists(st.tuples(GROUP, GROUP), max_size=4), most=SQUARES, data=st.data())
def test_pairs_are_those_that_comparing_all_of_a_group_finds(
    room: int, sides: list[tuple[Group, Group]], most: float, data: st.DataObject
) -> None:
    """With their places, in order, and squared distances to the last bit, for any of the groups."""
    left, right = ([pair[side] for pair in sides] for side in (0, 1))
    every = range(len(sides))
    wanted = data.draw(st.lists(st.sampled_from(every), unique=True)) if sides else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(geometry, "PAIRS_PER_CALL", room)
        near = near_points(side_of(left), side_of(right), np.array(wanted, dtype=np.int64), most)
    expected = [compared(left[group], right[group], most) for group in wanted]
    assert near.counts.tolist() == [len(pairs) for pairs in expected]
    columns = (near.left.tolist(), near.right.tolist(), near.squares.tolist())
    assert list(zip(*columns, strict=True)) == [pair for pairs in expected for pair in pairs]


@given(sides=st.lists(st.tuples(GROUP, GROUP), max_size=4), most=SQUARES, data=st.data())
def test_pairs_are_isolated_in_groups_where_no_point_is_near_two(
    sides: list[tuple[Group, Group]], most: float, data: st.DataObject
) -> None:
    """Their rows and squared distances, left points in order; -1 stands for any other group."""
    left, right = (points_of([pair[side] for pair in sides]) for side in (0, 1))
    every = range(len(sides))
    wanted = data.draw(st.lists(st.sampled_from(every), unique=True)) if sides else []
    found = isolated_pairs(left, right, np.array(wanted, dtype=np.int64), most)
    counts, expected = [], []
    for group in wanted:
        pairs = [
            (row, column, square)
            for row in range(*left.starts[group : group + 2])
            for column in range(*right.starts[group : group + 2])
            if (square := squared(left.coordinates[row], right.coordinates[column])) <= most
        ]
        rows, columns = (Counter(pair[side] for pair in pairs) for side in (0, 1))
        are_isolated = {*rows.values(), *columns.values()} <= {1}
        counts.append(len(pairs) if are_isolated else -1)
        expected += pairs if are_isolated else []
    assert found.counts.tolist() == counts
    of_pairs = (found.left.tolist(), found.right.tolist(), found.squares.tolist())
    assert list(zip(*of_pairs, strict=True)) == expected


@given(st.floats(0, exclude_min=True, allow_infinity=False))
@example(10.0)
@example(5e-324)
@example(sys.float_info.max)
def test_the_greatest_square_is_the_last_whose_root_is_in_reach(distance: float) -> None:
    square = greatest_square(distance)
    assert math.sqrt(square) <= distance
    assert math.sqrt(math.nextafter(square, math.inf)) > distance


@pytest.mark.parametrize("count", [1, 2, 40, 5000])
def test_points_of_a_group_are_sorted_by_x_and_then_by_y(count: int) -> None:
    """Groups with many equal coordinates, as Python sorts them; other groups play no part."""
    random = np.random.default_rng(count)
    coordinates = random.integers(0, 20, size=(3 * count, 2)).astype(np.float64)
    starts = np.array([0, count, count, 3 * count])
    found = all_sorted(GroupedPoints.of(coordinates, starts))
    expected = [*sorted(coordinates[:count].tolist()), *sorted(coordinates[count:].tolist())]
    assert found.coordinates.tolist() == expected
    assert found.counts.tolist() == [count, 0, 2 * count]


@given(groups=st.lists(GROUP, max_size=4))
def test_the_rows_of_sorted_points_are_those_of_a_stable_sort(groups: list[Group]) -> None:
    """By x and then by y within a group; zeros of both signs are equal."""
    points = points_of(groups)
    expected = [
        start + row
        for start, group in zip(points.starts.tolist(), groups, strict=False)
        for row in sorted(range(len(group)), key=group.__getitem__)
    ]
    assert all_sorted(points).rows.tolist() == expected


def test_points_of_some_groups_are_sorted_in_the_order_of_the_groups() -> None:
    points = points_of([[(3.0, 0.0), (1.0, 0.0)], [(9.0, 9.0)], [(2.0, 5.0), (2.0, 4.0)]])
    found = sorted_points(points, np.array([2, 0]))
    assert found.coordinates.tolist() == [[2.0, 4.0], [2.0, 5.0], [1.0, 0.0], [3.0, 0.0]]
    assert (found.rows.tolist(), found.starts.tolist()) == ([4, 3, 1, 0], [0, 2, 4])


def test_what_would_lead_the_search_astray_is_refused() -> None:
    """Points outside all groups, groups that one side does not have, and numbers of none."""
    with pytest.raises(ValueError, match="do not fall into groups"):
        GroupedPoints.of(np.zeros((3, 2)), np.array([0, 2]))
    with pytest.raises(ValueError, match="do not fall into groups"):
        GroupedPoints.of(np.zeros((2, 2)), np.array([0, 3, 2]))
    one, two = points_of([[(0.0, 0.0)]]), points_of([[], []])
    for left, right, groups in ((one, two, [0]), (two, two, [2]), (two, two, [-1])):
        with pytest.raises(ValueError, match="are not of both sides"):
            isolated_pairs(left, right, np.array(groups), 1.0)
        with pytest.raises(ValueError, match="are not of both sides"):
            near_points(all_sorted(left), all_sorted(right), np.array(groups), 1.0)

"""Points, and upright boxes."""

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
    bounding_boxes,
    box_areas,
    greatest_square,
    identical,
    intersection_areas,
    match_few_points,
    near_points,
    overlap_ratios,
    sorted_points,
)

# --- Points near each other, compared with all pairs of a group


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
    """A squared distance, with the rounding of IEEE 754."""
    along_x, along_y = (float(point[axis]) - float(other[axis]) for axis in (0, 1))
    return along_x * along_x + along_y * along_y


def compared(left: Group, right: Group, most: float) -> list[tuple[int, int, float]]:
    """Places of all near pairs, and their squared distances, with the rounding of IEEE 754."""
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
def test_pairs_equal_those_of_comparing_all_points_of_a_group(
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


Matching = tuple[tuple[int, int], ...]
"""Places of matched points in their group, in ascending order."""

DOUBT = 1e-6


def all_matchings(left: Group, right: Group, most: float) -> dict[Matching, float]:
    """Every maximum matching of near points, and the sum of its distances."""
    found: dict[Matching, float] = {(): 0.0}
    for row, point in enumerate(left):
        for matching, sum_px in list(found.items()):
            taken = {column for _, column in matching}
            for column, other in enumerate(right):
                square = squared(np.array(point), np.array(other))
                if column not in taken and square <= most:
                    found[(*matching, (row, column))] = sum_px + math.sqrt(square)
    pair_count = max(map(len, found))
    return {matching: sum_px for matching, sum_px in found.items() if len(matching) == pair_count}


FEW = st.lists(st.tuples(*2 * [st.integers(-3, 3).map(float)]), max_size=4)


@given(sides=st.lists(st.tuples(FEW, FEW), max_size=4), most=st.integers(0, 30).map(float))
def test_few_points_get_the_matching_of_minimum_distance_unless_sums_are_equal(
    sides: list[tuple[Group, Group]], most: float
) -> None:
    """With rows and squared distances; -1 marks a group that has two best matchings."""
    left, right = (points_of([pair[side] for pair in sides]) for side in (0, 1))
    found = match_few_points(left, right, most, DOUBT)
    counts, expected = [], []
    for group, (mine, others) in enumerate(sides):
        matchings = sorted(
            (sum_px, pairs) for pairs, sum_px in all_matchings(mine, others, most).items()
        )
        are_decided = len(matchings) == 1 or matchings[1][0] - matchings[0][0] > DOUBT
        counts.append(len(matchings[0][1]) if are_decided else -1)
        expected += [
            (
                left.starts[group] + row,
                right.starts[group] + column,
                squared(np.array(mine[row]), np.array(others[column])),
            )
            for row, column in (matchings[0][1] if are_decided else ())
        ]
    assert found.counts.tolist() == counts
    of_pairs = (found.left.tolist(), found.right.tolist(), found.squares.tolist())
    assert list(zip(*of_pairs, strict=True)) == expected


@given(sides=st.lists(st.tuples(GROUP, GROUP), max_size=4), most=SQUARES)
def test_points_with_at_most_one_near_point_are_matched_with_it(
    sides: list[tuple[Group, Group]], most: float
) -> None:
    """However large the coordinates and the uncertainty."""
    left, right = (points_of([pair[side] for pair in sides]) for side in (0, 1))
    found = match_few_points(left, right, most, math.inf)
    for group, (mine, others) in enumerate(sides):
        pairs = [
            (row, column)
            for row, point in enumerate(mine)
            for column, other in enumerate(others)
            if squared(np.array(point), np.array(other)) <= most
        ]
        rows, columns = (Counter(pair[side] for pair in pairs) for side in (0, 1))
        if {*rows.values(), *columns.values()} <= {1}:
            assert found.counts[group] == len(pairs)
            of_group = (found.left >= left.starts[group]) & (found.left < left.starts[group + 1])
            places = (found.left - left.starts[group], found.right - right.starts[group])
            assert [*zip(*(place[of_group].tolist() for place in places), strict=True)] == pairs
        else:
            assert found.counts[group] == -1


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("count", "pair_count"), [(4, 1), (5, -1)])
def test_a_point_with_more_than_four_competitors_is_left_to_a_solver(
    side: int, count: int, pair_count: int
) -> None:
    """Otherwise the nearest one gets it; a chain of points counts as much as a star."""
    many = [(float(row), 0.0) for row in range(count)]
    groups = [[many], [[(0.0, 0.1)]]]
    left, right = (points_of(groups[side ^ swapped]) for swapped in (0, 1))
    found = match_few_points(left, right, 100.0, DOUBT)
    assert found.counts.tolist() == [pair_count]
    assert found.left.tolist() == found.right.tolist() == [0] * max(pair_count, 0)
    chain = points_of([[(2.0 * row, 0.0) for row in range(count)]])
    shifted = points_of([[(2.0 * row + 0.9, 0.0) for row in range(count)]])
    found = match_few_points(chain, shifted, 1.1**2, DOUBT)
    assert found.counts.tolist() == [count if pair_count > 0 else -1]


@pytest.mark.parametrize(("left_count", "right_count"), [(16, 17), (300, 1), (1, 300)])
def test_a_group_of_many_points_is_left_to_a_solver(left_count: int, right_count: int) -> None:
    """More than 256 comparisons; the group beside it is still matched."""
    left = points_of([[(9.0 * row, 0.0) for row in range(left_count)], [(1.0, 0.0)]])
    right = points_of([[(9.0 * row, 1.0) for row in range(right_count)], [(1.0, 1.0)]])
    found = match_few_points(left, right, 4.0, DOUBT)
    assert found.counts.tolist() == [-1, 1]
    assert (found.left.tolist(), found.right.tolist()) == ([left_count], [right_count])


@pytest.mark.parametrize(("left_count", "right_count"), [(300, 0), (0, 300), (0, 0)])
def test_a_group_with_points_on_one_side_only_has_no_pairs(
    left_count: int, right_count: int
) -> None:
    left, right = (points_of([count * [(1.0, 1.0)]]) for count in (left_count, right_count))
    assert match_few_points(left, right, 4.0, DOUBT).counts.tolist() == [0]


@given(st.floats(0, exclude_min=True, allow_infinity=False))
@example(10.0)
@example(5e-324)
@example(sys.float_info.max)
def test_the_greatest_square_is_the_last_one_whose_root_is_within_reach(distance: float) -> None:
    square = greatest_square(distance)
    assert math.sqrt(square) <= distance
    assert math.sqrt(math.nextafter(square, math.inf)) > distance


@pytest.mark.parametrize("count", [1, 2, 40, 5000])
def test_points_of_a_group_are_sorted_by_x_and_then_by_y(count: int) -> None:
    """Groups with many equal coordinates, sorted as Python does; other groups have no influence."""
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


def test_inconsistent_groups_are_refused() -> None:
    """Points outside all groups, groups that one side lacks, and invalid numbers."""
    with pytest.raises(ValueError, match="do not fall into groups"):
        GroupedPoints.of(np.zeros((3, 2)), np.array([0, 2]))
    with pytest.raises(ValueError, match="do not fall into groups"):
        GroupedPoints.of(np.zeros((2, 2)), np.array([0, 3, 2]))
    one, two = points_of([[(0.0, 0.0)]]), points_of([[], []])
    with pytest.raises(ValueError, match="1 groups and 2 do not match"):
        match_few_points(one, two, 1.0, DOUBT)
    for left, right, groups in ((one, two, [0]), (two, two, [2]), (two, two, [-1])):
        with pytest.raises(ValueError, match="are not of both sides"):
            near_points(all_sorted(left), all_sorted(right), np.array(groups), 1.0)


# --- Envelopes, areas and overlap ratios of upright boxes


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
def test_malformed_coordinates_have_no_envelope(width: int) -> None:
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


def test_boxes_are_identical_if_all_four_coordinates_are_equal() -> None:
    first = boxes((0, 0, 1, 1), (0, 0, 1, 1), (0.0, 0, 1, 1))
    second = boxes((0, 0, 1, 1), (0, 0, 1, 2), (-0.0, 0, 1, 1))
    assert identical(first, second).tolist() == [True, False, True]


coordinate = st.floats(-1e9, 1e9)


@given(st.tuples(*[coordinate] * 4), st.tuples(*[coordinate] * 4))
def test_a_ratio_is_between_0_and_1_and_symmetric(
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

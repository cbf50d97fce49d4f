"""Points near each other, against comparing all of a group."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators import geometry
from vidscore_evaluators.geometry import SortedPoints, near_points, sorted_rows

Group = list[tuple[float, float]]
"""Points of one side and group."""

PLACES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e9, 1e9), st.just(-0.0))
GROUP = st.lists(st.tuples(PLACES, PLACES), max_size=12)
SQUARES = st.one_of(st.integers(0, 9).map(float), st.floats(0, 1e18), st.just(float("inf")))


def side_of(groups: list[Group]) -> SortedPoints:
    coordinates = np.array([point for group in groups for point in group], dtype=np.float64)
    starts = np.cumsum([0, *(len(group) for group in groups)])
    return SortedPoints.of(coordinates.reshape(-1, 2), starts)


def compared(left: Group, right: Group, most: float) -> list[tuple[int, int, float]]:
    """Places of all near pairs, and their squared distances, computed as IEEE 754 has it."""
    found = []
    for row, (x, y) in enumerate(sorted(left)):
        for column, (u, v) in enumerate(sorted(right)):
            square = (x - u) * (x - u) + (y - v) * (y - v)
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


@given(sides=st.lists(st.tuples(GROUP, GROUP), max_size=4), most=SQUARES)
def test_a_pair_is_isolated_where_no_other_pair_has_one_of_its_points(
    sides: list[tuple[Group, Group]], most: float
) -> None:
    left, right = ([pair[side] for pair in sides] for side in (0, 1))
    near = near_points(side_of(left), side_of(right), np.arange(len(sides)), most)
    expected = []
    for mine, others in sides:
        pairs = [pair[:2] for pair in compared(mine, others, most)]
        lefts, rights = Counter(row for row, _ in pairs), Counter(row for _, row in pairs)
        expected += [lefts[row] == rights[column] == 1 for row, column in pairs]
    assert near.are_isolated().tolist() == expected


@pytest.mark.parametrize("count", [1, 2, 40, 5000])
def test_points_of_a_group_are_sorted_by_x_and_then_by_y(count: int) -> None:
    """Groups with many equal coordinates, as Python sorts them; other groups play no part."""
    random = np.random.default_rng(count)
    coordinates = random.integers(0, 20, size=(3 * count, 2)).astype(np.float64)
    starts = np.array([0, count, count, 3 * count])
    found = SortedPoints.of(coordinates, starts)
    expected = [*sorted(coordinates[:count].tolist()), *sorted(coordinates[count:].tolist())]
    assert found.coordinates.tolist() == expected
    assert found.counts.tolist() == [count, 0, 2 * count]


@given(groups=st.lists(GROUP, max_size=4))
def test_the_rows_of_sorted_points_are_those_of_a_stable_sort(groups: list[Group]) -> None:
    """By x and then by y within a group; zeros of both signs are equal."""
    coordinates = np.array([point for group in groups for point in group]).reshape(-1, 2)
    starts = np.cumsum([0, *map(len, groups)])
    expected = [
        start + row
        for start, group in zip(starts.tolist(), groups, strict=False)
        for row in sorted(range(len(group)), key=group.__getitem__)
    ]
    assert sorted_rows(coordinates, starts).tolist() == expected


def test_pairs_that_are_kept_stay_with_their_groups() -> None:
    """Of two groups with two pairs and one, the first pair and the last are kept."""
    line = [(0.0, 0.0), (1.0, 0.0)]
    near = near_points(
        side_of([[(0.0, 0.0)], line[:1]]), side_of([line, line[1:]]), np.arange(2), 1
    )
    assert near.squares.tolist() == [0.0, 1.0, 1.0]
    kept = near.take(np.array([True, False, True]))
    assert (kept.counts.tolist(), kept.left.tolist(), kept.right.tolist()) == (
        [1, 1],
        [0, 0],
        [0, 0],
    )
    assert kept.squares.tolist() == [0.0, 1.0]


def test_what_would_lead_the_search_astray_is_refused() -> None:
    """Points outside all groups, groups that one side does not have, and numbers of none."""
    with pytest.raises(ValueError, match="do not fall into groups"):
        SortedPoints.of(np.zeros((3, 2)), np.array([0, 2]))
    with pytest.raises(ValueError, match="do not fall into groups"):
        SortedPoints.of(np.zeros((2, 2)), np.array([0, 3, 2]))
    one, two = side_of([[(0.0, 0.0)]]), side_of([[], []])
    for left, right, groups in ((one, two, [0]), (two, two, [2]), (two, two, [-1])):
        with pytest.raises(ValueError, match="are not of both sides"):
            near_points(left, right, np.array(groups), 1.0)

"""Pairs of shapes that overlap, group by group."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import shapely
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.arrays import starts_from_counts
from vidscore_evaluators.geometry import bounding_boxes, box_areas, overlap_ratios
from vidscore_evaluators.pairs import Pairs
from vidscore_evaluators.shapes import (
    Shapes,
    boxes_as_shapes,
    join_groups,
    overlapping_pairs,
    overlapping_self_pairs,
)

Groups = list[list[tuple[float, ...]]]

lattice = st.integers(0, 6).map(float)
box_lists = st.lists(st.tuples(*[lattice] * 4), max_size=5)


def shapes(groups: Groups) -> Shapes:
    rows = np.array([box for group in groups for box in group]).reshape(-1, 4)
    return boxes_as_shapes(
        starts_from_counts(np.array([len(g) for g in groups])), bounding_boxes(rows)
    )


def as_set(pairs: Pairs) -> set[tuple[int, int]]:
    found = list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert len(found) == len(set(found))
    return set(found)


def ratio(left: Shapes, row: int, right: Shapes, other: int) -> float:
    return float(overlap_ratios(left.boxes[[row]], right.boxes[[other]])[0])


@given(st.lists(st.tuples(box_lists, box_lists), min_size=1, max_size=3), st.floats(0, 1))
def test_pairs_are_those_that_trying_all_finds(
    groups: list[tuple[list[tuple[float, ...]], list[tuple[float, ...]]]], least: float
) -> None:
    left, right = shapes([mine for mine, _ in groups]), shapes([theirs for _, theirs in groups])
    expected = {
        (row, other)
        for row, other in product(range(len(left)), range(len(right)))
        if left.groups[row] == right.groups[other]
        and ratio(left, row, right, other) >= least
        and ratio(left, row, right, other) > 0
    }
    assert as_set(overlapping_pairs(left, right, lambda ratios: ratios >= least)) == expected


@given(st.lists(box_lists, min_size=1, max_size=3), st.floats(0, 1.5))
def test_twins_are_the_pairs_of_one_side_that_trying_all_finds(
    groups: Groups, least: float
) -> None:
    side = shapes(groups)
    expected = {
        (row, other)
        for row, other in combinations(range(len(side)), 2)
        if side.groups[row] == side.groups[other]
        and (
            0 < ratio(side, row, side, other) > least
            or side.boxes[row].tolist() == side.boxes[other].tolist()
        )
    }
    twins = overlapping_self_pairs(side, lambda ratios: ratios > least)
    low, high = np.minimum(twins.left, twins.right), np.maximum(twins.left, twins.right)
    assert as_set(Pairs(low, high)) == expected


def test_a_polygon_overlaps_by_its_area_and_not_by_its_box() -> None:
    """The left half of (0, 0, 10, 10) shares 5 with a box of 25 around the middle: 5 / 70."""
    half = np.array([shapely.box(0, 0, 5, 10)], dtype=np.object_)
    box = np.array([[0.0, 0, 10, 10]])
    left = Shapes(np.array([0, 1]), box, np.array([50.0]), half)
    right = boxes_as_shapes(np.array([0, 1]), np.array([[4.0, 2, 9, 7]]))
    assert as_set(overlapping_pairs(left, right, lambda ratios: ratios >= 5 / 70)) == {(0, 0)}
    assert as_set(overlapping_pairs(left, right, lambda ratios: ratios > 5 / 70 + 1e-12)) == set()


def test_joined_sides_keep_their_groups_and_tell_where_a_shape_came_from() -> None:
    first = shapes([[(0, 0, 1, 1)], [(0, 0, 2, 2)]])
    second = shapes([[(0, 0, 3, 3)], []])
    joined, rows = join_groups(first, second)
    assert joined.group_starts.tolist() == [0, 2, 3]
    assert joined.areas.tolist() == box_areas(joined.boxes).tolist() == [1, 9, 4]
    assert rows.tolist() == [0, 2, 1]
    assert joined.polygons is None


def test_joining_keeps_polygons() -> None:
    first = shapes([[(0, 0, 1, 1)]])
    half = np.array([shapely.box(0, 0, 5, 10)], dtype=np.object_)
    second = Shapes(np.array([0, 1]), np.array([[0.0, 0, 10, 10]]), np.array([50.0]), half)
    joined, _ = join_groups(first, second)
    assert joined.are_uneven(np.array([0, 1])).tolist() == [False, True]
    assert shapely.area(joined.polygons_of(np.array([0, 1]))).tolist() == [1, 50]

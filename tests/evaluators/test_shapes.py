"""Shapes: pairs that overlap, areas of convex polygons, and merging."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluators import exact_areas
from tests.evaluators.neovision2 import oracle

from vidscore_evaluators.arrays import BoolArray, FloatArray, starts_from_counts
from vidscore_evaluators.geometry import bounding_boxes, box_areas, overlap_ratios
from vidscore_evaluators.pairs import Pairs
from vidscore_evaluators.shapes import (
    Merged,
    MergedShape,
    Shapes,
    box_polygons,
    boxes_as_shapes,
    join_groups,
    merge_overlapping,
    overlapping_pairs,
    overlapping_self_pairs,
    quadrilateral_polygons,
    sides_cross,
    unions_of_runs,
)

# --- Pairs of shapes that overlap, group by group


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
def test_pairs_equal_those_of_trying_all(
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
def test_self_pairs_equal_those_of_trying_all_pairs_of_one_side(
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


def test_joined_sides_keep_their_groups_and_the_origin_of_each_shape() -> None:
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


# --- Quadrilaterals as polygons, and unions of runs of polygons


Point = tuple[int, int]

SQUARE = (0, 0, 10, 0, 10, 10, 0, 10)
BOW_TIE = (0, 0, 10, 10, 10, 0, 0, 10)
KITE = (0, 0, 10, 5, 0, 10, 2, 5)
SPIKE = (0, 0, 10, 0, 10, 10, 5, 0)
FLAT = (0, 0, 5, 5, 10, 10, 2, 2)
POINT = (3, 3, 3, 3, 3, 3, 3, 3)


@pytest.mark.parametrize(
    ("corners", "crossing", "area"),
    [
        pytest.param(SQUARE, False, 100, id="a square is itself"),
        pytest.param(SQUARE[::-1], False, 100, id="so it is the other way round"),
        pytest.param(BOW_TIE, True, 100, id="a bow tie is its hull, the square"),
        pytest.param(KITE, False, 40, id="a corner that points inwards stays"),
        pytest.param(SPIKE, False, 25, id="a side that runs back is no crossing and no area"),
        pytest.param(FLAT, False, 0, id="corners on a line have no area"),
        pytest.param(POINT, False, 0, id="four times one corner has no area"),
        pytest.param((0, 0, 9, 0, 9, 0, 0, 8), False, 36, id="a corner given twice: a triangle"),
    ],
)
def test_a_quadrilateral_becomes_its_area_or_its_hull_if_sides_cross(
    corners: tuple[float, ...], crossing: bool, area: float
) -> None:
    outline = np.array([corners], dtype=np.float64)
    assert sides_cross(outline).tolist() == [crossing]
    [polygon] = quadrilateral_polygons(outline)
    assert polygon.is_valid
    assert polygon.area == area


def crosses(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Whether the segments from a to b and from c to d cross at an inner point of both."""

    def side(start: Point, end: Point, point: Point) -> int:
        turn = (end[0] - start[0]) * (point[1] - start[1])
        turn -= (end[1] - start[1]) * (point[0] - start[0])
        return (turn > 0) - (turn < 0)

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


@given(st.lists(st.lists(st.tuples(*[st.integers(0, 6)] * 2), min_size=4, max_size=4)))
def test_sides_cross_if_one_of_the_two_opposite_pairs_does(outlines: list[list[Point]]) -> None:
    corners = np.array(outlines, dtype=np.float64).reshape(len(outlines), 8)
    expected = [crosses(a, b, c, d) or crosses(b, c, d, a) for a, b, c, d in outlines]
    assert sides_cross(corners).tolist() == expected


def test_shapes_without_four_corners_are_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        sides_cross(np.zeros((2, 4)))


def test_no_quadrilaterals_are_no_polygons() -> None:
    assert len(quadrilateral_polygons(np.zeros((0, 8)))) == 0


def test_each_run_is_united_separately() -> None:
    """Runs of 1, 3 and 1 boxes: 4, then two halves and what overlaps them, then 9."""
    boxes = np.array(
        [(0, 0, 2, 2), (0, 0, 1, 1), (1, 0, 2, 1), (0.5, 0, 1.5, 1), (0, 0, 3, 3)], dtype=float
    )
    unions = unions_of_runs(box_polygons(boxes), np.array([1, 3, 1]))
    assert shapely.area(unions).tolist() == [4, 2, 9]


# --- Merging of overlapping boxes into their enclosing box or their union


FIFTH = (4.0, 0.0, 10.0, 10.0)
"""Overlaps (0, 0, 6, 10) by exactly 0.2."""


def over(ratios: FloatArray) -> BoolArray:
    found: BoolArray = ratios > 0.2 + 1e-9
    return found


def merge(*groups: Sequence[tuple[float, ...]], merged_shape: MergedShape = "box") -> Merged:
    rows = np.array([box for group in groups for box in group]).reshape(-1, 4)
    starts = starts_from_counts(np.array([len(group) for group in groups]))
    return merge_overlapping(boxes_as_shapes(starts, bounding_boxes(rows)), over, merged_shape)


def test_boxes_that_overlap_by_exactly_the_threshold_stay_apart() -> None:
    assert len(merge([(0, 0, 6, 10), FIFTH]).shapes) == 2


def test_boxes_that_overlap_by_more_become_their_enclosing_box() -> None:
    merged = merge([(0, 0, 6, 10), (3.9, 0, 9.9, 10)])
    assert merged.shapes.boxes.tolist() == [[0, 0, 9.9, 10]]
    assert merged.labels.tolist() == [0, 0]


def test_identical_boxes_always_merge_even_without_area() -> None:
    merged = merge([(1, 1, 1, 5), (0, 0, 2, 2), (1, 1, 1, 5), (0, 0, 2, 2)])
    assert merged.shapes.boxes.tolist() == [[1, 1, 1, 5], [0, 0, 2, 2]]
    assert merged.labels.tolist() == [0, 1, 0, 1]


def test_boxes_without_area_that_differ_stay_apart() -> None:
    assert len(merge([(1, 1, 1, 5), (1, 1, 1, 6), (0, 0, 9, 9)]).shapes) == 3


def test_identical_boxes_of_different_groups_stay_apart() -> None:
    merged = merge([(0, 0, 2, 2)], [(0, 0, 2, 2)])
    assert merged.shapes.group_starts.tolist() == [0, 1, 2]


def test_a_chain_becomes_one_box_although_its_ends_do_not_touch() -> None:
    """Each link shares 5 of 10 with the next: 50 / 150."""
    chain = [(5.0 * link, 0.0, 5.0 * link + 10, 10.0) for link in (2, 0, 3, 1)]
    merged = merge(chain)
    assert merged.shapes.boxes.tolist() == [[0, 0, 25, 10]]


@pytest.mark.parametrize(
    ("boxes", "boxes_left", "unions_left"),
    [
        pytest.param(
            # a = 0..10 x 0..10 and b = 6..16 x 0..10 share 40 of 160. Together they are 16 x 10.
            # c = 0..16 x 8..18 shares 20 with a (20/240) and 20 with b, and 32 with both:
            # 32 / (160 + 160 - 32) is below a fifth: nothing more in either shape.
            [(0, 0, 10, 10), (6, 0, 16, 10), (0, 8, 16, 18)],
            [[0, 0, 16, 10], [0, 8, 16, 18]],
            [160.0, 160.0],
            id="one round",
        ),
        pytest.param(
            # a and b share 9 of 41 in a corner: enclosed 7 x 7 = 49, united 41.
            # c = 5..8 x 0..2 lies in the empty corner and shares nothing with either. With the
            # box it shares 4 of 49 + 6 - 4.
            [(0, 0, 5, 5), (2, 2, 7, 7), (5, 0, 8, 2)],
            [[0, 0, 7, 7], [5, 0, 8, 2]],
            [41.0, 6.0],
            id="a corner",
        ),
        pytest.param(
            # a and b share 9 of 41; enclosed 0..7 x 0..7 = 49. c = 4..7 x 0..4 shares 4 with a,
            # 6 with b: 4 / 33 and 6 / 31 are below a fifth. With the box it shares 12: 12 / 49
            # is over. With the union it shares 4 + 6 - 2 = 8: 8 / (41 + 12 - 8) is not.
            [(0, 0, 5, 5), (2, 2, 7, 7), (4, 0, 7, 4)],
            [[0, 0, 7, 7]],
            [41.0, 12.0],
            id="a second round for the box only",
        ),
    ],
)
def test_rounds_continue_with_the_merged_boxes(
    boxes: list[tuple[float, ...]], boxes_left: list[list[float]], unions_left: list[float]
) -> None:
    assert merge(boxes).shapes.boxes.tolist() == boxes_left
    assert merge(boxes, merged_shape="union").shapes.areas.tolist() == unions_left


def test_a_second_round_can_merge_unions_too() -> None:
    """a and b share 50 of 150. c shares 40 of 210 with each, and 60 of 240 with both."""
    boxes = [(0.0, 0.0, 10.0, 10.0), (0.0, 5.0, 10.0, 15.0), (6.0, 0.0, 16.0, 15.0)]
    merged = merge(boxes, merged_shape="union")
    assert merged.shapes.areas.tolist() == [240.0]
    assert merged.shapes.boxes.tolist() == [[0, 0, 16, 15]]


def test_a_union_that_fills_its_envelope_is_not_a_polygon() -> None:
    merged = merge([(0, 0, 10, 10), (5, 0, 15, 10)], merged_shape="union")
    assert not merged.shapes.are_uneven(np.array([0])).any()


wide_lattice = st.integers(0, 8).map(float)
groups = st.lists(st.lists(st.tuples(*[wide_lattice] * 4), max_size=6), min_size=1, max_size=2)


@given(groups, st.sampled_from(("box", "union")))
def test_merging_gives_the_same_as_merging_pair_by_pair(
    boxes: list[list[tuple[float, ...]]], merged_shape: MergedShape
) -> None:
    merged = merge(*boxes, merged_shape=merged_shape)
    found = zip(merged.shapes.groups.tolist(), merged.shapes.boxes.tolist(), strict=True)
    rules = oracle.Rules(union=merged_shape == "union")
    expected = [
        (group, [float(side) for side in shape.box])
        for group, mine in enumerate(boxes)
        for shape in oracle.merge(
            [exact_areas.envelope(exact_areas.points(box)) for box in mine], rules
        )
    ]
    assert sorted(found) == sorted(expected)


@given(groups, st.sampled_from(("box", "union")))
def test_nothing_is_left_to_merge_and_every_box_lies_in_its_merged_shape(
    boxes: list[list[tuple[float, ...]]], merged_shape: MergedShape
) -> None:
    merged = merge(*boxes, merged_shape=merged_shape)
    assert len(overlapping_self_pairs(merged.shapes, over)) == 0
    flat = bounding_boxes(np.array([box for group in boxes for box in group]).reshape(-1, 4))
    became = merged.shapes.polygons_of(merged.labels)
    # Versions of GEOS differ on whether an outline without area covers itself.
    wide = (flat[:, :2] < flat[:, 2:]).all(axis=1)
    assert shapely.covers(became, shapely.box(*flat.T))[wide].all()

"""Outlines of quadrilaterals and shared areas: by hand, exactly, and against shapely."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from hypothesis import example, given
from hypothesis import strategies as st
from tests.evaluators import exact_areas

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.geometry import intersection_areas
from vidscore_evaluators.quadrilaterals import (
    are_by_axis,
    are_rotated,
    outline_areas,
    outlines_of,
    shared_areas,
)
from vidscore_evaluators.shapes import quadrilateral_polygons

Corners = tuple[float, ...]

TEN: Corners = (0, 0, 10, 0, 10, 10, 0, 10)
DIAMOND: Corners = (0, 10, 10, 0, 20, 10, 10, 20)


def outline(corners: Corners) -> FloatArray:
    return outlines_of(np.array([corners], dtype=np.float64))


def shared(first: Corners, second: Corners) -> float:
    return float(shared_areas(outline(first), outline(second))[0])


@pytest.mark.parametrize(
    ("corners", "expected"),
    [
        pytest.param((2, 2, 5, 2, 5, 4, 2, 4), 6, id="a rectangle inside"),
        pytest.param((2, 4, 5, 4, 5, 2, 2, 2), 6, id="the other way round"),
        pytest.param((-5, -5, 15, -5, 15, 15, -5, 15), 100, id="all of it"),
        pytest.param((20, 0, 30, 0, 30, 10, 20, 10), 0, id="beside it"),
        pytest.param((10, 0, 20, 5, 20, 9, 10, 9), 0, id="along a side"),
        pytest.param((10, 10, 20, 10, 20, 20, 12, 18), 0, id="at a corner"),
        pytest.param((9, 21, 21, 9, 30, 20, 20, 30), 0, id="only the envelopes overlap"),
        pytest.param((0, -5, 10, 5, 10, 15, 0, 5), 75, id="a slanted strip, cut at two corners"),
        pytest.param((5, -3, 13, 5, 5, 13, -3, 5), 100 - 4 * 2, id="a diamond cuts the corners"),
        pytest.param((0, 0, 10, 0, 5, 5, 10, 10), 25, id="an arrowhead"),
        pytest.param((10, 10, 5, 5, 10, 0, 0, 0), 25, id="the arrowhead from elsewhere"),
        pytest.param((0, 0, 10, 10, 10, 0, 0, 10), 100, id="a bow tie is its hull"),
        pytest.param((0, 0, 10, 0, 0, 10, 10, 10), 100, id="the other bow tie, too"),
        pytest.param((0, 0, 10, 0, 10, 0, 0, 10), 50, id="a corner given twice: a triangle"),
        pytest.param((0, 0, 5, 0, 10, 0, 0, 10), 50, id="three corners on a line"),
        pytest.param((0, 0, 10, 0, 10, 0, 0, 0), 0, id="flat"),
        pytest.param((0, 0, 5, 5, 10, 10, 2, 2), 0, id="flat and slanted"),
        pytest.param((3, 3, 3, 3, 3, 3, 3, 3), 0, id="four times one corner"),
        pytest.param((0, 0, 10, 0, 4, 0, 4, 10), 20, id="a triangle with a spike"),
        pytest.param((-3, 0, -3, 0, -3, 0, -3 + 5e-16, 0), 0, id="next to nothing, beside it"),
        pytest.param((0, 11, 0, 11, 0, 11, 1e-309, 11), 0, id="too narrow to divide by"),
    ],
)
def test_areas_shared_with_a_square_by_hand(corners: Corners, expected: float) -> None:
    assert shared(TEN, corners) == pytest.approx(expected, abs=1e-13)
    assert shared(corners, TEN) == shared(TEN, corners)


def test_a_diamond_in_a_square_has_half_of_its_area() -> None:
    """A diamond of 200 in a square of 400 with the same envelope."""
    square = (0, 0, 20, 0, 20, 20, 0, 20)
    assert outline_areas(outline(DIAMOND)).tolist() == [200]
    assert shared(DIAMOND, square) == 200


whole = st.integers(-6, 6).map(float)
real = st.floats(-20, 20, width=32)
quadrilaterals = st.one_of(st.tuples(*[whole] * 8), st.tuples(*[real] * 8))


def is_sure(corners: Corners) -> bool:
    """Whether double precision decides reliably on which side of two others a corner lies."""
    least = 1e-12 * max(map(abs, corners)) ** 2
    turns = exact_areas.turns(exact_areas.points(corners))
    return all(turn == 0 or abs(turn) > least for turn in turns)


def exact_shared(first: Corners, second: Corners) -> float:
    """The shared area in rational numbers, from triangles that never overlap."""
    total = exact_areas.shared_by_triangles(exact_areas.points(first), exact_areas.points(second))
    return float(total)


@given(quadrilaterals.filter(is_sure), quadrilaterals.filter(is_sure))
def test_the_shared_area_equals_that_in_rational_numbers(first: Corners, second: Corners) -> None:
    """For all shapes: crossed, non-convex, flat; to 1e-12 of the square in which they lie."""
    extent = max(map(abs, (*first, *second)))
    expected = exact_shared(first, second)
    assert shared(first, second) == pytest.approx(expected, abs=1e-12 * max(1.0, extent**2))
    if all(map(float.is_integer, (*first, *second))):
        assert shared(first, second) == pytest.approx(expected, rel=1e-14, abs=1e-14)


def rectangles(random: np.random.Generator, count: int, offset: float) -> FloatArray:
    """Rectangles of up to 80 x 30 pixels at any angle, around places 30 pixels wide."""
    centres = offset + random.random((count, 2)) * 30
    angles = random.random(count) * math.tau
    along = np.stack([np.cos(angles), np.sin(angles)], axis=1) * (
        5 + 35 * random.random((count, 1))
    )
    across = np.stack([-np.sin(angles), np.cos(angles)], axis=1)
    across = across * (2 + 13 * random.random((count, 1)))
    corners = [along + across, across - along, -along - across, along - across]
    return np.concatenate([centres + corner for corner in corners], axis=1)


def polygon_ious(first: FloatArray, second: FloatArray) -> FloatArray:
    """With shapely."""
    mine, theirs = (
        shapely.polygons(first.reshape(-1, 4, 2)),
        shapely.polygons(second.reshape(-1, 4, 2)),
    )
    both = shapely.area(shapely.intersection(mine, theirs))
    union = np.asarray(shapely.area(mine) + shapely.area(theirs) - both, dtype=np.float64)
    ratios: FloatArray = both / union
    return ratios


def ious(first: FloatArray, second: FloatArray) -> FloatArray:
    mine, theirs = outlines_of(first), outlines_of(second)
    both = shared_areas(mine, theirs)
    union: FloatArray = outline_areas(mine) + outline_areas(theirs) - both
    return both / union


@pytest.mark.parametrize("offset", [0.0, 4000.0])
def test_the_overlap_of_rotated_rectangles_equals_shapelys_to_1e_12(offset: float) -> None:
    random = np.random.default_rng(7)
    first, second = rectangles(random, 20_000, offset), rectangles(random, 20_000, offset)
    found = ious(first, second)
    assert np.abs(found - polygon_ious(first, second)).max() < 1e-12
    assert 0.3 < (found > 0.1).mean() < 0.9


def test_the_overlap_of_any_quadrilaterals_equals_shapelys_to_1e_12() -> None:
    """Random corners: a third convex, a third non-convex, a third crossed."""
    random = np.random.default_rng(8)
    first, second = random.random((2, 20_000, 8)) * 40
    mine, theirs = quadrilateral_polygons(first), quadrilateral_polygons(second)
    both = shapely.area(shapely.intersection(mine, theirs))
    expected = both / (shapely.area(mine) + shapely.area(theirs) - both)
    assert np.abs(ious(first, second) - expected).max() < 1e-12


def test_the_overlap_does_not_change_when_both_are_rotated() -> None:
    random = np.random.default_rng(9)
    first, second = rectangles(random, 500, 0.0), rectangles(random, 500, 0.0)
    still = ious(first, second)
    for angle in (0.1, 1.0, math.pi / 2, 3.0):
        turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        turned = [(side.reshape(-1, 4, 2) @ turn.T).reshape(-1, 8) for side in (first, second)]
        assert ious(*turned) == pytest.approx(still, abs=1e-13)


@given(st.tuples(*[whole] * 4), st.tuples(*[real] * 4))
def test_upright_quadrilaterals_share_what_boxes_share_to_the_last_bit(
    first: Corners, second: Corners
) -> None:
    boxes = [
        np.array([np.sort(np.reshape(box, (2, 2)), axis=0).ravel()]) for box in (first, second)
    ]
    mine, theirs = map(outlines_of, boxes)
    assert shared_areas(mine, theirs).tolist() == intersection_areas(boxes[0], boxes[1]).tolist()
    width, height = (boxes[0][:, 2:] - boxes[0][:, :2]).T
    assert outline_areas(mine).tolist() == (width * height).tolist()


@given(quadrilaterals)
# Its sides cross because of rounding.
@example((7.976816975481616e-19, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0))
def test_an_outline_is_the_same_from_every_corner_and_in_either_direction(corners: Corners) -> None:
    given_points = np.reshape(corners, (4, 2))
    outlines = [
        outline(tuple(np.roll(points, shift, axis=0).ravel()))
        for points in (given_points, given_points[::-1])
        for shift in range(4)
    ]
    areas = [float(outline_areas(found)[0]) for found in outlines]
    assert len(set(areas)) == 1
    if areas[0] > 0.0:
        assert len({found.tobytes() for found in outlines}) == 1
        assert shared(corners, tuple(given_points[::-1].ravel())) == areas[0]


def test_no_item_depends_on_its_neighbours() -> None:
    random = np.random.default_rng(5)
    first, second = random.uniform(0, 10, size=(2, 50, 8))
    alone = [shared(tuple(one), tuple(other)) for one, other in zip(first, second, strict=True)]
    assert shared_areas(outlines_of(first), outlines_of(second)).tolist() == alone


def test_all_axes_but_that_of_the_corners_broadcast() -> None:
    """Three outlines against two: a matrix of 3 x 2 areas."""
    random = np.random.default_rng(6)
    first, second = outlines_of(random.random((3, 8))), outlines_of(random.random((2, 8)))
    areas = shared_areas(first[:, None], second[None, :])
    assert areas.shape == (3, 2)
    assert areas[2, 1] == shared_areas(first[2], second[1])


def test_arrays_that_are_neither_boxes_nor_four_corners_are_refused() -> None:
    with pytest.raises(ValueError, match="2 coordinates are neither a box nor four corners"):
        outlines_of(np.zeros((1, 2)))


@pytest.mark.parametrize(("degrees", "rotated"), [(0, False), (90, False), (1, True), (45, True)])
def test_a_square_is_rotated_if_it_leaves_out_corners_of_its_box(
    degrees: float, rotated: bool
) -> None:
    """A quarter turn leaves out none, although it is computed with rounding."""
    angles = np.radians(degrees + 45.0 + 90.0 * np.arange(4))
    square = 100.0 + 0.35 * np.column_stack([np.cos(angles), np.sin(angles)])
    assert are_rotated(square.reshape(1, 8)).tolist() == [rotated]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3), (0, 1, 3, 2)])
def test_a_parallelogram_with_all_x_before_all_y_is_recognised_in_any_order_of_its_corners(
    order: tuple[int, ...],
) -> None:
    corners = np.array([(20.0, 300.0), (60.0, 310.0), (65.0, 350.0), (25.0, 340.0)])[list(order)]
    assert are_by_axis(corners.T.reshape(1, 8)).tolist() == [True]
    assert are_by_axis(corners.reshape(1, 8)).tolist() == [False]


def test_corners_that_form_no_parallelogram_are_not_recognised() -> None:
    """Neither as pairs nor with all x first."""
    corners = np.array([[0.0, 0.0, 10.0, 0.0, 12.0, 9.0, -3.0, 4.0]])
    assert are_by_axis(corners).tolist() == [False]


def diagonals_apart(points: list[tuple[int, int]]) -> int:
    """Twice the distance between the midpoints of two diagonals, for the best pair of diagonals."""
    a, b, c, d = points
    return min(
        max(abs(p[axis] + q[axis] - r[axis] - s[axis]) for axis in (0, 1))
        for p, q, r, s in ((a, c, b, d), (a, b, c, d), (a, d, b, c))
    )


@given(st.lists(st.integers(-20, 20), min_size=8, max_size=8))
@example([20, 60, 65, 25, 300, 310, 350, 340])
def test_all_x_before_all_y_is_recognised_by_the_diagonals(numbers: list[int]) -> None:
    other = list(zip(numbers[:4], numbers[4:], strict=True))
    as_given = list(zip(numbers[::2], numbers[1::2], strict=True))
    size = max(max(half) - min(half) for half in (numbers[:4], numbers[4:]))
    # 20 and 4 times: one twentieth of the size, and a quarter.
    expected = 20 * diagonals_apart(other) < size and 4 * diagonals_apart(as_given) > size
    assert are_by_axis(np.array([numbers], dtype=np.float64)).tolist() == [expected]

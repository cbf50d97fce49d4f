"""Quadrilaterals as polygons, and unions of runs of polygons."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.shapes import (
    box_polygons,
    quadrilateral_polygons,
    sides_cross,
    unions_of_runs,
)

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
def test_a_quadrilateral_stands_for_its_area_and_for_its_hull_where_sides_cross(
    corners: tuple[float, ...], crossing: bool, area: float
) -> None:
    outline = np.array([corners], dtype=np.float64)
    assert sides_cross(outline).tolist() == [crossing]
    [polygon] = quadrilateral_polygons(outline)
    assert polygon.is_valid
    assert polygon.area == area


def crosses(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Whether the segments from a to b and from c to d cross at a point inside both."""

    def side(start: Point, end: Point, point: Point) -> int:
        turn = (end[0] - start[0]) * (point[1] - start[1])
        turn -= (end[1] - start[1]) * (point[0] - start[0])
        return (turn > 0) - (turn < 0)

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


@given(st.lists(st.lists(st.tuples(*[st.integers(0, 6)] * 2), min_size=4, max_size=4)))
def test_sides_cross_where_one_of_the_two_opposite_pairs_does(outlines: list[list[Point]]) -> None:
    corners = np.array(outlines, dtype=np.float64).reshape(len(outlines), 8)
    expected = [crosses(a, b, c, d) or crosses(b, c, d, a) for a, b, c, d in outlines]
    assert sides_cross(corners).tolist() == expected


def test_what_has_not_four_corners_is_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        sides_cross(np.zeros((2, 4)))


def test_no_quadrilaterals_are_no_polygons() -> None:
    assert len(quadrilateral_polygons(np.zeros((0, 8)))) == 0


def test_each_run_is_united_by_itself() -> None:
    """Runs of 1, 3 and 1 boxes: 4, then two halves and what overlaps them, then 9."""
    boxes = np.array(
        [(0, 0, 2, 2), (0, 0, 1, 1), (1, 0, 2, 1), (0.5, 0, 1.5, 1), (0, 0, 3, 3)], dtype=float
    )
    unions = unions_of_runs(box_polygons(boxes), np.array([1, 3, 1]))
    assert shapely.area(unions).tolist() == [4, 2, 9]

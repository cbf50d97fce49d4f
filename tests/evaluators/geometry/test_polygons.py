"""Quadrilaterals as polygons, and unions of runs of polygons."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from vidscore_evaluators.geometry.polygons import (
    box_polygons,
    quadrilateral_polygons,
    sides_cross,
    unions_of_runs,
)

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
    given = np.array([corners], dtype=np.float64)
    assert sides_cross(given).tolist() == [crossing]
    [polygon] = quadrilateral_polygons(given)
    assert polygon.is_valid
    assert polygon.area == area


def test_no_quadrilaterals_are_no_polygons() -> None:
    assert len(quadrilateral_polygons(np.zeros((0, 8)))) == 0


def test_each_run_is_united_by_itself() -> None:
    """Runs of 1, 3 and 1 boxes: 4, then two halves and what overlaps them, then 9."""
    boxes = np.array(
        [(0, 0, 2, 2), (0, 0, 1, 1), (1, 0, 2, 1), (0.5, 0, 1.5, 1), (0, 0, 3, 3)], dtype=float
    )
    unions = unions_of_runs(box_polygons(boxes), np.array([1, 3, 1]))
    assert shapely.area(unions).tolist() == [4, 2, 9]

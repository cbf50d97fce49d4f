"""Areas of clipped quadrilaterals, by hand and beside general polygons."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import assume, given
from hypothesis import strategies as st

from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.regions import clipped_areas
from vidscore_evaluators.shapes import box_polygons, quadrilateral_polygons, sides_cross

TEN = (0.0, 0.0, 10.0, 10.0)


@pytest.mark.parametrize(
    ("corners", "expected"),
    [
        pytest.param((2, 2, 5, 2, 5, 4, 2, 4), 6, id="a rectangle inside"),
        pytest.param((2, 4, 5, 4, 5, 2, 2, 2), 6, id="the other way round"),
        pytest.param((-5, -5, 15, -5, 15, 15, -5, 15), 100, id="all of the box"),
        pytest.param((20, 0, 30, 0, 30, 10, 20, 10), 0, id="beside it"),
        pytest.param((0, 20, 10, 20, 10, 30, 0, 30), 0, id="above it"),
        pytest.param((0, -5, 10, 5, 10, 15, 0, 5), 75, id="a slanted strip, cut at two corners"),
        pytest.param((0, 0, 10, 0, 5, 5, 10, 10), 25, id="an arrowhead"),
        pytest.param((0, 0, 10, 0, 10, 0, 0, 0), 0, id="flat"),
        pytest.param((0, 0, 10, 0, 4, 0, 4, 10), 20, id="a triangle with a spike"),
        pytest.param((-3, 0, -3, 0, -3, 0, -3 + 5e-16, 0), 0, id="next to nothing, beside it"),
        pytest.param((0, 11, 0, 11, 0, 11, 1e-309, 11), 0, id="too narrow to divide by"),
    ],
)
def test_areas_by_hand(corners: tuple[float, ...], expected: float) -> None:
    [area] = clipped_areas(np.array([corners], dtype=np.float64), np.array([TEN]))
    assert area == pytest.approx(expected, abs=1e-13)


numbers = st.one_of(st.integers(-2, 8).map(float), st.floats(-20, 20))


@given(st.tuples(*[numbers] * 8), st.tuples(*[numbers] * 4))
def test_the_area_is_that_of_general_polygons(
    corners: tuple[float, ...], box: tuple[float, ...]
) -> None:
    """Whatever the shape, as long as no two sides cross and GEOS takes it for a polygon."""
    outlines = np.array([corners])
    assume(not sides_cross(outlines)[0])
    boxes = bounding_boxes(np.array([box]))
    shapes, sides = quadrilateral_polygons(outlines), box_polygons(boxes)
    assume(shapely.is_valid(shapes).all() and shapely.is_valid(sides).all())
    expected = shapely.area(shapely.intersection(shapes, sides))
    assert clipped_areas(outlines, boxes) == pytest.approx(expected, abs=1e-9)


def test_no_item_depends_on_its_neighbours() -> None:
    random = np.random.default_rng(5)
    corners = random.uniform(0, 10, size=(50, 8))
    boxes = bounding_boxes(random.uniform(0, 10, size=(50, 4)))
    alone = [clipped_areas(corners[row : row + 1], boxes[row : row + 1])[0] for row in range(50)]
    assert clipped_areas(corners, boxes).tolist() == alone

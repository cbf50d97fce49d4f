"""Fractions of boxes inside the union of regions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluators import exact_areas

from vidscore_evaluators.arrays import starts_from_counts
from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.regions import Regions, shares_inside
from vidscore_evaluators.shapes import Shapes, boxes_as_shapes

TEN = (0.0, 0.0, 10.0, 10.0)


def upright(x1: float, y1: float, x2: float, y2: float) -> tuple[float, ...]:
    return (x1, y1, x2, y1, x2, y2, x1, y2)


def share(box: tuple[float, ...], *regions: tuple[float, ...]) -> float:
    shapes = boxes_as_shapes(np.array([0, 1]), np.array([box]))
    corners = np.array(regions, dtype=np.float64).reshape(-1, 8)
    [found] = shares_inside(shapes, Regions(np.array([0, len(regions)]), corners)).tolist()
    return float(found)


@pytest.mark.parametrize(
    ("regions", "expected"),
    [
        pytest.param((), 0, id="no region"),
        pytest.param((upright(10, 0, 20, 10),), 0, id="a region that only touches"),
        pytest.param((upright(0, 0, 2, 10),), 0.2, id="a fifth exactly"),
        pytest.param((upright(-5, -5, 50, 50),), 1, id="wholly inside"),
        pytest.param((upright(4, 4, 6, 6),), 0.04, id="a region inside the box"),
        pytest.param((upright(0, 0, 2, 10), upright(2, 0, 4, 10)), 0.4, id="side by side"),
        pytest.param((upright(0, 0, 4, 10), upright(2, 0, 6, 10)), 0.6, id="overlapping"),
        pytest.param((upright(0, 0, 4, 10),) * 2, 0.4, id="the same twice"),
        pytest.param((upright(0, 0, 2, 10),) * 3, 0.2, id="the same three times"),
        pytest.param(
            (upright(0, 0, 4, 10), upright(6, 0, 10, 10), upright(0, 0, 10, 5)), 0.9, id="three"
        ),
        pytest.param(((0, 0, 10, 0, 10, 10, 10, 10),), 0.5, id="a triangle"),
        pytest.param(((5, 0, 10, 5, 5, 10, 0, 5),), 0.5, id="a diamond"),
        pytest.param(((0, 0, 4, 10, 4, 0, 0, 10),), 0.4, id="a crossed region is its hull"),
        # At height y, from y / 10 to 4 + 0.4 y: 40 + 15 of 100.
        pytest.param(((0, 0, 4, 0, 8, 10, 2, 20),), 0.55, id="cut by the box"),
        pytest.param(
            ((0, 0, 10, 0, 0, 10, 0, 10), upright(5, 0, 10, 10)), 0.875, id="slanted and upright"
        ),
        pytest.param((upright(3, 3, 3, 8),), 0, id="a region without area"),
    ],
)
def test_the_fraction_is_that_of_the_union(
    regions: tuple[tuple[float, ...], ...], expected: float
) -> None:
    assert share(TEN, *regions) == pytest.approx(expected, abs=1e-15)


def test_a_box_without_area_has_the_fraction_0() -> None:
    assert share((3.0, 3.0, 3.0, 8.0), upright(0, 0, 10, 10)) == 0


def test_only_regions_of_the_same_group_count() -> None:
    boxes = boxes_as_shapes(np.array([0, 1, 2]), np.array([TEN, TEN]))
    regions = Regions(np.array([0, 0, 1]), np.array([upright(0, 0, 5, 10)]))
    assert shares_inside(boxes, regions).tolist() == [0, 0.5]


lattice = st.integers(0, 6).map(float)
quadrilateral = st.one_of(
    st.tuples(*[lattice] * 8),
    st.builds(lambda x, y, w, h: upright(x, y, x + w, y + h), *[lattice] * 4),
)
groups = st.lists(
    st.tuples(st.lists(st.tuples(*[lattice] * 4), max_size=3), st.lists(quadrilateral, max_size=3)),
    min_size=1,
    max_size=2,
)


Frames = list[tuple[list[tuple[float, ...]], list[tuple[float, ...]]]]
"""Boxes and regions of each frame."""


def arrays_of(frames: Frames) -> tuple[Shapes, Regions]:
    boxes = [box for mine, _ in frames for box in mine]
    corners = [region for _, mine in frames for region in mine]
    shapes = boxes_as_shapes(
        starts_from_counts(np.array([len(mine) for mine, _ in frames])),
        bounding_boxes(np.array(boxes).reshape(-1, 4)),
    )
    starts = starts_from_counts(np.array([len(mine) for _, mine in frames]))
    return shapes, Regions(starts, np.array(corners).reshape(-1, 8))


def exact_share(box: tuple[float, ...], regions: list[tuple[float, ...]]) -> float:
    """By inclusion and exclusion, in fractions; 0 for a box without area."""
    exact_box = exact_areas.envelope(exact_areas.points(box))
    exact = tuple(exact_areas.points(region) for region in regions)
    area = exact_areas.area(exact_box)
    return float(exact_areas.area_inside(exact_box, exact) / area) if area else 0.0


@given(groups)
def test_fractions_equal_those_of_exact_inclusion_and_exclusion(frames: Frames) -> None:
    expected = [exact_share(box, regions) for mine, regions in frames for box in mine]
    assert shares_inside(*arrays_of(frames)) == pytest.approx(expected, abs=1e-12)


@given(groups)
def test_the_greatest_fraction_is_that_of_a_single_region(frames: Frames) -> None:
    expected = [
        max((exact_share(box, [region]) for region in regions), default=0.0)
        for mine, regions in frames
        for box in mine
    ]
    assert shares_inside(*arrays_of(frames), apart=True) == pytest.approx(expected, abs=1e-12)

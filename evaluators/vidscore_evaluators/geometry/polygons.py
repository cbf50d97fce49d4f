"""Polygons as arrays of shapely geometries: from boxes and quadrilaterals, and their unions."""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, starts_from_counts

PolygonArray = NDArray[np.object_]
"""Shapely geometries, None where an item has none."""


def box_polygons(boxes: FloatArray) -> PolygonArray:
    """(N,) polygons of (N, 4) upright boxes."""
    polygons: PolygonArray = np.asarray(shapely.box(*boxes.T), dtype=np.object_)
    return polygons


def quadrilateral_polygons(corners: FloatArray) -> PolygonArray:
    """Areas that quadrilaterals stand for; the convex hull where two sides cross.

    A side that runs back along another (a spike) or a shape that is flat is no crossing: what
    has no area is left out, and the rest is kept as it is.

    Args:
        corners: (N, 8) corners x1, y1, ..., x4, y4 in order along the outline.

    Returns:
        (N,) valid geometries, some perhaps without area.
    """
    rings = shapely.linearrings(corners.reshape(-1, 4, 2))
    polygons: PolygonArray = np.asarray(shapely.polygons(rings), dtype=np.object_)
    crossing = sides_cross(corners)
    polygons[crossing] = shapely.convex_hull(polygons[crossing])
    invalid = ~shapely.is_valid(polygons)
    polygons[invalid] = shapely.make_valid(polygons[invalid])
    return polygons


def sides_cross(corners: FloatArray) -> BoolArray:
    """Tell whether two opposite sides of a quadrilateral cross in their interiors.

    Args:
        corners: (N, 8) corners in order along the outline.

    Returns:
        (N,) booleans.
    """
    first, second, third, fourth = (corners[:, index : index + 2] for index in (0, 2, 4, 6))
    return _cross(first, second, third, fourth) | _cross(second, third, fourth, first)


def unions_of_runs(polygons: PolygonArray, counts: IntArray) -> PolygonArray:
    """Union of each run of polygons.

    Args:
        polygons: (N,) polygons, run after run.
        counts: (K,) polygons in each run, at least 1; they add up to N.

    Returns:
        (K,) geometries.
    """
    unions: PolygonArray = np.empty(len(counts), dtype=np.object_)
    starts = starts_from_counts(counts)[:-1]
    # Runs of one length form a matrix without gaps, which shapely unites row by row.
    for count in np.unique(counts).tolist():
        rows = np.flatnonzero(counts == count)
        matrix = polygons[starts[rows, np.newaxis] + np.arange(count)]
        unions[rows] = shapely.union_all(matrix, axis=1)
    return unions


def _cross(start: FloatArray, end: FloatArray, other: FloatArray, last: FloatArray) -> BoolArray:
    """Whether the segments start-end and other-last cross at a point inside both."""
    apart = _side(start, end, other) * _side(start, end, last) < 0.0
    across = _side(other, last, start) * _side(other, last, end) < 0.0
    crossing: BoolArray = apart & across
    return crossing


def _side(start: FloatArray, end: FloatArray, point: FloatArray) -> FloatArray:
    """Sign that tells on which side of the line start-end a point lies; 0 on it."""
    along, to_point = end - start, point - start
    return np.sign(along[:, 0] * to_point[:, 1] - along[:, 1] * to_point[:, 0])

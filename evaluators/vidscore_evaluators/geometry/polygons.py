"""Polygons as arrays of shapely geometries: from boxes and quadrilaterals, and their unions."""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray

from vidscore_evaluators.annotations import QUADRILATERAL
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, starts_from_counts
from vidscore_evaluators.compiled.library import compiled

PolygonArray = NDArray[np.object_]
"""Shapely geometries, None where an item has none."""

_sides_cross = compiled("sides_cross", np.float64, int, np.bool_)


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
    count = len(corners)
    crossing = np.empty(count, dtype=np.bool_)
    outlines = np.ascontiguousarray(corners, dtype=np.float64).reshape(count, QUADRILATERAL)
    _sides_cross(outlines, count, crossing)
    return crossing


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

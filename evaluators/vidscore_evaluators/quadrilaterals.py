"""Quadrilaterals of any position: outlines, areas, and the area that pairs of them share.

Four corners describe an area, in whichever direction they go around it. The readings of this
project:

1. If two sides of a quadrilateral cross, its corners are assumed to be in the wrong order: it
   stands for their convex hull. Crossings are detected in double precision.
2. A quadrilateral may be non-convex, may have corners on one line, and may repeat a corner, which
   makes it a triangle. A side that runs back along another (a spike) adds nothing.
3. A quadrilateral without area shares none with anything.

An *outline* is the one form of a quadrilateral that depends only on its area, however its corners
were given: (x1, y1, ..., x4, y4) with a positive area, starting at the corner that bends inwards if
there is one, else at the least corner. Every value depends on its own item or pair only.
"""

from __future__ import annotations

import numpy as np

from vidscore_evaluators import kernels
from vidscore_evaluators.annotations import BOX, QUADRILATERAL
from vidscore_evaluators.arrays import BoolArray, FloatArray
from vidscore_evaluators.geometry import bounding_boxes, box_areas

ROUNDING = 1e-6
"""Fraction of its bounding box that an upright box may lack if its corners were computed."""


_STRAIGHT, _SKEW = 0.05, 0.25
"""Distance between the midpoints of both diagonals, divided by the size: upper bound for a
parallelogram of rounded corners, and lower bound for other quadrilaterals."""


def corners_of_boxes(boxes: FloatArray) -> FloatArray:
    """(N, 8) corners of (N, 4) upright boxes, in order along the outline: their outlines."""
    return boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]]


def outlines_of(coordinates: FloatArray) -> FloatArray:
    """Outlines of boxes or quadrilaterals.

    Args:
        coordinates: (N, 4) two opposite corners of upright boxes, or (N, 8) four corners in order
            along the outline, in either direction; in pixels.

    Returns:
        (N, 8) outlines.

    Raises:
        ValueError: If they are neither.
    """
    count, width = coordinates.shape
    if width == BOX:
        return corners_of_boxes(bounding_boxes(coordinates))
    if width != QUADRILATERAL:
        raise ValueError(f"{width} coordinates are neither a box nor four corners")
    outlines = np.empty((count, QUADRILATERAL))
    corners = np.ascontiguousarray(coordinates, dtype=np.float64)
    kernels.quadrilateral_outlines(corners, count, outlines)
    return outlines


def outline_areas(outlines: FloatArray) -> FloatArray:
    """(...) areas of (..., 8) outlines, in square pixels."""
    areas = np.empty(outlines.shape[:-1])
    kernels.outline_areas(np.ascontiguousarray(outlines), areas.size, areas)
    return areas


def are_rotated(corners: FloatArray) -> BoolArray:
    """(N,) whether (N, 8) quadrilaterals leave a part of their bounding boxes uncovered."""
    around = box_areas(bounding_boxes(corners))
    rotated: BoolArray = outline_areas(outlines_of(corners)) < around * (1.0 - ROUNDING)
    return rotated


def are_by_axis(corners: FloatArray) -> BoolArray:
    """(N,) whether (N, 8) numbers form a parallelogram only if read as all x, then all y.

    Boxes are parallelograms, however they are rotated and in whichever order their corners come.
    """
    a, b, c, d = corners.reshape(-1, 4, 2).transpose(1, 0, 2)
    # Most are parallelograms in the given order. Telling so needs no exact size: it is at least the
    # distance of two numbers of one half.
    skew, least = np.abs(a - b + c - d).T, np.abs(a - b).T
    odd = (np.maximum(*skew) > _SKEW * np.maximum(*least)).nonzero()[0]
    found = np.zeros(len(corners), dtype=np.bool_)
    found[odd] = _are_by_axis(corners[odd])
    return found


def _are_by_axis(corners: FloatArray) -> BoolArray:
    given, other = corners.reshape(-1, 4, 2), corners.reshape(-1, 2, 4).transpose(0, 2, 1)
    size = np.ptp(other, axis=1).max(axis=1)
    by_axis: BoolArray = (_apart(other) < _STRAIGHT * size) & (_apart(given) > _SKEW * size)
    return by_axis


def _apart(points: FloatArray) -> FloatArray:
    """(N,) twice the distance of the midpoints of both diagonals of (N, 4, 2) corners, in x or y.

    Four points have three pairs of diagonals; the pair with the least distance counts.
    """
    a, b, c, d = points.transpose(1, 0, 2)
    ways = [np.abs(way).max(axis=1) for way in (a - b + c - d, a + b - c - d, a - b - c + d)]
    apart: FloatArray = np.minimum.reduce(ways)
    return apart


def shared_areas(first: FloatArray, second: FloatArray) -> FloatArray:
    """Areas that pairs of outlines share; swapping a pair gives the same area to the last bit.

    Args:
        first: (..., 8) outlines.
        second: (..., 8) outlines; all but the last axes broadcast.

    Returns:
        (...) areas in square pixels, none greater than that of either outline. For two upright
        boxes it is exactly `vidscore_evaluators.geometry.intersection_areas`.
    """
    shape = np.broadcast_shapes(first.shape, second.shape)
    mine, theirs = (np.ascontiguousarray(np.broadcast_to(side, shape)) for side in (first, second))
    areas = np.empty(shape[:-1])
    kernels.shared_areas(mine, theirs, areas.size, areas)
    return areas

"""Upright boxes: envelopes, areas and overlaps, item by item.

A box is x1, y1, x2, y2 with x1 <= x2 and y1 <= y2, in pixels. Coordinates are taken as they are:
nothing is clipped to an image, and a box from 0 to 10 is 10 wide, not 11. Every value depends on
its own item alone, so that it never changes with what stands beside it.
"""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.compiled.library import compiled

_envelopes = compiled("envelopes", np.float64, int, int, np.float64)


def envelopes(coordinates: FloatArray) -> FloatArray:
    """Smallest upright boxes around objects.

    Args:
        coordinates: (N, 2 K) points x, y of each object: two opposite corners of a box, or four
            corners of a quadrilateral, in any order.

    Returns:
        (N, 4) upright boxes.

    Raises:
        ValueError: If coordinates are no points.
    """
    count, width = coordinates.shape
    if width < 2 or width % 2:
        raise ValueError(f"{width} coordinates are no points x, y")
    boxes = np.empty((count, 4))
    _envelopes(np.ascontiguousarray(coordinates, dtype=np.float64), count, width // 2, boxes)
    return boxes


def extend_boxes(boxes: FloatArray, rows: IntArray, others: FloatArray) -> None:
    """Make boxes so large that they enclose others; changes them in place.

    Args:
        boxes: (N, 4) boxes.
        rows: (K,) row of the box that is to enclose each of the others; repeats are welcome.
        others: (K, 4) boxes.
    """
    for column, reduction in enumerate((np.minimum, np.minimum, np.maximum, np.maximum)):
        reduction.at(boxes[:, column], rows, others[:, column])


def box_areas(boxes: FloatArray) -> FloatArray:
    """(...) areas of (..., 4) boxes, in square pixels."""
    areas: FloatArray = (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
    return areas


def intersection_areas(first: FloatArray, second: FloatArray) -> FloatArray:
    """Areas that (..., 4) boxes share with (..., 4) others, in square pixels.

    All but the last axes are broadcast, here and in what is computed of areas.
    """
    width = np.minimum(first[..., 2], second[..., 2]) - np.maximum(first[..., 0], second[..., 0])
    height = np.minimum(first[..., 3], second[..., 3]) - np.maximum(first[..., 1], second[..., 1])
    shared: FloatArray = np.maximum(width, 0.0) * np.maximum(height, 0.0)
    return shared


def overlap_ratios(first: FloatArray, second: FloatArray) -> FloatArray:
    """Intersection over union of boxes; 0 where the union has no area.

    Args:
        first: (N, 4) boxes.
        second: (N, 4) boxes.

    Returns:
        (N,) ratios in [0, 1].
    """
    shared = intersection_areas(first, second)
    return ratios_of_areas(shared, box_areas(first), box_areas(second))


def ratios_of_areas(shared: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Intersection over union out of areas; 0 where the union has none.

    Args:
        shared: (N,) areas of the intersections.
        first: (N,) areas of the one side.
        second: (N,) areas of the other.

    Returns:
        (N,) ratios in [0, 1].
    """
    union = first + second - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0.0)


def identical(first: FloatArray, second: FloatArray) -> BoolArray:
    """(N,) whether (N, 4) boxes equal (N, 4) others in every coordinate."""
    same: BoolArray = (first == second).all(axis=1)
    return same

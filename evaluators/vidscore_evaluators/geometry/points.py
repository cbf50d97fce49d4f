"""Distances between points."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.arrays import FloatArray, IntArray


def point_distances(
    left_px: FloatArray, right_px: FloatArray, left_rows: IntArray, right_rows: IntArray
) -> FloatArray:
    """Euclidean distances of pairs of points, computed in binary64 as ``sqrt(dx^2 + dy^2)``.

    Args:
        left_px: (N, 2) coordinates of the left side.
        right_px: (M, 2) coordinates of the right side.
        left_rows: (K,) left point of each pair.
        right_rows: (K,) right point of each pair.

    Returns:
        (K,) distances in pixels, each from its own two points alone.
    """
    x: FloatArray = left_px[left_rows, 0] - right_px[right_rows, 0]
    y: FloatArray = left_px[left_rows, 1] - right_px[right_rows, 1]
    # In place, because fresh memory costs more than the arithmetic.
    x *= x
    y *= y
    x += y
    return np.sqrt(x, out=x)

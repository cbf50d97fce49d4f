"""Distances between points."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.arrays import FloatArray, IntArray


def point_distances(
    left_px: FloatArray, right_px: FloatArray, left_rows: IntArray, right_rows: IntArray
) -> FloatArray:
    """Euclidean distances of pairs of points, computed in binary64 as ``sqrt(dx^2 + dy^2)``.

    Args:
        left_px: (2, N) coordinates of the left side, axis by axis.
        right_px: (2, M) coordinates of the right side.
        left_rows: (K,) left point of each pair.
        right_rows: (K,) right point of each pair.

    Returns:
        (K,) distances in pixels, each from its own two points alone.
    """
    x, y = (
        left.take(left_rows) - right.take(right_rows)
        for left, right in zip(left_px, right_px, strict=True)
    )
    squares = squared_lengths(x, y)
    return np.sqrt(squares, out=squares)


def squared_lengths(x: FloatArray, y: FloatArray) -> FloatArray:
    """Squares of the lengths of offsets; their roots are what `point_distances` gives.

    Args:
        x: Offsets along one axis, of any shape; overwritten with the result.
        y: Offsets along the other; overwritten.
    """
    # In place, because fresh memory costs more than the arithmetic.
    x *= x
    y *= y
    x += y
    return x

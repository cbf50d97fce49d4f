"""Points: their distances, and which of two sides are near each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    require_groups,
    starts_from_counts,
)
from vidscore_evaluators.compiled.library import compiled

PAIRS_PER_CALL = 1 << 18
"""Pairs that there is room for in one search, where a group cannot have more."""

_sort_points = compiled("sort_points", np.float64, np.int64, int)
_near_points = compiled(
    "near_points",
    *(np.float64, np.int64, np.float64, np.int64, np.int64, int, np.float64),
    *(np.int64, int, np.int64, np.int64, np.float64, np.int64),
)


def squared_lengths(x: FloatArray, y: FloatArray) -> FloatArray:
    """Squares of the lengths of offsets, computed in binary64 as ``x^2 + y^2``.

    Args:
        x: Offsets along one axis, of any shape; overwritten with the result.
        y: Offsets along the other; overwritten.
    """
    # In place, because fresh memory costs more than the arithmetic.
    x *= x
    y *= y
    x += y
    return x


@dataclass(frozen=True, eq=False)
class SortedPoints:
    """N points of one side in G groups, those of a group in the order of x and then of y.

    Attributes:
        coordinates: (N, 2) coordinates.
        starts: (G + 1,) offsets of the groups into the points.
    """

    coordinates: FloatArray
    starts: IntArray

    @classmethod
    def of(cls, coordinates: FloatArray, starts: IntArray) -> SortedPoints:
        """Sort points within their groups; see `SortedPoints`.

        Raises:
            ValueError: If the points do not fall into the groups.
        """
        require_groups("points", coordinates, starts, 2)
        points = np.array(coordinates, dtype=np.float64, order="C")
        starts = np.ascontiguousarray(starts, dtype=np.int64)
        _sort_points(points, starts, len(starts) - 1)
        return cls(points, starts)

    def __len__(self) -> int:
        """Number of points N."""
        return len(self.coordinates)

    @property
    def counts(self) -> IntArray:
        """(G,) points of each group."""
        return np.diff(self.starts)


@dataclass(frozen=True, eq=False)
class NearPoints:
    """P pairs of points of one group, group by group, of K groups.

    Attributes:
        counts: (K,) pairs of each group.
        left: (P,) place of the left point in its group, ascending in each group.
        right: (P,) place of the right point in its group, ascending for one left point.
        squares: (P,) squared distance of each.
    """

    counts: IntArray
    left: IntArray
    right: IntArray
    squares: FloatArray

    def take(self, kept: BoolArray) -> NearPoints:
        """Keep some pairs."""
        counts = np.diff(starts_from_counts(kept)[starts_from_counts(self.counts)])
        return NearPoints(counts, self.left[kept], self.right[kept], self.squares[kept])


def near_points(
    left: SortedPoints, right: SortedPoints, groups: IntArray, most: float
) -> NearPoints:
    """Find the pairs of points of some groups that are near each other.

    Args:
        left: Points of the one side.
        right: Points of the other, in as many groups.
        groups: (K,) groups whose pairs are wanted.
        most: Greatest squared distance, computed as `squared_lengths` does.
    """
    if len(left.starts) != len(right.starts) or not _are_groups(groups, len(left.starts) - 1):
        raise ValueError(f"groups {groups} are not of both sides")
    widths = right.counts[groups]
    capacity = min(int((left.counts[groups] * widths).sum()), PAIRS_PER_CALL)
    capacity = max(capacity, int(widths.max(initial=0)))
    counts, place = np.zeros(len(groups), dtype=np.int64), np.zeros(2, dtype=np.int64)
    sides = (left.coordinates, left.starts, right.coordinates, right.starts)
    parts = []
    while place[0] < len(groups):
        rows, squares = np.empty((2, capacity), dtype=np.int64), np.empty(capacity)
        found = _near_points(
            *(*sides, groups, len(groups), np.array([most], dtype=np.float64)),
            *(place, capacity, *rows, squares, counts),
        )
        parts.append((rows[:, :found], squares[:found]))
    if len(parts) == 1:
        [(rows, squares)] = parts
    else:
        rows = np.concatenate(
            [np.zeros((2, 0), dtype=np.int64), *(part[0] for part in parts)], axis=1
        )
        squares = np.concatenate([np.zeros(0), *(part[1] for part in parts)])
    return NearPoints(counts, rows[0], rows[1], squares)


def _are_groups(groups: IntArray, count: int) -> bool:
    return bool(groups.min(initial=0) >= 0 and groups.max(initial=-1) < count)

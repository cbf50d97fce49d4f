"""Geometry of points and upright boxes: bounding boxes, areas, overlaps and near points.

A box is x1, y1, x2, y2 with x1 <= x2 and y1 <= y2, in pixels. Coordinates are used as they are:
nothing is clipped to an image, and a box from 0 to 10 is 10 wide, not 11. Every value depends on
its own item alone.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from vidscore_evaluators import kernels
from vidscore_evaluators.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    require_groups,
    starts_from_counts,
)


def bounding_boxes(coordinates: FloatArray) -> FloatArray:
    """Upright bounding boxes of objects.

    Args:
        coordinates: (N, 2 K) points x, y of each object: two opposite corners of a box, or four
            corners of a quadrilateral, in any order.

    Returns:
        (N, 4) upright boxes.

    Raises:
        ValueError: If coordinates are not points.
    """
    count, width = coordinates.shape
    if width < 2 or width % 2:
        raise ValueError(f"{width} coordinates are not points x, y")
    boxes = np.empty((count, 4))
    kernels.bounding_boxes(
        np.ascontiguousarray(coordinates, dtype=np.float64), count, width // 2, boxes
    )
    return boxes


def extend_boxes(boxes: FloatArray, rows: IntArray, others: FloatArray) -> None:
    """Extend boxes in place, so that they enclose others.

    Args:
        boxes: (N, 4) boxes.
        rows: (K,) row of the box that is to enclose each of the others; may repeat.
        others: (K, 4) boxes.
    """
    for column, reduction in enumerate((np.minimum, np.minimum, np.maximum, np.maximum)):
        reduction.at(boxes[:, column], rows, others[:, column])


def box_areas(boxes: FloatArray, pixel: float = 0.0) -> FloatArray:
    """(...) areas of (..., 4) boxes, in square pixels; `pixel` is added to widths and heights."""
    width, height = boxes[..., 2] - boxes[..., 0], boxes[..., 3] - boxes[..., 1]
    if pixel:
        width, height = width + pixel, height + pixel
    areas: FloatArray = width * height
    return areas


def intersection_areas(first: FloatArray, second: FloatArray, pixel: float = 0.0) -> FloatArray:
    """Intersection areas of (..., 4) boxes, in square pixels; all but the last axes broadcast.

    Args:
        first: Boxes.
        second: Boxes.
        pixel: What is added to widths and heights.
    """
    width = np.minimum(first[..., 2], second[..., 2]) - np.maximum(first[..., 0], second[..., 0])
    height = np.minimum(first[..., 3], second[..., 3]) - np.maximum(first[..., 1], second[..., 1])
    if pixel:
        width, height = width + pixel, height + pixel
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
    """Intersection over union from areas; 0 where the union has no area.

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


PAIRS_PER_CALL = 1 << 18
"""Capacity of one search, unless a single group needs more."""


def squared_lengths(x: FloatArray, y: FloatArray) -> FloatArray:
    """Squares of the lengths of offsets, computed in binary64 as ``x^2 + y^2``.

    Args:
        x: Offsets along one axis, of any shape; overwritten with the result.
        y: Offsets along the other; overwritten.
    """
    # In place: allocating memory costs more than the arithmetic.
    x *= x
    y *= y
    x += y
    return x


class SortedPoints(Struct, frozen=True, eq=False):
    """N points of one side in G groups, sorted by x and then by y within a group.

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
            ValueError: If the groups are not all points in order.
        """
        require_groups("points", coordinates, starts, 2)
        points = np.array(coordinates, dtype=np.float64, order="C")
        starts = np.ascontiguousarray(starts, dtype=np.int64)
        kernels.sort_points(points, starts, len(starts) - 1)
        return cls(points, starts)

    def __len__(self) -> int:
        """Number of points N."""
        return len(self.coordinates)

    @property
    def counts(self) -> IntArray:
        """(G,) points of each group."""
        return np.diff(self.starts)


def sorted_rows(coordinates: FloatArray, starts: IntArray) -> IntArray:
    """(N,) row of each point in the order of `SortedPoints`, the lesser first of equal points.

    Args:
        coordinates: (N, 2) points.
        starts: (G + 1,) offsets of the groups into the points.
    """
    own = np.arange(len(coordinates), dtype=np.float64)
    by_x = SortedPoints.of(np.column_stack([coordinates[:, 0], own]), starts).coordinates
    rows = by_x[:, 1].astype(np.int64)
    # So far the row decides between points of one x; where they differ in y, that does.
    first = np.ones(len(rows), dtype=np.bool_)
    first[1:] = by_x[1:, 0] != by_x[:-1, 0]
    first[starts[:-1][starts[:-1] < len(rows)]] = True
    tied = ~first
    tied[:-1] |= ~first[1:]
    places = np.flatnonzero(tied)
    if len(places):
        tied_rows = rows[places]
        runs = np.cumsum(first)[places]
        rows[places] = tied_rows[np.lexsort((coordinates[tied_rows, 1], runs))]
    return rows


class NearPoints(Struct, frozen=True, eq=False):
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

    def are_isolated(self) -> BoolArray:
        """(P,) which pairs share no point with another pair."""
        left, right = np.ascontiguousarray(self.left), np.ascontiguousarray(self.right)
        degrees = np.zeros(int(right.max(initial=-1)) + 1, dtype=np.int64)
        isolated: BoolArray = np.empty(len(left), dtype=np.bool_)
        counts = np.ascontiguousarray(self.counts)
        kernels.isolated_pairs(counts, len(counts), left, right, degrees, isolated.view(np.uint8))
        return isolated


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
        found = kernels.near_points(
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

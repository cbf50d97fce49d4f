"""Geometry of points and upright boxes: bounding boxes, areas, overlaps and near points.

A box is x1, y1, x2, y2 with x1 <= x2 and y1 <= y2, in pixels. Coordinates are used as they are:
nothing is clipped to an image, and a box from 0 to 10 is 10 wide, not 11. Every value depends on
its own item only.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from msgspec import Struct

from vidscore_evaluators import kernels
from vidscore_evaluators.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    expand_runs,
    require_groups,
    starts_from_counts,
)

_AREA_TOLERANCE = 1e-3
"""Greatest difference of an area that a format gives from that of its box's corners, as a fraction.
With any other area, a box could fit every object that lies in it."""


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
        rows: (K,) row of the box that must enclose each of the others; may repeat.
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


def are_areas(given: FloatArray, areas: FloatArray) -> BoolArray:
    """(N,) whether given numbers are the (N,) areas of boxes, but for rounding."""
    close: BoolArray = np.abs(given - areas) <= _AREA_TOLERANCE * areas
    return close


def intersection_areas(first: FloatArray, second: FloatArray, pixel: float = 0.0) -> FloatArray:
    """Intersection areas of (..., 4) boxes, in square pixels; all but the last axes broadcast.

    Args:
        first: Boxes.
        second: Boxes.
        pixel: Value added to widths and heights.
    """
    width = np.minimum(first[..., 2], second[..., 2]) - np.maximum(first[..., 0], second[..., 0])
    height = np.minimum(first[..., 3], second[..., 3]) - np.maximum(first[..., 1], second[..., 1])
    if pixel:
        width, height = width + pixel, height + pixel
    shared: FloatArray = np.maximum(width, 0.0) * np.maximum(height, 0.0)
    return shared


def overlap_ratios(first: FloatArray, second: FloatArray) -> FloatArray:
    """Intersection over union of boxes; 0 if the union has no area.

    Args:
        first: (N, 4) boxes.
        second: (N, 4) boxes.

    Returns:
        (N,) ratios in [0, 1].
    """
    shared = intersection_areas(first, second)
    return ratios_of_areas(shared, box_areas(first), box_areas(second))


def ratios_of_areas(shared: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Intersection over union from areas; 0 if the union has no area.

    Args:
        shared: (N,) areas of the intersections.
        first: (N,) areas of the first boxes.
        second: (N,) areas of the second boxes.

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
"""Maximum number of pairs of one search, unless a single group needs more."""


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


class GroupedPoints(Struct, frozen=True, eq=False):
    """N points of one side in G groups.

    Attributes:
        coordinates: (N, 2) coordinates.
        starts: (G + 1,) offsets of the groups into the points.
    """

    coordinates: FloatArray
    starts: IntArray

    @classmethod
    def of(cls, coordinates: FloatArray, starts: IntArray) -> GroupedPoints:
        """Points as the kernels take them.

        Raises:
            ValueError: If the groups do not cover all points in order.
        """
        require_groups("points", coordinates, starts, 2)
        return cls(
            np.ascontiguousarray(coordinates, dtype=np.float64),
            np.ascontiguousarray(starts, dtype=np.int64),
        )

    @property
    def counts(self) -> IntArray:
        """(G,) points of each group."""
        counts: IntArray = self.starts[1:] - self.starts[:-1]
        return counts


class SortedPoints(GroupedPoints, frozen=True, eq=False):
    """Grouped points, sorted by x, y and row within a group.

    Attributes:
        rows: (N,) row of each point before sorting.
    """

    rows: IntArray


def sorted_points(points: GroupedPoints, groups: IntArray) -> SortedPoints:
    """Sort the points of some groups.

    Args:
        points: All points.
        groups: (K,) groups to sort.
    """
    counts = points.counts[groups]
    starts = starts_from_counts(counts)
    rows = expand_runs(points.starts[groups], counts, starts)
    coordinates = points.coordinates.take(rows, axis=0)
    kernels.sort_points(coordinates, rows, starts, len(counts))
    return SortedPoints(coordinates, starts, rows)


def greatest_square(distance: float) -> float:
    """The greatest number whose square root, rounded, is at most a distance of 0 or more."""
    square = min(distance * distance, sys.float_info.max)
    while math.sqrt(square) > distance:
        square = math.nextafter(square, 0.0)
    while math.sqrt(following := math.nextafter(square, math.inf)) <= distance:
        square = following
    return square


class MatchedPoints(Struct, frozen=True, eq=False):
    """P matched pairs of points of G groups.

    Attributes:
        counts: (G,) pairs of each group; -1 for a group that is left to a solver.
        left: (P,) row of the left point, ascending.
        right: (P,) row of the right point.
        squares: (P,) squared distance of each.
    """

    counts: IntArray
    left: IntArray
    right: IntArray
    squares: FloatArray


def match_few_points(
    left: GroupedPoints, right: GroupedPoints, most: float, doubt: float
) -> MatchedPoints:
    """Match near points: as many pairs of a group as possible, at the least sum of distances.

    Every point of a group is compared with every other. If a few compete, all their matchings are
    tried. A group is left to a solver if it is too large for that, or if the second-best matching
    is too close to the best.

    Args:
        left: Points of the one side.
        right: Points of the other side, in the same number of groups.
        most: Greatest squared distance of near points.
        doubt: Greatest difference between two sums of distances that is too small to decide.

    Raises:
        ValueError: If the two sides have different numbers of groups.
    """
    group_count, room = len(left.starts) - 1, min(len(left.coordinates), len(right.coordinates))
    if len(right.starts) - 1 != group_count:
        raise ValueError(f"{group_count} groups and {len(right.starts) - 1} do not match")
    rows, squares = np.empty((2, room), dtype=np.int64), np.empty(room)
    counts = np.empty(group_count, dtype=np.int64)
    found = kernels.match_few_points(
        *(left.coordinates, left.starts, right.coordinates, right.starts, group_count),
        *(np.array([most, doubt], dtype=np.float64), *rows, squares, counts),
    )
    return MatchedPoints(counts, rows[0, :found], rows[1, :found], squares[:found])


class NearPoints(Struct, frozen=True, eq=False):
    """P pairs of points, each within one of K groups, sorted by group.

    Attributes:
        counts: (K,) pairs of each group.
        left: (P,) index of the left point within its group, ascending in each group.
        right: (P,) index of the right point within its group, ascending for each left point.
        squares: (P,) squared distance of each.
    """

    counts: IntArray
    left: IntArray
    right: IntArray
    squares: FloatArray


def near_points(
    left: SortedPoints, right: SortedPoints, groups: IntArray, most: float
) -> NearPoints:
    """Find the pairs of points of some groups that are near each other.

    Args:
        left: Points of the one side.
        right: Points of the other side, in the same number of groups.
        groups: (K,) groups to search.
        most: Greatest squared distance, computed as `squared_lengths` does.
    """
    _require_groups_of_both(left.starts, right.starts, groups)
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


def _require_groups_of_both(left: IntArray, right: IntArray, groups: IntArray) -> None:
    """Refuse groups that do not exist on both sides."""
    are_within = groups.min(initial=0) >= 0 and groups.max(initial=-1) < len(left) - 1
    if len(left) != len(right) or not are_within:
        raise ValueError(f"groups {groups} are not of both sides")

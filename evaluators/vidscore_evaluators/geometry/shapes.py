"""Shapes in groups: upright boxes, or unions of upright boxes, and the pairs that overlap.

A group is a frame, or any other set of shapes that have to do with each other alone. All groups
are worked on in one call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import shapely

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.geometry.boxes import (
    box_areas,
    identical,
    intersection_areas,
    ratios_of_areas,
)
from vidscore_evaluators.geometry.polygons import PolygonArray, box_polygons
from vidscore_evaluators.matching.gating import Extents, Pairs, gated_pairs, gated_twins

Criterion = Callable[[FloatArray], BoolArray]
"""Says of overlap ratios which of them count."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """N shapes in G groups.

    Attributes:
        group_starts: (G + 1,) offsets: group g is rows ``group_starts[g]:group_starts[g + 1]``.
        boxes: (N, 4) the shapes, or the envelopes of those that are more than a box.
        areas: (N,) areas in square pixels.
        polygons: (N,) polygon of each shape that is more than its box, None for the others;
            None altogether where all are boxes.
    """

    group_starts: IntArray
    boxes: FloatArray
    areas: FloatArray
    polygons: PolygonArray | None = None

    def __len__(self) -> int:
        """Number of shapes N."""
        return len(self.boxes)

    @property
    def group_counts(self) -> IntArray:
        """(G,) shapes in each group."""
        return np.diff(self.group_starts)

    @property
    def groups(self) -> IntArray:
        """(N,) group of each shape."""
        counts = self.group_counts
        return np.repeat(np.arange(len(counts), dtype=np.int64), counts)

    @property
    def extents(self) -> Extents:
        """Where they lie."""
        return Extents(self.group_starts, self.boxes)

    def take(self, rows: BoolArray | IntArray, group_starts: IntArray) -> Shapes:
        """Some shapes, in groups of their own."""
        chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        polygons = None if self.polygons is None else self.polygons[chosen]
        boxes = self.boxes.take(chosen, axis=0)
        return Shapes(group_starts, boxes, self.areas[chosen], polygons)

    def polygons_of(self, rows: IntArray) -> PolygonArray:
        """Polygons of some shapes, those that are boxes included."""
        polygons = box_polygons(self.boxes[rows])
        if self.polygons is not None:
            uneven = self.are_uneven(rows)
            polygons[uneven] = self.polygons[rows[uneven]]
        return polygons

    def are_uneven(self, rows: IntArray) -> BoolArray:
        """Whether each of some shapes is more than its box."""
        if self.polygons is None:
            return np.zeros(len(rows), dtype=np.bool_)
        uneven: BoolArray = ~shapely.is_missing(self.polygons[rows])
        return uneven


def boxes_as_shapes(group_starts: IntArray, boxes: FloatArray) -> Shapes:
    """Shapes that are plain boxes.

    Args:
        group_starts: (G + 1,) offsets into the boxes.
        boxes: (N, 4) upright boxes.
    """
    return Shapes(group_starts, boxes, box_areas(boxes))


def join_groups(first: Shapes, second: Shapes) -> tuple[Shapes, IntArray]:
    """Put the shapes of two sides with the same groups into one.

    Returns:
        The shapes, and for each its row in `first`, or ``len(first)`` more than that in `second`.
    """
    order = np.argsort(np.concatenate([first.groups, second.groups]), kind="stable")
    polygons: PolygonArray | None = None
    if first.polygons is not None or second.polygons is not None:
        missing = [np.full(len(side), None, dtype=np.object_) for side in (first, second)]
        sides = zip((first, second), missing, strict=True)
        known = [none if side.polygons is None else side.polygons for side, none in sides]
        polygons = np.concatenate(known)[order]
    joined = Shapes(
        group_starts=first.group_starts + second.group_starts,
        boxes=np.concatenate([first.boxes, second.boxes])[order],
        areas=np.concatenate([first.areas, second.areas])[order],
        polygons=polygons,
    )
    return joined, order


def overlapping_pairs(left: Shapes, right: Shapes, counts: Criterion) -> Pairs:
    """Find the pairs of a left and a right shape of one group whose overlap ratio counts.

    Args:
        left: Shapes of one side.
        right: Shapes of the other, in the same groups.
        counts: Says which ratios count. A pair that shares no area has the ratio 0 and is never
            found, whatever it says.
    """

    def gate(left_rows: IntArray, right_rows: IntArray) -> BoolArray:
        ratios = overlap_ratios_of(left, left_rows, right, right_rows)
        return (ratios > 0.0) & counts(ratios)

    return gated_pairs(left.extents, right.extents, gate)


def overlapping_twins(shapes: Shapes, counts: Criterion) -> Pairs:
    """Find the pairs within one side whose overlap ratio counts, or which are the same box.

    Args:
        shapes: The shapes.
        counts: Says which ratios above 0 count.

    Returns:
        Pairs of rows, each pair once, the lesser row on the left.
    """

    def gate(left: IntArray, right: IntArray) -> BoolArray:
        ratios = overlap_ratios_of(shapes, left, shapes, right)
        found = (ratios > 0.0) & counts(ratios)
        # Boxes without area have no ratio; two of them may still be one box given twice.
        flat = (shapes.areas[left] == 0.0) & (shapes.areas[right] == 0.0)
        alike = np.flatnonzero(flat | (ratios == 1.0))
        found[alike] |= identical(shapes.boxes[left[alike]], shapes.boxes[right[alike]])
        return found

    return gated_twins(shapes.extents, gate)


def overlap_ratios_of(
    left: Shapes, left_rows: IntArray, right: Shapes, right_rows: IntArray
) -> FloatArray:
    """Intersection over union of pairs of shapes; 0 where the union has no area.

    Args:
        left: Shapes of one side.
        left_rows: (P,) rows of the left side.
        right: Shapes of the other side.
        right_rows: (P,) rows of the right side.

    Returns:
        (P,) ratios in [0, 1].
    """
    shared = intersection_areas(
        left.boxes.take(left_rows, axis=0), right.boxes.take(right_rows, axis=0)
    )
    uneven = np.flatnonzero(left.are_uneven(left_rows) | right.are_uneven(right_rows))
    if len(uneven):
        mine = left.polygons_of(left_rows[uneven])
        theirs = right.polygons_of(right_rows[uneven])
        shared[uneven] = shapely.area(shapely.intersection(mine, theirs))
    return ratios_of_areas(shared, left.areas[left_rows], right.areas[right_rows])

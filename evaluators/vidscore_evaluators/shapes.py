"""Shapes in groups: boxes, quadrilaterals and unions of boxes, their overlaps, and merging.

A group is a frame, or any other set of shapes that are only compared with each other. All groups
are processed in one call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import shapely
from msgspec import Struct
from numpy.typing import NDArray

from vidscore_evaluators import kernels
from vidscore_evaluators.annotations import QUADRILATERAL
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, marked, starts_from_counts
from vidscore_evaluators.geometry import (
    box_areas,
    extend_boxes,
    identical,
    intersection_areas,
    ratios_of_areas,
)
from vidscore_evaluators.pairs import (
    BoundingBoxes,
    Pairs,
    component_labels,
    gated_pairs,
    self_pairs,
)

PolygonArray = NDArray[np.object_]
"""Shapely geometries, None if an item has none."""


def box_polygons(boxes: FloatArray) -> PolygonArray:
    """(N,) polygons of (N, 4) upright boxes."""
    polygons: PolygonArray = np.asarray(shapely.box(*boxes.T), dtype=np.object_)
    return polygons


def quadrilateral_polygons(corners: FloatArray) -> PolygonArray:
    """Areas of quadrilaterals; the convex hull if two sides cross.

    A side that runs back along another (a spike) and a flat shape are not crossings: parts without
    area are left out, and the rest is kept as it is.

    Args:
        corners: (N, 8) corners x1, y1, ..., x4, y4 in order along the outline.

    Returns:
        (N,) valid geometries, possibly without area.
    """
    rings = shapely.linearrings(corners.reshape(-1, 4, 2))
    polygons: PolygonArray = np.asarray(shapely.polygons(rings), dtype=np.object_)
    crossing = sides_cross(corners)
    polygons[crossing] = shapely.convex_hull(polygons[crossing])
    invalid = ~shapely.is_valid(polygons)
    polygons[invalid] = shapely.make_valid(polygons[invalid])
    return polygons


def sides_cross(corners: FloatArray) -> BoolArray:
    """Whether two opposite sides of quadrilaterals cross in their interiors.

    Args:
        corners: (N, 8) corners in order along the outline.

    Returns:
        (N,) booleans.
    """
    count = len(corners)
    crossing = np.empty(count, dtype=np.bool_)
    outlines = np.ascontiguousarray(corners, dtype=np.float64).reshape(count, QUADRILATERAL)
    kernels.sides_cross(outlines, count, crossing)
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
    # Runs of one length form a full matrix, which shapely unites row by row.
    for count in np.unique(counts).tolist():
        rows = np.flatnonzero(counts == count)
        matrix = polygons[starts[rows, np.newaxis] + np.arange(count)]
        unions[rows] = shapely.union_all(matrix, axis=1)
    return unions


OverlapRule = Callable[[FloatArray], BoolArray]
"""Mask of the overlap ratios that count."""


class Shapes(Struct, frozen=True, eq=False):
    """N shapes in G groups.

    Attributes:
        group_starts: (G + 1,) offsets: group g is rows ``group_starts[g]:group_starts[g + 1]``.
        boxes: (N, 4) the shapes; bounding boxes for shapes that are not boxes.
        areas: (N,) areas in square pixels.
        polygons: (N,) polygon of each shape that is not a box, None for boxes; None for the whole
            array if all are boxes.
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
    def bounding_boxes(self) -> BoundingBoxes:
        """Their bounding boxes, by group."""
        return BoundingBoxes(self.group_starts, self.boxes)

    def take(self, rows: BoolArray | IntArray, group_starts: IntArray) -> Shapes:
        """Some shapes, in new groups."""
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
        """Whether each of some shapes is not a box."""
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
    """Join the shapes of two sides with the same groups.

    Returns:
        The shapes, and for each its row in `first`, or ``len(first)`` plus its row in `second`.
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


def overlapping_pairs(left: Shapes, right: Shapes, counts: OverlapRule) -> Pairs:
    """Find the pairs of a left and a right shape of one group whose overlap ratio counts.

    Args:
        left: Shapes of one side.
        right: Shapes of the other, in the same groups.
        counts: The ratios that count. A pair without a common area is never found.
    """

    def gate(left_rows: IntArray, right_rows: IntArray) -> BoolArray:
        ratios = overlap_ratios_of(left, left_rows, right, right_rows)
        return (ratios > 0.0) & counts(ratios)

    return gated_pairs(left.bounding_boxes, right.bounding_boxes, gate)


def overlapping_self_pairs(shapes: Shapes, counts: OverlapRule) -> Pairs:
    """Find the pairs within one side whose overlap ratio counts, or whose boxes are identical.

    Args:
        shapes: The shapes.
        counts: The ratios above 0 that count.

    Returns:
        Pairs of rows, each pair once, the smaller row on the left.
    """

    def gate(left: IntArray, right: IntArray) -> BoolArray:
        ratios = overlap_ratios_of(shapes, left, shapes, right)
        found = (ratios > 0.0) & counts(ratios)
        # Boxes without area have no ratio, but two of them may be identical.
        flat = (shapes.areas[left] == 0.0) & (shapes.areas[right] == 0.0)
        alike = np.flatnonzero(flat | (ratios == 1.0))
        found[alike] |= identical(shapes.boxes[left[alike]], shapes.boxes[right[alike]])
        return found

    return self_pairs(shapes.bounding_boxes, gate)


def overlap_ratios_of(
    left: Shapes, left_rows: IntArray, right: Shapes, right_rows: IntArray
) -> FloatArray:
    """Intersection over union of pairs of shapes; 0 if the union has no area.

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


MergedShape = Literal["box", "union"]
"""Result of merging a component: its bounding box, or the union of its shapes."""


class Merged(Struct, frozen=True, eq=False):
    """Result of merging N shapes.

    Attributes:
        shapes: The M merged shapes, in the same groups.
        labels: (N,) row of the merged shape of each.
    """

    shapes: Shapes
    labels: IntArray


class _Components(Struct, frozen=True, eq=False):
    """C components of N nodes, in the order of their first nodes.

    Attributes:
        first: (C,) first node of each component.
        labels: (N,) component of each node.
        sizes: (C,) nodes in each component.
    """

    first: IntArray
    labels: IntArray
    sizes: IntArray


def merge_overlapping(
    shapes: Shapes, counts: OverlapRule, merged_shape: MergedShape = "box"
) -> Merged:
    """Merge the overlapping shapes of each group until no two overlap.

    In each round the connected components of "the overlap ratio counts, or the boxes are identical"
    become one shape each, all at once. A round does not depend on the order of its shapes, and so
    the result does not either.

    Args:
        shapes: N shapes in groups.
        counts: The overlap ratios above 0 that merge two shapes. Identical boxes always merge.
        merged_shape: Result of merging a component.

    Returns:
        The merged shapes. Groups without overlaps are unchanged.
    """
    labels = np.arange(len(shapes), dtype=np.int64)
    unsettled = labels
    while len(unsettled):
        pairs = _self_pairs(shapes, unsettled, counts)
        if len(pairs) == 0:
            break
        components = _components(pairs, len(shapes))
        changed = marked(len(shapes.group_starts) - 1, shapes.groups[pairs.left])
        shapes = _join(shapes, components, merged_shape)
        labels = components.labels[labels]
        unsettled = np.flatnonzero(changed[shapes.groups])
    return Merged(shapes, labels)


def _self_pairs(shapes: Shapes, rows: IntArray, counts: OverlapRule) -> Pairs:
    """Pairs to be merged among some rows, which are whole groups."""
    if len(rows) == len(shapes):
        return overlapping_self_pairs(shapes, counts)
    sizes = np.bincount(shapes.groups[rows], minlength=len(shapes.group_starts) - 1)
    pairs = overlapping_self_pairs(shapes.take(rows, starts_from_counts(sizes)), counts)
    return Pairs(rows[pairs.left], rows[pairs.right])


def _components(pairs: Pairs, count: int) -> _Components:
    """Connected components of a graph of `count` nodes."""
    roots = component_labels(pairs.left, pairs.right, count)
    is_root = roots == np.arange(count, dtype=np.int64)
    labels = (np.cumsum(is_root) - 1)[roots]
    return _Components(np.flatnonzero(is_root), labels, np.bincount(labels))


def _join(shapes: Shapes, components: _Components, merged_shape: MergedShape) -> Shapes:
    """Join the shapes of each component into one."""
    first, labels = components.first, components.labels
    members = np.flatnonzero(components.sizes[labels] > 1)
    boxes = shapes.boxes[first]
    extend_boxes(boxes, labels[members], shapes.boxes[members])
    group_counts = np.bincount(shapes.groups[first], minlength=len(shapes.group_starts) - 1)
    joined = Shapes(starts_from_counts(group_counts), boxes, box_areas(boxes))
    return joined if merged_shape == "box" else _with_unions(joined, shapes, components, members)


def _with_unions(
    joined: Shapes, shapes: Shapes, components: _Components, members: IntArray
) -> Shapes:
    """Give joined shapes the polygons and areas of their members' unions.

    Args:
        joined: The components' bounding boxes.
        shapes: The members.
        components: The components.
        members: Rows of the shapes in components of several shapes.
    """
    several = np.flatnonzero(components.sizes > 1)
    in_order = members[np.argsort(components.labels[members], kind="stable")]
    unions = unions_of_runs(shapes.polygons_of(in_order), components.sizes[several])
    areas = shapes.areas[components.first]
    areas[several] = shapely.area(unions)
    polygons: PolygonArray = np.full(len(joined), None, dtype=np.object_)
    if shapes.polygons is not None:
        polygons[:] = shapes.polygons[components.first]
    # A union that fills its bounding box is a box again, and needs no polygon for its overlaps.
    partial = areas[several] != joined.areas[several]
    polygons[several[partial]] = unions[partial]
    polygons[several[~partial]] = None
    return Shapes(joined.group_starts, joined.boxes, areas, polygons)

"""Don't-care regions: the fraction of an object that is inside the regions of its frame.

The regions of a frame are quadrilaterals. Their union counts: adjacent regions act as one, and an
area that two of them cover counts once. A region whose sides cross is replaced by its convex hull.
"""

from __future__ import annotations

import math

import numpy as np
import shapely
from msgspec import Struct

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, expand_runs, run_starts
from vidscore_evaluators.geometry import bounding_boxes, intersection_areas
from vidscore_evaluators.pairs import BoundingBoxes, measured_pairs
from vidscore_evaluators.quadrilaterals import (
    corners_of_boxes,
    outline_areas,
    outlines_of,
    shared_areas,
)
from vidscore_evaluators.shapes import (
    Shapes,
    box_polygons,
    boxes_as_shapes,
    overlapping_pairs,
    quadrilateral_polygons,
    unions_of_runs,
)


class Regions(Struct, frozen=True, eq=False):
    """R quadrilateral regions in G groups, usually frames.

    Attributes:
        group_starts: (G + 1,) offsets: group g is rows ``group_starts[g]:group_starts[g + 1]``.
        corners: (R, 8) corners x1, y1, ..., x4, y4 in order along the outline, in pixels.
    """

    group_starts: IntArray
    corners: FloatArray


class _Contacts(Struct, frozen=True, eq=False):
    """K boxes that overlap regions, and their P pairs with them.

    Attributes:
        rows: (K,) rows of the boxes, ascending.
        starts: (K,) first pair of each box.
        counts: (K,) pairs of each box.
        boxes: (P, 4) the box of each pair.
        regions: (P,) row of the region of each pair.
    """

    rows: IntArray
    starts: IntArray
    counts: IntArray
    boxes: FloatArray
    regions: IntArray

    def take(self, chosen: BoolArray) -> _Contacts:
        """Keep some boxes with all their pairs."""
        counts = self.counts[chosen]
        pairs = expand_runs(self.starts[chosen], counts)
        starts = np.cumsum(counts) - counts
        boxes = self.boxes.take(pairs, axis=0)
        return _Contacts(self.rows[chosen], starts, counts, boxes, self.regions[pairs])

    def apart(self) -> _Contacts:
        """The same pairs, each as if its box overlapped that region only."""
        count = len(self.regions)
        each = np.arange(count, dtype=np.int64)
        rows = np.repeat(self.rows, self.counts)
        return _Contacts(rows, each, np.ones(count, dtype=np.int64), self.boxes, self.regions)


def shares_inside(boxes: Shapes, regions: Regions, *, apart: bool = False) -> FloatArray:
    """Fraction of each box's area that is inside the regions of its group.

    Most boxes touch no region, most regions are upright, and most others are disjoint. Only the
    rest needs general polygons.

    Args:
        boxes: N plain boxes in G groups.
        regions: The regions of the same groups.
        apart: Whether to take the fraction inside the one region that has most of it, not inside
            the union of the regions.

    Returns:
        (N,) fractions in [0, 1]; 0 for a box without area.
    """
    hulls = bounding_boxes(regions.corners)
    contacts = _contacts(boxes, boxes_as_shapes(regions.group_starts, hulls))
    shares, touched = np.zeros(len(boxes)), contacts.rows
    if len(touched) == 0:
        return shares
    if apart:
        each = _areas_inside(contacts.apart(), regions, hulls)
        inside = np.maximum.reduceat(each, contacts.starts)
    else:
        inside = _areas_inside(contacts, regions, hulls)
    shares[touched] = np.minimum(inside / boxes.areas[touched], 1.0)
    return shares


def _areas_inside(contacts: _Contacts, regions: Regions, hulls: FloatArray) -> FloatArray:
    """(K,) area of each box inside the union of the regions that it overlaps."""
    areas = np.zeros(len(contacts.rows))
    if len(areas) == 0:
        return areas
    upright = _are_upright(regions.corners, hulls)[contacts.regions]
    simple = np.logical_and.reduceat(upright, contacts.starts) & (contacts.counts <= 2)
    easy, rest = contacts.take(simple), contacts.take(~simple)
    areas[simple] = _inside_upright(easy, hulls)
    lie_apart = _lie_apart(rest, hulls)
    outlines = outlines_of(regions.corners)
    areas[np.flatnonzero(~simple)[lie_apart]] = _inside_apart(rest.take(lie_apart), outlines)
    areas[np.flatnonzero(~simple)[~lie_apart]] = _inside_polygons(
        rest.take(~lie_apart), regions.corners
    )
    return areas


def shares_of_outlines_inside(
    group_starts: IntArray, outlines: FloatArray, regions: Regions, *, apart: bool
) -> FloatArray:
    """Fraction of each quadrilateral's area that is inside the regions of its group.

    Args:
        group_starts: (G + 1,) offsets of the groups into the quadrilaterals.
        outlines: (N, 8) outlines of quadrilaterals.
        regions: The regions of the same groups.
        apart: Whether only the region with the largest fraction counts, not the union of the
            regions.

    Returns:
        (N,) fractions in [0, 1]; 0 for a quadrilateral without area.
    """
    others = outlines_of(regions.corners)

    def measure(rows: IntArray, of_regions: IntArray) -> FloatArray:
        return shared_areas(outlines.take(rows, axis=0), others.take(of_regions, axis=0))

    pairs, shared = measured_pairs(
        BoundingBoxes(group_starts, bounding_boxes(outlines)),
        BoundingBoxes(regions.group_starts, bounding_boxes(others)),
        measure,
        at_least=math.nextafter(0.0, 1.0),
    )
    areas = np.zeros(len(outlines))
    np.maximum.at(areas, pairs.left, shared)
    counts = np.bincount(pairs.left, minlength=len(outlines))
    several = np.flatnonzero(counts[pairs.left] > 1)
    if len(several) and not apart:  # the union of several regions needs general polygons
        rows = pairs.left[several]
        mine, theirs = (
            quadrilateral_polygons(sides.take(of_pairs, axis=0))
            for sides, of_pairs in ((outlines, rows), (others, pairs.right[several]))
        )
        chosen = rows[run_starts(rows)]
        clipped = shapely.intersection(mine, theirs)
        areas[chosen] = shapely.area(unions_of_runs(clipped, counts[chosen]))
    whole = outline_areas(outlines)
    shares = np.divide(areas, whole, out=np.zeros(len(outlines)), where=whole > 0.0)
    return np.minimum(shares, 1.0)


def _contacts(boxes: Shapes, hulls: Shapes) -> _Contacts:
    pairs = overlapping_pairs(boxes, hulls, lambda ratios: ratios > 0.0)
    starts = run_starts(pairs.left)
    return _Contacts(
        rows=pairs.left[starts],
        starts=starts,
        counts=np.diff(np.append(starts, len(pairs))),
        boxes=boxes.boxes[pairs.left],
        regions=pairs.right,
    )


def _are_upright(corners: FloatArray, hulls: FloatArray) -> BoolArray:
    """Whether a region, or its convex hull if sides cross, equals its bounding box."""
    visited = np.zeros(len(corners), dtype=np.int64)
    for index in range(0, corners.shape[1], 2):
        x, y = corners[:, index], corners[:, index + 1]
        at_left, at_top = x == hulls[:, 0], y == hulls[:, 1]
        in_corner = (at_left | (x == hulls[:, 2])) & (at_top | (y == hulls[:, 3]))
        visited |= np.where(in_corner, 1 << (2 * at_left.astype(np.int64) + at_top), 0)
    upright: BoolArray = visited == 0b1111
    return upright


def _inside_upright(contacts: _Contacts, hulls: FloatArray) -> FloatArray:
    """Areas inside the union of one or two upright regions, by inclusion and exclusion."""
    clipped = _intersections(contacts.boxes, hulls[contacts.regions])
    shared = intersection_areas(clipped, clipped)
    two = np.flatnonzero(contacts.counts == 2)
    first = contacts.starts[two]
    areas: FloatArray = shared[contacts.starts]
    # In this order, the sum is the same if the two regions are swapped.
    both = areas[two] + shared[first + 1]
    areas[two] = both - intersection_areas(clipped[first], clipped[first + 1])
    return areas


def _lie_apart(contacts: _Contacts, hulls: FloatArray) -> BoolArray:
    """Mask of boxes that touch one region, or two that are disjoint inside the box."""
    apart: BoolArray = contacts.counts <= 2
    two = np.flatnonzero(contacts.counts == 2)
    first = contacts.starts[two]
    clipped = _intersections(contacts.boxes, hulls[contacts.regions])
    apart[two] = intersection_areas(clipped[first], clipped[first + 1]) == 0.0
    return apart


def _inside_apart(contacts: _Contacts, outlines: FloatArray) -> FloatArray:
    """Areas inside one or two regions that are disjoint inside the box."""
    clipped = shared_areas(corners_of_boxes(contacts.boxes), outlines[contacts.regions])
    areas: FloatArray = clipped[contacts.starts]
    two = np.flatnonzero(contacts.counts == 2)
    areas[two] += clipped[contacts.starts[two] + 1]
    return areas


def _inside_polygons(contacts: _Contacts, corners: FloatArray) -> FloatArray:
    """Areas inside the union of any regions."""
    used, region_of_pair = np.unique(contacts.regions, return_inverse=True)
    polygons = quadrilateral_polygons(corners[used])[region_of_pair]
    clipped = shapely.intersection(box_polygons(contacts.boxes), polygons)
    areas: FloatArray = shapely.area(unions_of_runs(clipped, contacts.counts))
    return areas


def _intersections(first: FloatArray, second: FloatArray) -> FloatArray:
    """Intersections of overlapping boxes."""
    low = np.maximum(first[:, :2], second[:, :2])
    high = np.minimum(first[:, 2:], second[:, 2:])
    return np.concatenate([low, high], axis=1)

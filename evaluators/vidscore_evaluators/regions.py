"""Don't-care regions: the share of a box that is inside the regions of its frame.

The regions of a frame are quadrilaterals. Their union counts, so that adjacent regions act as one
and an area that two of them cover counts once. A region whose sides cross is replaced by its convex
hull.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, expand_runs, run_starts
from vidscore_evaluators.geometry import bounding_boxes, intersection_areas
from vidscore_evaluators.shapes import (
    Shapes,
    box_polygons,
    boxes_as_shapes,
    overlapping_pairs,
    quadrilateral_polygons,
    sides_cross,
    unions_of_runs,
)


def clipped_areas(corners: FloatArray, boxes: FloatArray) -> FloatArray:
    """Intersection area of each quadrilateral with a box.

    The area under a side, within the box, is the integral of the side's height clipped to the
    box's; the signed sum over the four sides is the enclosed area (Green's theorem).

    Args:
        corners: (P, 8) corners x1, y1, ..., x4, y4 along the outline, without crossing sides.
        boxes: (P, 4) upright boxes.

    Returns:
        (P,) areas, in square pixels.
    """
    areas = np.zeros(len(boxes))
    for index in range(0, 8, 2):
        start, end = corners[:, index : index + 2].T, corners[:, [index + 2 - 8, index + 3 - 8]].T
        areas += _areas_under(start, end, boxes.T)
    return np.abs(areas)


def _areas_under(start: FloatArray, end: FloatArray, boxes: FloatArray) -> FloatArray:
    """Signed areas between the lower edges of boxes and sides from start to end.

    Args:
        start: (2, P) x and y.
        end: (2, P) x and y.
        boxes: (4, P) boxes, x1, y1, x2, y2.
    """
    left, low, right, high = boxes
    first_x, last_x = np.clip(start[0], left, right), np.clip(end[0], left, right)
    run, fall = end - start
    # Fractions of the side; beside the box nothing is under it, whatever they are.
    first_y = start[1] + np.clip(_ratios(first_x - start[0], run), 0.0, 1.0) * fall
    last_y = start[1] + np.clip(_ratios(last_x - start[0], run), 0.0, 1.0) * fall
    # Between these fractions the side is within the box's height; elsewhere it is clipped.
    rise = last_y - first_y
    crossings = [np.clip(_ratios(level - first_y, rise), 0.0, 1.0) for level in (low, high)]
    enter, leave = np.minimum(*crossings), np.maximum(*crossings)
    first, last = np.clip(first_y, low, high) - low, np.clip(last_y, low, high) - low
    mean_heights = enter * first + (leave - enter) * (first + last) / 2 + (1.0 - leave) * last
    areas: FloatArray = (last_x - first_x) * mean_heights
    return areas


def _ratios(dividends: FloatArray, divisors: FloatArray) -> FloatArray:
    """Quotients; 0 where the divisor is 0, so that a flat or upright side has no crossing."""
    quotients = np.zeros(dividends.shape)
    with np.errstate(over="ignore"):  # a side may be almost flat
        return np.divide(dividends, divisors, out=quotients, where=divisors != 0.0)


@dataclass(frozen=True, eq=False)
class Regions:
    """R quadrilateral regions in G groups, usually frames.

    Attributes:
        group_starts: (G + 1,) offsets: group g is rows ``group_starts[g]:group_starts[g + 1]``.
        corners: (R, 8) corners x1, y1, ..., x4, y4 in order along the outline, in pixels.
    """

    group_starts: IntArray
    corners: FloatArray


@dataclass(frozen=True, eq=False)
class _Contacts:
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
        """The same pairs, each as if its box overlapped that one region alone."""
        count = len(self.regions)
        each = np.arange(count, dtype=np.int64)
        rows = np.repeat(self.rows, self.counts)
        return _Contacts(rows, each, np.ones(count, dtype=np.int64), self.boxes, self.regions)


def shares_inside(boxes: Shapes, regions: Regions) -> FloatArray:
    """Share of each box's area that is inside the union of its group's regions.

    Most boxes touch no region, most regions are upright, and most others are disjoint: only the
    rest needs general polygons.

    Args:
        boxes: N plain boxes in G groups.
        regions: The regions of the same groups.

    Returns:
        (N,) shares in [0, 1]; 0 for a box without area.
    """
    hulls = bounding_boxes(regions.corners)
    contacts = _contacts(boxes, boxes_as_shapes(regions.group_starts, hulls))
    shares = np.zeros(len(boxes))
    touched = contacts.rows
    inside = _areas_inside(contacts, regions, hulls)
    shares[touched] = np.minimum(inside / boxes.areas[touched], 1.0)
    return shares


def greatest_shares_inside(boxes: Shapes, regions: Regions) -> FloatArray:
    """Share of each box's area that is inside the one region of its group that has most of it.

    Args:
        boxes: N plain boxes in G groups.
        regions: The regions of the same groups.

    Returns:
        (N,) shares in [0, 1]; 0 for a box without area.
    """
    hulls = bounding_boxes(regions.corners)
    contacts = _contacts(boxes, boxes_as_shapes(regions.group_starts, hulls))
    shares = np.zeros(len(boxes))
    if len(contacts.rows) == 0:
        return shares
    inside = _areas_inside(contacts.apart(), regions, hulls)
    greatest = np.maximum.reduceat(inside, contacts.starts)
    shares[contacts.rows] = np.minimum(greatest / boxes.areas[contacts.rows], 1.0)
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
    lie_apart = _lie_apart(rest, regions.corners, hulls)
    areas[np.flatnonzero(~simple)[lie_apart]] = _inside_apart(rest.take(lie_apart), regions.corners)
    areas[np.flatnonzero(~simple)[~lie_apart]] = _inside_polygons(
        rest.take(~lie_apart), regions.corners
    )
    return areas


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
    """Whether a region, or its convex hull where sides cross, is its envelope."""
    visited = np.zeros(len(corners), dtype=np.int64)
    for index in range(0, corners.shape[1], 2):
        x, y = corners[:, index], corners[:, index + 1]
        at_left, at_top = x == hulls[:, 0], y == hulls[:, 1]
        in_corner = (at_left | (x == hulls[:, 2])) & (at_top | (y == hulls[:, 3]))
        visited |= np.where(in_corner, 1 << (2 * at_left.astype(np.int64) + at_top), 0)
    upright: BoolArray = visited == 0b1111
    return upright


def _inside_upright(contacts: _Contacts, hulls: FloatArray) -> FloatArray:
    """Areas inside the union of one or two upright regions: by inclusion and exclusion."""
    clipped = _intersections(contacts.boxes, hulls[contacts.regions])
    shared = intersection_areas(clipped, clipped)
    two = np.flatnonzero(contacts.counts == 2)
    first = contacts.starts[two]
    areas: FloatArray = shared[contacts.starts]
    # In this order the sum is the same for both orders of the two regions.
    both = areas[two] + shared[first + 1]
    areas[two] = both - intersection_areas(clipped[first], clipped[first + 1])
    return areas


def _lie_apart(contacts: _Contacts, corners: FloatArray, hulls: FloatArray) -> BoolArray:
    """Mask of boxes that touch one region, or two that are disjoint there, of simple outlines."""
    apart: BoolArray = contacts.counts <= 2
    two = np.flatnonzero(contacts.counts == 2)
    first = contacts.starts[two]
    clipped = _intersections(contacts.boxes, hulls[contacts.regions])
    apart[two] = intersection_areas(clipped[first], clipped[first + 1]) == 0.0
    crossing = sides_cross(corners)[contacts.regions]
    if len(crossing):
        apart &= ~np.logical_or.reduceat(crossing, contacts.starts)
    return apart


def _inside_apart(contacts: _Contacts, corners: FloatArray) -> FloatArray:
    """Areas inside one or two regions that are disjoint inside the box."""
    clipped = clipped_areas(corners[contacts.regions], contacts.boxes)
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

"""How much of a box lies inside the don't-care regions of its frame.

The regions of a frame are quadrilaterals; what counts is their union, so that regions that lie
side by side act as one, and an area that two of them cover counts once. A region whose sides
cross stands for its convex hull.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely

from vidscore_evaluators.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    expand_runs,
    run_starts,
)
from vidscore_evaluators.geometry.boxes import envelopes, intersection_areas
from vidscore_evaluators.geometry.clipping import clipped_areas
from vidscore_evaluators.geometry.polygons import (
    box_polygons,
    quadrilateral_polygons,
    sides_cross,
    unions_of_runs,
)
from vidscore_evaluators.geometry.shapes import Shapes, boxes_as_shapes, overlapping_pairs


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
    """K boxes that have to do with regions, and their P pairs with them.

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


def shares_inside(boxes: Shapes, regions: Regions) -> FloatArray:
    """Share of each box's area that lies inside the union of its group's regions.

    Most boxes touch no region, most regions are upright, and most others lie apart: only what is
    left goes through general polygons.

    Args:
        boxes: N plain boxes in G groups.
        regions: The regions of the same groups.

    Returns:
        (N,) shares in [0, 1]; 0 for a box without area.
    """
    hulls = envelopes(regions.corners)
    contacts = _contacts(boxes, boxes_as_shapes(regions.group_starts, hulls))
    shares = np.zeros(len(boxes))
    if len(contacts.rows) == 0:
        return shares
    upright = _are_upright(regions.corners, hulls)[contacts.regions]
    simple = np.logical_and.reduceat(upright, contacts.starts) & (contacts.counts <= 2)
    easy, rest = contacts.take(simple), contacts.take(~simple)
    shares[easy.rows] = _inside_upright(easy, hulls)
    lie_apart = _lie_apart(rest, regions.corners, hulls)
    apart, hard = rest.take(lie_apart), rest.take(~lie_apart)
    shares[apart.rows] = _inside_apart(apart, regions.corners)
    shares[hard.rows] = _inside_polygons(hard, regions.corners)
    touched = contacts.rows
    shares[touched] = np.minimum(shares[touched] / boxes.areas[touched], 1.0)
    return shares


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
    # In this order the sum is the same whichever of the two regions comes first.
    both = areas[two] + shared[first + 1]
    areas[two] = both - intersection_areas(clipped[first], clipped[first + 1])
    return areas


def _lie_apart(contacts: _Contacts, corners: FloatArray, hulls: FloatArray) -> BoolArray:
    """Which boxes touch one region, or two that share nothing there, whose sides do not cross."""
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
    """Areas inside one or two regions that have nothing in common inside the box."""
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
    """Boxes that overlapping boxes share."""
    low = np.maximum(first[:, :2], second[:, :2])
    high = np.minimum(first[:, 2:], second[:, 2:])
    return np.concatenate([low, high], axis=1)

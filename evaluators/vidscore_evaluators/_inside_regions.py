"""Objects in don't-care regions: boxes, outlines or masks, by the fraction that a rule requires."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vidscore_evaluators._dont_care import DontCareRule
from vidscore_evaluators._scene_masks import mask_rows
from vidscore_evaluators.annotations import POINT, QUADRILATERAL, Annotations
from vidscore_evaluators.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    expand_runs,
    starts_from_counts,
)
from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.masks import Masks, merged, shared_areas
from vidscore_evaluators.quadrilaterals import corners_of_boxes
from vidscore_evaluators.regions import Regions, shares_inside, shares_of_outlines_inside
from vidscore_evaluators.shapes import boxes_as_shapes

_RUNS_AT_ONCE = 1 << 16
"""Number of runs of regions that are united together, unless one frame has more: a union takes far
more memory than the runs."""


def inside_regions(
    side: Annotations,
    regions: Annotations,
    rule: DontCareRule,
    masks: tuple[Masks, Masks] | None,
) -> BoolArray:
    """Whether enough of each object's area, by a rule, lies in the regions of its frame.

    Args:
        side: N points, upright boxes or outlines.
        regions: Regions, in the same frames.
        rule: Defines how much is enough.
        masks: Masks of the side and of the regions, if these count and not coordinates.

    Returns:
        (N,) booleans.
    """
    if regions.object_count == 0 or side.arity == POINT:
        return np.zeros(side.object_count, dtype=np.bool_)
    if masks is not None:
        shares = _fractions_of_masks_inside(side, regions, masks, apart=rule.regions_apart)
    elif side.arity == QUADRILATERAL:
        areas = Regions(regions.frame_starts, _region_corners(regions))
        shares = shares_of_outlines_inside(
            side.frame_starts, side.coordinates, areas, apart=rule.regions_apart
        )
    else:
        shares = _fractions_of_boxes_inside(side, regions, rule)
    if rule.region_share_counts:
        return np.asarray(shares >= rule.region_share - rule.tolerance)
    return np.asarray(shares > rule.region_share + rule.tolerance)


def _fractions_of_boxes_inside(
    side: Annotations, regions: Annotations, rule: DontCareRule
) -> FloatArray:
    """(N,) fraction of each upright box inside the regions of its frame."""
    boxes, corners = side.coordinates, _region_corners(regions)
    if rule.region_pixels:
        boxes = _rounded(boxes)
        whole = _rounded(bounding_boxes(regions.coordinates))
        corners = corners_of_boxes(whole - np.array([1.0, 1.0, 0.0, 0.0]))
    shapes = boxes_as_shapes(side.frame_starts, boxes)
    of_frames = Regions(regions.frame_starts, corners)
    return shares_inside(shapes, of_frames, apart=rule.regions_apart)


def _rounded(boxes: FloatArray) -> FloatArray:
    """(N, 4) boxes whose first corner is a whole pixel, and whose size is at least 1 whole pixel.

    Source: VisDrone2018-DET-toolkit 1.0.4, dropObjectsInIgr.m, whose sums over an integral image
    begin after the first corner. Halves round up, with a tolerance for sizes from two corners.
    """
    corners, sizes = boxes[:, :2], boxes[:, 2:] - boxes[:, :2]
    first, size = (np.maximum(np.floor(part + (0.5 + 1e-9)), 1.0) for part in (corners, sizes))
    return np.concatenate([first, first + size], axis=1)


def _region_corners(regions: Annotations) -> FloatArray:
    """(R, 8) corners, in order along the outline."""
    if regions.arity == QUADRILATERAL:
        return regions.coordinates
    return corners_of_boxes(bounding_boxes(regions.coordinates))


def _fractions_of_masks_inside(
    side: Annotations, regions: Annotations, masks: tuple[Masks, Masks], *, apart: bool
) -> FloatArray:
    """(N,) fraction of each mask inside the regions of its frame, or the one with most of it."""
    rows, region_rows = mask_rows(side), mask_rows(regions)
    inside = np.zeros(side.object_count)
    for first, last in _frames_at_once(regions, np.diff(masks[1].starts)[region_rows]):
        objects = slice(side.frame_starts[first], side.frame_starts[last])
        of_regions = slice(regions.frame_starts[first], regions.frame_starts[last])
        inside[objects] = _areas_inside(
            (masks[0], rows[objects], side.object_counts[first:last]),
            masks[1].take(region_rows[of_regions]),
            regions.object_counts[first:last],
            apart=apart,
        )
    whole = masks[0].areas()[rows]
    return np.divide(inside, whole, out=np.zeros_like(inside), where=whole > 0.0)


def _frames_at_once(regions: Annotations, run_counts: IntArray) -> Iterator[tuple[int, int]]:
    """First and last frames of parts with at most `_RUNS_AT_ONCE` runs, or of single frames."""
    before = starts_from_counts(run_counts)[regions.frame_starts]
    first = 0
    while first < regions.frame_count:
        most = before[first] + _RUNS_AT_ONCE
        last = max(first + 1, int(np.searchsorted(before, most, side="right")) - 1)
        yield first, last
        first = last


def _areas_inside(
    objects: tuple[Masks, IntArray, IntArray], areas: Masks, counts: IntArray, *, apart: bool
) -> FloatArray:
    """Pixels of objects inside the regions of their frames, or inside the one with most of them.

    Args:
        objects: Masks, the (N,) masks that are the objects, and the (F,) objects of each frame.
        areas: Masks of the regions of all frames.
        counts: (F,) regions of each frame.
        apart: Whether the regions of a frame are not united.

    Returns:
        (N,) pixels.
    """
    own, rows, object_counts = objects
    if not apart:
        areas = merged(areas, starts_from_counts(counts[counts > 0]))
        counts = np.minimum(counts, 1)
    frames = np.repeat(np.arange(len(counts)), object_counts)
    first = np.cumsum(counts) - counts
    pairs = np.repeat(np.arange(len(rows)), counts[frames])
    shared = shared_areas(own, rows[pairs], areas, expand_runs(first[frames], counts[frames]))
    inside = np.zeros(len(rows))
    np.maximum.at(inside, pairs, shared)
    return inside

"""What lies in don't-care regions: boxes, outlines or masks, by the share that a rule asks for."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators._dont_care import DontCareRule
from vidscore_evaluators.annotations import POINT, QUADRILATERAL, Annotations
from vidscore_evaluators.arrays import BoolArray, FloatArray, expand_runs
from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.masks import Masks, merged, shared_areas
from vidscore_evaluators.quadrilaterals import corners_of_boxes
from vidscore_evaluators.regions import (
    Regions,
    shares_inside,
    shares_of_outlines_inside,
)
from vidscore_evaluators.scene import MASK_ROW
from vidscore_evaluators.shapes import boxes_as_shapes


def inside_regions(
    side: Annotations,
    regions: Annotations,
    rule: DontCareRule,
    masks: tuple[Masks, Masks] | None = None,
) -> BoolArray:
    """Whether enough of an object's area for a rule lies in the regions of its frame.

    Args:
        side: N points, upright boxes or outlines.
        regions: Regions, in the same frames.
        rule: Says how much is enough.
        masks: Masks of the side and of the regions, where these count and not coordinates.

    Returns:
        (N,) booleans.
    """
    if regions.object_count == 0 or side.arity == POINT:
        return np.zeros(side.object_count, dtype=np.bool_)
    if masks is not None:
        shares = _shares_of_masks_inside(side, regions, masks, apart=rule.regions_apart)
    elif side.arity == QUADRILATERAL:
        areas = Regions(regions.frame_starts, _region_corners(regions))
        shares = shares_of_outlines_inside(
            side.frame_starts, side.coordinates, areas, apart=rule.regions_apart
        )
    else:
        shares = _shares_of_boxes_inside(side, regions, rule)
    if rule.region_share_counts:
        return np.asarray(shares >= rule.region_share - rule.tolerance)
    return np.asarray(shares > rule.region_share + rule.tolerance)


def _shares_of_boxes_inside(
    side: Annotations, regions: Annotations, rule: DontCareRule
) -> FloatArray:
    """(N,) share of each upright box inside the regions of its frame."""
    boxes, corners = side.coordinates, _region_corners(regions)
    if rule.region_pixels:
        boxes = _rounded(boxes)
        whole = _rounded(bounding_boxes(regions.coordinates))
        corners = corners_of_boxes(whole - np.array([1.0, 1.0, 0.0, 0.0]))
    shapes = boxes_as_shapes(side.frame_starts, boxes)
    of_frames = Regions(regions.frame_starts, corners)
    return shares_inside(shapes, of_frames, apart=rule.regions_apart)


def _rounded(boxes: FloatArray) -> FloatArray:
    """(N, 4) boxes whose first corner and size are whole pixels, at least 1.

    Source: VisDrone2018-DET-toolkit 1.0.4, dropObjectsInIgr.m, whose sums over an integral image
    begin after the first corner. Halves go up, with room for a size taken from two corners.
    """
    corners, sizes = boxes[:, :2], boxes[:, 2:] - boxes[:, :2]
    first, size = (np.maximum(np.floor(part + (0.5 + 1e-9)), 1.0) for part in (corners, sizes))
    return np.concatenate([first, first + size], axis=1)


def _region_corners(regions: Annotations) -> FloatArray:
    """(R, 8) corners, in order along the outline."""
    if regions.arity == QUADRILATERAL:
        return regions.coordinates
    return corners_of_boxes(bounding_boxes(regions.coordinates))


def _shares_of_masks_inside(
    side: Annotations, regions: Annotations, masks: tuple[Masks, Masks], *, apart: bool
) -> FloatArray:
    """(N,) share of each mask inside the regions of its frame, or inside that with most of it."""
    own_rows, region_rows = (part.columns[MASK_ROW].astype(np.int64) for part in (side, regions))
    own, areas, counts = masks[0], masks[1].take(region_rows), regions.object_counts
    if not apart:
        occupied = regions.frame_starts[:-1][counts > 0]
        areas = merged(areas, np.append(occupied, regions.object_count))
        counts = np.minimum(counts, 1)
    first = np.cumsum(counts) - counts
    frames = side.object_frames
    objects = np.repeat(np.arange(side.object_count), counts[frames])
    shared = shared_areas(own, own_rows[objects], areas, expand_runs(first[frames], counts[frames]))
    inside = np.zeros(side.object_count)
    np.maximum.at(inside, objects, shared)
    whole = own.areas()[own_rows]
    return np.divide(inside, whole, out=np.zeros_like(inside), where=whole > 0.0)

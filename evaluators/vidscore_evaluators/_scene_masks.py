"""Masks of a scene, stored apart from the columns, so that they are never copied."""

from __future__ import annotations

import dataclasses

import numpy as np
from msgspec import Struct, structs

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.masks import Masks, no_masks
from vidscore_evaluators.scene import GIVEN_AREA, MASK_DIGEST, MASK_ROW, ROW

MASK_FAULTS = 100
"""Maximum number of faults of sizes that are listed."""


class SideMasks(Struct, frozen=True, eq=False):
    """Masks of both sides.

    Attributes:
        truth: A mask for each object of the truth.
        detections: A mask for each detection.
    """

    truth: Masks
    detections: Masks


def with_mask_rows(aligned: Aligned, evaluated: BoolArray) -> tuple[Aligned, SideMasks]:
    """Both sides with a column of mask rows in place of the masks.

    Selecting frames and objects then copies no masks.

    Args:
        aligned: Both sides.
        evaluated: (F,) frames that count; in others, objects need no mask.

    Raises:
        InputError: If objects have no masks.
    """
    truth, detections = aligned.truth, aligned.detections
    masks = SideMasks(
        _masks_of(truth, Side.TRUTH, evaluated), _masks_of(detections, Side.DETECTIONS, evaluated)
    )
    rows = dataclasses.replace(aligned, truth=_with_rows(truth), detections=_with_rows(detections))
    return rows, masks


def with_mask_shapes(kept: Aligned, masks: SideMasks) -> Aligned:
    """Both sides with the boxes, areas and digests of their masks.

    Args:
        kept: The frames that count, with the columns that `with_mask_rows` adds.
        masks: The masks.

    Raises:
        InputError: If the masks of one frame are of different sizes.
    """
    _require_equal_sizes(kept, masks)
    return dataclasses.replace(
        kept,
        truth=_with_shapes(kept.truth, masks.truth),
        detections=_with_shapes(kept.detections, masks.detections),
    )


def missing_masks(side: Side) -> Fault:
    """The fault for a side whose objects have no masks."""
    found, expected = "objects without masks", "a mask for each object, for the base mask"
    advice = "in COCO files polygons need the width and height of each image; give --image-size"
    return Fault(found, expected, source=side.value, field="masks", advice=advice)


def mask_rows(side: Annotations) -> IntArray:
    """(N,) mask row of each object of a side that has the column."""
    return side.columns[MASK_ROW].astype(np.int64)


def _masks_of(side: Annotations, name: Side, evaluated: BoolArray) -> Masks:
    if side.masks is not None:
        return side.masks
    if side.object_counts[evaluated].any():
        raise InputError([missing_masks(name)])
    return no_masks()


def _with_rows(side: Annotations) -> Annotations:
    """One side without its masks, with their rows as a column."""
    rows = np.arange(side.object_count, dtype=np.float64)
    return structs.replace(side, columns={**side.columns, MASK_ROW: rows}, masks=None)


def _with_shapes(side: Annotations, masks: Masks) -> Annotations:
    """One side with the boxes and areas of its masks, and their digests as a column."""
    rows = mask_rows(side)
    columns = {**side.columns, GIVEN_AREA: masks.areas()[rows]}
    if ROW not in columns:  # else rows break ties between equally confident objects
        digests = masks.digests()[rows]
        columns[MASK_DIGEST] = (digests >> np.uint64(11)).astype(np.float64)
    return structs.replace(side, coordinates=masks.boxes()[rows], columns=columns)


def _require_equal_sizes(kept: Aligned, masks: SideMasks) -> None:
    """Refuse frames whose masks are not all of one size.

    Raises:
        InputError: With a fault for each of the first `MASK_FAULTS` such masks.
    """
    own = (
        _size_keys(masks.truth)[mask_rows(kept.truth)],
        _size_keys(masks.detections)[mask_rows(kept.detections)],
    )
    keys = np.concatenate(own)
    frames = np.concatenate([kept.truth.object_frames, kept.detections.object_frames])
    size_of_frame = np.zeros(kept.truth.frame_count, dtype=np.int64)
    # Assigned backwards, so that the first object of the truth determines the size.
    size_of_frame[frames[::-1]] = keys[::-1]
    wrong: BoolArray = keys != size_of_frame[frames]
    if not wrong.any():
        return
    faults = []
    for row in np.flatnonzero(wrong)[:MASK_FAULTS].tolist():
        side = Side.TRUTH if row < len(own[0]) else Side.DETECTIONS
        frame = int(frames[row])
        found = f"a mask of {_shown(keys[row])} in {kept.truth.frame_name(frame)}"
        expected = f"{_shown(size_of_frame[frame])}, as the first mask of that frame"
        faults.append(Fault(found, expected, source=side.value, field="masks"))
    raise InputError(faults)


def _size_keys(masks: Masks) -> IntArray:
    """(N,) a number that identifies each size."""
    return (masks.sizes[:, 0] << 32) + masks.sizes[:, 1]


def _shown(key: int) -> str:
    return f"{int(key) & 0xFFFFFFFF} x {int(key) >> 32} pixels"

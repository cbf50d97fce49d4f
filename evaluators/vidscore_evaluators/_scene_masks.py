"""Masks of a scene: kept apart from the columns, so that they are never copied."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.mask_digests import mask_digests
from vidscore_evaluators.masks import Masks, no_masks
from vidscore_evaluators.scene import GIVEN_AREA, MASK_DIGEST, MASK_ROW, ROW

MASK_FAULTS = 100
"""Most faults of sizes that are listed."""


@dataclass(frozen=True, eq=False)
class SideMasks:
    """Masks of both sides.

    Attributes:
        truth: A mask for each object of the truth.
        detections: A mask for each detection.
    """

    truth: Masks
    detections: Masks


def with_mask_rows(kept: Aligned) -> tuple[Aligned, SideMasks]:
    """Both sides with columns that say which mask an object is, and with the boxes of the masks.

    Raises:
        InputError: If objects have no masks, or those of one frame are of different sizes.
    """
    truth, detections = kept.truth, kept.detections
    masks = SideMasks(_masks_of(truth, Side.TRUTH), _masks_of(detections, Side.DETECTIONS))
    _require_equal_sizes(kept, masks)
    truth, detections = _with_rows(truth, masks.truth), _with_rows(detections, masks.detections)
    return replace(kept, truth=truth, detections=detections), masks


def missing_masks(side: Side) -> Fault:
    """The fault of a side whose objects have no masks."""
    found, expected = "objects without masks", "a mask for each object, for the base mask"
    advice = "in COCO files polygons need the width and height of each image"
    return Fault(found, expected, source=side.value, field="masks", advice=advice)


def _masks_of(side: Annotations, name: Side) -> Masks:
    if side.masks is not None:
        return side.masks
    if side.object_count:
        raise InputError([missing_masks(name)])
    return no_masks()


def _with_rows(side: Annotations, masks: Masks) -> Annotations:
    """One side without its masks, whose rows, areas and digests are columns."""
    rows = np.arange(masks.count, dtype=np.float64)
    columns = {**side.columns, MASK_ROW: rows, GIVEN_AREA: masks.areas()}
    if ROW not in columns:  # else rows decide between what is equally confident
        columns[MASK_DIGEST] = (mask_digests(masks) >> np.uint64(11)).astype(np.float64)
    return replace(side, coordinates=masks.boxes(), columns=columns, masks=None)


def _require_equal_sizes(kept: Aligned, masks: SideMasks) -> None:
    """Refuse frames whose masks are not all of one size.

    Raises:
        InputError: With a fault for each of the first such masks.
    """
    own = _size_keys(masks.truth), _size_keys(masks.detections)
    keys = np.concatenate(own)
    frames = np.concatenate([kept.truth.object_frames, kept.detections.object_frames])
    size_of_frame = np.zeros(kept.truth.frame_count, dtype=np.int64)
    # Assigned backwards, so that the first object of the truth says the size.
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
    """(N,) a number for each size."""
    return (masks.sizes[:, 0] << 32) + masks.sizes[:, 1]


def _shown(key: int) -> str:
    return f"{int(key) & 0xFFFFFFFF} x {int(key) >> 32} pixels"

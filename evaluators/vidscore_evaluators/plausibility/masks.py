"""Warnings of what is seldom meant in masks: counted in parts, said of the whole side."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.arrays import BoolArray
from vidscore_evaluators.geometry import overlap_ratios
from vidscore_evaluators.plausibility.warnings import SIDE_NAMES, place_name
from vidscore_evaluators.report import FrameExample, ReportWarning

MASK_MESSAGES = {
    "masks_are_empty": (
        "masks of {side} have no pixel, so that nothing can match them",
        "correct or remove them",
    ),
    "masks_fill_the_image": (
        "masks of {side} have every pixel of their image",
        "check that 0s and 1s are not exchanged: runs begin with those of 0s",
    ),
    "boxes_beside_masks": (
        "boxes of {side} and the masks that come with them hardly overlap",
        "check the order of pixels: runs go down the columns, and a size is height, width",
    ),
}
"""By code: what is odd about a side, and what to do."""

_LEAST_OVERLAP_OF_BOXES = 0.5
"""Least IoU of a box and the box around its mask that is no reason for doubt."""

_ROUNDED_PX = 2.0
"""Most that an edge is off by rounding: of the outline to pixels, and of the box."""


def mask_warnings(side: Side, annotations: Annotations) -> Iterator[ReportWarning]:
    """Warn of what is seldom meant in masks.

    Args:
        side: The side.
        annotations: What was read of it.
    """
    for code, (count, example) in odd_masks(side, annotations).items():
        yield mask_warning(code, count, example)


def odd_masks(side: Side, annotations: Annotations) -> dict[str, tuple[int, FrameExample]]:
    """How many masks are odd, and the frame of the first of them, by the code of the warning."""
    masks, given = annotations.masks, annotations.coordinates
    if masks is None or not masks.count:
        return {}
    areas, own = masks.areas(), masks.boxes()
    apart = (areas > 0.0) & (np.abs(given - own).max(axis=1) > _ROUNDED_PX)
    if apart.any():
        apart &= overlap_ratios(given, own) < _LEAST_OVERLAP_OF_BOXES
    each = zip(MASK_MESSAGES, (areas == 0.0, areas == masks.pixels(), apart), strict=True)
    counted = {code: first_of(annotations, found, side) for code, found in each}
    return {code: found for code, found in counted.items() if found is not None}


def mask_warning(code: str, count: int, example: FrameExample) -> ReportWarning:
    """The warning of a code."""
    what, advice = MASK_MESSAGES[code]
    what = what.format(side=SIDE_NAMES[example.side])
    message = f"{what}, the first of them in {place_name(example)}; {advice}"
    return ReportWarning(code, message, count, example)


def first_of(
    annotations: Annotations, found: BoolArray, side: Side
) -> tuple[int, FrameExample] | None:
    """How many objects were found, and the frame of the first in order of names; None for none."""
    rows = np.flatnonzero(found)
    if len(rows) == 0:
        return None
    frames = annotations.object_frames[rows]
    sequences = [annotations.sequences[row] for row in annotations.frame_sequences[frames].tolist()]
    keys = zip(sequences, annotations.frame_numbers[frames].tolist(), strict=True)
    return len(rows), FrameExample(side, *min(keys))

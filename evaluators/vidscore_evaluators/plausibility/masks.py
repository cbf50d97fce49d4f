"""Oddities in the masks of one side."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import BoolArray
from vidscore_evaluators.geometry import overlap_ratios

EMPTY, FULL, BESIDE = MASK_DOUBTS = (
    *("masks_are_empty", "masks_fill_the_image", "boxes_beside_masks"),
)
"""Oddities of a mask: the codes of the warnings."""

_LEAST_OVERLAP_OF_BOXES = 0.5
"""Minimum IoU of a box and its mask's bounding box that causes no doubt."""

_ROUNDED_PX = 2.0
"""Maximum rounding error of an edge: of the outline to pixels, and of the box."""


def odd_masks(annotations: Annotations) -> Mapping[str, BoolArray]:
    """(N,) whether each object has an odd mask, by warning code; empty without masks."""
    masks, given = annotations.masks, annotations.coordinates
    if masks is None or not masks.count:
        return {}
    areas, own = masks.areas(), masks.boxes()
    apart = (areas > 0.0) & (np.abs(given - own).max(axis=1) > _ROUNDED_PX)
    if apart.any():
        apart &= overlap_ratios(given, own) < _LEAST_OVERLAP_OF_BOXES
    return {EMPTY: areas == 0.0, FULL: areas == masks.pixels(), BESIDE: apart}

"""What is seldom meant in masks, of one side alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import BoolArray
from vidscore_evaluators.geometry import overlap_ratios

EMPTY, FULL, BESIDE = MASK_DOUBTS = (
    *("masks_are_empty", "masks_fill_the_image", "boxes_beside_masks"),
)
"""What may be odd about a mask: the codes of the warnings."""

_LEAST_OVERLAP_OF_BOXES = 0.5
"""Least IoU of a box and the box around its mask that is no reason for doubt."""

_ROUNDED_PX = 2.0
"""Most that an edge is off by rounding: of the outline to pixels, and of the box."""


def odd_masks(annotations: Annotations) -> Mapping[str, BoolArray]:
    """(N,) which objects have odd masks, by the code of the warning; empty without masks."""
    masks, given = annotations.masks, annotations.coordinates
    if masks is None or not masks.count:
        return {}
    areas, own = masks.areas(), masks.boxes()
    apart = (areas > 0.0) & (np.abs(given - own).max(axis=1) > _ROUNDED_PX)
    if apart.any():
        apart &= overlap_ratios(given, own) < _LEAST_OVERLAP_OF_BOXES
    return {EMPTY: areas == 0.0, FULL: areas == masks.pixels(), BESIDE: apart}

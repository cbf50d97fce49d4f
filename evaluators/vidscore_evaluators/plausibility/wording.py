"""Names of sides and places in warnings."""

from __future__ import annotations

from vidscore_evaluators.annotations import Side, frame_name
from vidscore_evaluators.report import FrameExample

WHOSE = {Side.TRUTH: "objects of the ground truth", Side.DETECTIONS: "detections"}
SIDE_NAMES = {Side.TRUTH: "the ground truth", Side.DETECTIONS: "the detections"}


def place_name(example: FrameExample) -> str:
    """``frame 7 of sequence Tower/001``."""
    return frame_name(example.sequence, example.frame)

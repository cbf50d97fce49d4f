"""The sanity test of multi-class multi-object detection (appendix 4.1 of the paper)."""

from __future__ import annotations

from vidscore_evaluators.trust.sanity.detection import detection_family
from vidscore_evaluators.trust.sanity.families import CLASS_NAMES, Draw, Family


def draw_family(draw: Draw) -> Family:
    """Draw a family of one frame with five classes and with confidences."""
    return detection_family(draw, len(CLASS_NAMES))

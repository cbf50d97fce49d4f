"""The sanity test of single-class multi-object detection (appendix 4.1 of the paper).

The single-class rows of the paper's tables do not come out of the text, whichever reading is taken.
"""

from __future__ import annotations

from vidscore_evaluators.trust.sanity.detection import detection_family
from vidscore_evaluators.trust.sanity.families import Draw, Family


def draw_family(draw: Draw) -> Family:
    """Draw a family of one frame with one class, everything certain."""
    return detection_family(draw, 1)

"""Frames with objects, hardly any of which has a detection, and images that were left out."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.annotations import IMAGES, SequenceKey, Side
from vidscore_evaluators.plausibility.sample import block_sequence
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.tally import Table

_MANY_FRAMES = 100
_ANSWERED_FRACTION = 0.05
"""Minimum number of frames with objects, and maximum fraction with detections, for a warning."""

_LEAST_IMAGES = 20
"""Minimum number of images with a detection, and without one, to find that some were left out."""

_FEW = 3
_FEW_FRACTION = 0.05
"""If the images without a detection were processed, some others have fewer than `_FEW` detections:
at least this fraction of the number of images without one."""

_SAME_LABELS_FRACTION = 0.9
"""Fraction of objects whose label is detected at all: with one label, many images have none."""


def are_hardly_any(wanted: int, answered: int) -> bool:
    """Whether so few of many frames with objects have a detection that most were left out."""
    return wanted >= _MANY_FRAMES and 0 < answered < _ANSWERED_FRACTION * wanted


def are_left_out(answers: Table, labels: Table) -> bool:
    """Whether images without a detection seem to have been left out, such as every fourth.

    A detector that finds nothing in many images finds one or two things in others, however sparse
    objects are and whatever its threshold. Frames of a video may be left out for good reasons.

    Args:
        answers: Images with objects.
        labels: Objects and detections by label.
    """
    found = answers.count("detections")
    none, few = np.count_nonzero(found == 0), np.count_nonzero((found > 0) & (found < _FEW))
    if min(none, len(found) - none) < _LEAST_IMAGES or few > _FEW_FRACTION * none:
        return False
    if {block_sequence(block) for block in answers.vocabulary} != {SequenceKey("", IMAGES)}:
        return False
    objects = labels.count(Side.TRUTH.value)
    detected = labels.count(Side.DETECTIONS.value) > 0
    return bool(objects[detected].sum() >= _SAME_LABELS_FRACTION * objects.sum())


def unanswered_warning(wanted: int, answered: int) -> ReportWarning:
    """The warning that frames with objects have no detection."""
    return ReportWarning(
        "frames_without_detections",
        f"of {wanted:,} frames with objects have no detection, and all their objects count as "
        "missed; check that the detections are complete, or choose the frames that were processed",
        wanted - answered,
    )

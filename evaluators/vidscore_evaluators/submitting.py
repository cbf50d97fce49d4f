"""Detections from files, as they are submitted to a hosted benchmark.

The command line and the pages of a server treat the same files in the same way, so that either can
finish an upload that the other began.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vidscore_evaluators.annotations import Annotations, frame_keys
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import InputError, VidscoreError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats._coco_images import unresolved
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.presets import create_evaluators
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec

STREAM_PREFIX = "files-"
"""Prefix of the names of streams whose frames come from files."""


def refuse_image_names(detections: Source) -> None:
    """Refuse detections that name their images, since without truth the names cannot be resolved.

    Raises:
        InputError: If they name images.
    """
    faults = unresolved(detections)
    if faults:
        raise InputError(faults.listed())


def rank_by_confidence(names: Sequence[str]) -> bool | None:
    """Whether the scores of a benchmark depend on the order of confidences.

    Args:
        names: Its evaluators and presets.

    Returns:
        None if one of them is not installed here.
    """
    specification = BenchmarkSpec(evaluators=tuple(map(EvaluatorSpec, names)))
    try:
        return any(one.needs.ranked for one in create_evaluators(specification))
    except VidscoreError:
        return None


def submitted_order(detections: Annotations) -> IntArray:
    """(F,) rows of the frames sorted by sequence and number, whatever their order in the files."""
    keys = frame_keys(detections)
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return np.array(order, dtype=np.int64)


def submitted_stream(detections: Annotations) -> str:
    """Name of the stream for these detections; equal detections give equal names."""
    return f"{STREAM_PREFIX}{str(fingerprint(detections))[:16]}"

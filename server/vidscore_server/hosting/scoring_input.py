"""What is scored: which truth and which of the detections meet; pure."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.alignment import frames_in, resolve, restrict
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import BoolArray
from vidscore_evaluators.specification import BenchmarkSpec


def sides_to_score(
    specification: BenchmarkSpec, truth: Annotations, detections: Annotations, *, complete: bool
) -> tuple[Annotations, Annotations]:
    """Truth and detections as evaluators get them.

    Where the truth is complete this is what scoring files does, but that detections of sequences
    that nobody knows are left out, not refused: nobody was there to be told. Where it is not, a
    frame without truth is left out on both sides.

    Args:
        specification: The benchmark's specification.
        truth: All truth that is there.
        detections: All detections of a submission.
        complete: Whether more truth is to come.
    """
    return (
        truth_to_score(specification, truth, complete=complete),
        detections_to_score(specification, truth, detections, complete=complete),
    )


def truth_to_score(
    specification: BenchmarkSpec, truth: Annotations, *, complete: bool
) -> Annotations:
    """The truth of `sides_to_score`."""
    return resolve(specification, truth) if complete else restrict(specification, truth)


def detections_to_score(
    specification: BenchmarkSpec, truth: Annotations, detections: Annotations, *, complete: bool
) -> Annotations:
    """The detections of `sides_to_score`, which may be some of a submission's."""
    if not complete:
        return detections.take_frames(~without_truth(truth, detections))
    known = {*truth.sequences, *(entry.key for entry in specification.sequences)}
    of_known = np.array([key in known for key in detections.sequences], dtype=np.bool_)
    kept = of_known[detections.frame_sequences]
    return detections if kept.all() else detections.take_frames(kept)


def without_truth(truth: Annotations, detections: Annotations) -> BoolArray:
    """(F,) whether each frame of the detections is not in the truth."""
    return ~frames_in(detections, truth)

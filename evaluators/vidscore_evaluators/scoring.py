"""Score truth against detections in one call: what a notebook and the command line use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.evaluated_frames import resolve, unknown_sequences
from vidscore_evaluators.evaluator import Evaluator, Side
from vidscore_evaluators.jobs import tally_in_parts
from vidscore_evaluators.processes import Progress
from vidscore_evaluators.report import Report
from vidscore_evaluators.specification import BenchmarkSpec


def score_annotations(
    evaluators: Sequence[Evaluator[Any]],
    truth: Annotations,
    detections: Annotations,
    specification: BenchmarkSpec = BenchmarkSpec(),
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> list[Report]:
    """Score detections with every evaluator.

    Args:
        evaluators: Evaluators of one specification.
        truth: Truth, as read.
        detections: Detections, as read.
        specification: The benchmark's specification.
        workers: Processes to use; 1 for this one alone. The scores do not depend on it.
        progress: Called with (frames done, frames in all).

    Returns:
        A report for each evaluator.

    Raises:
        InputError: If detections name a sequence that neither truth nor specification knows, or
            an evaluator's own rules forbid something; with every fault.
    """
    resolved = resolve(specification, truth)
    check_sides(evaluators, truth, detections, specification)
    tallies = tally_in_parts(evaluators, resolved, detections, workers=workers, progress=progress)
    return [evaluator.report(tally) for evaluator, tally in zip(evaluators, tallies, strict=True)]


def check_sides(
    evaluators: Sequence[Evaluator[Any]],
    truth: Annotations,
    detections: Annotations,
    specification: BenchmarkSpec,
) -> None:
    """Refuse what no evaluator should see.

    Raises:
        GeometryError: If an evaluator cannot use the coordinates of a side.
        InputError: With every fault.
    """
    faults = unknown_sequences(specification, _used_sequences(truth), _used_sequences(detections))
    for evaluator in evaluators:
        for side, annotations in ((Side.TRUTH, truth), (Side.DETECTIONS, detections)):
            evaluator.check_arity(side, annotations.arity, annotations.columns)
            faults.extend(evaluator.input_faults(side, annotations))
    if faults:
        raise InputError(list(dict.fromkeys(faults)))


def _used_sequences(annotations: Annotations) -> Sequence[SequenceKey]:
    names = annotations.sequences
    used = np.bincount(annotations.frame_sequences, minlength=len(names)) > 0
    return names if used.all() else [names[row] for row in np.flatnonzero(used).tolist()]

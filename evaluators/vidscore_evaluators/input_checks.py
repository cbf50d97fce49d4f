"""Checks of both sides together, before any evaluator sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vidscore_evaluators.alignment import resolve, unknown_sequences
from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.specification import BenchmarkSpec

if TYPE_CHECKING:
    from vidscore_evaluators.formats import Pair


def checked_truth(
    evaluators: Sequence[Evaluator[Any]], pair: Pair, specification: BenchmarkSpec
) -> Annotations:
    """The frames of the truth that are evaluated, after both sides of a pair have been checked.

    Args:
        evaluators: Evaluators of the specification.
        pair: Both sides, as read.
        specification: The benchmark's specification.

    Raises:
        InputError: With every fault, each with file and line, or entry.
    """
    truth, detections = pair.truth.annotations, pair.detections.annotations
    try:
        resolved = resolve(specification, truth)
        check_sides(evaluators, truth, detections, specification)
    except InputError as error:
        raise type(error)([pair.locate(fault) for fault in error.faults]) from None
    return resolved


def check_sides(
    evaluators: Sequence[Evaluator[Any]],
    truth: Annotations,
    detections: Annotations,
    specification: BenchmarkSpec,
) -> None:
    """Refuse invalid input before any evaluator sees it.

    Raises:
        GeometryError: If an evaluator cannot use the coordinates of a side.
        InputError: With every fault.
    """
    listed, detected = _used_sequences(truth), _used_sequences(detections)
    faults = [] if listed == detected else unknown_sequences(specification, listed, detected)
    for evaluator in evaluators:
        for side, annotations in ((Side.TRUTH, truth), (Side.DETECTIONS, detections)):
            evaluator.check_arity(side, annotations.arity, annotations.columns)
            faults.extend(evaluator.input_faults(side, annotations))
    if faults:
        raise InputError(list(dict.fromkeys(faults)))


def _used_sequences(annotations: Annotations) -> tuple[SequenceKey, ...]:
    names = annotations.sequences
    used = np.bincount(annotations.frame_sequences, minlength=len(names)) > 0
    return names if used.all() else tuple(names[row] for row in used.nonzero()[0].tolist())

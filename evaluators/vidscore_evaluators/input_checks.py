"""Checks of both sides together, before any evaluator sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

from vidscore_evaluators.alignment import resolve, unknown_sequences
from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.specification import BenchmarkSpec

if TYPE_CHECKING:
    from vidscore_evaluators.formats import Pair

_FRAMELESS = "the truth has no frame of it; a manifest with its frame_count lists them"


def checked_truth(
    evaluators: Sequence[Evaluator[Any]], pair: Pair, specification: BenchmarkSpec
) -> Annotations:
    """Check both sides of a pair; return the frames of the truth that are evaluated.

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
        listing = pair.truth.listing
        listed = None if listing is None else listing.with_frames
        check_sides(evaluators, truth, detections, specification, listed)
    except InputError as error:
        raise type(error)([pair.locate(fault) for fault in error.faults]) from None
    return resolved


def check_sides(
    evaluators: Sequence[Evaluator[Any]],
    truth: Annotations,
    detections: Annotations,
    specification: BenchmarkSpec,
    listed: Sequence[SequenceKey] | None = None,
) -> None:
    """Refuse invalid input before any evaluator sees it.

    Args:
        evaluators: Evaluators of the specification.
        truth: The truth.
        detections: The detections.
        specification: The benchmark's specification.
        listed: Sequences that have a frame in the whole truth, if `truth` is a part of it: the
            truth of a cut sequence may be in one part and its detections in another.

    Raises:
        GeometryError: If an evaluator cannot use the coordinates of a side.
        InputError: With every fault.
    """
    if listed is None:
        listed = truth.used_sequences
    detected = detections.used_sequences
    faults: list[Fault] = []
    if listed != detected:
        unknown = unknown_sequences(specification, listed, detected)
        firsts = _first_rows(detections) if unknown else {}
        frameless = dict.fromkeys(truth.sequences, _FRAMELESS)
        faults = [
            structs.replace(fault, entry=firsts[key], advice=frameless.get(key, fault.advice))
            for key, fault in unknown.items()
        ]
    for evaluator in evaluators:
        for side, annotations in ((Side.TRUTH, truth), (Side.DETECTIONS, detections)):
            evaluator.check_arity(side, annotations.arity, annotations.columns)
            faults.extend(evaluator.input_faults(side, annotations))
    if faults:
        raise InputError(list(dict.fromkeys(faults)))


def _first_rows(side: Annotations) -> dict[SequenceKey, int]:
    """Row of the first frame of each sequence that has one."""
    used, rows = np.unique(side.frame_sequences, return_index=True)
    keys = [side.sequences[index] for index in used.tolist()]
    return dict(zip(keys, rows.tolist(), strict=True))

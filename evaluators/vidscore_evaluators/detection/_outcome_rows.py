"""Outcomes of the detection criteria as rows, and figures counted from these rows.

A criterion matches its scene at one threshold and records the pairs in `Matches`; `outcome_builder`
translates them to rows of the input. The way back is `class_cells`: rows by class, ranked as in a
tally, so that the code that scores also computes average precisions of outcomes.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from msgspec import structs

from vidscore_evaluators._report_rows import ratio
from vidscore_evaluators._scene_outcomes import match_pairs, relate_pairs, unmatched_builder
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import BoolArray, IntArray, marked, run_starts
from vidscore_evaluators.criterion import SceneParameters
from vidscore_evaluators.detection._outcomes import (
    FALSE,
    NOT_COUNTED,
    TRUE,
    UNMATCHED,
    Assignment,
    Matches,
    OutcomeArray,
    assigned_outcomes,
)
from vidscore_evaluators.detection._precision_recall import (
    Cell,
    Interpolation,
    average_precisions,
    ranked,
)
from vidscore_evaluators.errors import Fault, ParameterError
from vidscore_evaluators.outcome_table import OperatingPoint, Outcome, OutcomeBuilder, Outcomes
from vidscore_evaluators.parameters import describe_parameters
from vidscore_evaluators.report import Number
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.similarity import Similarity


class Point(NamedTuple):
    """An operating point with every choice made.

    Attributes:
        threshold: Similarity that a match needs.
        confidence: Detections below it are ignored; less than every confidence for no limit.
    """

    threshold: float
    confidence: float


def look_at(parameters: SceneParameters, name: str, at: OperatingPoint) -> Point:
    """The operating point of a criterion: as requested, or by its own parameters.

    Args:
        parameters: Parameters of the criterion.
        name: Its parameter that is a threshold, or a list of which the first is taken.
        at: The requested point.

    Raises:
        ParameterError: If the threshold is out of the parameter's bounds, or excluded by another
            parameter; or if a number is not finite.
    """
    own = getattr(parameters, name)
    several = isinstance(own, tuple)
    threshold = at.threshold
    if threshold is None:
        threshold = own[0] if several else own
    confidence = -math.inf if at.confidence is None else at.confidence
    faults = list(_faults(parameters, name, at))
    if not faults:
        changed: dict[str, Any] = {name: (threshold,) if several else threshold}
        faults = list(dataclasses.replace(parameters, **changed).faults())
    if faults:
        raise ParameterError(faults)
    return Point(threshold, confidence)


def _faults(parameters: SceneParameters, name: str, at: OperatingPoint) -> Iterator[Fault]:
    described = {entry.name: entry for entry in describe_parameters(type(parameters))}
    bounds = described[name].bounds
    for field, value in (("at_threshold", at.threshold), ("at_confidence", at.confidence)):
        if value is None:
            continue
        expected = None if field == "at_confidence" else bounds.broken_by(value)
        if not math.isfinite(value):
            expected = "a finite number"
        if expected is not None:
            yield Fault(f"{value:g}", expected, field=field)


def outcome_builder(
    aligned: Aligned,
    scene: Scene,
    similarity: Similarity,
    results: OutcomeArray,
    matches: Matches,
    *,
    confidence: float = -math.inf,
    ignored_truth: BoolArray | None = None,
    pointing: IntArray | None = None,
) -> OutcomeBuilder:
    """Set the outcomes of the rows of the input, for a matching at one threshold.

    A detection without a match may have a partner: the absorber that takes it, or the object that
    the matching considers nearest to it.

    Args:
        aligned: The input.
        scene: Its scene, traced, of T objects and D detections.
        similarity: The similarity.
        results: (D,) outcomes.
        matches: The matches of the detections.
        confidence: Detections below it are ignored, although they took part in the matching.
        ignored_truth: (T,) objects that are not counted; none if left out.
        pointing: False detections that are also the partners of their objects, which have no match;
            each object once, ascending. By default, those whose object has no match.
    """
    kept = scene.detections.confidences >= confidence
    results = np.where(kept, results, NOT_COUNTED).astype(np.int8)
    paired = kept & (matches.targets != UNMATCHED)
    true = np.flatnonzero(results == TRUE)
    if pointing is None:
        found = marked(len(scene.truth) + len(scene.absorbers), matches.targets[true])
        found[len(scene.truth) :] = True
        pointing = np.flatnonzero((results == FALSE) & paired)
        pointing = pointing[~found[matches.targets[pointing]]]
    builder = unmatched_builder(aligned, scene)
    unpunished = scene.detections.traced[results == NOT_COUNTED]
    builder.set(Side.DETECTIONS, unpunished, Outcome.IGNORED)
    if ignored_truth is not None:
        builder.set(Side.TRUTH, scene.truth.traced[ignored_truth], Outcome.IGNORED)
    match_pairs(builder, scene, similarity, matches.pairs(true))
    others = matches.pairs(np.flatnonzero((results != TRUE) & paired))
    relate_pairs(builder, scene, similarity, others, (Side.DETECTIONS,))
    relate_pairs(builder, scene, similarity, matches.pairs(pointing), (Side.TRUTH,))
    return builder


def assigned_builder(
    aligned: Aligned,
    scene: Scene,
    similarity: Similarity,
    assignment: Assignment,
    threshold: float,
    *,
    confidence: float,
) -> OutcomeBuilder:
    """The same for detections that an assignment matches; all take part, whatever their confidence.

    Args:
        aligned: The input.
        scene: Its scene, traced.
        similarity: The similarity, without confidences.
        assignment: How detections are matched.
        threshold: Similarity that a match needs.
        confidence: Detections below it are ignored.
    """
    matches = Matches.none(len(scene.detections))
    results = assigned_outcomes(scene, similarity, assignment, [threshold], matches)[:, 0]
    return outcome_builder(aligned, scene, similarity, results, matches, confidence=confidence)


def with_shares(outcomes: Outcomes, *wanted: Outcome) -> Outcomes:
    """The table with a share of 1 in each row of some outcomes."""
    return structs.replace(outcomes, shares=outcomes.are(*wanted).astype(np.float64))


def class_cells(outcomes: Outcomes, *, pooled: bool, one_by_one: bool = False) -> list[Cell]:
    """The results of a system in each class of some rows, in ascending order of classes.

    Args:
        outcomes: The rows; ignored ones have no effect.
        pooled: Whether classes are ignored, so that all rows belong to one.
        one_by_one: Whether equal confidences are ranked in the order of rows, not in one step.

    Returns:
        A cell for each class that has a row. Its counts are ``truth``, the number of objects, and
        ``frames``, the number of frames that have one.
    """
    return [_cell(rows, one_by_one=one_by_one) for rows in by_class(outcomes, pooled=pooled)]


def by_class(outcomes: Outcomes, *, pooled: bool) -> Iterator[Outcomes]:
    """Rows that are not ignored, class by class, in ascending order of classes.

    Args:
        outcomes: The rows.
        pooled: Whether classes are ignored, so that all rows belong to one.
    """
    rows = outcomes.take(~outcomes.are(Outcome.IGNORED))
    labels = np.zeros_like(rows.labels) if pooled else rows.labels
    order = np.argsort(labels, kind="stable")
    for first, last in pairwise(np.append(run_starts(labels[order]), len(order)).tolist()):
        yield rows.take(order[first:last])


def _cell(rows: Outcomes, *, one_by_one: bool) -> Cell:
    """The cell of rows of one class, in order of frames."""
    truth = rows.of_side(Side.TRUTH)
    results = np.where(rows.are(Outcome.TRUE_POSITIVE), TRUE, FALSE).astype(np.int8)[~truth]
    return Cell(
        domain=None,
        label=rows.label_names[int(rows.labels[0])],
        counts={
            "truth": int(np.count_nonzero(truth)),
            "frames": len(run_starts(rows.sequences[truth], rows.frames[truth])),
        },
        ranked=ranked(
            rows.confidences[~truth],
            results[:, np.newaxis],
            np.ones(len(results), dtype=np.int64),
            one_by_one=one_by_one,
        ),
    )


def count_figures(outcomes: Outcomes) -> dict[str, int]:
    """Numbers of pairs, false detections and missed objects."""
    return {
        "true_positives": outcomes.count(Outcome.TRUE_POSITIVE, Side.DETECTIONS),
        "false_positives": outcomes.count(Outcome.FALSE_POSITIVE, Side.DETECTIONS),
        "false_negatives": outcomes.count(Outcome.FALSE_NEGATIVE, Side.TRUTH),
    }


def precision_recall_figures(outcomes: Outcomes, cells: Sequence[Cell]) -> dict[str, Number]:
    """Counts of rows and, for one class, precision and recall: a point of its curve."""
    counts = count_figures(outcomes)
    if len(cells) != 1:
        return {**counts}
    true, false, missed = counts.values()
    return {
        **counts,
        "precision": ratio(true, true + false),
        "recall": ratio(true, true + missed),
    }


def average_precision(cell: Cell, interpolation: Interpolation) -> float | None:
    """AP of the rows of a class; None if it has no object."""
    return average_precisions(cell.ranked, [cell.counts["truth"]], interpolation)[0]

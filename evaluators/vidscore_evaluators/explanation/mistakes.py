"""Kinds of mistakes: their numbers, the gain from fixing them, and confusion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import IntArray, marked
from vidscore_evaluators.explanation.judgement import Judged
from vidscore_evaluators.explanation.material import Material
from vidscore_evaluators.figures.frames import FALSE_ALARMS
from vidscore_evaluators.outcome_table import NO_PARTNER, OperatingPoint, Outcome
from vidscore_evaluators.report import Number, overall_scores

MOST_LABELS = 12
"""Maximum number of labels in a table of confusion: those with the most objects."""


class Kind(NamedTuple):
    """A kind of mistake, by the names of its measures."""

    name: str
    mark: str
    title: str
    meaning: str


KINDS = (
    Kind("missed", "fn", "Missed", "nothing near the object"),
    Kind("poor_localisation", "fp", "Poor localisation", "near, but overlaps too little"),
    Kind("wrong_class", "fp", "Wrong label", "in place, called something else"),
    Kind("duplicate", "fp", "Duplicate", "the object was found already"),
    Kind("false_alarm", "fp", "False alarm", "nothing is there"),
    Kind("both_wrong", "fp", "Label and place wrong", "overlaps too little with another label"),
)


class KindRow(Struct, frozen=True):
    """A kind of mistake in every system.

    Attributes:
        kind: The kind.
        counts: For each system, the number of occurrences.
        gains: For each system, the AP that fixing it would gain; None if it is undefined, or if
            not all detections are considered.
    """

    kind: Kind
    counts: tuple[int, ...]
    gains: tuple[Number, ...]


class Confusion(Struct, frozen=True, eq=False):
    """Labels of objects and of their detections, for L labels.

    Attributes:
        labels: L labels, sorted by descending number of objects.
        counts: (L + 1, L + 1) objects by their label (row) and that of the detection (column). The
            last column has objects that were not found, the last row detections without an object.
        frames: (L + 1, L + 1) row of the frame with the most of each; -1 if there is none.
        left_out: Number of labels beyond the L.
    """

    labels: tuple[str, ...]
    counts: IntArray
    frames: IntArray
    left_out: int


def kind_rows(material: Material, at: OperatingPoint, label: str = "") -> list[KindRow]:
    """Every kind of mistake; empty without the evaluator that sorts mistakes.

    Args:
        material: Systems and reports.
        at: The operating point on the evaluator's curves.
        label: The only label that counts; empty for all.
    """
    sorter = material.sorter
    if sorter is None:
        return []
    judgement = material.judge(sorter, at, label)
    figures = [sorter.outcome_figures(one.outcomes, at) for one in judgement.systems]
    index = material.evaluators.index(sorter)
    reports = [material.reports[system][index] for system in material.systems]
    everything = at == OperatingPoint() and not label
    gains = [overall_scores(report) if everything else {} for report in reports]
    return [
        KindRow(
            kind,
            tuple(int(own.get(kind.name) or 0) for own in figures),
            tuple(own.get(f"ap_gain_{kind.name}") for own in gains),
        )
        for kind in KINDS
    ]


def confusion(judged: Judged) -> Confusion:
    """Count labels of objects against those of detections.

    Args:
        judged: Outcomes of a system, by an evaluator that sorts mistakes.
    """
    outcomes = judged.outcomes
    is_truth = outcomes.of_side(Side.TRUTH)
    frames = np.repeat(np.arange(len(judged.starts) - 1), np.diff(judged.starts))
    labels, place = _labels(judged)
    none = len(labels)
    truth = np.flatnonzero(is_truth & outcomes.are(Outcome.TRUE_POSITIVE, Outcome.FALSE_NEGATIVE))
    partner = _partners(judged, frames, truth)
    wrong = outcomes.are(Outcome.MISCLASSIFIED)
    pointed = (partner >= 0) & (outcomes.are(Outcome.TRUE_POSITIVE)[truth] | wrong[partner])
    said = np.where(pointed, place[outcomes.labels[partner]], none)
    of_an_object = marked(len(outcomes), partner[pointed])
    alone = np.flatnonzero(~is_truth & outcomes.are(*FALSE_ALARMS) & ~of_an_object)
    rows = np.concatenate([place[outcomes.labels[truth]], np.full(len(alone), none)])
    columns = np.concatenate([said, place[outcomes.labels[alone]]])
    known = (rows >= 0) & (columns >= 0)
    cells = rows[known] * (none + 1) + columns[known]
    where = np.concatenate([frames[truth], frames[alone]])[known]
    shape = (none + 1, none + 1)
    return Confusion(
        labels=tuple(outcomes.label_names[label] for label in labels),
        counts=np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape),
        frames=_fullest(cells, where, shape[0] * shape[1]).reshape(shape),
        left_out=int(np.count_nonzero(place < 0)),
    )


def _labels(judged: Judged) -> tuple[list[int], IntArray]:
    """Labels that are shown, and the index of each label among them; -1 for the others."""
    outcomes = judged.outcomes
    counts = np.bincount(
        outcomes.labels[outcomes.of_side(Side.TRUTH)], minlength=len(outcomes.label_names)
    )
    order = np.argsort(-counts, kind="stable")[:MOST_LABELS].tolist()
    place = np.full(len(outcomes.label_names), -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    return order, place


def _partners(judged: Judged, frames: IntArray, truth: IntArray) -> IntArray:
    """(T,) row in the table of each object's related detection; -1 without one."""
    outcomes = judged.outcomes
    detections = np.flatnonzero(outcomes.of_side(Side.DETECTIONS))
    span = 1 + int(outcomes.rows.max(initial=0))
    keys = frames[detections] * span + outcomes.rows[detections]
    partners = outcomes.partners[truth]
    places = np.searchsorted(keys, frames[truth] * span + partners)
    has_partner = (partners != NO_PARTNER) & (places < len(detections))
    found = np.full(len(truth), -1, dtype=np.int64)
    found[has_partner] = detections[places[has_partner]]
    return found


def _fullest(cells: IntArray, frames: IntArray, count: int) -> IntArray:
    """(count,) frame in which each cell has the most entries, the first of several; -1 if none."""
    fullest = np.full(count, -1, dtype=np.int64)
    if not len(cells):
        return fullest
    span = 1 + int(frames.max())
    keys, times = np.unique(cells * span + frames, return_counts=True)
    order = np.lexsort((keys, -times, keys // span))
    cell_of, first = np.unique(keys[order] // span, return_index=True)
    fullest[cell_of] = keys[order][first] % span
    return fullest

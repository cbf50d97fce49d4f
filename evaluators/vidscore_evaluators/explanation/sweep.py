"""Counts of a system by the confidence from which its detections count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.explanation.material import Material
from vidscore_evaluators.figures.frames import FALSE_ALARMS
from vidscore_evaluators.outcome_table import Outcome, Outcomes

MOST_POINTS = 40
LEAST_POINTS = 6

_MOST_WORK = 1_500_000
"""Objects that are judged at all points together, where every point is judged by itself."""


@dataclass(frozen=True, eq=False)
class ConfidenceSweep:
    """Counts of one system at P confidences.

    Attributes:
        confidences: (P,) ascending; detections of at least so much count.
        hits: (P,) objects that are found.
        objects: Objects that count.
        false_alarms: (P,) detections that count and are matched with nothing.
        frames: Number of frames.
    """

    confidences: FloatArray
    hits: IntArray
    objects: int
    false_alarms: IntArray
    frames: int

    @property
    def recall(self) -> FloatArray:
        """(P,) share of the objects that are found; NaN without objects."""
        return _ratio(self.hits, np.full(len(self.hits), self.objects))

    @property
    def precision(self) -> FloatArray:
        """(P,) share of the detections that are right; NaN without detections."""
        return _ratio(self.hits, self.hits + self.false_alarms)

    @property
    def false_alarms_per_frame(self) -> FloatArray:
        """(P,) false alarms a frame."""
        return _ratio(self.false_alarms, np.full(len(self.hits), self.frames))

    def at(self, confidence: float | None) -> int:
        """The point whose confidence is nearest to one; the first for none."""
        if confidence is None:
            return 0
        return int(np.argmin(np.abs(self.confidences - confidence)))


def sweep_confidences(material: Material, evaluator: Evaluator[Any]) -> list[ConfidenceSweep]:
    """Counts of every system at the same confidences.

    Args:
        material: Truth and systems.
        evaluator: An evaluator that has outcomes.

    Returns:
        One for each system; none where the evaluator cannot be looked at by confidence.
    """
    every = np.concatenate([side.confidences for side in material.contest.systems.values()])
    if len(np.unique(every)) < 2 or not len(material.frames):
        return []
    count = MOST_POINTS
    if not evaluator.needs.ranked:
        size = material.contest.truth.object_count * len(material.systems) + len(every)
        count = int(np.clip(_MOST_WORK // max(1, size), LEAST_POINTS, MOST_POINTS))
    # Evenly over the detections; the first point has all of them.
    confidences = np.unique(np.quantile(every, np.linspace(0, 1, count), method="lower"))
    try:
        return [_sweep(material, evaluator, name, confidences) for name in material.systems]
    except ParameterError:
        return []


def _sweep(
    material: Material, evaluator: Evaluator[Any], system: str, confidences: FloatArray
) -> ConfidenceSweep:
    aligned = align(material.contest.truth, material.contest.systems[system])
    at = material.at
    if evaluator.needs.ranked:
        # The surest detections are matched first: what comes after them changes nothing of theirs.
        table = evaluator.outcomes(aligned, replace(at, confidence=float(confidences[0])))
        hits, false_alarms = (
            _at_least(table, outcomes, confidences)
            for outcomes in ([Outcome.TRUE_POSITIVE], FALSE_ALARMS)
        )
        objects = table.count(Outcome.TRUE_POSITIVE, Side.TRUTH)
        objects += table.count(Outcome.FALSE_NEGATIVE, Side.TRUTH)
    else:
        tables = (
            evaluator.outcomes(aligned, replace(at, confidence=confidence))
            for confidence in confidences.tolist()
        )
        counts = np.array([_counts(table) for table in tables])
        hits, false_alarms = counts[:, 0], counts[:, 2]
        objects = int(counts[0, :2].sum())
    return ConfidenceSweep(confidences, hits, objects, false_alarms, len(material.frames))


def _at_least(table: Outcomes, outcomes: Sequence[Outcome], confidences: FloatArray) -> IntArray:
    """(P,) detections with one of some outcomes, of at least each confidence."""
    own = table.confidences[table.of_side(Side.DETECTIONS) & table.are(*outcomes)]
    counts: IntArray = len(own) - np.searchsorted(np.sort(own), confidences)
    return counts


def _counts(table: Outcomes) -> tuple[int, int, int]:
    """Hits, misses and false alarms."""
    false_alarms = table.of_side(Side.DETECTIONS) & table.are(*FALSE_ALARMS)
    return (
        table.count(Outcome.TRUE_POSITIVE, Side.TRUTH),
        table.count(Outcome.FALSE_NEGATIVE, Side.TRUTH),
        int(np.count_nonzero(false_alarms)),
    )


def _ratio(above: IntArray, below: IntArray) -> FloatArray:
    ratio = np.full(len(above), np.nan)
    np.divide(above, below, out=ratio, where=below > 0)
    return ratio

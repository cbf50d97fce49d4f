"""Counts of a system as a function of the confidence from which its detections count."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.arrays import AnyArray, FloatArray, IntArray
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.explanation.material import Material
from vidscore_evaluators.figures.frames import FALSE_ALARMS
from vidscore_evaluators.outcome_table import Outcome, Outcomes
from vidscore_evaluators.trust.few_sequences import domain_sizes, interval_of
from vidscore_evaluators.trust.resampling import COVERAGE

MOST_POINTS = 40
LEAST_POINTS = 6

_MOST_WORK = 1_500_000
"""Maximum number of objects matched at all points together, if every point is matched by itself."""


Band = tuple[FloatArray, FloatArray]
"""(P,) lower and (P,) upper ends of intervals; NaN if a value is defined in no draw."""


class ConfidenceSweep(Struct, frozen=True, eq=False, dict=True):
    """Counts of one system at P confidences, in S sequences.

    Attributes:
        confidences: (P,) ascending; detections of at least this confidence count.
        sequence_hits: (S, P) objects that are found.
        sequence_objects: (S,) objects that count.
        sequence_false_alarms: (S, P) detections that count and have no match.
        frames: Number of evaluated frames.
    """

    confidences: FloatArray
    sequence_hits: IntArray
    sequence_objects: IntArray
    sequence_false_alarms: IntArray
    frames: int

    @cached_property
    def hits(self) -> IntArray:
        """(P,) objects that are found."""
        total: IntArray = self.sequence_hits.sum(axis=0)
        return total

    @property
    def objects(self) -> int:
        """Objects that count."""
        return int(self.sequence_objects.sum())

    @cached_property
    def false_alarms(self) -> IntArray:
        """(P,) detections that count and have no match."""
        total: IntArray = self.sequence_false_alarms.sum(axis=0)
        return total

    @property
    def recall(self) -> FloatArray:
        """(P,) fraction of the objects that are found; NaN without objects."""
        return _ratio(self.hits, self.objects)

    @property
    def precision(self) -> FloatArray:
        """(P,) fraction of the detections that are right; NaN without detections."""
        return _ratio(self.hits, self.hits + self.false_alarms)

    @property
    def false_alarms_per_frame(self) -> FloatArray:
        """(P,) false alarms per frame."""
        return _ratio(self.false_alarms, self.frames)

    def bands(self, times: IntArray, drawn: Sequence[SequenceKey]) -> tuple[Band, Band]:
        """Intervals of recall and of precision at each confidence, between percentiles of draws.

        Args:
            times: (D, S) number of times that each sequence counts in each draw.
            drawn: The sequences that are drawn, grouped by domain.
        """
        # Whole numbers below 2**53: exact in floats, which numpy multiplies many times as fast.
        weights = times.astype(np.float64)
        hits, objects = weights @ self.sequence_hits, weights @ self.sequence_objects
        detections = hits + weights @ self.sequence_false_alarms
        recall, precision = _ratio(hits, objects[:, None]), _ratio(hits, detections)
        sizes = domain_sizes(drawn)
        return _percentiles(recall, sizes), _percentiles(precision, sizes)

    def at(self, confidence: float | None) -> int:
        """The point with the nearest confidence; the first for None."""
        if confidence is None:
            return 0
        return int(np.argmin(np.abs(self.confidences - confidence)))


def sweep_confidences(material: Material, evaluator: Evaluator[Any]) -> list[ConfidenceSweep]:
    """Counts of every system at the same confidences.

    Args:
        material: Truth and systems.
        evaluator: An evaluator that has outcomes.

    Returns:
        One for each system; empty if the evaluator has no outcomes by confidence.
    """
    every = np.concatenate([side.confidences for side in material.contest.systems.values()])
    if len(np.unique(every)) < 2 or not len(material.frames):
        return []
    count = MOST_POINTS
    if not evaluator.outcomes_nest:
        size = material.contest.truth.object_count * len(material.systems) + len(every)
        count = int(np.clip(_MOST_WORK // max(1, size), LEAST_POINTS, MOST_POINTS))
    # Evenly spaced over the detections; the first point includes all of them.
    confidences = np.unique(np.quantile(every, np.linspace(0, 1, count), method="lower"))
    try:
        return [_sweep(material, evaluator, name, confidences) for name in material.systems]
    except ParameterError:
        return []


def _sweep(
    material: Material, evaluator: Evaluator[Any], system: str, confidences: FloatArray
) -> ConfidenceSweep:
    aligned = align(material.contest.truth, material.contest.systems[system])
    at, sequences = material.at, material.frames.sequences
    if evaluator.outcomes_nest:
        table = evaluator.outcomes(aligned, replace(at, confidence=float(confidences[0])))
        places = _sequences_of(table, sequences)
        hits, false_alarms = (
            _at_least(table, outcomes, confidences, places, len(sequences))
            for outcomes in ([Outcome.TRUE_POSITIVE], FALSE_ALARMS)
        )
        objects = _objects(table, places, len(sequences))
    else:
        hits, false_alarms = (
            np.zeros((len(sequences), len(confidences)), dtype=np.int64) for _ in range(2)
        )
        objects = np.zeros(len(sequences), dtype=np.int64)
        for place, confidence in enumerate(confidences.tolist()):
            table = evaluator.outcomes(aligned, replace(at, confidence=confidence))
            places = _sequences_of(table, sequences)
            of_truth = table.of_side(Side.TRUTH)
            found = of_truth & table.are(Outcome.TRUE_POSITIVE)
            alarms = ~of_truth & table.are(*FALSE_ALARMS)
            hits[:, place] = np.bincount(places[found], minlength=len(sequences))
            false_alarms[:, place] = np.bincount(places[alarms], minlength=len(sequences))
            if place == 0:
                objects = _objects(table, places, len(sequences))
    return ConfidenceSweep(confidences, hits, objects, false_alarms, material.evaluated_frames)


def _sequences_of(table: Outcomes, sequences: Sequence[SequenceKey]) -> IntArray:
    """(N,) index of the sequence of each row among some sequences."""
    place = {key: index for index, key in enumerate(sequences)}
    # A sequence without frames has no rows either.
    places = np.array([place.get(key, -1) for key in table.sequence_keys], dtype=np.int64)
    return places[table.sequences]


def _objects(table: Outcomes, places: IntArray, count: int) -> IntArray:
    """(S,) objects that count."""
    own = table.of_side(Side.TRUTH) & table.are(Outcome.TRUE_POSITIVE, Outcome.FALSE_NEGATIVE)
    return np.bincount(places[own], minlength=count)


def _at_least(
    table: Outcomes,
    outcomes: Sequence[Outcome],
    confidences: FloatArray,
    places: IntArray,
    count: int,
) -> IntArray:
    """(S, P) detections with one of some outcomes, of at least each confidence."""
    own = table.of_side(Side.DETECTIONS) & table.are(*outcomes)
    # Each counts at this number of confidences, the lowest ones.
    points = np.searchsorted(confidences, table.confidences[own], side="right")
    width = len(confidences) + 1
    counts = np.bincount(places[own] * width + points, minlength=count * width)
    from_above = counts.reshape(count, width)[:, ::-1].cumsum(axis=1)[:, ::-1]
    at_least: IntArray = from_above[:, 1:]
    return at_least


def _percentiles(values: FloatArray, sizes: Sequence[int]) -> Band:
    """The interval of each column of (D, P) values, between percentiles of those defined."""
    ends = np.full((2, values.shape[1]), np.nan)
    for column in range(values.shape[1]):
        defined = values[~np.isnan(values[:, column]), column]
        if len(defined):
            ends[:, column] = interval_of(defined, COVERAGE, sizes)
    return ends[0], ends[1]


def _ratio(above: AnyArray, below: AnyArray | int) -> FloatArray:
    """Above divided by below; NaN if below is 0."""
    ratio = np.full(above.shape, np.nan)
    np.divide(above, below, out=ratio, where=np.broadcast_to(np.greater(below, 0), above.shape))
    return ratio

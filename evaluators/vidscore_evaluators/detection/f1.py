"""F1, precision and recall over thresholds of similarity.

Source: the trustworthiness paper, section 2. In each group, one optimal assignment with the
greatest sum of similarities is computed, then thresholds apply: TP(t) is the number of its pairs
with a similarity >= t, and F1 = 2 TP / (m + n) for m references and n predictions.

Notes on what the text leaves open:

1. Counts are pooled over frames (and, if classes are separate, over classes) before a ratio is
   computed; `f1_class_mean` is the mean over the classes that are present in the reference.
2. Absorbed or forgiven detections are not predictions: n is the number of detections that
   count, at each threshold.
3. At a threshold at or below the least similarity every pair counts, so that TP = min(m, n) in
   each group.
4. If there is neither a reference nor a prediction, F1 is 1, so that its dissimilarity of two
   empty sets is 0, as section 4.2 has it for distances; precision and recall are null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from msgspec import Struct

from vidscore_evaluators._report_rows import (
    EVERYTHING,
    Figures,
    Scope,
    block_of,
    grouped_rows,
    mean,
    ratio,
    with_every_sequence,
)
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.criterion import (
    LEFT_OUT,
    THRESHOLD,
    Criterion,
    ExtendedParameters,
    ThresholdGrid,
    left_out_table,
    score_measure,
)
from vidscore_evaluators.deferred import Deferred
from vidscore_evaluators.detection._outcome_rows import (
    by_class,
    look_at,
    outcome_builder,
    with_shares,
)
from vidscore_evaluators.detection._outcomes import (
    FALSE,
    TRUE,
    Matches,
    OutcomeArray,
    optimal_outcomes,
)
from vidscore_evaluators.evaluator import Averaging, Direction, Growth, Task, count_measure
from vidscore_evaluators.outcome_table import OperatingPoint, Outcome, Outcomes
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Curve, Number, Scores
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.tally import Table, TableSchema, Tally, build_table

COUNTS = "counts"

CLASSES_PER_SEQUENCE = 100
"""Number of classes per sequence that the declared growth of a tally allows for."""


@dataclass(frozen=True)
class F1Parameters(ExtendedParameters):
    """Parameters of `F1`."""

    threshold: float = parameter(0.5, "Least similarity of a true positive.", **THRESHOLD)


class _CountsByThreshold(Struct, frozen=True, eq=False, dict=True):
    """Counts of one domain, class and sequence at K thresholds."""

    truth: int
    true: IntArray
    false: IntArray

    @classmethod
    def of(cls, row: IntArray) -> _CountsByThreshold:
        """Counts of a row of the table."""
        true, false = row[1:].reshape(2, -1)
        return cls(int(row[0]), true, false)

    @classmethod
    def of_rows(cls, rows: Outcomes) -> _CountsByThreshold:
        """Counts of outcomes at one threshold."""
        true = rows.count(Outcome.TRUE_POSITIVE, Side.DETECTIONS)
        false = rows.count(Outcome.FALSE_POSITIVE, Side.DETECTIONS)
        missed = rows.count(Outcome.FALSE_NEGATIVE, Side.TRUTH)
        return cls(true + missed, np.array([true]), np.array([false]))

    @cached_property
    def f1(self) -> list[float]:
        """(K,) F1 at each threshold."""
        return [
            2 * true / both if (both := self.truth + true + false) else 1.0
            for true, false in zip(self.true.tolist(), self.false.tolist(), strict=True)
        ]

    def ratios(self, column: int) -> dict[str, Number]:
        """F1, precision and recall at one threshold."""
        true, false = int(self.true[column]), int(self.false[column])
        return {
            "f1": self.f1[column],
            "precision": ratio(true, true + false),
            "recall": ratio(true, self.truth),
        }

    def counts(self, column: int) -> dict[str, Number]:
        """Pairs, false detections and missed objects at one threshold."""
        true, false = int(self.true[column]), int(self.false[column])
        return {
            "true_positives": true,
            "false_positives": false,
            "false_negatives": self.truth - true,
        }

    def values(self, grid: ThresholdGrid, column: int) -> dict[str, Number]:
        """Every measure except the mean over classes."""
        partial, full = grid.means(self.f1)
        means = {"f1_m_partial": partial, "f1_m_full": full}
        return {**self.ratios(column), **means, **self.counts(column)}


class F1(Criterion[F1Parameters]):
    """F1, precision and recall at one threshold of similarity, and F1 over all of them."""

    name = "f1"
    version = "1.3.0"
    title = "F1, precision and recall over similarity thresholds, by optimal assignment"
    task = Task.DETECTION
    Parameters = F1Parameters
    measures = (
        score_measure("f1", "2 TP / (references + predictions) at the threshold."),
        score_measure("precision", "TP / predictions at the threshold."),
        score_measure("recall", "TP / references at the threshold."),
        score_measure("f1_m_partial", "Mean of F1 over the thresholds 0.5, 0.55, ..., 0.95."),
        score_measure(
            "f1_m_full", "Mean of F1 over the whole grid of thresholds except its extremes."
        ),
        score_measure(
            "f1_class_mean",
            "Mean of F1 over the classes of the reference.",
            averaging=Averaging.MEAN,
        ),
        count_measure("true_positives", "Pairs at the threshold.", Direction.HIGHER),
        count_measure("false_positives", "Predictions without a reference.", Direction.LOWER),
        count_measure("false_negatives", "References without a prediction.", Direction.LOWER),
    )
    ranking = ("f1",)
    threshold_parameter = "threshold"

    @property
    def growth(self) -> Growth:
        """One row of counts per sequence and class."""
        row = 3 * 8 + 8 * (1 + 2 * len(self._grid.thresholds))
        return Growth("sequence", row * CLASSES_PER_SEQUENCE)

    @property
    def _grid(self) -> ThresholdGrid:
        return ThresholdGrid.of(self.parameters.similarity, [self.parameters.threshold])

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Counts by sequence and class, at every threshold of the grid."""
        scene = self.scene(aligned)
        least = list(map(self.parameters.least, self._grid.thresholds))
        outcomes = optimal_outcomes(scene, self.parameters.similarity, least)
        counts = with_every_sequence(_count_table(scene, outcomes), scene)
        return {COUNTS: counts, LEFT_OUT: left_out_table(scene)}

    def scores(self, tally: Tally) -> Scores:
        """Scores at the threshold of the parameters."""
        counts, grid = _CountsByScope(tally.tables[COUNTS]), self._grid
        bare = self._bare_scores(tally, counts, grid, self.parameters.threshold)
        return replace(bare, curves=Deferred(lambda: tuple(counts.curves(grid))))

    def grid_scores(self, tally: Tally, parameter: str) -> Mapping[float, Scores]:
        """Scores at every threshold of the grid, without curves."""
        if parameter != "threshold":
            return super().grid_scores(tally, parameter)
        counts, grid = _CountsByScope(tally.tables[COUNTS]), self._grid
        return {
            value: self._bare_scores(tally, counts, grid, value) for value in self.grid(parameter)
        }

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """The optimal assignment of the detections of sufficient confidence, at the threshold.

        An assigned pair that is not similar enough is a false positive and a false negative, each
        the other's partner.
        """
        point = look_at(self.parameters, "threshold", at)
        scene = self.scene(aligned, traced=True)
        scene = scene.take_detections(scene.detections.confidences >= point.confidence)
        matches = Matches.none(len(scene.detections))
        least = [self.parameters.least(point.threshold)]
        results = optimal_outcomes(scene, self.parameters.similarity, least, matches)
        builder = outcome_builder(
            aligned, scene, self.parameters.similarity, results[:, 0], matches
        )
        return with_shares(builder.build(), Outcome.TRUE_POSITIVE)

    def outcome_figures(
        self, outcomes: Outcomes, at: OperatingPoint = OperatingPoint()
    ) -> Mapping[str, Number]:
        """F1, precision, recall and counts at the threshold."""
        del at
        own = _CountsByThreshold.of_rows(outcomes)
        pooled = self.parameters.classes == "ignore"
        classes = map(_CountsByThreshold.of_rows, by_class(outcomes, pooled=pooled))
        class_mean = mean(of_class.f1[0] for of_class in classes if of_class.truth)
        return {**own.ratios(0), "f1_class_mean": class_mean, **own.counts(0)}

    def _bare_scores(
        self, tally: Tally, counts: _CountsByScope, grid: ThresholdGrid, threshold: float
    ) -> Scores:
        [column] = grid.columns([threshold])
        sets, parts = [], []
        for scope, own in counts.by_scope.items():
            values = own.values(grid, column)
            if scope == Scope(scope.domain):
                values["f1_class_mean"] = counts.class_mean(scope.domain, column)
                sets.append(Figures(*scope, values))
            else:
                parts.append(Figures(*scope, values))
        return Scores((block_of(sets), block_of(parts)), warnings=self.scene_warnings(tally))


class _CountsByScope:
    """The counts of a table, summed for every scope that has rows in a report.

    Attributes:
        by_scope: Everything first, then domains, classes and sequences.
    """

    def __init__(self, table: Table) -> None:
        self.by_scope = {EVERYTHING: _CountsByThreshold.of(table.counts.sum(axis=0))}
        for scope, _, grouped, row in grouped_rows(table):
            self.by_scope[scope] = _CountsByThreshold.of(grouped.counts[row])
        self._classes: dict[str | None, list[_CountsByThreshold]] = {}
        for scope, _, grouped, row in grouped_rows(table, "class"):
            if scope.sequence is not None:
                break
            own = _CountsByThreshold.of(grouped.counts[row])
            self._classes.setdefault(scope.domain, []).append(own)

    def class_mean(self, domain: str | None, column: int) -> float | None:
        """Mean of F1 at one threshold over the classes that have objects."""
        own = self._classes.get(domain, [])
        return mean(counts.f1[column] for counts in own if counts.truth)

    def curves(self, grid: ThresholdGrid) -> Iterator[Curve]:
        """F1 by threshold, of every scope but single sequences."""
        for scope, own in self.by_scope.items():
            if scope.sequence is None:
                yield Curve("f1_by_threshold", grid.curve("f1", own.f1), *scope[:2])


def _count_table(scene: Scene, outcomes: OutcomeArray) -> Table:
    """Count by domain, sequence and class.

    Args:
        scene: The scene, of G groups and D detections.
        outcomes: (D, K) outcomes.
    """
    columns = outcomes.shape[1]
    by_group = [
        np.bincount(
            scene.detections.groups[outcomes[:, column] == kind], minlength=scene.group_count
        )
        for kind in (TRUE, FALSE)
        for column in range(columns)
    ]
    kinds = ("true", "false")
    return build_table(
        TableSchema(
            texts=("domain", "sequence", "class"),
            counts=("truth", *(f"{kind}_{column}" for kind in kinds for column in range(columns))),
        ),
        *scene.text_keys(scene.group_sequences, scene.group_classes),
        counts=[scene.truth.counts, *by_group],
    )

"""Mistakes of a detector by kind, and how much each kind costs (``errors``).

Source: D. Bolya et al., "TIDE: A General Toolbox for Identifying Object Detection Errors", section
2. Detections are matched greedily at the threshold t. Each false detection has one kind, the first
of these that applies, where b is the background threshold:

- *poor localisation*: the most similar object of its class has a similarity of at least b, but
  below t. Fixed, it is a true positive of that object.
- *wrong class*: an object of another class has a similarity of at least t. Fixed, it is a true
  positive of that object, in its class.
- *duplicate*: an object of its class has a similarity of at least t, but is taken. Fixed, it is
  removed.
- *false alarm*: no object has a similarity of b or more. Fixed, it is removed.
- *both wrong*: all others: an object of another class has a similarity from b up to t. Fixed, it
  is removed.

An object that is not found is *missed*, unless a poor localisation or a wrong class points at it.
To fix a missed object, it is removed from the truth. The gain of a kind is the AP with all mistakes
of that kind fixed, minus the actual AP. Only one kind is fixed at a time, so gains do not add up.

Readings of this project:

1. The order of the kinds is that of TIDE's implementation; its article leaves it open.
2. If several fixed detections point at one object, the most confident one gets it and the others
   are removed. If the object is already matched, all are removed.
3. If all objects of a class are missed, the class has no gain from finding them (null): no object
   of it would be left to score.
4. If classes are ignored, there is no wrong class.

The counts are those of tidecv 1.0.1; gains differ in three points:

1. If one detection of an object is a poor localisation and another a wrong class, tidecv fixes only
   the more confident of the two. Here each kind is fixed separately, as in the article.
2. If all objects of a class are missed, tidecv gives the class an AP of 0 once they are found
   (reading 3).
3. tidecv replaces a negative gain by 0, also averages over classes that are only detected, and uses
   the 100 most confident detections of an image.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from msgspec import Struct

from vidscore_evaluators._report_rows import mean
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, marked, run_starts
from vidscore_evaluators.criterion import (
    LEFT_OUT,
    RANKED,
    THRESHOLD,
    Criterion,
    CriterionParameters,
    left_out_table,
)
from vidscore_evaluators.detection._outcome_rows import (
    average_precision,
    class_cells,
    look_at,
    outcome_builder,
    with_shares,
)
from vidscore_evaluators.detection._outcomes import (
    FALSE,
    NOT_COUNTED,
    ROW_BYTES,
    TRUE,
    Matches,
    OutcomeArray,
    class_table,
    outcome_table,
)
from vidscore_evaluators.detection._precision_recall import (
    Cell,
    Interpolation,
    average_precisions,
    cells_by_scope,
    class_block,
)
from vidscore_evaluators.detection.average_precision import CLASSES, OUTCOMES, ap_measure
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.evaluator import Averaging, Direction, Growth, Measure, Task, count_measure
from vidscore_evaluators.outcome_table import NO_PARTNER, OperatingPoint, Outcome, Outcomes
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Number, Scores
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.similarity import Candidates, Similarity, find_candidates
from vidscore_evaluators.tally import Table, Tally

KINDS = ("poor_localisation", "wrong_class", "duplicate", "false_alarm", "both_wrong")
"""Kinds of false detections; a detection's kind is an index into these."""

POOR_LOCALISATION, WRONG_CLASS, DUPLICATE, FALSE_ALARM, BOTH_WRONG = range(len(KINDS))

OUTCOME_OF_KIND: Mapping[str, Outcome] = MappingProxyType(
    {
        "poor_localisation": Outcome.MISLOCALISED,
        "wrong_class": Outcome.MISCLASSIFIED,
        "duplicate": Outcome.DUPLICATE,
        "false_alarm": Outcome.BACKGROUND,
        "both_wrong": Outcome.MISLOCALISED_AND_MISCLASSIFIED,
    }
)
"""Outcome of each kind."""

MISSED = "missed"

COLUMNS = 2 + len(KINDS)
"""Columns of outcomes: unchanged, with each kind fixed, and unchanged again."""

_NONE = -1


def _gain(kind: str) -> Measure:
    return Measure(
        f"ap_gain_{kind}",
        f"AP gained by fixing: {kind.replace('_', ' ')}.",
        direction=Direction.NONE,
        averaging=Averaging.MEAN,
    )


@dataclass(frozen=True)
class DetectionErrorsParameters(CriterionParameters):
    """Parameters of `DetectionErrors`."""

    threshold: float = parameter(0.5, "Least similarity of a true positive.", **THRESHOLD)
    background_threshold: float = parameter(
        0.1, "A detection with a lower similarity to every object is a false alarm.", **THRESHOLD
    )
    interpolation: Interpolation = parameter(
        "101-point", "Levels of recall at which precision is sampled: all, 11 or 101."
    )

    def faults(self) -> Iterator[Fault]:
        """A background threshold above the threshold of a match."""
        yield from super().faults()
        if self.background_threshold > self.threshold:
            yield Fault(
                f"{self.background_threshold:g}",
                f"at most the threshold, {self.threshold:g}",
                field="background_threshold",
            )


class DetectionErrors(Criterion[DetectionErrorsParameters]):
    """Mistakes by kind, class and domain, and the AP gained by fixing each kind."""

    name = "errors"
    version = "1.3.0"
    title = "Mistakes of a detector by kind, and the AP that fixing each would gain"
    task = Task.DETECTION
    Parameters = DetectionErrorsParameters
    measures = (
        ap_measure("ap", "AP at the threshold, mean over classes."),
        *(
            count_measure(kind, f"Mistakes of the kind: {kind.replace('_', ' ')}.", Direction.LOWER)
            for kind in (MISSED, *KINDS)
        ),
        *(_gain(kind) for kind in (MISSED, *KINDS)),
    )
    ranking = ("ap",)
    needs = RANKED
    outcomes_nest = True

    @property
    def growth(self) -> Growth:
        """One or two rows per confidence, class and pattern of outcomes."""
        return Growth("detection", 2 * ROW_BYTES)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Outcomes unchanged and with each kind fixed, and mistakes by class."""
        scene = self.scene(aligned)
        mistakes = _find_mistakes(
            scene,
            self.parameters.similarity,
            self.parameters.least(self.parameters.threshold),
            self.parameters.least(self.parameters.background_threshold),
        )
        return {
            OUTCOMES: _fixed_outcomes(scene, mistakes),
            CLASSES: class_table(scene, _counts(scene, mistakes)),
            LEFT_OUT: left_out_table(scene),
        }

    def scores(self, tally: Tally) -> Scores:
        """Counts, and gains of AP."""
        cells = cells_by_scope(tally.tables[OUTCOMES], tally.tables[CLASSES], COLUMNS)
        block = class_block(cells, self._measures, self._together)
        return Scores((block,), (), self.scene_warnings(tally))

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """Mistakes by kind among the detections of sufficient confidence, at the threshold.

        The partner of a mistake is the object that it means. A false negative has as its partner
        the most confident poor localisation or wrong class that points at it; a missed object has
        none.
        """
        point = look_at(self.parameters, "threshold", at)
        scene = self.scene(aligned, traced=True)
        scene = scene.take_detections(scene.detections.confidences >= point.confidence)
        matches = Matches.none(len(scene.detections))
        mistakes = _find_mistakes(
            scene,
            self.parameters.similarity,
            self.parameters.least(point.threshold),
            self.parameters.least(self.parameters.background_threshold),
            matches,
        )
        found = marked(len(scene.truth), matches.targets[mistakes.outcomes == TRUE])
        objects = mistakes.pointed_at
        pointing = np.flatnonzero(objects != _NONE)
        pointing = pointing[~found[objects[pointing]]]
        builder = outcome_builder(
            aligned,
            scene,
            self.parameters.similarity,
            mistakes.outcomes,
            matches,
            pointing=_most_confident(scene.detections.confidences, pointing, objects[pointing]),
        )
        for index, kind in enumerate(KINDS):
            rows = scene.detections.traced[mistakes.kinds == index]
            builder.set(Side.DETECTIONS, rows, OUTCOME_OF_KIND[kind])
        return with_shares(builder.build(), Outcome.TRUE_POSITIVE)

    def outcome_figures(
        self, outcomes: Outcomes, at: OperatingPoint = OperatingPoint()
    ) -> Mapping[str, Number]:
        """Mistakes of each kind, and AP if no detection is left out."""
        missed = outcomes.are(Outcome.FALSE_NEGATIVE) & (outcomes.partners == NO_PARTNER)
        figures: dict[str, Number] = {MISSED: int(np.count_nonzero(missed))}
        for kind, outcome in OUTCOME_OF_KIND.items():
            figures[kind] = outcomes.count(outcome, Side.DETECTIONS)
        if at.confidence is not None:
            return figures
        cells = class_cells(outcomes, pooled=self.parameters.classes == "ignore")
        interpolation = self.parameters.interpolation
        return figures | {"ap": mean(average_precision(cell, interpolation) for cell in cells)}

    def _measures(self, cell: Cell) -> dict[str, Number]:
        truth, missed = cell.counts["truth"], cell.counts[MISSED]
        asked_for = [truth] * (COLUMNS - 1) + [truth - missed]
        ap, *fixed = average_precisions(cell.ranked, asked_for, self.parameters.interpolation)
        gains = {
            f"ap_gain_{kind}": None if ap is None or value is None else value - ap
            for kind, value in zip((*KINDS, MISSED), fixed, strict=True)
        }
        return {"ap": ap} | {kind: cell.counts[kind] for kind in (MISSED, *KINDS)} | gains

    def _together(self, by_class: list[dict[str, Number]]) -> dict[str, Number]:
        """Sums of counts and means of figures over classes."""
        return {
            measure.name: sum(int(values[measure.name] or 0) for values in by_class)
            if measure.unit == "count"
            else mean(values[measure.name] for values in by_class)
            for measure in self.measures
        }


class _Mistakes(Struct, frozen=True, eq=False):
    """The mistakes of each detection and object.

    Attributes:
        outcomes: (D,) outcome of each detection, unchanged.
        kinds: (D,) index into `KINDS` of each false detection, -1 for the others.
        pointed_at: (D,) object that a poor localisation or a wrong class points at, else -1.
        fixed: (D,) whether the detection, once fixed, is the true positive of that object.
        missed: (T,) whether no detection finds an object or points at it.
    """

    outcomes: OutcomeArray
    kinds: IntArray
    pointed_at: IntArray
    fixed: BoolArray
    missed: BoolArray


def _find_mistakes(
    scene: Scene,
    similarity: Similarity,
    threshold: float,
    background: float,
    matches: Matches | None = None,
) -> _Mistakes:
    """Find the mistakes; `matches` is filled with the objects that match or are meant."""
    own = find_candidates(scene, similarity, background)
    outcomes, found = _match(scene, own, threshold, matches)
    own = own.take(own.targets < len(scene.truth))
    other = _of_other_classes(scene, find_candidates(scene.by_frame(), similarity, background))
    own_best, own_object = _most_similar(own, len(scene.detections))
    other_best, other_object = _most_similar(other, len(scene.detections))
    kinds = np.select(
        [
            (own_best >= background) & (own_best < threshold),
            other_best >= threshold,
            own_best >= threshold,
            np.maximum(own_best, other_best) < background,
        ],
        [POOR_LOCALISATION, WRONG_CLASS, DUPLICATE, FALSE_ALARM],
        BOTH_WRONG,
    )
    kinds[outcomes != FALSE] = _NONE
    if matches is not None:
        every = np.arange(len(kinds), dtype=np.int64)
        own_pairs = Candidates(every, own_object, own_best)
        matches.add(own_pairs.take(np.isin(kinds, (POOR_LOCALISATION, DUPLICATE))))
        other_pairs = Candidates(every, other_object, other_best)
        matches.add(other_pairs.take(np.isin(kinds, (WRONG_CLASS, BOTH_WRONG))))
    objects = {POOR_LOCALISATION: own_object, WRONG_CLASS: other_object}
    pointed_at = np.full(len(kinds), _NONE, dtype=np.int64)
    fixed = np.zeros(len(kinds), dtype=np.bool_)
    for kind, pointed in objects.items():
        rows = np.flatnonzero(kinds == kind)
        pointed_at[rows] = pointed[rows]
        rows = rows[~found[pointed[rows]]]
        fixed[_most_confident(scene.detections.confidences, rows, pointed[rows])] = True
    missed = ~found
    missed[pointed_at[pointed_at != _NONE]] = False
    return _Mistakes(outcomes, kinds, pointed_at, fixed, missed)


def _match(
    scene: Scene, candidates: Candidates, threshold: float, matches: Matches | None
) -> tuple[OutcomeArray, BoolArray]:
    """Greedy outcomes of (D,) detections, and a mask of the (T,) objects that are found."""
    absorbing = np.arange(len(scene.truth) + len(scene.absorbers)) >= len(scene.truth)
    ordered = candidates.ordered(absorbing[candidates.targets])
    pairs = ordered.take(ordered.greedily_matched(scene.reusable_targets, threshold))
    outcomes = np.where(scene.forgiven, NOT_COUNTED, FALSE).astype(np.int8)
    outcomes[pairs.detections] = np.where(absorbing[pairs.targets], NOT_COUNTED, TRUE)
    if matches is not None:
        matches.add(pairs)
    found = marked(len(absorbing), pairs.targets)
    return outcomes, found[: len(scene.truth)]


def _of_other_classes(scene: Scene, candidates: Candidates) -> Candidates:
    """Pairs of a frame whose detection and real object are of different classes."""
    pairs = candidates.take(candidates.targets < len(scene.truth))
    different = scene.detections.groups[pairs.detections] != scene.truth.groups[pairs.targets]
    return pairs.take(different)


def _most_similar(candidates: Candidates, count: int) -> tuple[FloatArray, IntArray]:
    """(D,) greatest similarity of each detection, below all if it has none, and its object."""
    ordered = candidates.ordered(np.zeros(len(candidates), dtype=np.bool_))
    best = ordered.take(run_starts(ordered.detections))
    similarities = np.full(count, -np.inf)
    objects = np.full(count, _NONE, dtype=np.int64)
    similarities[best.detections] = best.similarities
    objects[best.detections] = best.targets
    return similarities, objects


def _most_confident(confidences: FloatArray, rows: IntArray, objects: IntArray) -> IntArray:
    """Of the rows that share an object, the one of greatest confidence; of equals, the first."""
    order = np.lexsort((rows, -confidences[rows], objects))
    return rows[order[run_starts(objects[order])]]


def _fixed_outcomes(scene: Scene, mistakes: _Mistakes) -> Table:
    """Outcomes unchanged, with each kind fixed, and unchanged again."""
    outcomes = np.repeat(mistakes.outcomes[:, np.newaxis], COLUMNS, axis=1)
    false = np.flatnonzero(mistakes.kinds != _NONE)
    outcomes[false, 1 + mistakes.kinds[false]] = NOT_COUNTED
    here = np.flatnonzero(mistakes.fixed & (mistakes.kinds == POOR_LOCALISATION))
    outcomes[here, 1 + POOR_LOCALISATION] = TRUE
    # With its class fixed, it is a true positive of another class, in that column only.
    there = np.flatnonzero(mistakes.fixed & (mistakes.kinds == WRONG_CLASS))
    moved = np.full((len(there), COLUMNS), NOT_COUNTED, dtype=np.int8)
    moved[:, 1 + WRONG_CLASS] = TRUE
    detections = np.arange(len(scene.detections), dtype=np.int64)
    return outcome_table(
        scene,
        np.concatenate([outcomes, moved]),
        np.concatenate([detections, there]),
        np.concatenate([scene.detections.groups, scene.truth.groups[mistakes.pointed_at[there]]]),
    )


def _counts(scene: Scene, mistakes: _Mistakes) -> dict[str, IntArray]:
    """Objects, missed objects, and mistakes of each kind, by group."""

    def by_group(groups: IntArray) -> IntArray:
        return np.bincount(groups, minlength=scene.group_count)

    counts = {
        "truth": scene.truth.counts,
        MISSED: by_group(scene.truth.groups[mistakes.missed]),
    }
    for index, kind in enumerate(KINDS):
        counts[kind] = by_group(scene.detections.groups[mistakes.kinds == index])
    return counts

"""Neovision2: detection of objects of ten classes in tower and helicopter video.

Source: R. Ekambaram, D. Goldgof, R. Kasturi, Y. Ran and Q. Zheng, "Neovision2 Performance
Evaluation Protocol", version 3.0, 16 April 2012. Section, equation and table numbers here and in
the modules are those of that document.

The scoring software that the document announces (section 5) is not available, so there is no
official scorer to compare with. The document leaves points open. The readings below are this
project's choices; if a user might want another choice, a parameter is named.

Every comparison of an overlap ratio, or of a fraction of an area, allows 1e-9 for rounding: a pair
counts from 0.2 - 1e-9, and "over 20 %" means above 0.2 + 1e-9. Confidences are compared exactly.
Areas are computed in binary64 from the coordinates as given: no box is clipped to its image, and
a box from 0 to 10 is 10 wide.

Steps in a frame, in this order: drop the frame if it is not evaluated; reduce objects and
detections to upright boxes; remove what don't-care regions cover; drop detections below the
confidence threshold; merge boxes (detection-only); match.

1. *Envelopes* (section 3.1). Annotated and detected objects alike are reduced to the smallest
   upright box around their corners; a box of two points may be given by any two opposite corners.
   A don't-care region keeps its four corners; if its sides cross, its convex hull is used, with a
   warning. A box without area is kept, with a warning: it never matches, and it is never inside a
   region.
2. *Matching* (section 3.2). In each frame and class, the matching is one-to-one, with as many pairs
   as possible whose overlap ratio is at least `overlap_threshold`. For any c_m and c_f, no other
   matching has a better NMOTDA. The size of an overlap above the threshold does not matter.
3. *NMOTDA* (eq. 2) is taken over all evaluated frames of all sequences of a domain (section 3.3),
   and is also reported by sequence. Without ground-truth objects it is undefined (null), and the
   counts are still reported. Costs are `c_m` and `c_f`, both 1.
4. *Evaluated frames* are those that the truth lists. With `frames = "all"` they are all frames from
   0, or from the first frame that the specification names, to the last listed one. If the
   specification lists or counts the frames of a sequence, the specification decides. Detections in
   other frames are not scored, and a warning counts them.
5. *Don't-care frames* (section 3.7) are left out of every count and average, including the number
   of evaluated frames. Their detections are counted separately.
6. *Don't-care regions* (section 3.7). A detection with more than `region_share` of its area inside
   the union of its frame's regions is removed before matching. The text says "a DCR"; with the
   union, adjacent regions act as one. Annotated objects, real or don't-care, are removed likewise,
   because the text eliminates the area "entirely from the mapping and scoring process".
7. *Don't-care objects* (section 3.7) are not ground truth. Whatever its label, each of them may
   remove one detection in the matching of each class, and one in the detection-only matching. Real
   objects come first: the matching is maximum over them and, among such matchings, maximum over all
   objects. Real pairs are true positives; the other pairs are neither true nor false positives.
   Such a matching exists, the two numbers are unique, and no other choice costs less under eq. 2.
8. *Classes* (section 2.1, Table 2). Names are compared without regard to case. A domain whose name
   begins with "tower" scores Car, Truck, Bus, Person and Cyclist. Any other domain, including
   "heli...", scores all ten. A specification can override this. An object with another label only
   counts in the detection-only score, and a warning counts it. In detections, DCR, DCF and
   Ambiguous are labels like any other, and flags are ignored.
9. *Detection-only* (section 3.3). Labels are ignored. Detections are merged, and so is the ground
   truth; otherwise a perfect system would not reach 1. Boxes that overlap by more than
   `overlap_threshold`, directly or through others, become their enclosing box, repeatedly until no
   pair does. The text's 20 % is the overlap ratio of section 3.1, so there is one parameter for
   both. Identical boxes always merge, also those without area. A merged detection has the greatest
   confidence of its members. Don't-care objects are not merged. The text says "the union of them":
   `merged_shape = "union"` uses the union region itself in later overlaps.
10. *ROC* (section 3.5). Each point uses the detections with a confidence of at least t, for the
    binary64 numbers nearest to the decimals 0.95, 0.85, ..., 0.05; merging is redone at each t. x
    is the number of false positives per evaluated frame, and y the detected fraction of the ground
    truth; both are undefined without evaluated frames, and y without ground truth. `thresholds =
    "all"` gives a point at each distinct confidence of the detections that are matched, as it was
    before merging. `confidence_threshold` does not affect curves. The text puts the detection rate
    on the x axis; only on the y axis does a larger area mean a better system. Confidences must lie
    from 0 to 1.
11. *Az* (section 3.6) is the area under the straight lines through those points, from x = 0 to x =
    `az_limit`, divided by `az_limit`. The curve starts at (0, 0) unless a point has x = 0, takes
    the best y if points share an x, is level after the last point, and may fall. Az is undefined
    without ground truth.
12. *Scores use every detection*, whatever its confidence: `confidence_threshold` is 0.
13. *Averages* (section 3.4) are the mean weighted by ground-truth objects, the mean and the median
    of the defined class values of NMOTDA: over the classes of a domain, over the domains for each
    class, and over both. They do not include detection-only. With the two public domains that makes
    15 + 2 NMOTDA scores; the 22 + 3 of section 3.3 presumably count a third domain that was not
    released.
14. *Ranking*. The document defines none. This project ranks by the weighted mean over all domains
    and classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from vidscore_evaluators._scene_builder import with_sources
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import BOX, QUADRILATERAL
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.evaluator import (
    Averaging,
    Direction,
    Dissimilarity,
    Evaluator,
    Growth,
    Measure,
    Needs,
    Task,
    Unit,
    count_measure,
)
from vidscore_evaluators.neovision2._input import (
    ALL_CLASSES,
    COUNTERS,
    CURVE_THRESHOLDS,
    UNLISTED,
    Neovision2Parameters,
    ProtocolInput,
    classes_of_domain,
    prepare,
)
from vidscore_evaluators.neovision2.detection_only import DetectionOnly, merge_and_match
from vidscore_evaluators.neovision2.matching import CountChanges, class_changes, counting_pairs
from vidscore_evaluators.neovision2.outcomes import figures_of_outcomes, outcomes_of
from vidscore_evaluators.neovision2.scores import (
    CHANGES,
    COUNTS,
    DETECTION_ONLY,
    Costs,
    make_scores,
)
from vidscore_evaluators.outcome_table import OperatingPoint, Outcomes
from vidscore_evaluators.plausibility.labels import LabelUse
from vidscore_evaluators.report import Number, Scores
from vidscore_evaluators.tally import Table, TableSchema, Tally, build_table

__all__ = ["Neovision2", "Neovision2Parameters"]


_NUMBER_BYTES = 8
_COUNT_ROW_BYTES = 6 * _NUMBER_BYTES
"""A row of counts by class: three strings and three counts."""
_POINT_ROW_BYTES = 5 * _NUMBER_BYTES
"""A row of a curve of a class: two strings, a threshold and two changes."""


def _measures_of(prefix: str, what: str) -> tuple[Measure, ...]:
    """The measures that the score of a class and the detection-only score have in common."""
    lower, higher = Direction.LOWER, Direction.HIGHER
    return (
        count_measure(f"{prefix}ground_truth_objects", f"Ground-truth objects{what}."),
        count_measure(f"{prefix}true_positives", f"Detected objects{what}.", higher),
        count_measure(f"{prefix}missed_detections", f"Missed objects{what}.", lower),
        count_measure(f"{prefix}false_positives", f"False positives{what}.", lower),
        _nmotda(f"{prefix}nmotda", f"NMOTDA{what} (section 3.2, eq. 2)."),
        Measure(f"{prefix}az", f"Area under the ROC curve{what} (section 3.6)."),
    )


def _nmotda(name: str, description: str, averaging: Averaging = Averaging.POOLED) -> Measure:
    return Measure(
        name,
        description,
        minimum=None,
        averaging=averaging,
        dissimilarity=Dissimilarity.ONE_MINUS,
        of_nothing=0.0,
    )


class Neovision2(Evaluator[Neovision2Parameters]):
    """Neovision2 Performance Evaluation Protocol, version 3.0; see the package's docstring."""

    name = "neovision2"
    version = "1.0.0"
    title = "Neovision2: object detection by class and domain (NMOTDA, ROC)"
    task = Task.DETECTION
    Parameters = Neovision2Parameters
    measures: ClassVar[tuple[Measure, ...]] = (
        *_measures_of("", " of a class"),
        count_measure("evaluated_frames", "Evaluated frames."),
        *_measures_of(DETECTION_ONLY, ", labels ignored and overlapping boxes merged"),
        _nmotda(
            "weighted_mean_nmotda",
            "Mean of NMOTDA values, weighted with their ground-truth objects (section 3.4).",
            Averaging.MEAN,
        ),
        _nmotda("mean_nmotda", "Mean of NMOTDA values (section 3.4).", Averaging.MEAN),
        _nmotda("median_nmotda", "Median of NMOTDA values (section 3.4).", Averaging.MEDIAN),
    )
    # The protocol has no ranking (section 3.4 leaves the total open): this is the project's choice.
    ranking = ("weighted_mean_nmotda",)
    needs = Needs(
        *((QUADRILATERAL, BOX), (QUADRILATERAL, BOX)),
        confidences=True,
        unit_confidences=True,
        ranked=True,
        labels=LabelUse.LISTED,
    )

    @property
    def unit(self) -> Unit:
        """Frames; whole sequences if the last listed frame decides which frames are evaluated."""
        return Unit.SEQUENCE if self.parameters.frames == "all" else Unit.FRAME

    @property
    def adds_sequences(self) -> bool:
        """Averages are over classes and domains."""
        return True

    @property
    def growth(self) -> Growth:
        """Per sequence, one row per class and ten points per curve; else per detection."""
        # Detection-only is one more, and its rows are no longer than those of a class.
        rows = 1 + max(len(ALL_CLASSES), len(self.specification.listed_labels))
        frames = (2 + len(COUNTERS)) * _NUMBER_BYTES
        each = rows * _COUNT_ROW_BYTES + frames
        if self.parameters.thresholds == "all":
            return Growth("detection", each)
        return Growth("sequence", each + rows * len(CURVE_THRESHOLDS) * _POINT_ROW_BYTES)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Counts by class, of the detection-only score and of frames; changes along the curves."""
        inputs = prepare(aligned, self.parameters, self.specification)
        pairs = counting_pairs(inputs, self.parameters)
        classification = class_changes(inputs, pairs)
        merged = merge_and_match(inputs, pairs, self.parameters)
        return _Tables(inputs, classification, merged).all()

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """Outcomes by class, with those of the detection-only score as further columns.

        A confidence of `at` replaces `confidence_threshold`, as each point of a curve does.
        """
        at.check(self.name, [self.parameters.overlap_threshold], confidences=True)
        parameters = self.parameters
        if at.confidence is not None:
            parameters = replace(parameters, confidence_threshold=at.confidence)
        inputs = prepare(with_sources(aligned), parameters, self.specification).at_scores()
        return outcomes_of(aligned, inputs, parameters, self.specification)

    def outcome_figures(
        self, outcomes: Outcomes, at: OperatingPoint = OperatingPoint()
    ) -> Mapping[str, Number]:
        """Counts, NMOTDA and its averages; not `az`, which covers every confidence."""
        del at
        return figures_of_outcomes(outcomes, Costs(self.parameters.c_m, self.parameters.c_f))

    def scored_classes(self, domain: str) -> Sequence[str]:
        """The specification's classes, else those of the protocol."""
        return classes_of_domain(self.specification, domain)

    def scores(self, tally: Tally) -> Scores:
        """Rows from the whole down to single sequences, curves and warnings."""
        return make_scores(tally, self.parameters)


_CLASSES_SCHEMA = TableSchema(("domain", "sequence", "class"), counts=COUNTS)
_CLASS_POINTS_SCHEMA = TableSchema(("domain", "class"), numbers=("threshold",), counts=CHANGES)
_DETECTION_ONLY_SCHEMA = TableSchema(("domain", "sequence"), counts=COUNTS)
_DETECTION_ONLY_POINTS_SCHEMA = TableSchema(("domain",), numbers=("threshold",), counts=CHANGES)
_FRAMES_SCHEMA = TableSchema(("domain", "sequence"), counts=COUNTERS)


class _Tables:
    """The tables of a tally.

    Every sequence of which the truth lists a frame has a row for each class of its domain, even
    without objects and detections. The tables of points hold the changes at each threshold: the
    numbers at a threshold are the sums from the highest threshold down to it.
    """

    def __init__(
        self, inputs: ProtocolInput, classification: CountChanges, detection_only: DetectionOnly
    ) -> None:
        self._inputs = inputs
        self._classification = classification
        self._detection_only = detection_only
        self._class_count = inputs.classes.count
        self._sequence_count = len(inputs.sequence_names)
        self._words: list[str] = []
        self._domain_words = self._add_words(inputs.domain_names)
        self._sequence_words = self._add_words(inputs.sequence_names)
        shape = (len(inputs.domain_names), self._class_count)
        self._class_words = np.zeros(shape, dtype=np.int64)
        for domain, names in enumerate(inputs.classes.names):
            self._class_words[domain, list(names)] = self._add_words(tuple(names.values()))

    def all(self) -> Mapping[str, Table]:
        """Every table by name."""
        return {
            "classes": self._classes(),
            "class_points": self._points(_CLASS_POINTS_SCHEMA, self._classification),
            "detection_only": self._sequences(),
            "detection_only_points": self._points(
                _DETECTION_ONLY_POINTS_SCHEMA, self._detection_only.outcomes
            ),
            "frames": self._frames(),
        }

    def _classes(self) -> Table:
        inputs, count = self._inputs, self._class_count
        real = ~inputs.dont_care & (inputs.objects.classes != UNLISTED)
        sequences = inputs.frame_sequences[inputs.objects.frames[real]]
        objects = np.bincount(
            sequences * count + inputs.objects.classes[real],
            minlength=self._sequence_count * count,
        )
        scored = self._scored(self._classification)
        keys = scored.sequences * count + scored.classes
        totals = [objects, *_sums(scored, keys, self._sequence_count * count)]
        listed = inputs.listed_sequences[:, np.newaxis]
        rows = np.flatnonzero(listed & inputs.classes.listed[inputs.domains, :-1])
        sequences, classes = np.divmod(rows, count) if count else (rows, rows)
        domains = inputs.domains[sequences]
        codes = (
            self._domain_words[domains],
            self._sequence_words[sequences],
            self._class_words[domains, classes],
        )
        return self._build(_CLASSES_SCHEMA, codes, [total[rows] for total in totals])

    def _sequences(self) -> Table:
        scored = self._scored(self._detection_only.outcomes)
        totals = [
            self._detection_only.object_counts,
            *_sums(scored, scored.sequences, self._sequence_count),
        ]
        rows = np.flatnonzero(self._inputs.listed_sequences)
        codes = (self._domain_words[self._inputs.domains[rows]], self._sequence_words[rows])
        return self._build(_DETECTION_ONLY_SCHEMA, codes, [total[rows] for total in totals])

    def _frames(self) -> Table:
        codes = (self._domain_words[self._inputs.domains], self._sequence_words)
        return self._build(
            _FRAMES_SCHEMA, codes, [self._inputs.counters[name] for name in COUNTERS]
        )

    def _points(self, schema: TableSchema, outcomes: CountChanges) -> Table:
        """Sums of changes by domain, class and level, for levels that are on a curve."""
        thresholds = self._inputs.levels.curve_thresholds
        outcomes = outcomes.take(~np.isnan(thresholds[outcomes.levels]))
        shape = (len(self._inputs.domain_names), max(1, self._class_count), len(thresholds))
        keys = (self._inputs.domains[outcomes.sequences], outcomes.classes, outcomes.levels)
        cells = np.ravel_multi_index(keys, shape) if len(keys[0]) else keys[0]
        size = int(np.prod(shape))
        if size > len(cells):
            # Few of the cells are used: factorize them first.
            used, cells = np.unique(cells, return_inverse=True)
            changes = _sums(outcomes, cells, len(used))
        else:
            used = np.flatnonzero(np.bincount(cells, minlength=size))
            changes = [column[used] for column in _sums(outcomes, cells, size)]
        domains, classes, levels = np.unravel_index(used, shape)
        codes = [self._domain_words[domains]]
        if "class" in schema.texts:
            codes.append(self._class_words[domains, classes])
        return self._build(schema, codes, changes, thresholds[levels])

    def _scored(self, outcomes: CountChanges) -> CountChanges:
        """The changes that count in the scores, at the chosen confidence threshold."""
        return outcomes.take(outcomes.levels >= self._inputs.levels.first_scored)

    def _add_words(self, words: Sequence[str]) -> IntArray:
        """Add words to the vocabulary and return their codes."""
        start = len(self._words)
        self._words.extend(words)
        return np.arange(start, len(self._words), dtype=np.int64)

    def _build(
        self,
        schema: TableSchema,
        codes: Sequence[IntArray],
        counts: Sequence[IntArray],
        *numbers: FloatArray,
    ) -> Table:
        return build_table(schema, self._words, codes, numbers=numbers, counts=counts)


def _sums(outcomes: CountChanges, keys: IntArray, size: int) -> list[IntArray]:
    """(size,) sums of true positives and of false positives, by key."""
    return [
        np.bincount(keys, weights=changes, minlength=size).astype(np.int64)
        for changes in (outcomes.true_positives, outcomes.false_positives)
    ]

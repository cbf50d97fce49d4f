"""The Neovision2 evaluator: its declaration, and the two functions of the seam."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import BOX, QUADRILATERAL
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
from vidscore_evaluators.plausibility.labels import LabelUse
from vidscore_evaluators.protocols.neovision2.class_lists import ALL_CLASSES, classes_of_domain
from vidscore_evaluators.protocols.neovision2.classification import (
    classification_outcomes,
    counting_pairs,
)
from vidscore_evaluators.protocols.neovision2.detection_only import detection_only
from vidscore_evaluators.protocols.neovision2.parameters import (
    CURVE_THRESHOLDS,
    Neovision2Parameters,
)
from vidscore_evaluators.protocols.neovision2.preparation import COUNTERS, prepare
from vidscore_evaluators.protocols.neovision2.scores import DETECTION_ONLY, make_scores
from vidscore_evaluators.protocols.neovision2.tally_tables import make_tables
from vidscore_evaluators.report import Scores
from vidscore_evaluators.tally import Table, Tally

_NUMBER_BYTES = 8
_COUNT_ROW_BYTES = 6 * _NUMBER_BYTES
"""A row of counts by class: three texts and three counts."""
_POINT_ROW_BYTES = 5 * _NUMBER_BYTES
"""A row of a curve of a class: two texts, a threshold and two changes."""


def _measures_of(prefix: str, what: str) -> tuple[Measure, ...]:
    """The measures that a class and the detection-only score have alike."""
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
    # The protocol ranks nobody (section 3.4 leaves the total open): a choice of this project.
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
        """Frames; whole sequences where the last listed frame decides which are evaluated."""
        return Unit.SEQUENCE if self.parameters.frames == "all" else Unit.FRAME

    @property
    def growth(self) -> Growth:
        """By sequence, a row a class and, of each curve, ten points; else by detection."""
        lists = [entry.classes or () for entry in self.specification.domains]
        # Detection-only is one more, and no row of it is longer than one of a class.
        rows = 1 + max(len(classes) for classes in (ALL_CLASSES, *lists))
        frames = (2 + len(COUNTERS)) * _NUMBER_BYTES
        each = rows * _COUNT_ROW_BYTES + frames
        if self.parameters.thresholds == "all":
            return Growth("detection", each)
        return Growth("sequence", each + rows * len(CURVE_THRESHOLDS) * _POINT_ROW_BYTES)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Counts by class, of the detection-only score and of frames; changes along the curves."""
        scene = prepare(aligned, self.parameters, self.specification)
        pairs = counting_pairs(scene, self.parameters)
        classification = classification_outcomes(scene, pairs)
        merged = detection_only(scene, pairs, self.parameters)
        return make_tables(scene, classification, merged)

    def scored_classes(self, domain: str) -> Sequence[str]:
        """Classes of the protocol where the specification has none."""
        return classes_of_domain(self.specification, domain)

    def scores(self, tally: Tally) -> Scores:
        """Rows from the whole down to the single sequence, curves and warnings."""
        return make_scores(tally, self.parameters)

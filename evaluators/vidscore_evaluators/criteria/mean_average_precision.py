"""AP and mAP: the area under the precision-recall curve, at any thresholds of similarity.

Source: the trustworthiness paper, section 2 and appendices 1 and 3.1; PASCAL VOC for the 11-point
interpolation and COCO for the 101-point one.

Numbered notes, each with its effect:

1. Greedy assignment: in descending confidence, each detection takes the most similar free
   reference at or above the threshold. PASCAL VOC's own scorer looks at the most similar reference
   alone, free or not, and so finds a little less.
2. Detections of equal confidence fall in one step of the curve. pycocotools and VOC's scorer take
   them one by one in the order of the file, which makes AP depend on that order.
3. Precision is made monotone before it is integrated, also in the exact area (all-point).
4. The mean is over the classes that are present in the reference. A class that is only detected
   has no AP and costs nothing.
5. `ap_m_partial` and `ap_m_full` are the means of AP over thresholds that the paper compares.
6. The 101 levels of recall are pycocotools' own numbers, ten of which are one ulp over the decimal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.criteria.class_entries import ClassEntry, class_entries
from vidscore_evaluators.criteria.criterion import (
    LEFT_OUT,
    RANKED,
    Criterion,
    left_out_table,
)
from vidscore_evaluators.criteria.figures import Figures, block_of, mean
from vidscore_evaluators.criteria.outcomes import (
    ROW_BYTES,
    Assignment,
    assigned_outcomes,
    assigned_similarity,
    class_table,
    outcome_table,
)
from vidscore_evaluators.criteria.parameters import CriterionParameters
from vidscore_evaluators.criteria.precision_recall import (
    LEVELS_101,
    Cell,
    Interpolation,
    average_precisions,
    precisions_at,
)
from vidscore_evaluators.criteria.thresholds import PARTIAL, THRESHOLD, ThresholdGrid
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.evaluator import Averaging, Dissimilarity, Growth, Measure, Task
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Curve, Number, ReportWarning, Scores
from vidscore_evaluators.tally import Table, Tally

OUTCOMES, CLASSES = "outcomes", "classes"


def ap_measure(name: str, description: str) -> Measure:
    """A mean of average precisions."""
    return Measure(
        name,
        description,
        averaging=Averaging.MEAN,
        dissimilarity=Dissimilarity.ONE_MINUS,
    )


@dataclass(frozen=True)
class MeanAveragePrecisionParameters(CriterionParameters):
    """Parameters of `MeanAveragePrecision`."""

    thresholds: tuple[float, ...] = parameter(
        PARTIAL, "Least similarities of a true positive; `ap` is the mean over them.", **THRESHOLD
    )
    interpolation: Interpolation = parameter(
        "all-point", "At which recalls precision is taken: everywhere, at 11 or at 101 levels."
    )
    assignment: Assignment = parameter(
        "greedy", "Greedy by confidence, or optimal on the confidence-extended similarity."
    )

    @property
    def unit_confidences(self) -> bool:
        """Whether confidences must lie from 0 to 1: where they extend the similarity."""
        return assigned_similarity(self.similarity, self.assignment).confidence_extended

    def faults(self) -> Iterator[Fault]:
        """At least one threshold is needed."""
        if not self.thresholds:
            yield Fault("no threshold", "at least one", field="thresholds")


class MeanAveragePrecision(Criterion[MeanAveragePrecisionParameters]):
    """AP by class and its mean over classes, at one threshold or as the mean over several."""

    name = "map"
    version = "1.1.0"
    title = "AP and mAP at any thresholds, interpolation and assignment"
    task = Task.DETECTION
    Parameters = MeanAveragePrecisionParameters
    measures = (
        ap_measure("ap", "AP, mean over the thresholds of the parameters and over classes."),
        ap_measure("ap_50", "AP at a similarity of 0.5, mean over classes."),
        ap_measure("ap_75", "AP at a similarity of 0.75, mean over classes."),
        ap_measure("ap_m_partial", "Mean of AP over the thresholds 0.5, 0.55, ..., 0.95."),
        ap_measure("ap_m_full", "Mean of AP over the whole grid of thresholds but its extremes."),
    )
    ranking = ("ap",)
    needs = RANKED
    threshold_parameter = "thresholds"

    @property
    def growth(self) -> Growth:
        """A row for each confidence, class and pattern of outcomes."""
        return Growth("detection", ROW_BYTES)

    @property
    def _grid(self) -> ThresholdGrid:
        return ThresholdGrid.of(self.parameters.similarity, self.parameters.thresholds)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Outcomes of every detection at every threshold of the grid."""
        scene = self.scene(aligned)
        outcomes = assigned_outcomes(
            scene,
            self.parameters.similarity,
            self.parameters.assignment,
            list(map(self.parameters.least, self._grid.thresholds)),
        )
        return {
            OUTCOMES: outcome_table(scene, outcomes),
            CLASSES: class_table(scene, {"truth": scene.truth.counts}),
            LEFT_OUT: left_out_table(scene),
        }

    def scores(self, tally: Tally) -> Scores:
        """Scores over the thresholds of the parameters."""
        return self._precisions(tally).scores(self.parameters.thresholds)

    def grid_scores(self, tally: Tally, parameter: str) -> Mapping[float, Scores]:
        """Scores at every single threshold of the grid, without curves."""
        if parameter != "thresholds":
            return super().grid_scores(tally, parameter)
        precisions = self._precisions(tally)
        return {value: precisions.bare_scores((value,)) for value in self.grid(parameter)}

    def _precisions(self, tally: Tally) -> _Precisions:
        interpolation, warnings = self.parameters.interpolation, self.scene_warnings(tally)
        return _Precisions(tally, self._grid, interpolation, warnings)


class _Precisions:
    """AP of every class at every threshold of a tally."""

    def __init__(
        self,
        tally: Tally,
        grid: ThresholdGrid,
        interpolation: Interpolation,
        warnings: tuple[ReportWarning, ...],
    ) -> None:
        self._grid = grid
        self._warnings = warnings
        count = len(grid.thresholds)
        self._entries = class_entries(
            tally.tables[OUTCOMES],
            tally.tables[CLASSES],
            count,
            lambda cell: average_precisions(
                cell.ranked, [cell.counts["truth"]] * count, interpolation
            ),
        )
        # Once for all thresholds of a sweep.
        self._means = {entry: grid.means(entry.values) for entry in self._entries}

    def scores(self, thresholds: Iterable[float]) -> Scores:
        """Scores and curves at some of the thresholds."""
        chosen = tuple(dict.fromkeys(thresholds))
        curves = [curve for entry in self._entries for curve in self._curves(entry, chosen)]
        return replace(self.bare_scores(chosen), curves=tuple(curves))

    def bare_scores(self, thresholds: tuple[float, ...]) -> Scores:
        """Scores at some of the thresholds, without curves."""
        figures = [
            Figures(entry.domain, entry.class_, None, self._measures(entry, thresholds))
            for entry in self._entries
        ]
        return Scores((block_of(figures),), warnings=self._warnings)

    def _measures(self, entry: ClassEntry, thresholds: tuple[float, ...]) -> dict[str, Number]:
        values, (partial, full) = entry.values, self._means[entry]
        ap_50, ap_75 = (values[column] for column in self._grid.columns((0.5, 0.75)))
        return {
            "ap": mean(values[column] for column in self._grid.columns(thresholds)),
            "ap_50": ap_50,
            "ap_75": ap_75,
            "ap_m_partial": partial,
            "ap_m_full": full,
        }

    def _curves(self, entry: ClassEntry, thresholds: tuple[float, ...]) -> Iterator[Curve]:
        where = (entry.domain, entry.class_)
        yield Curve("ap_by_threshold", self._grid.curve("ap", entry.values), *where)
        for threshold, column in zip(thresholds, self._grid.columns(thresholds), strict=True):
            precisions = entry.mean_curve(_precision_curve(column), len(LEVELS_101))
            columns = {"recall": LEVELS_101.tolist(), "precision": precisions}
            yield Curve(f"precision_recall_{100 * threshold:g}", columns, *where)


def _precision_curve(column: int) -> Callable[[Cell], FloatArray]:
    """Gives a class's precision at 101 levels of recall, at one threshold."""

    def curve(cell: Cell) -> FloatArray:
        true, precisions = cell.ranked.true[:, column], cell.ranked.precisions[:, column]
        return precisions_at(true, precisions, cell.counts["truth"], LEVELS_101)

    return curve

"""AP, mAP and AR at any thresholds of similarity (``map``).

AP is the area under the precision-recall curve, AR the recall of the first few detections.

Source: the trustworthiness paper, section 2 and appendices 1 and 3.1; PASCAL VOC's development kit
(VOCevaldet.m, VOCap.m) for the 11-point interpolation, the assignment ``best`` and inclusive
pixels; COCO for the 101-point interpolation; VisDrone2018-DET-toolkit 1.0.4 (calcAccuracy.m) for
limits by frame and means weighted by frames.

Numbered notes, each with its effect:

1. Greedy assignment: in descending confidence, each detection takes the most similar free object
   at or above the threshold. PASCAL VOC's own scorer considers only the most similar object, free
   or not, and so finds slightly less: ``assignment=best``.
2. Detections of equal confidence form one step of the curve. pycocotools and VOC's scorer take
   them one by one in the order of the file, which makes AP depend on that order: ``ties=row``.
3. Precision is made monotone before it is integrated, also in the exact area (all-point).
4. The mean is over the classes that are present in the reference. A class that is only detected
   has no AP and costs nothing.
5. `ap_m_partial` and `ap_m_full` are the means of AP over thresholds that the paper compares.
6. The 101 levels of recall are pycocotools' own numbers, ten of which are one ulp over the decimal.
   The 11 levels are the decimals; ``11-point-voc`` has VOCdevkit's numbers, and
   ``11-point-numpy`` those of DOTA_devkit.
7. The first detections of a frame, for `ar_1` and the others, are the most confident of one class.
   With ``limit=frame`` they are the first rows of the frame, of any class, and are matched again
   for each number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Literal

import numpy as np

from vidscore_evaluators._report_rows import Figures, block_of, mean, ratio
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.criterion import (
    LEFT_OUT,
    RANKED,
    THRESHOLD,
    Criterion,
    CriterionParameters,
    ThresholdGrid,
    left_out_table,
    score_measure,
)
from vidscore_evaluators.deferred import Deferred
from vidscore_evaluators.detection._outcome_rows import (
    assigned_builder,
    average_precision,
    class_cells,
    look_at,
    precision_recall_figures,
    with_shares,
)
from vidscore_evaluators.detection._outcomes import (
    ROW_BYTES,
    Assignment,
    OutcomeArray,
    assigned_outcomes,
    assigned_similarity,
    class_table,
    outcome_table,
)
from vidscore_evaluators.detection._precision_recall import (
    LEVELS_101,
    Cell,
    ClassEntry,
    Interpolation,
    average_precisions,
    class_entries,
    mean_of_classes,
    precisions_at,
)
from vidscore_evaluators.detection._ranking import (
    NUMBERS,
    Limit,
    RankingParameters,
    first_found,
    first_table,
    frame_ranks,
)
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.evaluator import Averaging, Growth, Measure, Task
from vidscore_evaluators.outcome_table import OperatingPoint, Outcome, Outcomes
from vidscore_evaluators.parameters import PARTIAL, parameter
from vidscore_evaluators.report import Curve, Number, ReportWarning, Scores
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.similarity import Similarity
from vidscore_evaluators.tally import Table, Tally

OUTCOMES, CLASSES, FIRST = "outcomes", "classes", "first"

AP_AT_THRESHOLD = "ap_at_threshold"
"""Name, among the figures of outcomes, of AP at the threshold of the outcomes."""

NAMED_THRESHOLDS: Mapping[float, str] = MappingProxyType({0.5: "ap_50", 0.75: "ap_75"})
"""Names of the measures that are AP at one threshold."""


def ap_measure(name: str, description: str) -> Measure:
    """A mean of average precisions."""
    return score_measure(name, description, averaging=Averaging.MEAN)


def ar_measure(name: str, description: str) -> Measure:
    """A mean of recalls."""
    return Measure(name, description, averaging=Averaging.MEAN)


ClassMean = Literal["classes", "frames"]


@dataclass(frozen=True)
class MeanAveragePrecisionParameters(RankingParameters, CriterionParameters):
    """Parameters of `MeanAveragePrecision`."""

    thresholds: tuple[float, ...] = parameter(
        PARTIAL, "Least similarities of a true positive; `ap` is the mean over them.", **THRESHOLD
    )
    interpolation: Interpolation = parameter(
        "all-point", "Levels of recall at which precision is sampled: all, 11 or 101."
    )
    assignment: Assignment = parameter(
        "greedy",
        "Greedy by confidence, optimal on the confidence-extended similarity, or each detection's "
        "best object only, taken or not.",
    )
    inclusive_pixels: bool = parameter(
        False, "Whether boxes include their last pixels: 1 is added to widths and heights."
    )
    maximum_detections: int = parameter(
        0, "Number of detections of a frame that are used, by `limit`; 0 for all.", minimum=0
    )
    limit: Limit = parameter(
        "class",
        "Which detections of a frame come first: the most confident of each class, or its first "
        "rows (needs `ties=row`).",
    )
    class_mean: ClassMean = parameter(
        "classes",
        "Whether a mean over classes counts each class once, or once for each frame with an object "
        "of it.",
    )

    @property
    def similarity(self) -> Similarity:
        """Similarity of a pair, without confidences."""
        return Similarity(
            self.base, cutoff_px=self.cutoff_px, inclusive_pixels=self.inclusive_pixels
        )

    @property
    def unit_confidences(self) -> bool:
        """Whether confidences must lie from 0 to 1, because they extend the similarity."""
        return assigned_similarity(self.similarity, self.assignment).confidence_extended

    def faults(self) -> Iterator[Fault]:
        """No threshold, and combinations of choices that exclude each other."""
        yield from super().faults()
        if not self.thresholds:
            yield Fault("no threshold", "at least one", field="thresholds")
        if self.inclusive_pixels and self.base not in ("iou", "giou"):
            yield Fault(f"true with base {self.base}", "false", field="inclusive_pixels")
        if self.inclusive_pixels and self.box_areas == "given":
            yield Fault("given with inclusive_pixels", "corners", field="box_areas")
        if self.limit == "frame" and self.ties != "row":
            yield Fault("frame with ties step", "class, or ties row", field="limit")


class MeanAveragePrecision(Criterion[MeanAveragePrecisionParameters]):
    """AP by class and its mean over classes, at one threshold or as a mean over several."""

    name = "map"
    version = "1.3.0"
    title = "AP, mAP and AR at any thresholds, interpolation and assignment"
    task = Task.DETECTION
    Parameters = MeanAveragePrecisionParameters
    measures = (
        ap_measure("ap", "AP, mean over the thresholds of the parameters and over classes."),
        ap_measure("ap_50", "AP at a similarity of 0.5, mean over classes."),
        ap_measure("ap_75", "AP at a similarity of 0.75, mean over classes."),
        ap_measure("ap_m_partial", "Mean of AP over the thresholds 0.5, 0.55, ..., 0.95."),
        ap_measure(
            "ap_m_full", "Mean of AP over the whole grid of thresholds except its extremes."
        ),
        ar_measure("ar_1", "Recall with the first detection of a frame, mean as for `ap`."),
        ar_measure("ar_10", "Recall with the first ten detections of a frame."),
        ar_measure("ar_100", "Recall with the first hundred detections of a frame."),
        ar_measure("ar_500", "Recall with the first five hundred detections of a frame."),
    )
    ranking = ("ap",)
    needs = RANKED
    outcomes_nest = True
    threshold_parameter = "thresholds"

    @property
    def growth(self) -> Growth:
        """One row per confidence, class and pattern of outcomes."""
        return Growth("detection", 2 * ROW_BYTES)

    @property
    def _grid(self) -> ThresholdGrid:
        return ThresholdGrid.of(self.parameters.similarity, self.parameters.thresholds)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Outcomes of every detection at every threshold of the grid."""
        scene = self._limited(self.scene(aligned))
        outcomes = self._outcomes(scene)
        rematch = self._outcomes if self.parameters.limit == "frame" else None
        present = (scene.truth.counts > 0).astype(np.int64)
        return {
            OUTCOMES: outcome_table(scene, outcomes),
            CLASSES: class_table(scene, {"truth": scene.truth.counts, "frames": present}),
            FIRST: first_table(scene, outcomes, rematch),
            LEFT_OUT: left_out_table(scene),
        }

    def _limited(self, scene: Scene) -> Scene:
        """The scene with at most `maximum_detections` per frame."""
        most = self.parameters.maximum_detections
        if not most:
            return scene
        by_frame = self.parameters.limit == "frame"
        ranks = frame_ranks(scene) if by_frame else scene.detections.ranks
        return scene.take_detections(ranks < most)

    def _outcomes(self, scene: Scene) -> OutcomeArray:
        """(D, K) outcomes of D detections at the K thresholds of the grid."""
        return assigned_outcomes(
            scene,
            self.parameters.similarity,
            self.parameters.assignment,
            list(map(self.parameters.least, self._grid.thresholds)),
        )

    def scores(self, tally: Tally) -> Scores:
        """Scores over the thresholds of the parameters."""
        return self._precisions(tally).scores(self.parameters.thresholds)

    def grid_scores(self, tally: Tally, parameter: str) -> Mapping[float, Scores]:
        """Scores at every single threshold of the grid, without curves."""
        if parameter != "thresholds":
            return super().grid_scores(tally, parameter)
        precisions = self._precisions(tally)
        return {value: precisions.bare_scores((value,)) for value in self.grid(parameter)}

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """The matching at one threshold, restricted to detections at or above a confidence."""
        point = look_at(self.parameters, "thresholds", at)
        scene = self._limited(self.scene(aligned, traced=True))
        similarity, assignment = self.parameters.similarity, self.parameters.assignment
        least = self.parameters.least(point.threshold)
        builder = assigned_builder(
            aligned, scene, similarity, assignment, least, confidence=point.confidence
        )
        return with_shares(builder.build(), Outcome.TRUE_POSITIVE)

    def outcome_figures(
        self, outcomes: Outcomes, at: OperatingPoint = OperatingPoint()
    ) -> Mapping[str, Number]:
        """Counts; for one class, the point of its curve; and AP if no detection is left out."""
        pooled, one_by_one = self.parameters.classes == "ignore", self.parameters.ties == "row"
        cells = class_cells(outcomes, pooled=pooled, one_by_one=one_by_one)
        figures = precision_recall_figures(outcomes, cells)
        values = [average_precision(cell, self.parameters.interpolation) for cell in cells]
        weight = _frames_of if self.parameters.class_mean == "frames" else None
        ap = mean_of_classes(values, cells, weight)
        # The class may have its own row or be a weighted mean of one: the last bit may differ.
        if at.confidence is not None or (len(values) == 1 and values != [ap]):
            return figures
        threshold = look_at(self.parameters, "thresholds", at).threshold
        names = [AP_AT_THRESHOLD]
        if threshold in NAMED_THRESHOLDS:
            names.append(NAMED_THRESHOLDS[threshold])
        if {*self.parameters.thresholds} == {threshold}:
            names.append("ap")
        return figures | dict.fromkeys(names, ap)

    def _precisions(self, tally: Tally) -> _Precisions:
        return _Precisions(tally, self._grid, self.parameters, self.scene_warnings(tally))


class _Precisions:
    """AP of every class at every threshold of a tally."""

    def __init__(
        self,
        tally: Tally,
        grid: ThresholdGrid,
        parameters: MeanAveragePrecisionParameters,
        warnings: tuple[ReportWarning, ...],
    ) -> None:
        self._grid = grid
        self._warnings = warnings
        self._weight = _frames_of if parameters.class_mean == "frames" else None
        count = len(grid.thresholds)
        self._found = first_found(tally.tables[FIRST], count, disjoint=parameters.limit == "class")
        self._entries = class_entries(
            tally.tables[OUTCOMES],
            tally.tables[CLASSES],
            count,
            lambda cell: average_precisions(
                cell.ranked, [cell.counts["truth"]] * count, parameters.interpolation
            ),
            self._weight,
        )
        # Computed once for all thresholds of a sweep.
        self._means = {entry: grid.means(entry.values) for entry in self._entries}

    def scores(self, thresholds: Iterable[float]) -> Scores:
        """Scores and curves at some of the thresholds."""
        chosen = tuple(dict.fromkeys(thresholds))
        return replace(
            self.bare_scores(chosen), curves=Deferred(lambda: tuple(self._curves(chosen)))
        )

    def bare_scores(self, thresholds: tuple[float, ...]) -> Scores:
        """Scores at some of the thresholds, without curves."""
        columns = self._grid.columns(thresholds)
        recalls = {number: self._recalls(number, columns) for number in NUMBERS}
        figures = [
            Figures(entry.domain, entry.label, None, self._measures(entry, columns, recalls))
            for entry in self._entries
        ]
        return Scores((block_of(figures),), warnings=self._warnings)

    def _measures(
        self, entry: ClassEntry, columns: Sequence[int], recalls: Mapping[int, _Recalls]
    ) -> dict[str, Number]:
        values, (m_partial, full) = entry.values, self._means[entry]
        ap_50, ap_75 = (values[column] for column in self._grid.columns((0.5, 0.75)))
        return {
            "ap": mean(values[column] for column in columns),
            "ap_50": ap_50,
            "ap_75": ap_75,
            "ap_m_partial": m_partial,
            "ap_m_full": full,
            **{
                f"ar_{number}": entry.mean_of(own.__getitem__, self._weight)
                for number, own in recalls.items()
            },
        }

    def _recalls(self, number: int, columns: Sequence[int]) -> _Recalls:
        """Mean recall of classes over thresholds, with only the first detections of a frame."""
        found, none = self._found[number], np.zeros(len(self._grid.thresholds), dtype=np.int64)
        cells = [cell for entry in self._entries if entry.label is None for cell in entry.cells]
        true = np.array([found.get((cell.domain, cell.label), none)[columns] for cell in cells])
        return {
            cell: mean(ratio(count, cell.counts["truth"]) for count in counts)
            for cell, counts in zip(cells, true.tolist(), strict=True)
        }

    def _curves(self, thresholds: tuple[float, ...]) -> Iterator[Curve]:
        for entry in self._entries:
            yield from self._curves_of(entry, thresholds)

    def _curves_of(self, entry: ClassEntry, thresholds: tuple[float, ...]) -> Iterator[Curve]:
        where = (entry.domain, entry.label)
        yield Curve("ap_by_threshold", self._grid.curve("ap", entry.values), *where)
        levels = LEVELS_101.tolist()
        curve = partial(_precision_curves, self._grid.columns(thresholds))
        precisions = entry.mean_curve(curve, len(thresholds) * len(levels))
        for row, threshold in enumerate(thresholds):
            of_levels = precisions[row * len(levels) : (row + 1) * len(levels)]
            columns = {"recall": levels, "precision": of_levels}
            yield Curve(f"precision_recall_{100 * threshold:g}", columns, *where)


_Recalls = Mapping[Cell, float | None]
"""A recall of each class."""


def _frames_of(cell: Cell) -> int:
    """Number of frames that have an object of a class."""
    return cell.counts["frames"]


def _precision_curves(columns: list[int], cell: Cell) -> FloatArray:
    """(K * 101,) precision of a class at 101 levels of recall, threshold by threshold."""
    true, precisions = cell.ranked.true[:, columns], cell.ranked.precisions[:, columns]
    truth = [cell.counts["truth"]] * len(columns)
    return precisions_at(true, precisions, truth, LEVELS_101).reshape(-1)

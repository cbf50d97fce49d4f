"""AP and mAP at any thresholds of similarity (``map``), and COCO's twelve figures (``coco``).

AP is the area under the precision-recall curve; the differences of `Coco` are in its docstring.

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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vidscore_evaluators._dont_care import RuleName
from vidscore_evaluators._report_rows import Figures, block_of, mean, ratio
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.criterion import (
    BOXES,
    LEFT_OUT,
    RANKED,
    THRESHOLD,
    Criterion,
    CriterionParameters,
    SceneParameters,
    ThresholdGrid,
    left_out_table,
)
from vidscore_evaluators.detection._outcomes import (
    ROW_BYTES,
    TRUE,
    Assignment,
    OutcomeArray,
    assigned_outcomes,
    assigned_similarity,
    class_table,
    greedy_outcomes,
    outcome_table,
)
from vidscore_evaluators.detection._precision_recall import (
    LEVELS_101,
    Cell,
    ClassEntry,
    Interpolation,
    average_precisions,
    cells_by_scope,
    class_block,
    class_entries,
    precisions_at,
    recalls,
)
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.evaluator import Averaging, Dissimilarity, Growth, Measure, Needs, Task
from vidscore_evaluators.parameters import PARTIAL, parameter
from vidscore_evaluators.report import Curve, Number, ReportWarning, Scores
from vidscore_evaluators.scene import Items, Scene
from vidscore_evaluators.similarity import Similarity, find_candidates
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
        yield from super().faults()
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


AREA_RANGES: Mapping[str, tuple[float, float]] = {
    "all": (0.0, 1e5**2),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, 1e5**2),
}
"""Least and greatest area in square pixels, both included."""

MAXIMUM_DETECTIONS = 100
"""Detections of a class in an image that are looked at, the most confident ones."""

FEWER_DETECTIONS = (1, 10)
"""Smaller numbers of detections at which recall is reported, too."""


def ar_measure(name: str, description: str) -> Measure:
    """A mean of recalls."""
    return Measure(name, description, averaging=Averaging.MEAN)


@dataclass(frozen=True)
class CocoParameters(SceneParameters):
    """Parameters of `Coco`."""

    dont_care: RuleName = parameter(
        "coco", "Whose rule says what becomes of detections of what is not scored."
    )


class Coco(Criterion[CocoParameters]):
    """COCO's twelve figures of detection with boxes, over all classes and for each.

    Source: the COCO detection evaluation (cocodataset.org, section "Metrics") and its reference
    implementation, pycocotools 2.0 (`cocoeval.py`). Ten thresholds of IoU, precision at 101 levels
    of recall, area ranges, and at most 1, 10 or 100 detections of a class in an image. The rule for
    what is not scored is the rule `coco`.

    Numbered notes; with distinct confidences and similarities, and no ignored objects, all twelve
    figures are those of pycocotools to 1e-12:

    1. Detections of equal confidence fall in one step of the curve, and compete for objects in the
       order of their coordinates. pycocotools takes them in the order of the file.
    2. Of equally similar objects the first by coordinates is taken; pycocotools takes the last of
       its file.
    3. An object's ``ignore`` flag is honoured; pycocotools overwrites it with ``iscrowd``.
    4. The ten thresholds are the decimals 0.5, 0.55, ..., 0.95, and an IoU of exactly one meets it,
       with 1e-9 for rounding. pycocotools compares without a tolerance, has 0.8999999999999999 for
       0.9, and takes the area of x, y, w, h as w h: a pair at exactly a threshold may not count
       there.
    5. The area of an object is its named column ``area`` where it has one (COCO's annotations have
       that of the segment), else that of its box. Both ends of an area range belong to it.
    6. A figure that is undefined (no object in an area range) is null; pycocotools prints -1.
    """

    name = "coco"
    version = "1.1.0"
    title = "COCO detection: AP and AR over ten thresholds, area ranges and detections an image"
    task = Task.DETECTION
    Parameters = CocoParameters
    needs = Needs(BOXES, BOXES, confidences=True, ranked=True)
    measures = (
        ap_measure("ap", "AP, mean over the thresholds 0.5, 0.55, ..., 0.95 and over classes."),
        ap_measure("ap_50", "AP at an IoU of 0.5, mean over classes."),
        ap_measure("ap_75", "AP at an IoU of 0.75, mean over classes."),
        ap_measure("ap_small", "AP for objects of at most 32^2 square pixels."),
        ap_measure("ap_medium", "AP for objects from 32^2 to 96^2 square pixels."),
        ap_measure("ap_large", "AP for objects of at least 96^2 square pixels."),
        ar_measure("ar_1", "Recall with one detection of a class in an image, mean as for AP."),
        ar_measure("ar_10", "Recall with ten detections of a class in an image."),
        ar_measure("ar_100", "Recall with a hundred detections of a class in an image."),
        ar_measure("ar_small", "Recall of objects of at most 32^2 square pixels."),
        ar_measure("ar_medium", "Recall of objects from 32^2 to 96^2 square pixels."),
        ar_measure("ar_large", "Recall of objects of at least 96^2 square pixels."),
    )
    ranking = ("ap",)

    @property
    def growth(self) -> Growth:
        """A row for each confidence, class and pattern of outcomes."""
        return Growth("detection", 4 * ROW_BYTES)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Outcomes of every detection at each threshold, for each area range."""
        scene = self.scene(aligned)
        scene = scene.take_detections(scene.detections.ranks < MAXIMUM_DETECTIONS)
        outcomes = _outcomes_by_area(scene, list(map(self.parameters.least, PARTIAL)))
        return {
            OUTCOMES: outcome_table(scene, outcomes),
            CLASSES: class_table(scene, _coco_counts(scene, outcomes[:, : len(PARTIAL)])),
            LEFT_OUT: left_out_table(scene),
        }

    def scores(self, tally: Tally) -> Scores:
        """The twelve figures."""
        columns = len(AREA_RANGES) * len(PARTIAL)
        cells = cells_by_scope(tally.tables[OUTCOMES], tally.tables[CLASSES], columns)
        block = class_block(cells, _coco_measures, self._means)
        return Scores((block,), (), self.scene_warnings(tally))

    def _means(self, by_class: list[dict[str, Number]]) -> dict[str, Number]:
        names = [measure.name for measure in self.measures]
        return {name: mean(values[name] for values in by_class) for name in names}


def _outcomes_by_area(scene: Scene, thresholds: Sequence[float]) -> OutcomeArray:
    """Match once for each area range.

    An object outside the range only absorbs, and a detection outside it is not counted if it is
    matched with nothing.

    Args:
        scene: The scene, of D detections.
        thresholds: Least IoU of a match, ascending.

    Returns:
        (D, ranges x thresholds) outcomes.
    """
    candidates = find_candidates(scene, Similarity(), min(thresholds))
    outcomes = [
        greedy_outcomes(
            scene,
            candidates,
            thresholds,
            ignored_truth=~_within(scene.truth, area_range),
            forgiven=scene.forgiven | ~_within(scene.detections, area_range),
        )
        for area_range in AREA_RANGES.values()
    ]
    return np.concatenate(outcomes, axis=1)


def _within(items: Items, area_range: tuple[float, float]) -> BoolArray:
    least, greatest = area_range
    inside: BoolArray = (items.areas >= least) & (items.areas <= greatest)
    return inside


def _coco_counts(scene: Scene, outcomes: OutcomeArray) -> dict[str, IntArray]:
    """Objects in each area range, and true positives among the first few detections, by group.

    Args:
        scene: The scene, of G groups and D detections.
        outcomes: (D, thresholds) outcomes over all areas.
    """
    counts = {"truth": scene.truth.counts}
    for name, area_range in AREA_RANGES.items():
        inside = _within(scene.truth, area_range)
        counts[f"truth_{name}"] = _by_group(scene, scene.truth.groups[inside])
    ranks, groups = scene.detections.ranks, scene.detections.groups
    for number in FEWER_DETECTIONS:
        for column, true in enumerate((outcomes == TRUE).T):
            chosen = groups[true & (ranks < number)]
            counts[f"true_{number}_{column}"] = _by_group(scene, chosen)
    return counts


def _by_group(scene: Scene, groups: IntArray) -> IntArray:
    return np.bincount(groups, minlength=scene.group_count)


def _coco_measures(cell: Cell) -> dict[str, Number]:
    """The twelve figures of a class."""
    counts, per_range = cell.counts, len(PARTIAL)
    truth = [counts[f"truth_{name}"] for name in AREA_RANGES for _ in PARTIAL]
    precisions = average_precisions(cell.ranked, truth, "101-point")
    found = recalls(cell.ranked, truth)
    parts = [slice(index * per_range, (index + 1) * per_range) for index in range(len(AREA_RANGES))]
    ap, ap_small, ap_medium, ap_large = (mean(precisions[part]) for part in parts)
    ar_100, ar_small, ar_medium, ar_large = (mean(found[part]) for part in parts)
    ar_1, ar_10 = (
        mean(
            ratio(counts[f"true_{number}_{column}"], counts["truth_all"])
            for column in range(per_range)
        )
        for number in FEWER_DETECTIONS
    )
    return {
        "ap": ap,
        "ap_50": precisions[PARTIAL.index(0.5)],
        "ap_75": precisions[PARTIAL.index(0.75)],
        "ap_small": ap_small,
        "ap_medium": ap_medium,
        "ap_large": ap_large,
        "ar_1": ar_1,
        "ar_10": ar_10,
        "ar_100": ar_100,
        "ar_small": ar_small,
        "ar_medium": ar_medium,
        "ar_large": ar_large,
    }

"""COCO's twelve figures of detection with boxes or masks; see `Coco` for source and differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from vidscore_evaluators._dont_care import RuleName
from vidscore_evaluators._report_rows import mean, ratio
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.criterion import BOXES, LEFT_OUT, Criterion, left_out_table
from vidscore_evaluators.detection._outcome_rows import (
    average_precision,
    class_cells,
    look_at,
    outcome_builder,
    precision_recall_figures,
    with_shares,
)
from vidscore_evaluators.detection._outcomes import (
    ROW_BYTES,
    TRUE,
    Matches,
    OutcomeArray,
    class_table,
    greedy_outcomes,
    outcome_table,
)
from vidscore_evaluators.detection._precision_recall import (
    Cell,
    average_precisions,
    cells_by_scope,
    class_block,
    recalls,
)
from vidscore_evaluators.detection._ranking import RankingParameters
from vidscore_evaluators.detection.average_precision import (
    AP_AT_THRESHOLD,
    CLASSES,
    NAMED_THRESHOLDS,
    OUTCOMES,
    ap_measure,
    ar_measure,
)
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.evaluator import Growth, Needs, Task
from vidscore_evaluators.outcome_table import OperatingPoint, Outcome, Outcomes
from vidscore_evaluators.parameters import PARTIAL, parameter
from vidscore_evaluators.report import Number, Scores
from vidscore_evaluators.scene import Items, Scene
from vidscore_evaluators.similarity import Candidates, Similarity, find_candidates
from vidscore_evaluators.tally import Table, Tally

AREA_RANGES: Mapping[str, tuple[float, float]] = {
    "all": (0.0, 1e5**2),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, 1e5**2),
}
"""Least and greatest area in square pixels, both included."""

MAXIMUM_DETECTIONS = 100
"""Maximum number of detections of a class in an image; the most confident ones count."""

FEWER_DETECTIONS = (1, 10)
"""Smaller maximum numbers of detections, at which recall is also reported."""


@dataclass(frozen=True)
class CocoParameters(RankingParameters):
    """Parameters of `Coco`."""

    dont_care: RuleName = parameter(
        "coco", "Whose rule handles detections of objects and regions that are not scored."
    )
    base: Literal["iou", "polygon", "mask"] = parameter(
        "iou",
        "Similarity of two objects: IoU of upright boxes, of polygons (four corners), or of masks.",
    )
    thresholds: tuple[float, ...] = parameter(
        PARTIAL,
        "Least IoU of a true positive; figures are means over them, `ap_50` and `ap_75` are null "
        "if 0.5 and 0.75 are not among them.",
        exclusive_minimum=0.0,
        maximum=1.0,
    )

    @property
    def similarity(self) -> Similarity:
        """Similarity of a pair."""
        return Similarity(self.base)

    def faults(self) -> Iterator[Fault]:
        """At least one threshold is needed, and none twice."""
        yield from super().faults()
        if not self.thresholds or len(set(self.thresholds)) < len(self.thresholds):
            yield Fault("no threshold, or one twice", "each once", field="thresholds")


class Coco(Criterion[CocoParameters]):
    """COCO's twelve figures of detection with boxes, over all classes and for each.

    Source: the COCO detection evaluation (cocodataset.org, section "Metrics") and its reference
    implementation, pycocotools 2.0 (`cocoeval.py`). Ten thresholds of IoU, precision at 101 levels
    of recall, area ranges, and at most 1, 10 or 100 detections of a class in an image. The rule for
    what is not scored is `coco`.

    With distinct confidences and similarities, and no ignored objects, all twelve figures agree
    with pycocotools to 1e-12. Otherwise there are the differences below. Parameters remove 1 to 4,
    and the preset ``coco-detection`` sets them all:

    1. Detections of equal confidence form one step of the curve, and compete for objects in the
       order of their coordinates. pycocotools takes them in the order of the file: ``ties=row``.
    2. Of equally similar objects, the first by coordinates is taken; pycocotools takes the last in
       its file: ``ties=row``.
    3. An object's ``ignore`` flag is used; pycocotools overwrites it with ``iscrowd``:
       ``dont_care=pycocotools``.
    4. The ten thresholds are the decimals 0.5, 0.55, ..., 0.95, and an IoU of exactly a threshold
       meets it, with a tolerance of 1e-9 for rounding. pycocotools compares without a tolerance,
       has 0.8999999999999999 for 0.9, and computes the area of x, y, w, h as w h. To do the same:
       ``thresholds``, ``threshold_tolerance=0``, ``box_areas=given``.
    5. The area of an object of the truth is its column ``area`` if it has one (in COCO's files, the
       area of the segment), otherwise that of its box. That of a detection is always that of its
       box, as in pycocotools. Both ends of an area range belong to it.
    6. An undefined figure (no object in an area range) is null; pycocotools prints -1.
    7. With ``base=mask``, the figures are those of ``iouType`` segm, which the preset
       ``coco-segmentation`` sets. The area of a detection is that of its mask, even if it also has
       a box.
    """

    name = "coco"
    version = "1.3.0"
    title = "COCO detection: AP and AR over ten thresholds, area ranges and detections per image"
    task = Task.DETECTION
    Parameters = CocoParameters
    needs = Needs(BOXES, BOXES, confidences=True, ranked=True)
    outcomes_nest = True
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
        """One row per confidence, class and pattern of outcomes."""
        return Growth("detection", 4 * ROW_BYTES)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Outcomes of every detection at each threshold, for each area range."""
        scene = _limited(self.scene(aligned))
        thresholds = self.parameters.thresholds
        least = list(map(self.parameters.least, thresholds))
        outcomes = _outcomes_by_area(scene, self.parameters.similarity, least)
        return {
            OUTCOMES: outcome_table(scene, outcomes),
            CLASSES: class_table(scene, _coco_counts(scene, outcomes[:, : len(thresholds)])),
            LEFT_OUT: left_out_table(scene),
        }

    def scores(self, tally: Tally) -> Scores:
        """The twelve figures."""
        thresholds = self.parameters.thresholds
        columns = len(AREA_RANGES) * len(thresholds)
        cells = cells_by_scope(tally.tables[OUTCOMES], tally.tables[CLASSES], columns)
        block = class_block(cells, partial(_coco_measures, thresholds), self._means)
        return Scores((block,), (), self.scene_warnings(tally))

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """The matching over all areas at one threshold; detections beyond the limit are ignored."""
        point = look_at(self.parameters, "thresholds", at)
        scene = _limited(self.scene(aligned, traced=True))
        matches = Matches.none(len(scene.detections))
        least = self.parameters.least(point.threshold)
        candidates = find_candidates(scene, self.parameters.similarity, least)
        every_area = AREA_RANGES["all"]
        results = _outcomes_in_area(scene, candidates, [least], every_area, matches)
        builder = outcome_builder(
            aligned,
            scene,
            self.parameters.similarity,
            results[:, 0],
            matches,
            confidence=point.confidence,
            ignored_truth=~_within(scene.truth, every_area),
        )
        return with_shares(builder.build(), Outcome.TRUE_POSITIVE)

    def outcome_figures(
        self, outcomes: Outcomes, at: OperatingPoint = OperatingPoint()
    ) -> Mapping[str, Number]:
        """Counts; for one class, the point of its curve; and AP if no detection is left out."""
        pooled, one_by_one = self.parameters.classes == "ignore", self.parameters.ties == "row"
        cells = class_cells(outcomes, pooled=pooled, one_by_one=one_by_one)
        figures = precision_recall_figures(outcomes, cells)
        if at.confidence is not None:
            return figures
        thresholds = self.parameters.thresholds
        threshold = look_at(self.parameters, "thresholds", at).threshold
        ap = mean(average_precision(cell, "101-point") for cell in cells)
        found = (recalls(cell.ranked, [cell.counts["truth"]])[0] for cell in cells)
        figures[AP_AT_THRESHOLD] = ap
        if threshold in thresholds and threshold in NAMED_THRESHOLDS:
            figures[NAMED_THRESHOLDS[threshold]] = ap
        if thresholds == (threshold,):
            figures |= {"ap": ap, "ar_100": mean(found)}
        return figures

    def _means(self, by_class: list[dict[str, Number]]) -> dict[str, Number]:
        names = [measure.name for measure in self.measures]
        return {name: mean(values[name] for values in by_class) for name in names}


def _limited(scene: Scene) -> Scene:
    """The scene with at most `MAXIMUM_DETECTIONS` of a class in an image."""
    return scene.take_detections(scene.detections.ranks < MAXIMUM_DETECTIONS)


def _outcomes_by_area(
    scene: Scene, similarity: Similarity, thresholds: Sequence[float]
) -> OutcomeArray:
    """Match once for each area range.

    An object outside the range only absorbs, and a detection outside it is not counted if it has no
    match.

    Args:
        scene: The scene, of D detections.
        similarity: The similarity.
        thresholds: Least similarity of a match.

    Returns:
        (D, ranges x thresholds) outcomes.
    """
    candidates = find_candidates(scene, similarity, min(thresholds))
    outcomes = [
        _outcomes_in_area(scene, candidates, thresholds, area_range)
        for area_range in AREA_RANGES.values()
    ]
    return np.concatenate(outcomes, axis=1)


def _outcomes_in_area(
    scene: Scene,
    candidates: Candidates,
    thresholds: Sequence[float],
    area_range: tuple[float, float],
    matches: Matches | None = None,
) -> OutcomeArray:
    """(D, thresholds) outcomes of one area range."""
    return greedy_outcomes(
        scene,
        candidates,
        thresholds,
        ignored_truth=~_within(scene.truth, area_range),
        forgiven=scene.forgiven | ~_within(scene.detections, area_range),
        matches=matches,
    )


def _within(items: Items, area_range: tuple[float, float]) -> BoolArray:
    least, greatest = area_range
    inside: BoolArray = (items.areas >= least) & (items.areas <= greatest)
    return inside


def _coco_counts(scene: Scene, outcomes: OutcomeArray) -> dict[str, IntArray]:
    """By group, objects in each area range, and true positives among the first detections.

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


def _coco_measures(thresholds: Sequence[float], cell: Cell) -> dict[str, Number]:
    """The twelve figures of a class."""
    counts, per_range = cell.counts, len(thresholds)
    truth = [counts[f"truth_{name}"] for name in AREA_RANGES for _ in thresholds]
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
        "ap_50": precisions[thresholds.index(0.5)] if 0.5 in thresholds else None,
        "ap_75": precisions[thresholds.index(0.75)] if 0.75 in thresholds else None,
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

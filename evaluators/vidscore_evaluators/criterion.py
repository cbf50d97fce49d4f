"""Criterion: the base class of the field's general criteria, with their shared parameters.

All criteria share one foundation, so that protocols can be compared on equal terms. Every criterion
takes the same path from an evaluator's `Aligned` input to its scores::

    Aligned ── make_scene ──> Scene: real truth, absorbers, detections, by group
            ── find_candidates ──> Candidates: pairs with their similarity
            ── match_greedy, match_maximum_weight ──> matched pairs

A similarity's whole grid of thresholds is tallied at once, so that ``Evaluator.grid_scores``
answers a sweep without another run. Source of means over thresholds: the trustworthiness paper's
section 5 and the caption of its Table 3. *M-partial* is the mean of a score over the thresholds
0.5, 0.55, ..., 0.95; *M-full* is the mean over the whole grid of a similarity except its two
extremes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators._dont_care import (
    COLUMN_SOURCES,
    NO_LIMIT,
    RULES,
    DontCareRule,
    IgnoredObjects,
    Limits,
    RuleName,
)
from vidscore_evaluators._report_rows import mean
from vidscore_evaluators._scene_builder import AsGiven, Classes, make_scene
from vidscore_evaluators._scene_masks import missing_masks
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import BOX, POINT, QUADRILATERAL, Annotations, Side
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.evaluator import (
    Averaging,
    Direction,
    Dissimilarity,
    Evaluator,
    Measure,
    Needs,
)
from vidscore_evaluators.parameters import PARTIAL, parameter
from vidscore_evaluators.plausibility.labels import LabelUse
from vidscore_evaluators.plausibility.sample_warnings import fraction_warnings
from vidscore_evaluators.plausibility.warnings import (
    FRAMES_NOT_EVALUATED,
    area_warnings,
    bounding_box_warnings,
)
from vidscore_evaluators.report import ReportWarning, Scores
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.similarity import TOLERANCE, Base, Similarity
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.tally import Table, TableSchema, Tally, build_table


@dataclass(frozen=True)
class SceneParameters:
    """Parameters of the classes that are matched together, and of the input that is not scored."""

    classes: Classes = parameter(
        "separate", "Match within each class, or ignore classes and match everything."
    )
    dont_care: RuleName = parameter(
        "standard", "Whose rule handles detections of objects and regions that are not scored."
    )
    distractor_classes: tuple[str, ...] = parameter(
        (), "Labels whose objects are distractors, besides those of the rule and flagged ones."
    )
    neighbour_classes: tuple[str, ...] = parameter(
        (), "Pairs such as Van=Car: objects of the first label are distractors of the second."
    )
    match_unscored_classes: bool = parameter(
        False,
        "Whether the matching that resolves don't-care beforehand includes truth of all labels.",
    )
    ignored_objects: IgnoredObjects = parameter(
        "absorb",
        "Whether ignored objects absorb their detections, or drop out so that these count.",
    )
    maximum_truncation: float = parameter(
        NO_LIMIT,
        "Objects with a greater truncation are ignored; -1 for no limit.",
        minimum=NO_LIMIT,
    )
    maximum_occlusion: float = parameter(
        NO_LIMIT,
        "Objects with a greater occlusion are ignored; -1 for no limit.",
        minimum=NO_LIMIT,
    )
    minimum_visibility: float = parameter(
        0.0, "Objects with a lower visibility are ignored.", minimum=0.0, maximum=1.0
    )
    minimum_height_px: float = parameter(
        0.0, "Objects with a lower height are ignored.", unit="px", minimum=0.0
    )
    forgiven_height_px: float = parameter(
        0.0,
        "Unmatched detections at most this high are not counted; 0 for none.",
        unit="px",
        minimum=0.0,
    )

    threshold_tolerance: float = parameter(
        TOLERANCE,
        "How far a similarity may fall short of a threshold and still meet it, for rounding.",
        minimum=0.0,
        maximum=1.0,
    )

    @property
    def similarity(self) -> Similarity:
        """Similarity of a pair."""
        return Similarity()

    @property
    def unit_confidences(self) -> bool:
        """Whether confidences must lie from 0 to 1, because more than their order counts."""
        return self.similarity.confidence_extended

    @property
    def as_given(self) -> AsGiven:
        """How the input's form counts, besides its content."""
        return AsGiven()

    def least(self, threshold: float) -> float:
        """The least similarity that meets a threshold, with the tolerance."""
        return threshold - self.threshold_tolerance

    @property
    def rule(self) -> DontCareRule:
        """The don't-care rule: the named one, with what the parameters add."""
        named = RULES[self.dont_care]
        limits = self.limits
        is_whole = {"truncation", "occlusion"}.issubset(limits.columns) and self.forgiven_height_px
        return replace(
            named,
            distractor_classes=(*named.distractor_classes, *self.distractor_classes),
            neighbours=(*named.neighbours, *map(_neighbours, self.neighbour_classes)),
            match_unscored_classes=self.match_unscored_classes,
            ignored_objects=self.ignored_objects,
            limits=limits,
            forgiven_height_px=self.forgiven_height_px,
            tolerance=self.threshold_tolerance,
            shortfall="" if is_whole else named.shortfall,
        )

    @property
    def limits(self) -> Limits:
        """Limits beyond which an object of the truth is ignored."""
        return Limits(
            self.maximum_truncation,
            self.maximum_occlusion,
            self.minimum_visibility,
            self.minimum_height_px,
        )

    def faults(self) -> Iterator[Fault]:
        """Entries of `neighbour_classes` that are no pairs of labels, and too great a tolerance."""
        for entry in self.neighbour_classes:
            if not all(_neighbours(entry)):
                yield Fault(repr(entry), "two labels, such as Van=Car", field="neighbour_classes")
        rule = self.rule
        if rule.region_share_counts and rule.tolerance >= rule.region_share:
            yield Fault(
                f"{rule.tolerance:g} with dont_care {self.dont_care}",
                f"less than {rule.region_share:g}, or one region would remove every object",
                field="threshold_tolerance",
            )


def _neighbours(entry: str) -> tuple[str, str]:
    """The two labels of ``Van=Car``; either is empty if the entry is not such a pair."""
    label, _, neighbour = (part.strip() for part in entry.partition("="))
    return label, neighbour


@dataclass(frozen=True)
class CriterionParameters(SceneParameters):
    """The same parameters, and those of the similarity."""

    base: Base = parameter(
        "iou",
        "Similarity of two objects: IoU or GIoU of upright boxes, IoU of polygons (four corners) "
        "or of masks, or the distance of points.",
    )
    cutoff_px: float = parameter(
        10.0,
        "Distance from which points have similarity 0 (base euclidean).",
        unit="px",
        exclusive_minimum=0.0,
        maximum=1e9,
    )

    @property
    def similarity(self) -> Similarity:
        """Similarity of a pair, without confidences."""
        return Similarity(self.base, cutoff_px=self.cutoff_px)

    def faults(self) -> Iterator[Fault]:
        """Limits of height with points, which have none."""
        yield from super().faults()
        for name in ("minimum_height_px", "forgiven_height_px"):
            if self.base == "euclidean" and getattr(self, name):
                yield Fault("a height with base euclidean", "0: points have none", field=name)


@dataclass(frozen=True)
class ExtendedParameters(CriterionParameters):
    """The same for criteria whose similarity may include confidences."""

    confidence_extended: bool = parameter(
        False, "Whether the similarity of areas uses confidences (Algorithm 1)."
    )

    @property
    def similarity(self) -> Similarity:
        """Similarity of a pair, with confidences if the parameters ask for them."""
        return Similarity(self.base, self.confidence_extended, self.cutoff_px)

    def faults(self) -> Iterator[Fault]:
        """Confidences in the similarity of points, for which they are not defined."""
        yield from super().faults()
        if self.base == "euclidean" and self.confidence_extended:
            yield Fault("true with base euclidean", "false", field="confidence_extended")


THRESHOLD: Mapping[str, Any] = MappingProxyType(
    {"minimum": -1.0, "maximum": 1.0, "grid": Similarity().grid}
)
"""Bounds of a parameter that is a similarity. It declares the grid of IoU and points; an
evaluator's `grid` gives that of GIoU if this is its base."""


class ThresholdGrid(Struct, frozen=True, dict=True):
    """The thresholds whose results a tally holds, and means of a score over them.

    Attributes:
        thresholds: K thresholds, ascending, each once.
        full: The thresholds whose mean is M-full.
    """

    thresholds: tuple[float, ...]
    full: tuple[float, ...]

    @classmethod
    def of(cls, similarity: Similarity, chosen: Iterable[float]) -> ThresholdGrid:
        """The grid of a similarity, the thresholds of M-partial, and those that a user chose."""
        grid = similarity.grid
        return cls(tuple(sorted({*grid, *PARTIAL, *chosen})), grid[1:-1])

    def columns(self, thresholds: Sequence[float]) -> list[int]:
        """Columns of thresholds."""
        return [self._places[threshold] for threshold in thresholds]

    @cached_property
    def _places(self) -> dict[float, int]:
        return {threshold: column for column, threshold in enumerate(self.thresholds)}

    @cached_property
    def _marginals(self) -> tuple[list[int], list[int]]:
        """Columns of M-partial and of M-full; cached, since many scores need them."""
        return self.columns(PARTIAL), self.columns(self.full)

    def means(self, values: Sequence[float | None]) -> tuple[float | None, float | None]:
        """M-partial and M-full of a score.

        Args:
            values: (K,) scores, one per threshold.
        """
        partial, full = (mean([values[column] for column in chosen]) for chosen in self._marginals)
        return partial, full

    def curve(
        self, name: str, values: Sequence[float | None]
    ) -> Mapping[str, Sequence[float | None]]:
        """Columns of a score's curve over the thresholds."""
        return {"threshold": list(self.thresholds), name: list(values)}


ParametersType = TypeVar("ParametersType", bound=SceneParameters)

BOXES = (BOX, QUADRILATERAL)
ANY_SHAPE = (*BOXES, POINT)

RANKED = Needs(ANY_SHAPE, ANY_SHAPE, confidences=True, ranked=True)
"""Requirements of a criterion whose scores depend on the order of confidences."""

LEFT_OUT = "left_out"
"""Name of the table that counts the detections that are not scored, by reason."""

_REASONS: Mapping[str, str] = {
    "frames_not_evaluated": FRAMES_NOT_EVALUATED,
    "detections_in_dont_care_frames": "detections in don't-care frames are not scored",
    "classes_not_scored": "detections have a class that is not scored",
    "in_regions": "detections lie in don't-care regions and were removed before matching",
    "dont_care": "detections of don't-care objects were removed before matching",
}


_SHAPE_ADVICE = "points are compared with base=euclidean, boxes with base=iou or giou"


class Criterion(Evaluator[ParametersType]):
    """An evaluator that works on a scene, with the shared parameters.

    A subclass defines `tables` (which includes `left_out_table`) and `scores`. `needs` of the class
    states what the criterion accepts at all; that of an instance, what its `base` accepts.

    Attributes:
        resolves_dont_care: Whether don't-care is resolved before the criterion sees the scene,
            because it has no threshold.
        threshold_parameter: Name of the parameter that a sweep moves over the thresholds of the
            base; empty if there is none.
    """

    resolves_dont_care: ClassVar[bool] = False
    threshold_parameter: ClassVar[str] = ""
    needs = Needs(ANY_SHAPE, ANY_SHAPE, confidences=True)

    def __init__(
        self, parameters: ParametersType, specification: BenchmarkSpec = BenchmarkSpec()
    ) -> None:
        """Store parameters and specification; the base decides which shapes are accepted."""
        super().__init__(parameters, specification)
        masks = parameters.similarity.base == "mask"
        boxes = (BOX,) if masks else BOXES
        arities = (POINT,) if parameters.similarity.arity == POINT else boxes
        labels = LabelUse.IGNORED if parameters.classes == "ignore" else LabelUse.EXACT
        self.needs = replace(
            self.needs,
            truth_arities=arities,
            detection_arities=arities,
            masks=masks,
            unit_confidences=parameters.unit_confidences,
            labels=labels,
            shape_advice=_SHAPE_ADVICE,
        )

    @property
    def adds_sequences(self) -> bool:
        """Scores are computed from sums over sequences, unless these rank equal confidences."""
        return not self.parameters.as_given.row_order

    def grid(self, parameter: str) -> tuple[float, ...]:
        """The thresholds of the base for the threshold parameter, else the declared grid."""
        if parameter == self.threshold_parameter:
            return self.parameters.similarity.grid
        return super().grid(parameter)

    def faults(self, side: Side, annotations: Annotations) -> Sequence[Fault]:
        """Missing masks, if these are compared, and columns of the truth that limits need."""
        if self.needs.masks and annotations.object_count and annotations.masks is None:
            return [missing_masks(side)]
        if side is Side.DETECTIONS or annotations.object_count == 0:
            return ()
        needed = self.parameters.limits.columns
        return [_missing_column(name) for name in needed if name not in annotations.columns]

    def scene(self, aligned: Aligned, *, traced: bool = False) -> Scene:
        """The scene of an input, as this criterion sees it.

        Args:
            aligned: The input.
            traced: Whether items know their rows in it (`Items.traced`), for outcomes.
        """
        make = partial(
            make_scene,
            rule=self.parameters.rule,
            similarity=self.parameters.similarity,
            classes=self.parameters.classes,
            specification=self.specification,
            resolve_first=self.resolves_dont_care,
            as_given=replace(self.parameters.as_given, sources=traced),
        )
        return aligned.cache.get_or_compute(
            (make_scene, *make.keywords.values()), lambda: make(aligned)
        )

    def warnings(
        self, input_summary: Mapping[str, Table], scores: Scores
    ) -> Sequence[ReportWarning]:
        """The usual warnings, and those about shapes, units and areas that do not fit."""
        found = tuple(super().warnings(input_summary, scores))
        if self.parameters.as_given.box_areas:
            found = (*found, *area_warnings(input_summary))
        similarity = self.parameters.similarity
        if similarity.arity == POINT:
            return (*found, *fraction_warnings(input_summary, similarity.cutoff_px))
        if similarity.arity == BOX:
            return (*found, *bounding_box_warnings(input_summary))
        return found

    def scene_warnings(self, tally: Tally) -> tuple[ReportWarning, ...]:
        """Numbers of detections that are not scored, and what a rule lacks of its benchmark's."""
        table, shortfall = tally.tables[LEFT_OUT], self.parameters.rule.shortfall
        reasons = zip(table.texts("reason"), table.count("detections").tolist(), strict=True)
        left_out = [ReportWarning(name, _REASONS[name], count) for name, count in reasons]
        return (*left_out, *([ReportWarning("rule_incomplete", shortfall)] if shortfall else []))


def score_measure(name: str, description: str, **further: Any) -> Measure:
    """A measure whose greater values are better, at most 1; from 0 unless `further` differs."""
    return Measure(name, description, dissimilarity=Dissimilarity.ONE_MINUS, **further)


def distance_measure(name: str, description: str) -> Measure:
    """A measure that is a distance in [0, 1], averaged over frames and classes."""
    return Measure(
        name,
        description,
        direction=Direction.LOWER,
        averaging=Averaging.MEAN,
        dissimilarity=Dissimilarity.VALUE,
    )


def _missing_column(name: str) -> Fault:
    return Fault(
        f"truth without the column {name}",
        f"the {name} of each object, because a limit is set for it",
        source=Side.TRUTH.value,
        field=f"columns.{name}",
        advice=f"{COLUMN_SOURCES[name]}; in generic-csv it is a column {name}",
    )


def left_out_table(scene: Scene) -> Table:
    """Count the detections of a scene that are not scored, per reason."""
    reasons = sorted(scene.left_out)
    return build_table(
        TableSchema(texts=("reason",), counts=("detections",)),
        reasons,
        [np.arange(len(reasons), dtype=np.int64)],
        counts=[np.array([scene.left_out[reason] for reason in reasons], dtype=np.int64)],
    )

"""Parameters that all criteria share, and what they amount to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from vidscore_evaluators.criteria.dont_care import PRESETS, DontCareRule, Preset
from vidscore_evaluators.criteria.grouping import Classes
from vidscore_evaluators.criteria.similarity import TOLERANCE, Base, Similarity
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.parameters import parameter


@dataclass(frozen=True)
class SceneParameters:
    """Within which classes things are matched, and what is not scored."""

    classes: Classes = parameter(
        "separate", "Match within each class, or ignore classes and match everything."
    )
    dont_care: Preset = parameter(
        "standard", "Whose rule says what becomes of detections of what is not scored."
    )
    distractor_classes: tuple[str, ...] = parameter(
        (), "Labels whose objects are distractors, beside those of the rule and flagged ones."
    )

    threshold_tolerance: float = parameter(
        TOLERANCE,
        "By how much a similarity may fall short of a threshold and still meet it, for rounding.",
        minimum=0.0,
        maximum=1.0,
    )

    @property
    def similarity(self) -> Similarity:
        """How alike a pair is."""
        return Similarity()

    @property
    def unit_confidences(self) -> bool:
        """Whether confidences must lie from 0 to 1, because more than their order counts."""
        return self.similarity.confidence_extended

    def least(self, threshold: float) -> float:
        """The least similarity that meets a threshold."""
        return threshold - self.threshold_tolerance

    @property
    def rule(self) -> DontCareRule:
        """The rule for what is not scored, with what the parameters add to the preset."""
        preset = PRESETS[self.dont_care]
        distractors = (*preset.distractor_classes, *self.distractor_classes)
        return replace(preset, distractor_classes=distractors, tolerance=self.threshold_tolerance)


@dataclass(frozen=True)
class CriterionParameters(SceneParameters):
    """The same, and what is compared."""

    base: Base = parameter(
        "iou", "How alike two objects are: IoU or GIoU of boxes, or the distance of points."
    )
    cutoff_px: float = parameter(
        10.0,
        "Distance from which points have nothing in common (base euclidean).",
        unit="px",
        exclusive_minimum=0.0,
        maximum=1e9,
    )

    @property
    def similarity(self) -> Similarity:
        """How alike a pair is, without regard to confidences."""
        return Similarity(self.base, cutoff_px=self.cutoff_px)


@dataclass(frozen=True)
class ExtendedParameters(CriterionParameters):
    """The same for criteria that may take confidences into the similarity."""

    confidence_extended: bool = parameter(
        False, "Whether confidences take part in the similarity of boxes (Algorithm 1)."
    )

    @property
    def similarity(self) -> Similarity:
        """How alike a pair is, with confidences where they are wanted."""
        return Similarity(self.base, self.confidence_extended, self.cutoff_px)

    def faults(self) -> Iterator[Fault]:
        """Points have no extension to confidences."""
        if self.base == "euclidean" and self.confidence_extended:
            yield Fault("true with base euclidean", "false", field="confidence_extended")

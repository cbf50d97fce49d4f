"""Criterion: the part of an evaluator that all criteria share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar, TypeVar

import numpy as np

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import BOX, POINT, QUADRILATERAL
from vidscore_evaluators.criteria.grouping import make_scene
from vidscore_evaluators.criteria.parameters import SceneParameters
from vidscore_evaluators.criteria.scene import Scene
from vidscore_evaluators.evaluator import Evaluator, Needs
from vidscore_evaluators.plausibility.labels import LabelUse
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.tally import Table, TableSchema, Tally, build_table

ParametersType = TypeVar("ParametersType", bound=SceneParameters)

BOXES = (BOX, QUADRILATERAL)
ANY_SHAPE = (*BOXES, POINT)

RANKED = Needs(ANY_SHAPE, ANY_SHAPE, confidences=True, ranked=True)
"""What a criterion needs whose scores depend on the order of confidences."""

LEFT_OUT = "left_out"
"""Name of the table that counts detections which are not scored, by reason."""

_REASONS: Mapping[str, str] = {
    "frames_not_evaluated": "detections lie in frames that are not evaluated",
    "classes_not_scored": "detections have a class that is not scored",
    "in_regions": "detections lie in don't-care regions and were removed before matching",
    "dont_care": "detections of don't-care objects were removed before matching",
}


class Criterion(Evaluator[ParametersType]):
    """An evaluator that works on a scene, with the shared parameters.

    A subclass gives `tables` (which end with `left_out_table`) and `scores`; `needs` of the class
    says what it can use at all, that of an instance what its `base` can.

    Attributes:
        settles_first: Whether the criterion has no threshold, so that don't-care is settled
            before it sees the scene.
        threshold_parameter: Name of the parameter that a sweep takes through the thresholds of the
            base; empty for none.
    """

    settles_first: ClassVar[bool] = False
    threshold_parameter: ClassVar[str] = ""
    needs = Needs(ANY_SHAPE, ANY_SHAPE, confidences=True)

    def __init__(
        self, parameters: ParametersType, specification: BenchmarkSpec = BenchmarkSpec()
    ) -> None:
        """Choose parameters and specification; the base decides which shapes can be used."""
        super().__init__(parameters, specification)
        arities = BOXES if parameters.similarity.arity == BOX else (POINT,)
        labels = LabelUse.IGNORED if parameters.classes == "ignore" else LabelUse.EXACT
        self.needs = replace(
            self.needs,
            truth_arities=arities,
            detection_arities=arities,
            unit_confidences=parameters.unit_confidences,
            labels=labels,
        )

    def grid(self, parameter: str) -> tuple[float, ...]:
        """The thresholds of the base, and what other parameters declare."""
        if parameter == self.threshold_parameter:
            return self.parameters.similarity.grid
        return super().grid(parameter)

    def scene(self, aligned: Aligned) -> Scene:
        """What the criterion sees of an input."""
        make = partial(
            make_scene,
            rule=self.parameters.rule,
            similarity=self.parameters.similarity,
            classes=self.parameters.classes,
            specification=self.specification,
            settle_first=self.settles_first,
        )
        return aligned.cache.get_or_compute(
            (make_scene, *make.keywords.values()), lambda: make(aligned)
        )

    def scene_warnings(self, tally: Tally) -> tuple[ReportWarning, ...]:
        """Say how many detections are not scored, and where a preset is not its benchmark's."""
        table, shortfall = tally.tables[LEFT_OUT], self.parameters.rule.shortfall
        reasons = zip(table.texts("reason"), table.count("detections").tolist(), strict=True)
        left_out = [ReportWarning(name, _REASONS[name], count) for name, count in reasons]
        return (*left_out, *([ReportWarning("preset_incomplete", shortfall)] if shortfall else []))


def left_out_table(scene: Scene) -> Table:
    """Count the detections of a scene that are not scored, by reason."""
    reasons = sorted(scene.left_out)
    return build_table(
        TableSchema(texts=("reason",), counts=("detections",)),
        reasons,
        [np.arange(len(reasons), dtype=np.int64)],
        counts=[np.array([scene.left_out[reason] for reason in reasons], dtype=np.int64)],
    )

"""The contract suite over the detection criteria, in configurations that differ in their paths."""

from __future__ import annotations

from vidscore_evaluators.annotations import ObjectFlag
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import EvaluatorContract

EVERY_FLAG = (0, 0, 0, 0, *(flag.value for flag in ObjectFlag))


class TestF1(EvaluatorContract):
    evaluator = create_evaluator("f1")
    object_flags = EVERY_FLAG


class TestF1OnSolids(EvaluatorContract):
    evaluator = create_evaluator(
        "f1", {"base": "giou", "confidence_extended": True, "dont_care": "neovision2"}
    )
    object_flags = EVERY_FLAG
    examples = 6


class TestF1OnPoints(EvaluatorContract):
    evaluator = create_evaluator("f1", {"base": "euclidean", "classes": "ignore"})
    object_flags = EVERY_FLAG
    examples = 6


class TestMap(EvaluatorContract):
    evaluator = create_evaluator("map")
    object_flags = EVERY_FLAG


class TestMapOptimal(EvaluatorContract):
    evaluator = create_evaluator(
        "map", {"assignment": "optimal", "base": "giou", "dont_care": "motchallenge"}
    )
    object_flags = EVERY_FLAG
    examples = 6

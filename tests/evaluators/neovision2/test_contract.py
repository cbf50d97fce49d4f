"""The contract of every evaluator, for Neovision2 in each of its variants."""

from __future__ import annotations

from vidscore_evaluators.annotations import ObjectFlag
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.specification import BenchmarkSpec, FrameRanges, SequenceSpec
from vidscore_evaluators.testing import EvaluatorContract


class _Boxes(EvaluatorContract):
    labels = ("Car", "CAR", "Person", "Boat", "Ambiguous")
    domains = ("Tower", "Helicopter")
    object_flags = (0, 0, 0, 0, 0, ObjectFlag.IGNORE, ObjectFlag.REGION)


class TestDefaults(_Boxes):
    evaluator = create_evaluator("neovision2")


class TestEveryFrame(_Boxes):
    examples = 8
    evaluator = create_evaluator(
        "neovision2",
        {"frames": "all"},
        BenchmarkSpec(
            sequences=(SequenceSpec("s1", "Tower", dont_care_frames=FrameRanges(((1, 2),))),)
        ),
    )


class TestEveryThreshold(_Boxes):
    examples = 8
    evaluator = create_evaluator("neovision2", {"thresholds": "all", "confidence_threshold": 0.05})


class TestUnions(_Boxes):
    examples = 8
    evaluator = create_evaluator("neovision2", {"merged_shape": "union", "c_m": 0.1})

"""The contract of every evaluator, for spotGEO's points in both profiles."""

from __future__ import annotations

from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import EvaluatorContract


class _Points(EvaluatorContract):
    frame_numbers = (1, 2, 3, 4, 5)
    # The challenge has ordinary objects only.
    object_flags = (0,)
    # 0 by the challenge's convention if there is no detection.
    imperfect_measures = ("precision", "recall")


class TestProtocol(_Points):
    evaluator = create_evaluator("spotgeo")


class TestKelvins(_Points):
    evaluator = create_evaluator("spotgeo", {"profile": "kelvins"})

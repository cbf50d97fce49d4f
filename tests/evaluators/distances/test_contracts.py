"""The contract suite over the distances of sets, in configurations with different code paths."""

from __future__ import annotations

import pytest

from vidscore_evaluators.annotations import ObjectFlag
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import EvaluatorContract

EVERY_FLAG = (0, 0, 0, 0, *(flag.value for flag in ObjectFlag))


class SetDistance(EvaluatorContract):
    """Hooks common to the distances."""

    object_flags = EVERY_FLAG
    examples = 6


class TestHausdorff(SetDistance):
    evaluator = create_evaluator("hausdorff")


class TestEmd(SetDistance):
    evaluator = create_evaluator("emd")


class TestOspa(SetDistance):
    evaluator = create_evaluator("ospa")


class Variant(SetDistance):
    """Another configuration of a distance above."""

    examples = 3


class TestHausdorffOfOccupiedFrames(Variant):
    evaluator = create_evaluator("hausdorff", {"base": "giou", "frames": "occupied"})


class TestEmdOnPoints(Variant):
    evaluator = create_evaluator("emd", {"base": "euclidean", "classes": "ignore", "order": 2})


class TestOspaOnSolids(Variant):
    evaluator = create_evaluator(
        "ospa",
        {
            "base": "giou",
            "confidence_extended": True,
            "cutoff": 0.45,
            "order": 3.5,
            "dont_care": "neovision2",
        },
    )


@pytest.mark.nightly
class TestHausdorffOfPolygons(Variant):
    evaluator = create_evaluator("hausdorff", {"base": "polygon"})


@pytest.mark.nightly
class TestEmdOfPolygons(Variant):
    evaluator = create_evaluator("emd", {"base": "polygon", "order": 2, "frames": "occupied"})


class TestOspaOfSolidsOfPolygons(Variant):
    evaluator = create_evaluator(
        "ospa", {"base": "polygon", "confidence_extended": True, "dont_care": "motchallenge"}
    )

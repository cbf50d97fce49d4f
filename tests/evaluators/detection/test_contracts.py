"""The contract suite over the detection criteria, in configurations with different code paths."""

from __future__ import annotations

import numpy as np
import pytest

from vidscore_evaluators.annotations import ObjectFlag
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import EvaluatorContract
from vidscore_evaluators.testing.strategies import Case, seeds

EVERY_FLAG = (0, 0, 0, 0, *(flag.value for flag in ObjectFlag))


class Detection(EvaluatorContract):
    """Hooks common to the criteria."""

    object_flags = EVERY_FLAG
    examples = 6


class TestF1(Detection):
    evaluator = create_evaluator("f1")
    examples = EvaluatorContract.examples


class TestMap(Detection):
    evaluator = create_evaluator("map")
    # One detection cannot find several objects.
    imperfect_measures = ("ar_1",)


class TestCoco(Detection):
    evaluator = create_evaluator("coco")
    extent_px = 120  # So that there are objects of every area range.
    # One detection cannot find several objects.
    imperfect_measures = ("ar_1",)


class TestLogAmr(Detection):
    evaluator = create_evaluator("log-amr")
    # A miss rate counts as at least 1e-10, so that the best value is not 0.
    imperfect_measures = ("log_amr", "log_amr_m_partial", "log_amr_m_full")


class TestErrors(Detection):
    evaluator = create_evaluator("errors")


class Variant(Detection):
    """Another configuration of a criterion above."""

    examples = 3


class TestF1OnSolids(Variant):
    evaluator = create_evaluator(
        "f1", {"base": "giou", "confidence_extended": True, "dont_care": "neovision2"}
    )


class TestF1OnPoints(Variant):
    evaluator = create_evaluator("f1", {"base": "euclidean", "classes": "ignore"})


class TestMapOptimal(Variant):
    evaluator = create_evaluator(
        "map", {"assignment": "optimal", "base": "giou", "dont_care": "motchallenge"}
    )
    imperfect_measures = ("ar_1",)


class TestMapOfVoc(Variant):
    evaluator = create_evaluator(
        "map",
        {"assignment": "best", "interpolation": "11-point-voc", "inclusive_pixels": True},
    )
    imperfect_measures = ("ar_1",)


class TestMapByFrames(Variant):
    evaluator = create_evaluator(
        "map", {"dont_care": "visdrone", "class_mean": "frames", "maximum_detections": 50}
    )
    imperfect_measures = ("ar_1",)


class TestCocoOfGivenAreas(Variant):
    evaluator = create_evaluator("coco", {"box_areas": "given", "thresholds": [0.4, 0.75]})
    extent_px = 120
    imperfect_measures = ("ar_1",)


class ByRow(Variant):
    """The order of rows in a frame matters, but no other order of the input."""

    imperfect_measures = ("ar_1",)

    def test_order_of_frames_objects_and_tables_does_not_matter(self) -> None:
        """Shuffled frames give the same report to the last bit."""

        def law(case: Case, seed: int) -> None:
            random = np.random.default_rng(seed)
            mixed = Case(
                *(
                    side.take_frames(random.permutation(side.frame_count))
                    for side in (case.truth, case.detections)
                )
            )
            assert self._json(mixed) == self._json(case)

        self._holds(law, self.cases(), seeds())


class TestCocoByRow(ByRow):
    evaluator = create_evaluator("coco", {"ties": "row"})
    extent_px = 120


class TestMapOfVocByRow(ByRow):
    evaluator = create_evaluator("map", {"ties": "row", "assignment": "best"})


class TestMapOfVisDrone(ByRow):
    evaluator = create_evaluator(
        "map",
        {
            "ties": "row",
            "limit": "frame",
            "maximum_detections": 50,
            "class_mean": "frames",
            "dont_care": "visdrone",
        },
    )


class TestF1OnSolidsOfPolygons(Variant):
    evaluator = create_evaluator("f1", {"base": "polygon", "confidence_extended": True})


@pytest.mark.nightly
class TestMapOnPolygons(Variant):
    evaluator = create_evaluator("map", {"base": "polygon", "dont_care": "neovision2"})
    imperfect_measures = ("ar_1",)


@pytest.mark.nightly
class TestMapOptimalOnPolygons(Variant):
    evaluator = create_evaluator("map", {"base": "polygon", "assignment": "optimal"})
    imperfect_measures = ("ar_1",)


@pytest.mark.nightly
class TestCocoOnPolygons(TestCoco):
    evaluator = create_evaluator("coco", {"base": "polygon"})
    examples = 3


@pytest.mark.nightly
class TestLogAmrOnPolygons(TestLogAmr):
    evaluator = create_evaluator("log-amr", {"base": "polygon", "dont_care": "kitti"})
    examples = 3


@pytest.mark.nightly
class TestErrorsOnPolygons(Variant):
    evaluator = create_evaluator("errors", {"base": "polygon", "dont_care": "motchallenge"})

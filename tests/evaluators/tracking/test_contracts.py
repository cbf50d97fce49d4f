"""The contract suite over the tracking criteria, in configurations with different code paths."""

from __future__ import annotations

import pytest

from vidscore_evaluators.annotations import ObjectFlag
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import EvaluatorContract

EVERY_FLAG = (0, 0, 0, 0, *(flag.value for flag in ObjectFlag))


class Tracking(EvaluatorContract):
    """Hooks common to the criteria."""

    object_flags = EVERY_FLAG
    examples = 4


class Variant(Tracking):
    """Another configuration of a criterion."""

    examples = 2


class TestClear(Tracking):
    evaluator = create_evaluator("clear")
    # An object that leaves and comes back is fragmented, however well it is tracked.
    imperfect_measures = ("fragmentations",)


class TestClearAsInMotmetrics(Variant):
    evaluator = create_evaluator(
        "clear", {"switch_rule": "motmetrics", "base": "giou", "threshold": -0.5}
    )


class TestClearOnPoints(Variant):
    evaluator = create_evaluator("clear", {"base": "euclidean", "classes": "ignore"})
    imperfect_measures = ("fragmentations",)


class TestIdentity(Tracking):
    evaluator = create_evaluator("identity")


class TestHota(Tracking):
    evaluator = create_evaluator("hota")


class TestHotaOnEnclosingBoxes(Variant):
    evaluator = create_evaluator("hota", {"base": "giou", "classes": "ignore"})


class TestHotaAtOneThreshold(Variant):
    """At one threshold measures are not means, so all of them follow from outcomes."""

    evaluator = create_evaluator("hota", {"thresholds": [0.5]})
    examples = 4


class TestIdentityOfTheMotChallenge(Variant):
    evaluator = create_evaluator("identity", {"dont_care": "motchallenge", "classes": "ignore"})


class TestTrackHausdorff(Tracking):
    evaluator = create_evaluator("track-hausdorff")


class TestTrackEmd(Tracking):
    evaluator = create_evaluator("track-emd")


class TestTrackOspa(Tracking):
    evaluator = create_evaluator("track-ospa")


class TestTrackOspaOfSolids(Variant):
    evaluator = create_evaluator(
        "track-ospa",
        {"base": "giou", "confidence_extended": True, "cutoff": 0.4, "order": 2.0},
    )
    # Truth has the confidence 1, which not all of these detections have.


class TestOspa2(Tracking):
    evaluator = create_evaluator("ospa2", {"window_frames": 3})


class TestOspa2OnPoints(Variant):
    evaluator = create_evaluator(
        "ospa2", {"base": "euclidean", "frames": "occupied", "classes": "ignore", "cutoff": 0.7}
    )


@pytest.mark.nightly
class TestClearOnPolygons(Variant):
    evaluator = create_evaluator("clear", {"base": "polygon"})
    imperfect_measures = ("fragmentations",)


@pytest.mark.nightly
class TestIdentityOnPolygons(Variant):
    evaluator = create_evaluator("identity", {"base": "polygon", "dont_care": "kitti"})


class TestHotaOnPolygons(Variant):
    evaluator = create_evaluator("hota", {"base": "polygon"})


@pytest.mark.nightly
class TestTrackHausdorffOfPolygons(Variant):
    evaluator = create_evaluator("track-hausdorff", {"base": "polygon"})


@pytest.mark.nightly
class TestTrackEmdOfPolygons(Variant):
    evaluator = create_evaluator("track-emd", {"base": "polygon", "classes": "ignore"})


@pytest.mark.nightly
class TestTrackOspaOfPolygons(Variant):
    evaluator = create_evaluator("track-ospa", {"base": "polygon", "cutoff": 0.6})


@pytest.mark.nightly
class TestOspa2OfPolygons(Variant):
    evaluator = create_evaluator("ospa2", {"base": "polygon", "window_frames": 2})

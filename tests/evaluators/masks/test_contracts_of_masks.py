"""The contract suite over criteria of masks: order, division, layout and process do not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, ObjectFlag
from vidscore_evaluators.mask_forms import masks_from_polygons
from vidscore_evaluators.quadrilaterals import corners_of_boxes
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import EvaluatorContract
from vidscore_evaluators.testing.strategies import Case

SCALE, SIDE_PX = 12, 240
"""Mask pixels per box pixel, so that no mask is empty, and the size of the image."""


def masked(side: Annotations) -> Annotations:
    """The same objects with masks of their boxes' outlines, some with a corner cut off."""
    corners = SCALE * corners_of_boxes(side.coordinates)
    cut = side.coordinates.sum(axis=1) % 2 < 1
    outlines = [
        [outline[2:] if without else outline]
        for outline, without in zip(corners.tolist(), cut.tolist(), strict=True)
    ]
    sizes = np.full((side.object_count, 2), SIDE_PX, dtype=np.int64)
    return replace(side, masks=masks_from_polygons(outlines, sizes))


class OfMasks(EvaluatorContract):
    """The hooks for boxes, applied to masks."""

    object_flags = (0, 0, 0, 0, *(flag.value for flag in ObjectFlag))
    examples = 2

    def cases(self) -> SearchStrategy[Case]:
        return super().cases().map(lambda case: Case(masked(case.truth), masked(case.detections)))


@pytest.mark.nightly
class TestF1OfMasks(OfMasks):
    evaluator = create_evaluator("f1", {"base": "mask", "dont_care": "neovision2"})


class TestCocoOfMasks(OfMasks):
    evaluator = create_evaluator("coco", {"base": "mask"})
    imperfect_measures = ("ar_1",)


class TestHotaOfMasks(OfMasks):
    evaluator = create_evaluator("hota", {"base": "mask", "dont_care": "mots"})


@pytest.mark.nightly
class TestMapOfMasks(OfMasks):
    evaluator = create_evaluator("map", {"base": "mask", "assignment": "optimal"})
    imperfect_measures = ("ar_1",)


@pytest.mark.nightly
class TestLogAmrOfMasks(OfMasks):
    evaluator = create_evaluator("log-amr", {"base": "mask", "dont_care": "kitti"})
    imperfect_measures = ("log_amr", "log_amr_m_partial", "log_amr_m_full")


@pytest.mark.nightly
class TestErrorsOfMasks(OfMasks):
    evaluator = create_evaluator("errors", {"base": "mask"})


@pytest.mark.nightly
class TestClearOfMasks(OfMasks):
    evaluator = create_evaluator("clear", {"base": "mask"})
    imperfect_measures = ("fragmentations",)


@pytest.mark.nightly
class TestIdentityOfMasks(OfMasks):
    evaluator = create_evaluator("identity", {"base": "mask", "dont_care": "motchallenge"})


@pytest.mark.nightly
class TestHausdorffOfMasks(OfMasks):
    evaluator = create_evaluator("hausdorff", {"base": "mask"})


@pytest.mark.nightly
class TestEmdOfMasks(OfMasks):
    evaluator = create_evaluator("emd", {"base": "mask"})


@pytest.mark.nightly
class TestOspaOfMasks(OfMasks):
    evaluator = create_evaluator("ospa", {"base": "mask", "cutoff": 0.6})


@pytest.mark.nightly
class TestTrackHausdorffOfMasks(OfMasks):
    evaluator = create_evaluator("track-hausdorff", {"base": "mask"})


@pytest.mark.nightly
class TestTrackEmdOfMasks(OfMasks):
    evaluator = create_evaluator("track-emd", {"base": "mask"})


@pytest.mark.nightly
class TestTrackOspaOfMasks(OfMasks):
    evaluator = create_evaluator("track-ospa", {"base": "mask"})


@pytest.mark.nightly
class TestOspa2OfMasks(OfMasks):
    evaluator = create_evaluator("ospa2", {"base": "mask", "window_frames": 2})

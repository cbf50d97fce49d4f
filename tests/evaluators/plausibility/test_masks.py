"""Warnings about masks of either side."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from tests.evaluators.test_mask_base import HEIGHT, WIDTH, box_pixels, masks_of, with_masks

from vidscore_evaluators import score
from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.plausibility.inputs import warnings_of_side
from vidscore_evaluators.testing import Thing, make_annotations

BOX = (10.0, 10.0, 20.0, 18.0)
OF_MASKS = {"masks_are_empty", "masks_fill_the_image", "boxes_beside_masks"}


def codes(side: Side, annotations: Annotations) -> dict[str, int | None]:
    found = warnings_of_side(side, annotations)
    return {warning.code: warning.count for warning in found if warning.code in OF_MASKS}


def frame(*boxes: tuple[float, ...]) -> Annotations:
    return make_annotations({("", "street"): {3: [Thing(box) for box in boxes]}})


@pytest.mark.parametrize("side", list(Side))
def test_empty_full_and_misplaced_masks_give_a_warning_on_both_sides(side: Side) -> None:
    """Each with its count; fitting masks are not counted."""
    images = [np.full((HEIGHT, WIDTH), full) for full in (False, True)]
    images += [box_pixels((30, 10, 40, 18)), box_pixels(BOX)]
    found = with_masks(frame(BOX, (0.0, 0.0, WIDTH, HEIGHT), BOX, BOX), images)
    assert codes(side, found) == dict.fromkeys(OF_MASKS, 1)
    assert codes(side, with_masks(frame(BOX, BOX))) == {}


def test_rounding_gives_no_warning() -> None:
    """The box of a polygon may be a pixel off on each side, which is most of a small one."""
    off = [(10.6, 9.2, 20.9, 18.7), (10.0, 10.0, 12.0, 12.0)]
    images = [box_pixels(BOX), box_pixels((11, 11, 13, 13))]
    assert codes(Side.TRUTH, with_masks(frame(*off), images)) == {}


@pytest.mark.parametrize("own", [(10, 10, 13, 40), (10, 10, 12, 12), (12, 39, 13, 40)])
def test_a_mask_that_is_a_sliver_of_its_box_gives_a_warning(own: tuple[int, ...]) -> None:
    """However thin it is: rounding is never that large."""
    found = with_masks(frame((10.0, 10.0, 40.0, 40.0)), [box_pixels(own)])
    assert codes(Side.DETECTIONS, found) == {"boxes_beside_masks": 1}


@pytest.mark.parametrize(("objects", "doubted"), [(99, 1), (100, 0)])
def test_one_sliver_among_a_hundred_masks_gives_no_warning(objects: int, doubted: int) -> None:
    """Outlines thinner than a pixel lose most of their pixels; swapped axes spoil most masks."""
    images = [box_pixels((30, 10, 40, 18)), *[box_pixels(BOX)] * (objects - 1)]
    found = with_masks(frame(*[BOX] * objects), images)
    assert codes(Side.TRUTH, found).get("boxes_beside_masks", 0) == doubted


def test_the_warning_names_the_frame() -> None:
    side = replace(frame(BOX), masks=masks_of([np.zeros((HEIGHT, WIDTH), dtype=np.bool_)]))
    [warning] = [
        entry
        for entry in warnings_of_side(Side.DETECTIONS, side)
        if entry.code == "masks_are_empty"
    ]
    assert "frame 3 of sequence street" in warning.message
    assert warning.example is not None
    assert warning.example.side is Side.DETECTIONS


def test_one_box_with_two_masks_is_not_a_repeated_object() -> None:
    images = [box_pixels(BOX), box_pixels((10, 10, 20, 17))]
    twice = [
        {
            warning.code
            for warning in warnings_of_side(Side.TRUTH, with_masks(frame(BOX, BOX), shown))
        }
        for shown in (images, images[:1] * 2)
    ]
    assert ["same_box_twice" in found for found in twice] == [False, True]


def test_boxes_beside_masks_are_not_used_as_positions() -> None:
    """Results of segmentation may have any boxes: all 0, or the whole image."""
    places = np.random.default_rng(1).integers(0, 20, (24, 2))
    things = {
        frame: [
            Thing((x, y, x + 12.0, y + 9.0), "car", 0.5 + frame / 100)
            for x, y in places[2 * frame : 2 * frame + 2].tolist()
        ]
        for frame in range(12)
    }
    found = with_masks(make_annotations({("", "street"): things}))
    truth = replace(found, confidences=np.ones(found.object_count))
    assert score("map", truth, found, base="mask").warnings == ()
    unknown = replace(found, coordinates=np.zeros_like(found.coordinates))
    report = score("map", truth, unknown, base="mask")
    assert report.value("ap") == 1.0
    assert [warning.code for warning in report.warnings] == ["boxes_beside_masks"]

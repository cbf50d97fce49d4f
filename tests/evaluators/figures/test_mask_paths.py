"""Paths around masks: the enclosed area, and the maximum length."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from tests.evaluators.test_masks import Pixels, images, masks_of

from vidscore_evaluators.figures import overlay as module
from vidscore_evaluators.figures.overlay import TOO_LARGE, Mark, Overlay, Region, mask_paths
from vidscore_evaluators.masks import Masks, no_masks

CORNER = np.array([[1, 1], [0, 1]], dtype=np.uint8)
EMPTY = np.zeros((2, 2), dtype=np.uint8)


def enclosed(path: str, shape: tuple[int, ...]) -> Pixels:
    """Pixels that a path of steps encloses, by its sides up and down."""
    counts = np.zeros(shape, dtype=np.int64)
    for x, y, steps in re.findall(r"M(\d+) (\d+)([^z]*)z", path):
        across, down = int(x), int(y)
        moves = [(way, int(step)) for way, step in re.findall(r"([hv])(-?\d+)", steps)]
        # Outlines begin across, so the last side, which closes them, goes up or down.
        moves.append(("v", int(y) - down - sum(step for way, step in moves if way == "v")))
        for way, step in moves:
            if way == "h":
                across += step
                continue
            low, high = sorted((down, down + step))
            counts[low:high, across:] -= np.sign(step)
            down += step
    return counts


@given(images())
def test_a_path_encloses_the_pixels_of_its_mask(pixels: list[Pixels]) -> None:
    paths = mask_paths(masks_of(pixels), 1.0)
    assert paths is not None
    for path, image in zip(paths, pixels, strict=True):
        assert (enclosed(path, image.shape) == image).all()


def test_corners_are_integer_units_of_the_picture() -> None:
    """At 1.6 units per pixel, ends of pixels are at 0, 1.6 and 3.2."""
    assert mask_paths(masks_of([CORNER, EMPTY]), 1.6) == ["M0 0h3v3h-1v-1h-2z", ""]
    assert mask_paths(no_masks(), 1.0) == []


def test_a_mask_that_covers_no_unit_has_no_path() -> None:
    assert mask_paths(masks_of([CORNER]), 0.1) == [""]


@pytest.mark.parametrize("bound", ["MOST_BYTES", "MOST_PIECES"])
def test_too_many_paths_are_left_out(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    checkers = np.indices((20, 20)).sum(axis=0).astype(np.uint8) % 2
    masks = masks_of([checkers])
    assert mask_paths(masks, 1.0) is not None
    monkeypatch.setattr(module, bound, 200)
    assert mask_paths(masks, 1.0) is None


def mask(image: Pixels) -> Masks:
    return masks_of([image])


def test_a_mask_is_written_once_and_drawn_as_casing_and_line() -> None:
    """At 10 units per pixel."""
    marks = [Mark("tp", (0, 0, 2, 2), 1, mask=mask(np.ones((2, 96), dtype=np.uint8)))]
    overlay = Overlay(96, 2, marks)
    svg = overlay.svg("t", "d", "x")
    assert svg.count("M0 0h960v20h-960z") == 1
    assert 'class="o-tp mask"' in svg
    assert '<use class="case" href="#x-m0"/><use class="box" href="#x-m0"/>' in svg
    assert "H20V20" not in svg
    assert overlay.note == ""


def test_an_object_without_a_mask_or_with_an_empty_one_is_drawn_as_a_box() -> None:
    marks = [
        Mark("fn", (0, 0, 2, 2), 1, mask=mask(EMPTY)),
        Mark("fp", (0, 0, 1, 1), 2),
        Mark("tp", (0, 0, 2, 2), 3, mask=mask(CORNER)),
    ]
    svg = Overlay(96, 2, marks).svg("t", "d", "x")
    assert svg.count("M0 0H20V20H0z") == 2
    assert svg.count("M0 0H10V10H0z") == 2
    assert svg.count("M0 0h20v20h-10v-10h-10z") == 1
    assert 'class="o-fn"' in svg


def test_a_region_follows_its_mask() -> None:
    regions = [Region((0, 0, 2, 2)), Region((0, 0, 2, 2), mask(CORNER))]
    svg = Overlay(96, 2, [Mark("fp", (0, 0, 1, 1), 1)], regions).svg("t", "d", "x")
    assert '<path class="region" d="M0 0H20V20H0z"/>' in svg
    assert '<path class="region" d="M0 0h20v20h-10v-10h-10z"/>' in svg


def test_too_large_masks_are_drawn_as_boxes_and_the_note_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 8)
    overlay = Overlay(96, 2, [Mark("fp", (0, 0, 2, 2), 1, mask=mask(CORNER))])
    assert overlay.note == TOO_LARGE
    svg = overlay.svg("t", "d", "x")
    assert svg.count("M0 0H20V20H0z") == 2
    assert "mask" not in svg

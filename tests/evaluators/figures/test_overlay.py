"""Objects over a picture, paths around masks, and whiskers."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from tests.evaluators.test_masks import Pixels, images, masks_of

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.figures import overlay as module
from vidscore_evaluators.figures.overlay import (
    TOO_LARGE,
    Mark,
    Overlay,
    Region,
    mask_paths,
    outline,
)
from vidscore_evaluators.figures.whisker import whisker_svg
from vidscore_evaluators.masks import Masks, no_masks

SHAPES = {"path", "rect", "text", "circle"}


@pytest.mark.parametrize(
    ("coordinates", "path"),
    [
        ((1.0, 2.0, 3.0, 4.5), "M1 2H3V4.5H1z"),
        ((0.0, 0.0, 2.0, 0.0, 2.0, 1.0, 0.0, 1.0), "M0 0L2 0L2 1L0 1z"),
        ((20.0, 30.0), "M11 30a9 9 0 1 0 18 0a9 9 0 1 0 -18 0z"),
    ],
)
def test_every_shape_has_an_outline(coordinates: tuple[float, ...], path: str) -> None:
    assert outline(coordinates) == path


@pytest.mark.parametrize(
    ("size", "view"),
    [((1920, 1080), "960 540"), ((1080, 1920), "540 960"), ((100, 1000), "320 3200")],
)
def test_the_longer_side_of_a_picture_has_one_length(size: tuple[int, int], view: str) -> None:
    """Half of full HD; a strip is not narrower than its plates."""
    svg = Overlay(*size, [Mark("tp", (200, 100, 400, 300), 1)]).svg("t", "d", "x")
    assert f'viewBox="0 0 {view}"' in svg
    if 1920 in size:
        assert svg.count("M100 50H200V150H100z") == 2  # The casing, and the line on it.


def test_names_are_text_and_never_markup() -> None:
    mark = Mark("fp", (0, 0, 10, 10), 1, "<script>alert(1)</script>", row='"onclick=')
    svg = Overlay(100, 100, [mark], picture='x" onload="').svg("<b>", "&", "x")
    elements = list(ET.fromstring(svg).iter())
    assert {element.tag for element in elements} <= {"svg", "title", "desc", "image", "g", *SHAPES}
    assert not any(name.startswith("on") for element in elements for name in element.attrib)


def plates(svg: str, css: str = "big") -> tuple[FloatArray, list[str]]:
    """(P, 4) edges of plates, and their texts."""
    found = re.findall(
        rf'<g class="{css}"><rect class="plate" x="([\d.]+)" y="([\d.]+)" '
        r'width="([\d.]+)" height="([\d.]+)"/>.*?<text[^>]*>([^<]*)</text>',
        svg,
    )
    boxes = np.array([entry[:4] for entry in found], dtype=np.float64).reshape(-1, 4)
    boxes[:, 2:] += boxes[:, :2]
    return boxes, [entry[4] for entry in found]


def covered_plates(boxes: FloatArray) -> int:
    """Pairs of plates that cover each other; coordinates have one decimal."""
    low = np.maximum(boxes[:, None, :2], boxes[:, :2])
    high = np.minimum(boxes[:, None, 2:], boxes[:, 2:])
    covered = ((high - low) > 0.2).all(axis=2)
    return int((covered.sum() - len(boxes)) // 2)


def test_plates_do_not_overlap_if_there_is_room() -> None:
    marks = [Mark("fn", (400, 300, 440, 340), number, "Car") for number in range(4)]
    boxes, _ = plates(Overlay(960, 540, marks).svg("", "", "x"))
    assert len(boxes) == 4
    assert covered_plates(boxes) == 0


def crowd(count: int, step: float) -> list[Mark]:
    """Cars of 60 x 90 in nine columns; each fifth is missed, and each seventh a false alarm."""
    kinds = ["fn" if n % 5 == 4 else "fp" if n % 7 == 6 else "tp" for n in range(count)]
    corners = [(n % 9 * 135.0 + 10, n // 9 * step + 5) for n in range(count)]
    return [
        Mark(kind, (x, y, x + 60, y + 90), n + 1, "car", f"0.{n:02}")
        for n, (kind, (x, y)) in enumerate(zip(kinds, corners, strict=True))
    ]


@pytest.mark.parametrize("css", ["big", "small"])
@pytest.mark.parametrize("step", [140.0, 30.0, 1.0])
def test_plates_of_crowds_do_not_overlap(css: str, step: float) -> None:
    boxes, texts = plates(Overlay(1280, 720, crowd(45, step)).svg("", "", "x"), css)
    assert len(boxes) > 8
    assert covered_plates(boxes) == 0
    assert all(re.fullmatch(r"\d+( car 0\.\d+)?", text) for text in texts)


def test_plates_are_shortened_and_then_left_out_without_room() -> None:
    svg = Overlay(1280, 720, crowd(45, 10.0)).svg("", "", "x")
    _, texts = plates(svg)
    shortened = [text for text in texts if text.isdecimal()]
    assert 0 < len(shortened) < len(texts) < 45
    assert len(re.findall(r"<title>\d+ car 0\.\d+</title>", svg)) == 45


def test_plates_of_mistakes_are_placed_before_those_of_hits() -> None:
    marks = [Mark("tp", (400, 300, 440, 340), number, "Car", "0.50") for number in range(1, 31)]
    marks += [Mark("fn", (400, 300, 440, 340), 31, "Car"), Mark("fp", (400, 300, 440, 340), 32)]
    _, texts = plates(Overlay(960, 540, marks).svg("", "", "x"))
    assert texts[:2] == ["31 Car", "32"]


def test_a_plate_of_a_long_label_stays_in_the_picture_and_keeps_its_number_and_detail() -> None:
    label = "very-long-label-" + "x" * 50
    svg = Overlay(1280, 720, [Mark("tp", (1200, 600, 1270, 700), 6, label, "0.94")]).svg(
        "", "", "x"
    )
    boxes, [text] = plates(svg)
    assert boxes[0, 2] <= 960
    assert text.startswith("6 very-long")
    assert text.endswith(" 0.94")


def test_right_to_left_labels_leave_number_and_confidence_in_place() -> None:
    """In the plate and in the title, by a directional isolate used for nothing else."""
    marks = [
        Mark("tp", (10, 10, 40, 40), 4, "\u05e1\u05d9\u05e8\u05d4", "0.94"),
        Mark("tp", (300, 300, 340, 340), 5, "car", "0.50"),
    ]
    svg = Overlay(960, 540, marks).svg("", "", "x")
    assert svg.count("4 \u2068\u05e1\u05d9\u05e8\u05d4\u2069 0.94") == 2
    assert svg.count("5 car 0.50") == 2
    assert svg.count("\u2068") == 2


def test_objects_with_the_same_outcome_in_both_systems_can_be_left_out() -> None:
    svg = Overlay(10, 10, [Mark("tp", (1, 1, 2, 2), 1, same=True)]).svg("", "", "x")
    assert 'class="o-tp same"' in svg


def test_a_whisker_is_a_point_on_its_interval() -> None:
    svg = whisker_svg([(0.75, 0.7, 0.8), (0.6, None, None)], (0.5, 1.0))
    assert '<line x1="80" x2="120" y1="6" y2="6"/><path d="M100 6h0"/>' in svg
    assert '<path class="alt" d="M40 15h0"/>' in svg
    assert 'aria-hidden="true"' in svg


def test_an_undefined_value_is_not_drawn() -> None:
    assert "<path" not in whisker_svg([None], (0.0, 1.0))


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


def test_objects_outside_the_picture_are_counted_in_the_note() -> None:
    """Of boxes left of it, below it, over its corner and around it, two are outside."""
    boxes = [(-50, 10, -5, 20), (10, 205, 20, 210), (90, 190, 150, 300), (-9, -9, 999, 999)]
    marks = [Mark("fp", list(map(float, box)), row) for row, box in enumerate(boxes, 1)]
    note = "2 objects lie outside the picture; their numbers may stand at its edge."
    assert Overlay(100.0, 200.0, marks).note == note
    note = "1 object lies outside the picture; its number may stand at its edge."
    assert Overlay(100.0, 200.0, marks[1:]).note == note
    assert Overlay(100.0, 200.0, marks[2:]).note == ""


def test_coordinates_far_outside_are_drawn_as_others_that_are_outside() -> None:
    svg = Overlay(100.0, 100.0, [Mark("fp", [-1e9, 10.0, 1e9, 20.0], 1)]).svg("t", "d", "n")
    assert 'd="M-100000 96H100000V192H-100000z"' in svg


def test_too_large_masks_are_drawn_as_boxes_and_the_note_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 8)
    overlay = Overlay(96, 2, [Mark("fp", (0, 0, 2, 2), 1, mask=mask(CORNER))])
    assert overlay.note == TOO_LARGE
    svg = overlay.svg("t", "d", "x")
    assert svg.count("M0 0H20V20H0z") == 2
    assert "mask" not in svg

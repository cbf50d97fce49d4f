"""Objects over a picture, and whiskers."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.figures.overlay import Mark, Overlay, outline
from vidscore_evaluators.figures.whisker import whisker_svg

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


def test_a_picture_is_scaled_to_one_width() -> None:
    svg = Overlay(1920, 1080, [Mark("tp", (200, 100, 400, 300), 1)]).svg("t", "d", "x")
    assert 'viewBox="0 0 960 540"' in svg
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

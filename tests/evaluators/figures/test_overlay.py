"""Objects over a picture, and whiskers."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

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
    assert svg.count("M100 50H200V150H100z") == 2  # the casing, and the line on it


def test_names_are_text_and_never_markup() -> None:
    mark = Mark("fp", (0, 0, 10, 10), 1, "<script>alert(1)</script>", row='"onclick=')
    svg = Overlay(100, 100, [mark], picture='x" onload="').svg("<b>", "&", "x")
    elements = list(ET.fromstring(svg).iter())
    assert {element.tag for element in elements} <= {"svg", "title", "desc", "image", "g", *SHAPES}
    assert not any(name.startswith("on") for element in elements for name in element.attrib)


def test_plates_cover_no_other_where_there_is_room() -> None:
    marks = [Mark("fn", (400, 300, 440, 340), number, "Car") for number in range(4)]
    svg = Overlay(960, 540, marks).svg("", "", "x")
    plates = re.findall(
        r'<g class="big"><rect class="plate" x="([\d.]+)" y="([\d.]+)" '
        r'width="([\d.]+)" height="([\d.]+)"',
        svg,
    )
    boxes = np.array(plates, dtype=np.float64)
    assert len(boxes) == 4
    for one in range(4):
        for other in range(one):
            low = np.maximum(boxes[one, :2], boxes[other, :2])
            high = np.minimum(boxes[one, :2] + boxes[one, 2:], boxes[other, :2] + boxes[other, 2:])
            assert (high - low).min() <= 0.2


def test_the_same_in_both_systems_can_be_left_out() -> None:
    svg = Overlay(10, 10, [Mark("tp", (1, 1, 2, 2), 1, same=True)]).svg("", "", "x")
    assert 'class="o-tp same"' in svg


def test_a_whisker_is_a_point_on_its_interval() -> None:
    svg = whisker_svg([(0.75, 0.7, 0.8), (0.6, None, None)], (0.5, 1.0))
    assert '<line x1="80" x2="120" y1="6" y2="6"/><path d="M100 6h0"/>' in svg
    assert '<path class="alt" d="M40 15h0"/>' in svg
    assert 'aria-hidden="true"' in svg


def test_an_undefined_value_is_not_drawn() -> None:
    assert "<path" not in whisker_svg([None], (0.0, 1.0))

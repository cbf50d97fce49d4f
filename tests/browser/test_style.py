"""The style sheet in Chromium, on fragments of pages: descriptions and forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from vidscore_server.web.rendering import STATIC, environment
from vidscore_server.web.site.forms import Form
from vidscore_server.web.site.markdown import html_of

pytestmark = pytest.mark.campaign

LEAST_CONTRAST = 4.5
"""Minimum contrast of text by WCAG 2.2, 1.4.3."""

DESCRIPTION = "# Rules\n\n1. one\n2. two\n\n- a\n- b\n\n#### Contact\n\n##### Late\n\ntext"
FORM = (
    '{% from "site/_form.html" import choose %}<div class="two">'
    '{{ choose(form, "one", "One", [("a", "a")], "Help of several lines. " * 20) }}'
    '{{ choose(form, "two", "Two", [("a", "a")]) }}</div>'
)


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page that can show a fragment."""
    opened = chromium.new_page(viewport={"width": 1280, "height": 900})
    yield opened
    opened.close()


def show(page: Any, body: str) -> None:
    style = (STATIC / "style.css").read_text("utf-8")
    page.set_content(f"<!doctype html><style>{style}</style><body>{body}</body>")


def computed(page: Any, selector: str, name: str, part: str = "") -> list[str]:
    found: list[str] = page.locator(selector).evaluate_all(
        "(all, [name, part]) => all.map(one => getComputedStyle(one, part || null)[name])",
        [name, part],
    )
    return found


def test_lists_of_a_description_have_numbers_and_bullets(page: Any) -> None:
    show(page, f'<div class="prose">{html_of(DESCRIPTION)}</div><ul><li>of the page</ul>')
    assert computed(page, ".prose li", "listStyleType") == ["decimal", "decimal", "disc", "disc"]
    assert computed(page, "body > ul li", "listStyleType") == ["none"]


def test_no_heading_of_a_description_is_smaller_than_its_text(page: Any) -> None:
    show(page, f'<div class="prose">{html_of(DESCRIPTION)}</div>')
    [text] = computed(page, ".prose p", "fontSize")
    sizes = [float(size[:-2]) for size in computed(page, ".prose :not(p, li)", "fontSize")]
    assert min(sizes) >= float(text[:-2])


def luminance(color: str) -> float:
    """Relative luminance by WCAG."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_placeholder_is_readable(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    show(page, '<input placeholder="all">')
    [color] = computed(page, "input", "color", "::placeholder")
    [background] = computed(page, "input", "backgroundColor")
    dark, light = sorted(map(luminance, (color, background)))
    assert (light + 0.05) / (dark + 0.05) >= LEAST_CONTRAST


def test_adjacent_fields_align_whatever_help_they_have(page: Any) -> None:
    show(page, environment().from_string(FORM).render(form=Form({}), csrf=""))
    boxes = [one.bounding_box() for one in page.locator("select").all()]
    assert len(boxes) == 2
    for one, other in pairwise(boxes):
        assert (one["y"], one["height"]) == (other["y"], other["height"])


@pytest.mark.parametrize(
    ("size", "shown"), [((1920, 1080), (1200, 675)), ((1080, 1920), (430, 765))], ids=str
)
def test_a_picture_fits_the_window_whatever_its_shape(
    page: Any, size: tuple[int, int], shown: tuple[int, int]
) -> None:
    """A landscape is as wide as its figure; an upright picture as high as 0.85 of the window."""
    svg = f'<svg viewBox="0 0 {size[0]} {size[1]}"></svg>'
    show(page, f'<div style="width: 1200px"><figure class="pic">{svg}</figure></div>')
    box = page.locator(".pic svg").bounding_box()
    assert (round(box["width"]), round(box["height"])) == shown

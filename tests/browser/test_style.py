"""The style sheet in Chromium, on pieces of pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from vidscore_server.web.rendering import STATIC
from vidscore_server.web.site.markdown import html_of

pytestmark = pytest.mark.campaign

DESCRIPTION = "# Rules\n\n1. one\n2. two\n\n- a\n- b\n\n#### Contact\n\n##### Late\n\ntext"


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page that can show a piece of one."""
    opened = chromium.new_page(viewport={"width": 1280, "height": 900})
    yield opened
    opened.close()


def show(page: Any, body: str) -> None:
    style = (STATIC / "style.css").read_text("utf-8")
    page.set_content(f"<!doctype html><style>{style}</style><body>{body}</body>")


def computed(page: Any, selector: str, name: str) -> list[str]:
    found: list[str] = page.locator(selector).evaluate_all(
        "(all, name) => all.map(one => getComputedStyle(one)[name])", name
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

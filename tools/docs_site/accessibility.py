"""Markup of the theme that people without a mouse, or without sight, cannot use."""

from __future__ import annotations

from pathlib import Path

_MENDED = {
    # Long lines and wide tables scroll, also by the arrow keys once they have the focus.
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    ' role="heading">': ' role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="This page">',
    # The corner of a table whose first column has names.
    '<th class="head"><p></p></th>': '<td class="head"></td>',
}
"""What stands in the place of markup of the theme."""


def mend_markup(text: str) -> str:
    """A page with the markup of the theme mended."""
    for found, mended in _MENDED.items():
        text = text.replace(found, mended)
    return text


def mend_pages(folder: Path) -> None:
    """Mend every page of a built site."""
    for page in folder.rglob("*.html"):
        page.write_text(mend_markup(page.read_text("utf-8")), "utf-8")

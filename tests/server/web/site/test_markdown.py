"""Descriptions as HTML: an organiser's input becomes only text and external links."""

from __future__ import annotations

import pytest

from vidscore_server.web.site.markdown import html_of


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ([1, 2, 3], [3, 4, 5]),
        ([2, 4, 4, 2], [3, 4, 4, 3]),
        ([1, 5, 3, 2, 1], [3, 4, 4, 4, 3]),
        ([4, 1, 2], [3, 3, 4]),
        ([1, 2, 3, 4, 5, 6], [3, 4, 5, 6, 6, 6]),
    ],
)
def test_headings_are_below_those_of_the_page_and_skip_no_level(
    given: list[int], shown: list[int]
) -> None:
    html = html_of("\n\n".join(f"{'#' * level} Part" for level in given))
    assert html == "".join(f"<h{level}>Part</h{level}>\n" for level in shown)


def test_links_are_external_and_send_no_referrer() -> None:
    html = html_of("[videos](https://example.org/v?a=1&b=2)")
    assert '<a href="https://example.org/v?a=1&amp;b=2" rel="noreferrer nofollow">' in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,AAAA)",
        "[x](vbscript:x)",
        "[x](/organise)",
        "[x](//evil.example)",
        "<javascript:alert(1)>",
        '[x](https://a.example "onclick=x")',
        "![x](javascript:alert(1))",
        "[x][1]\n\n[1]: javascript:alert(1)",
        "```html\n</code><script>x</script>\n```",
        "    </code><script>x</script>",
    ],
)
def test_no_script_gets_through(text: str) -> None:
    html = html_of(text).lower()
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="/' not in html
    for scheme in ("javascript", "data", "vbscript"):
        assert f'href="{scheme}' not in html


def test_a_picture_becomes_a_link() -> None:
    assert "<img" not in html_of("![plan](https://example.org/plan.png)")
    assert 'href="https://example.org/plan.png"' in html_of("![plan](https://example.org/plan.png)")


def test_tables_and_code_are_shown() -> None:
    html = html_of("| a |\n|---|\n| 1 |")
    assert "<td>1</td>" in html
    assert html.startswith('<div class="scroll" tabindex="0"><table>')  # It may be wide.
    assert html.endswith("</table>\n</div>\n")
    assert '<pre tabindex="0"><code>a &lt; b\n</code></pre>' in html_of("```\na < b\n```")

"""Descriptions in Markdown as HTML: without embedded HTML or pictures, with external links."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

SCHEMES = frozenset({"http", "https", "mailto"})
"""Allowed schemes of links; other links stay text."""

_FIRST_HEADING = 3
"""Level of the first heading: levels above belong to the page."""

_LAST_HEADING = 6


@lru_cache(maxsize=64)
def html_of(text: str) -> Markup:
    """Convert a text in Markdown to HTML that is safe to show.

    Args:
        text: The text: CommonMark with tables.
    """
    tokens = _PARSER.parse(text)
    _place_headings(tokens)
    return Markup(_PARSER.renderer.render(tokens, _PARSER.options, {}))  # noqa: S704 - HTML is off


def _place_headings(tokens: Sequence[Token]) -> None:
    """Lower headings below those of the page, each at most one level below the one before."""
    above: list[str] = []
    for token in tokens:
        if token.type == "heading_open":
            above = [*(tag for tag in above if tag < token.tag), token.tag]
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(_FIRST_HEADING + len(above) - 1, _LAST_HEADING)}"


def is_safe_link(url: str) -> bool:
    """Whether an address may become a link."""
    try:
        return urlsplit(url.strip()).scheme.lower() in SCHEMES
    except ValueError:
        return False


def _code(
    _: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    """A block of code, which the keyboard can scroll."""
    return f'<pre tabindex="0"><code>{escape(tokens[index].content)}</code></pre>\n'


def _table_begins(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, _env: EnvType
) -> str:
    """A table in a box that scrolls, because it may be wider than the page."""
    table = renderer.renderToken(tokens, index, options, _env)
    return f'<div class="scroll" tabindex="0">{table}'


def _table_ends(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, _env: EnvType
) -> str:
    return f"{renderer.renderToken(tokens, index, options, _env)}</div>\n"


def _link(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    env: EnvType,
) -> str:
    """A link that sends the other site no referrer."""
    tokens[index].attrSet("rel", "noreferrer nofollow")
    return renderer.renderToken(tokens, index, options, env)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.validateLink = is_safe_link  # type: ignore[method-assign]
    for name in ("code_block", "fence"):
        parser.add_render_rule(name, _code)
    parser.add_render_rule("table_open", _table_begins)
    parser.add_render_rule("table_close", _table_ends)
    parser.add_render_rule("link_open", _link)
    return parser


_PARSER = _parser()

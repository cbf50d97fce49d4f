"""Templates: one environment for all pages, with filters for words and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from vidscore_evaluators.explanation.answer import ends, figure, in_words, percent
from vidscore_evaluators.explanation.titles import measure_title
from vidscore_server.web.site.phrases import (
    last_part,
    sentence,
    size_text,
    things,
    time_text,
    value_text,
)

STATIC = Path(__file__).parent / "static"

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
        "object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every answer: browsers load nothing from other hosts."""

KIND_WORDS = {
    "tp": "true positive",
    "fp": "false positive",
    "fn": "false negative",
    "ig": "ignored",
    "sw": "id switch",
}
"""Name of each kind of mark."""


@cache
def environment() -> Environment:
    """The environment, which escapes everything that a template shows."""
    made = Environment(
        loader=PackageLoader("vidscore_server.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        figure=figure,
        percent=percent,
        ends=ends,
        in_words=in_words,
        measure_title=measure_title,
        counted=lambda count: f"{count:,}",
        time_text=time_text,
        size_text=size_text,
        last_part=last_part,
        sentence=sentence,
        things=things,
        value_text=value_text,
    )
    made.globals.update(kind_words=KIND_WORDS)
    return made

"""Text and numbers in markup, for XML and HTML alike."""

from __future__ import annotations

import re
from html import escape

from vidscore_evaluators.names import escape_controls

MINUS = "\N{MINUS SIGN}"

_NO_CHARACTERS = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")


def markup_text(text: str) -> str:
    """Escape a text for content or a quoted attribute, without characters that XML forbids."""
    return escape(_NO_CHARACTERS.sub("\N{REPLACEMENT CHARACTER}", escape_controls(text)))


def coordinate(value: float) -> str:
    """A coordinate of a picture, with at most one decimal."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def number_text(value: float) -> str:
    """A number in a sentence: at most four decimals, without trailing zeros."""
    if value and not 1e-4 <= abs(value) < 1e9:
        return f"{value:.3g}".replace("-", MINUS)
    text = f"{value:.4f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text.replace("-", MINUS)

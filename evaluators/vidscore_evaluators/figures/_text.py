"""How wide texts are on pictures, and texts that are cut to fit there."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

TEXT_SIZE = 12.0
"""Size of text on curves; widths are at this size."""

_STRONG = 1.14
"""How much wider bold letters are."""

# Of DejaVu Sans, which has the widest letters of the common fonts: in any other there is room left.
_WIDTHS = {
    **dict.fromkeys("'ijlIJ ,./:;\\|-", 0.37),
    **dict.fromkeys('()[]t!rf"', 0.46),
    **dict.fromkeys("ABCDEFGHKLNOPQRSTUVXYZ&w", 0.8),
    **dict.fromkeys("mMW@%#+<=>^~", 1.0),
}
"""Widths of characters of ASCII that are not as wide as a digit, in ems."""

_DIGIT, _OTHER, _FULL = 0.65, 0.8, 1.0


def text_width(text: str, *, strong: bool = False) -> float:
    """How wide a text is at `TEXT_SIZE` in a font with wide letters."""
    ems = sum(_ems(text))
    return TEXT_SIZE * ems * (_STRONG if strong else 1.0)


def fitted(text: str, width: float, *, strong: bool = False) -> str:
    """A text that is so wide at most; its end stays, by which long names differ most often."""
    kept = len(text)
    shown = text
    while kept > 2 and text_width(shown, strong=strong) > width:
        kept -= 1
        shown = f"{text[: (kept - 1) // 2]}{ELLIPSIS}{text[-(kept // 2) :]}"
    return shown


def _ems(text: str) -> Iterator[float]:
    # Letters with accents are as wide as those without, and the accents have no width.
    for character in unicodedata.normalize("NFD", text):
        if character.isascii():
            yield _WIDTHS.get(character, _DIGIT)
        elif unicodedata.category(character) in ("Mn", "Me", "Cf"):
            yield 0.0
        else:
            letter = character.isalpha() and unicodedata.east_asian_width(character) not in "WF"
            yield _OTHER if letter else _FULL

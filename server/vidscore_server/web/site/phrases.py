"""Times, sizes, names and counts as pages write them."""

from __future__ import annotations

import math
from datetime import datetime

from vidscore_evaluators.explanation.answer import in_words

_SIZES = ("bytes", "kB", "MB", "GB", "TB")
_THOUSAND = 1000


def date_text(time: datetime) -> str:
    """``22 Nov 2026``."""
    return f"{time.day} {time:%b %Y}"


def time_text(time: datetime | None, none: str = "") -> str:
    """``22 Nov 2026, 08:40 UTC``.

    Args:
        time: The time.
        none: What stands in its place where there is none.
    """
    return none if time is None else f"{date_text(time)}, {time:%H:%M} UTC"


def size_text(size_bytes: int | None) -> str:
    """``1.2 GB``; ``unknown`` where it is not known."""
    if size_bytes is None:
        return "unknown"
    number, unit = float(size_bytes), 0
    while number >= _THOUSAND and unit < len(_SIZES) - 1:
        number, unit = number / _THOUSAND, unit + 1
    return f"{number:.0f} {_SIZES[unit]}" if unit == 0 else f"{number:.3g} {_SIZES[unit]}"


def last_part(name: str) -> str:
    """The last part of a resource name."""
    return name.rpartition("/")[2]


def counted(count: int, noun: str, plural: str = "") -> str:
    """``three submissions``."""
    return f"{in_words(count)} {noun if count == 1 else plural or noun + 's'}"


def things(count: int, noun: str) -> str:
    """``1 frame``, ``1,200 frames``: a number that is not written out."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def value_text(value: float | None, digits: int = 4) -> str:
    """A score; ``undefined`` where it has no value."""
    if value is None or math.isnan(value):
        return "undefined"
    return f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")

"""Texts of times, sizes, names, counts, digits and chances on pages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from vidscore_evaluators.explanation.answer import figure, in_words
from vidscore_evaluators.explanation.figures import telling_digits
from vidscore_evaluators.names import counted as counted_in_digits

_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))

MOST_EXACT_DIGITS = 4
"""Values with more decimals are rounded unless neighbouring values need the digits."""

FEW = 0.01
"""Chances below this, or above one minus this, are shown only as a bound."""

_SIZES = ("bytes", "kB", "MB", "GB", "TB")
_MOST_OF_UNIT = 999.5
"""From here on, three significant digits round up to a thousand."""


def date_text(time: datetime) -> str:
    """``22 Nov 2026``."""
    return f"{time.day} {time:%b %Y}"


def duration_text(seconds: float) -> str:
    """``one hour``, ``90 minutes``: in the largest unit without a fraction."""
    for unit, length_s in _UNITS:
        count, rest = divmod(seconds, length_s)
        if count and not rest:
            return counted(int(count), unit)
    return f"{seconds:g} seconds"


def time_text(time: datetime | None, none: str = "") -> str:
    """``22 Nov 2026, 08:40 UTC``.

    Args:
        time: The time.
        none: Text if there is no time.
    """
    return none if time is None else f"{date_text(time)}, {time:%H:%M} UTC"


def size_text(size_bytes: int | None) -> str:
    """``1.2 GB``; ``unknown`` if it is unknown."""
    if size_bytes is None:
        return "unknown"
    number, unit = float(size_bytes), 0
    while number >= _MOST_OF_UNIT and unit < len(_SIZES) - 1:
        number, unit = number / 1000, unit + 1
    return f"{number:.0f} {_SIZES[unit]}" if unit == 0 else f"{number:.3g} {_SIZES[unit]}"


def last_part(name: str) -> str:
    """The last part of a resource name."""
    return name.rpartition("/")[2]


def sentence(text: str) -> str:
    """A message of the server as a sentence, marked if truncated; no name gets a capital letter."""
    text = text.strip()
    is_word = text.partition(" ")[0].rstrip(",").isalpha()
    shown = (text[:1].upper() if is_word else text[:1]) + text[1:_MOST_SAID]
    if len(text) > _MOST_SAID:
        return f"{shown}…"
    return shown if not shown or shown.endswith((".", "!", "?")) else f"{shown}."


_MOST_SAID = 500
"""Maximum number of characters of a message."""


def shortened(name: str) -> str:
    """A name shortened to fit beside a curve; its end stays, because long names differ there."""
    if len(name) <= _MOST_BESIDE_CURVE:
        return name
    half = _MOST_BESIDE_CURVE // 2
    return f"{name[: half - 1]}…{name[-half:]}"


_MOST_BESIDE_CURVE = 24


def counted(count: int, noun: str, plural: str = "") -> str:
    """``three submissions``."""
    return f"{in_words(count)} {noun if count == 1 else plural or noun + 's'}"


def listed(words: Sequence[str]) -> str:
    """``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


_ORDINALS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)


def ordinal(number: int) -> str:
    """``third``; in digits from eleven on."""
    if 1 <= number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    last = 0 if number // 10 % 10 == 1 else number % 10
    return f"{number}" + {1: "st", 2: "nd", 3: "rd"}.get(last, "th")


def digits_for(values: Iterable[float | None]) -> int:
    """Decimals of a column: as many as its values have; for long values, enough to tell them apart.

    Args:
        values: The values; None if one is undefined.
    """
    defined = [value for value in values if value is not None]
    for digits in range(MOST_EXACT_DIGITS):
        if all(round(value, digits) == value for value in defined):
            return digits
    return telling_digits(defined)


def chance_text(chance: float, *, in_tenths: bool) -> str:
    """A probability as a text, which is never 0 or 1.

    Args:
        chance: The probability.
        in_tenths: Whether it is rounded to 0.1.
    """
    least = 0.1 if in_tenths else FEW
    digits = 1 if in_tenths else 2
    if chance < least:
        return f"< {least:g}"
    if chance > 1 - least:
        return f"> {1 - least:g}"
    return f"{chance:.{digits}f}"


def running_scores_from(policy: Mapping[str, Any]) -> str:
    """When scores of a submission begin to show while it is received, if they do."""
    return f"once the completed sequences hold {things(policy['minimum_frames'], 'frame')}"


def things(count: int, noun: str, plural: str = "") -> str:
    """``1 frame``, ``1,200 frames``: a number in digits."""
    return counted_in_digits(count, noun, plural, ",")


def value_text(value: float | None) -> str:
    """A score; ``undefined`` if it has no value."""
    return figure(None if value is None or math.isnan(value) else value)

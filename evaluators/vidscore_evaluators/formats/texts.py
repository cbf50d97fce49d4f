"""The rules for one field of a text file: texts, numbers and whole numbers."""

from __future__ import annotations

import math
import re

MAXIMUM_TEXT_BYTES = 255
"""Longest name or label: what file systems allow for a name."""

EXPECTED_TEXT = f"a text of at most {MAXIMUM_TEXT_BYTES} bytes in UTF-8, without control characters"

BLANKS = " \t"
"""What may stand around a field without being part of it."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_GREATEST_WHOLE = 2**63 - 1
_GREATEST_EXACT = 2.0**53


def clean_text(field: str) -> str | None:
    """A text without spaces around it; None where it breaks the rule `EXPECTED_TEXT`."""
    text = field.strip(BLANKS)
    if _CONTROL.search(text) or len(text.encode()) > MAXIMUM_TEXT_BYTES:
        return None
    return text


def read_number(field: str) -> float | None:
    """A decimal number that is finite; None for anything else."""
    text = field.strip(BLANKS)
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def read_whole(field: str) -> int | None:
    """A number without fraction, in 64 bits; None for anything else. ``4.0`` is 4."""
    text = field.strip(BLANKS)
    if _WHOLE.fullmatch(text):
        whole = int(text)
        return whole if abs(whole) <= _GREATEST_WHOLE else None
    number = read_number(text)
    if number is None or not number.is_integer() or abs(number) > _GREATEST_EXACT:
        return None
    return int(number)

"""Checks of users' scalar values, and their text in errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Set
from numbers import Integral, Real
from typing import Any

from vidscore_client.errors import InputError


def shown(value: object) -> str:
    """Any value, as quoted in an error."""
    try:
        return (str(value) if isinstance(value, Real) else repr(value))[:80]
    except ValueError:  # an integer with more digits than Python prints
        return f"a value of type {type(value).__name__} that is too large to show"


def counted(count: int, noun: str) -> str:
    """A number with its noun: ``1 frame``, ``2 frames``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


UNORDERED = (set, frozenset, Mapping)
"""Types that cannot hold a value for each object; the order of a set differs from run to run."""


def is_list(value: object) -> bool:
    """Whether it is a sequence, including arrays, but not a text."""
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping | Set)


def check_count(name: str, value: object) -> None:
    """Refuse anything but an integer of at least 1.

    Raises:
        InputError: If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
        raise InputError(name, shown(value), "an integer of at least 1")
    if int(value) >= 1 << 63:
        raise InputError(name, shown(value), "a 64-bit integer")


def check_timeout(value: object) -> None:
    """Refuse an invalid timeout; None is unlimited.

    Raises:
        InputError: If it is none.
    """
    if value is not None:
        check_number(
            "timeout_s", value, lambda seconds: not math.isnan(seconds), "seconds, or None"
        )


def check_number(name: str, value: Any, fits: Callable[[float], bool], expected: str) -> None:
    """Refuse anything but a fitting number.

    Args:
        name: Name of the argument.
        value: Its value.
        fits: Tells whether a number fits.
        expected: Description of fitting numbers.

    Raises:
        InputError: If it is not a number, or does not fit.
    """
    try:
        if not isinstance(value, bool) and isinstance(value, Real) and fits(float(value)):
            return
    except OverflowError:  # an integer beyond all floats
        pass
    raise InputError(name, shown(value), f"a number of {expected}")

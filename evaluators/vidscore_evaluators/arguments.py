"""Arguments of the library's functions: one table says what each may be, wherever it stands."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from vidscore_evaluators.errors import Fault, ParameterError

SHOWN_CHARACTERS = 80

_ON_ERROR = ("refuse", "skip")

_RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = types.MappingProxyType(
    {
        "on_error": (_ON_ERROR.__contains__, " or ".join(_ON_ERROR)),
    }
)
"""By the name of an argument whether a value is right, and what is expected where it is not."""


def check_arguments(**given: Any) -> None:
    """Refuse arguments that a function cannot use.

    Args:
        given: The arguments by name.

    Raises:
        ParameterError: With every wrong one.
    """
    faults = []
    for name, value in given.items():
        is_right, expected = _RULES[name]
        if not is_right(value):
            faults.append(Fault(repr(value)[:SHOWN_CHARACTERS], expected, field=name))
    if faults:
        raise ParameterError(faults)

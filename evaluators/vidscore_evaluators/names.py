"""Names from outside: texts that every file and every wire can carry."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MAXIMUM_NAME_LENGTH = 1000
"""Characters that a name may have; every report repeats it, so a longer one is no name."""


def checked_name(value: object) -> str:
    """The value itself, if it can be a name; it may be empty.

    Raises:
        ValueError: If it cannot; the text says what was expected.
    """
    if not isinstance(value, str):
        raise ValueError("a text")
    if len(value) > MAXIMUM_NAME_LENGTH:
        raise ValueError(f"a text of at most {MAXIMUM_NAME_LENGTH} characters")
    # JSON can spell halves of a character, which UTF-8 cannot, and databases end texts at 0.
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError("a text of whole characters, none of them the character 0")
    return value


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A question after the known name that is nearest to a mistyped one; None where none is."""
    close = difflib.get_close_matches(name, [str(entry) for entry in known], n=1)
    return f"did you mean {close[0]}?" if close else None

"""What is wrong with strings that are shown to people: their length, and control characters."""

from __future__ import annotations

from vidscore_evaluators.errors import Fault
from vidscore_evaluators.names import escape_controls, holds_controls

MAXIMUM_TEXT_LENGTH = 1000
SHOWN_CHARACTERS = 80

_EXPECTED = "no control characters, ends of lines or changes of the direction of writing"


def string_faults(text: str, field: str, most: int = MAXIMUM_TEXT_LENGTH) -> list[Fault]:
    """Faults of a string for people."""
    faults = []
    if len(text) > most:
        faults.append(Fault(f"{len(text)} characters", f"at most {most}", field=field))
    return [*faults, *control_faults(text, field)]


def control_faults(text: str, field: str, source: str | None = None) -> list[Fault]:
    """Control characters of a string, as a fault."""
    if not holds_controls(text):
        return []
    shown = f"'{escape_controls(text)[:SHOWN_CHARACTERS]}'"
    return [Fault(shown, _EXPECTED, source, field=field)]

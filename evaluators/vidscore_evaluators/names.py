"""Names from outside: texts that every file and every wire can carry; and words of messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from unicodedata import bidirectional, normalize

from vidscore_evaluators.errors import Fault

MAXIMUM_NAME_LENGTH = 1000
"""Characters that a name may have; every report repeats it, so a longer one is no name."""

MAXIMUM_TEXT_LENGTH = 1000
"""Characters that a text for people may have, where nothing else is said."""

_SHOWN_CHARACTERS = 80

_WITHOUT_CONTROLS = "no control characters, ends of lines or changes of the direction of writing"

_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What a terminal obeys in place of showing it: control characters, ends of lines, changes of the
direction of writing; and halves of characters."""

_FORMULA = re.compile(r"[=@]|[+-](?!([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z)")
_FORMS = ("\\x{:02x}", "\\u{:04x}")


def holds_controls(text: str) -> bool:
    """Whether a text has a character that a terminal would obey in place of showing it."""
    return _CONTROLS.search(text) is not None


def is_right_to_left(text: str) -> bool:
    """Whether a part of a text is written from right to left, as Hebrew and Arabic are."""
    return any(bidirectional(character) in ("R", "AL", "AN") for character in text)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would take a cell for a formula, and run it: a number is none."""
    return _FORMULA.match(text) is not None


def escape_controls(text: str, but: str = "", form: str = "") -> str:
    r"""A text that may be shown anywhere: ``\x1b`` is the character of that number.

    Args:
        text: The text.
        but: Characters that stay as they are.
        form: How a character's number is written; empty: as Python does.
    """

    def escaped(found: re.Match[str]) -> str:
        code = ord(found[0])
        return found[0] if found[0] in but else (form or _FORMS[code > 255]).format(code)

    return _CONTROLS.sub(escaped, text)


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
    shown = f"'{escape_controls(text)[:_SHOWN_CHARACTERS]}'"
    return [Fault(shown, _WITHOUT_CONTROLS, source, field=field)]


def counted(count: int, noun: str, plural: str = "", form: str = "") -> str:
    """A number with its noun: ``1 row``, ``2 rows``.

    Args:
        count: The number.
        noun: What is counted, of one.
        plural: Of several; by default the noun with an s.
        form: How the number is written, such as ``,`` between thousands.
    """
    return f"{count:{form}} {noun if count == 1 else plural or noun + 's'}"


def first_of(names: Sequence[str], most: int) -> str:
    """The first of some names, and how many more there are: ``car, bus and 4 more``."""
    shown, rest = ", ".join(names[:most]), len(names) - most
    return f"{shown} and {rest} more" if rest > 0 else shown


def spreadsheet_text(text: str) -> str:
    """A text as a cell that no spreadsheet takes for a formula, and in which controls are escaped.

    What would be a formula, or already begins with apostrophes before one, gets an apostrophe in
    front.
    """
    shown = escape_controls(text)
    return f"'{shown}" if is_formula(shown.lstrip("'")) else shown


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


def closest_name(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that a mistyped one was probably meant to be, whatever its case."""
    import difflib  # noqa: PLC0415 - only where something is wrong

    by_folded = {_folded(entry): entry for entry in reversed(tuple(known))}
    close = difflib.get_close_matches(_folded(name), by_folded, n=1, cutoff=cutoff)
    return by_folded[close[0]] if close else None


def composed(name: str) -> str:
    """The name with one character for a letter and its accents, as most programs write it."""
    return normalize("NFC", name)


def _folded(name: str) -> str:
    return composed(name).casefold()


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A question after the known name that is nearest to a mistyped one; None where none is."""
    close = closest_name(name, known)
    if close and close != name and composed(close) == composed(name):
        ways = f"{close!a}, not {name!a}"
        return f"did you mean {close}? Its letters are composed in another way: {ways}"
    return f"did you mean {close}?" if close else None


def name_advice(name: str, known: Iterable[str]) -> str:
    """What to do about a name that is none of those known."""
    entries = tuple(known)
    begin = [entry for entry in entries if entry.casefold().startswith(name.casefold())]
    close = begin[0] if len(begin) == 1 else closest_name(name, entries)
    return f"did you mean {close}?" if close else "there are " + ", ".join(entries)

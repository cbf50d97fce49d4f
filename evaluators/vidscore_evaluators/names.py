"""Names from outside: strings that every file and message can carry; and words of messages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from heapq import nlargest
from unicodedata import bidirectional, normalize

from vidscore_evaluators.errors import Fault

MAXIMUM_NAME_LENGTH = 1000
"""Maximum number of characters of a name; every report repeats names, so it is bounded."""

MAXIMUM_TEXT_LENGTH = 1000
"""Default maximum number of characters of a text for people."""

_SHOWN_CHARACTERS = 80

_NAMES_LISTED = 20

_MOST_COMPARED = 10
"""Maximum number of names that are compared with another one character by character: those that
share most pairs of characters with it, which takes a thirtieth of the time."""

_WITHOUT_CONTROLS = "no control characters, ends of lines or changes of the direction of writing"

_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that a terminal obeys and does not show: control characters, line breaks, changes of
the direction of writing; and surrogates."""

_FORMULA = re.compile(r"[=@]|[+-](?!([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z)")
_FORMS = ("\\x{:02x}", "\\u{:04x}")


def holds_controls(text: str) -> bool:
    """Whether a text has a character that a terminal would obey and not show."""
    return _CONTROLS.search(text) is not None


def is_right_to_left(text: str) -> bool:
    """Whether a part of a text is written from right to left, as Hebrew and Arabic are."""
    return any(bidirectional(character) in ("R", "AL", "AN") for character in text)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would run a cell as a formula; it does not run numbers."""
    return _FORMULA.match(text) is not None


def escape_controls(text: str, but: str = "", form: str = "") -> str:
    r"""Make a text safe to show anywhere: ``\x1b`` stands for the character of that number.

    Args:
        text: The text.
        but: Characters that stay as they are.
        form: Format of a character's number; if empty, as Python writes it.
    """

    def escaped(found: re.Match[str]) -> str:
        code = ord(found[0])
        return found[0] if found[0] in but else (form or _FORMS[code > 255]).format(code)

    return _CONTROLS.sub(escaped, text)


def string_faults(text: str, field: str, most: int = MAXIMUM_TEXT_LENGTH) -> list[Fault]:
    """Faults of a string that is shown to people."""
    faults = []
    if len(text) > most:
        faults.append(Fault(f"{len(text)} characters", f"at most {most}", field=field))
    return [*faults, *control_faults(text, field), *blank_faults(text, field)]


def blank_faults(text: str, field: str) -> list[Fault]:
    """A fault for a string of which nothing can be seen, such as blanks; the empty one has none."""
    if not text or any(one.isprintable() and not one.isspace() for one in text):
        return []
    shown = f"'{escape_controls(text)[:_SHOWN_CHARACTERS]}'"
    return [Fault(shown, "a visible character, or nothing", field=field)]


def control_faults(text: str, field: str, source: str | None = None) -> list[Fault]:
    """A fault for the control characters of a string."""
    if not holds_controls(text):
        return []
    shown = f"'{escape_controls(text)[:_SHOWN_CHARACTERS]}'"
    return [Fault(shown, _WITHOUT_CONTROLS, source, field=field)]


def counted(count: int, noun: str, plural: str = "", form: str = "") -> str:
    """A number with its noun: ``1 row``, ``2 rows``.

    Args:
        count: The number.
        noun: The noun in the singular.
        plural: Its plural; by default the noun with an s.
        form: Format of the number, such as ``,`` between thousands.
    """
    return f"{count:{form}} {noun if count == 1 else plural or noun + 's'}"


def first_of(names: Sequence[str], most: int) -> str:
    """The first names, and the number of further ones: ``car, bus and 4 more``."""
    shown, rest = ", ".join(names[:most]), len(names) - most
    return f"{shown} and {rest} more" if rest > 0 else shown


def spreadsheet_text(text: str) -> str:
    """A text as a cell that no spreadsheet runs as a formula, with control characters escaped.

    A text that would be a formula, or that already has apostrophes in front of one, gets an
    apostrophe in front.
    """
    shown = escape_controls(text)
    return f"'{shown}" if is_formula(shown.lstrip("'")) else shown


def checked_name(value: object) -> str:
    """Check that a value can be a name, and return it; it may be empty.

    Raises:
        ValueError: If it cannot; the text says what was expected.
    """
    if not isinstance(value, str):
        raise ValueError("a text")
    if len(value) > MAXIMUM_NAME_LENGTH:
        raise ValueError(f"a text of at most {MAXIMUM_NAME_LENGTH} characters")
    # JSON can encode single surrogates, which UTF-8 cannot; databases end strings at 0.
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError("a text of whole characters, none of them the character 0")
    return value


def closest_name(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that a mistyped one probably meant, whatever its case."""
    import difflib  # noqa: PLC0415 - only where something is wrong

    by_folded = {_folded(entry): entry for entry in reversed(tuple(known))}
    wanted, likely = _folded(name), list(by_folded)
    if len(likely) > _MOST_COMPARED:
        pairs = {wanted[at : at + 2] for at in range(max(1, len(wanted) - 1))}
        likely = nlargest(_MOST_COMPARED, likely, key=partial(_share_of, pairs))
    close = difflib.get_close_matches(wanted, likely, n=1, cutoff=cutoff)
    return by_folded[close[0]] if close else None


def _share_of(pairs: Collection[str], text: str) -> float:
    """Share of some pairs of characters that are in a text; a long text has more by chance."""
    return sum(map(text.__contains__, pairs)) / (len(pairs) + len(text))


def composed(name: str) -> str:
    """The name with letters and accents composed into one character, as most programs write it."""
    return normalize("NFC", name)


def _folded(name: str) -> str:
    return composed(name).casefold()


def _same_bare_name(name: str, known: Iterable[str]) -> str | None:
    """The only known name that differs in folder, suffix or leading zeros alone."""
    same = [entry for entry in known if _bare(entry) == _bare(name)]
    return same[0] if len(same) == 1 else None


def _bare(name: str) -> str:
    last = re.split(r"[/\\]", _folded(name))[-1]
    return re.sub(r"\A0+(?=.)|\.[a-z][a-z0-9]*\Z", "", last)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A question that suggests the most similar known name; None if none is similar."""
    entries = tuple(known)
    close = closest_name(name, entries) or _same_bare_name(name, entries)
    if close and close != name and composed(close) == composed(name):
        ways = f"{close!a}, not {name!a}"
        return f"did you mean {close}? Its letters are composed in another way: {ways}"
    return f"did you mean {close}?" if close else None


def name_advice(name: str, known: Iterable[str]) -> str:
    """Advice about a name that is not known."""
    entries = tuple(known)
    begin = [entry for entry in entries if entry.casefold().startswith(name.casefold())]
    close = begin[0] if len(begin) == 1 else closest_name(name, entries)
    verb = "is" if len(entries) == 1 else "are"
    return f"did you mean {close}?" if close else f"there {verb} {', '.join(entries)}"


WantedNames = Mapping[str, tuple[object, Iterable[str | None]]]
"""For each kind of name of a report: the name that was asked for, and the names that exist."""


def advice_on_names(wanted: WantedNames) -> str:
    """Advice about the first name that does not exist, or about the first kind if all exist."""
    known = {kind: sorted({*names} - {None}, key=str) for kind, (_, names) in wanted.items()}
    strange = (
        (kind, name)
        for kind, (name, _) in wanted.items()
        if name is not None and name not in known[kind]
    )
    kind, name = next(strange, (next(iter(wanted)), ""))
    names = [str(one) for one in known[kind]]
    if names and not isinstance(name, str):  # data may have integers for names
        strings = first_of(list(map(repr, names)), _NAMES_LISTED)
        return f"{kind} of this report are strings: {strings}"
    listed = first_of(names, _NAMES_LISTED) or "none"
    return did_you_mean(str(name), names) or f"{kind} of this report: {listed}"


def advice_on_places(places: Sequence[tuple[str | None, ...]]) -> str:
    """Advice that names the arguments for which a report has a score; empty if there are none.

    Args:
        places: Domain, label and sequence of each score that was perhaps meant.
    """
    keys = ("domain", "label", "sequence")
    calls = [
        ", ".join(f"{key}={name!r}" for key, name in zip(keys, place, strict=True) if name)
        for place in places
    ]
    listed = first_of([f"({call})" for call in calls], _NAMES_LISTED)
    return f"this report has it for {listed}" if calls else ""

"""Texts that come in: titles, comments and names hold nothing that a terminal would obey.

What a participant or an organiser writes is shown to others, on terminals and in files. What an
older version has stored is read as it is; whoever shows it escapes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.errors import Fault, InputError, SpecificationError
from vidscore_evaluators.names import escape_controls, holds_controls
from vidscore_server.hosting.definition import Definition, definition_to_dict

MAXIMUM_TEXT_LENGTH = 1000
SHOWN_CHARACTERS = 80

_EXPECTED = "no control characters, ends of lines or changes of the direction of writing"


def checked_text(text: str, field: str, most: int = MAXIMUM_TEXT_LENGTH) -> str:
    """A text for people that a client has sent.

    Raises:
        InputError: If it is too long, or holds control characters.
    """
    faults = text_faults(text, field, most)
    if faults:
        raise InputError(faults)
    return text


def text_faults(text: str, field: str, most: int = MAXIMUM_TEXT_LENGTH) -> list[Fault]:
    """What is wrong with a text for people."""
    faults = []
    if len(text) > most:
        faults.append(Fault(f"{len(text)} characters", f"at most {most}", field=field))
    if holds_controls(text):
        faults.append(Fault(_shown(text), _EXPECTED, field=field))
    return faults


def name_faults(batch: Annotations, source: str) -> list[Fault]:
    """Names of a batch that hold control characters.

    Args:
        batch: Whole frames.
        source: Where they stand, for messages.
    """
    named = [
        *((f"sequences[{row}]", part) for row, key in enumerate(batch.sequences) for part in key),
        *((f"labels[{row}]", label) for row, label in enumerate(batch.labels)),
    ]
    return [
        Fault(_shown(name), _EXPECTED, source, field=field)
        for field, name in named
        if holds_controls(name)
    ]


def refuse_control_characters(definition: Definition) -> None:
    """Refuse a benchmark of which a text holds control characters.

    Raises:
        SpecificationError: With every fault.
    """
    faults = [
        Fault(_shown(text), _EXPECTED, field=field)
        for field, text in _texts(definition_to_dict(definition), "")
        if holds_controls(text)
    ]
    if faults:
        raise SpecificationError(faults)


def _texts(value: object, field: str) -> Iterator[tuple[str, str]]:
    """Every text of a document, with its place."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _texts(entry, f"{field}.{key}" if field else str(key))
    elif isinstance(value, list):
        for row, entry in enumerate(value):
            yield from _texts(entry, f"{field}[{row}]")


def _shown(text: str) -> str:
    return f"'{escape_controls(text)[:SHOWN_CHARACTERS]}'"

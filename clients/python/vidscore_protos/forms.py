"""Convert between dictionaries and messages by field names, for clients and servers.

A key of a dictionary is the field of the message with the same name; its type follows from the
message's descriptor. Only exceptions are declared, as a `Form`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

Show = Callable[[Any, str], Any]

_EXPECTED = {
    FieldDescriptor.CPPTYPE_STRING: "a string",
    FieldDescriptor.CPPTYPE_BOOL: "true or false",
    FieldDescriptor.CPPTYPE_DOUBLE: "a number",
}


class FormError(ValueError):
    """A dictionary that a message cannot hold.

    Attributes:
        path: Path of the fault in it.
        found: What was found there.
        expected: What was expected; empty if `found` says all.
        advice: What to do; empty for nothing.
    """

    def __init__(self, path: str, found: str, expected: str, advice: str = "") -> None:
        super().__init__(f"{path}: found {found}, expected {expected}")
        self.path = path
        self.found = found
        self.expected = expected
        self.advice = advice


class Form(NamedTuple):
    """How a key of a dictionary is written into a message, and read from it.

    Attributes:
        fill: Takes the message, the key, the value and its path, for errors.
        show: Takes the message and the key; returns the value, or None if it is unset.
    """

    fill: Callable[[Any, str, Any, str], None]
    show: Show


Fields = Mapping[str, Form]


def fill_message(message: Message, path: str, document: object, fields: Fields) -> None:
    """Set the fields of a message from a dictionary.

    Args:
        message: The message.
        path: Path of the dictionary, for errors.
        document: The dictionary.
        fields: The form of each of its keys.

    Raises:
        FormError: If it is not a dictionary, has an unknown key, or a value of a wrong type.
    """
    if not isinstance(document, Mapping):
        raise FormError(path, repr(document)[:80], "an object")
    for key, value in document.items():
        if key not in fields:
            raise FormError(f"{path}.{key}", "unknown key", "", _key_advice(str(key), fields))
        fields[key].fill(message, key, value, f"{path}.{key}")


def show_message(message: Any, fields: Fields) -> dict[str, Any]:
    """The dictionary form of a message, without unset fields."""
    shown = {key: form.show(message, key) for key, form in fields.items()}
    return {key: value for key, value in shown.items() if value is not None}


def listed(value: Any, path: str) -> list[Any]:
    """A value that must be a list.

    Raises:
        FormError: If it is none.
    """
    if isinstance(value, str | Mapping) or not hasattr(value, "__iter__"):
        raise FormError(path, repr(value)[:80], "a list")
    return list(value)


def extend(column: Any, values: Any, path: str, expected: str) -> None:
    """Add values to a repeated field.

    Raises:
        FormError: If they have a wrong type.
    """
    try:
        column.extend(listed(values, path))
    except (TypeError, ValueError):
        raise FormError(path, repr(values)[:80], expected) from None


def fill_scalar(message: Any, key: str, value: Any, path: str, expected: str = "") -> None:
    """Set a field with a single value.

    Raises:
        FormError: If the value has a wrong type, or is too large.
    """
    try:
        setattr(message, key, value)
    except (TypeError, ValueError):
        kind = message.DESCRIPTOR.fields_by_name[key].cpp_type
        told = expected or _EXPECTED.get(kind, "an integer")
        raise FormError(path, repr(value)[:80], told) from None


def entries(fields: Fields) -> Form:
    """The form of a list of dictionaries."""

    def fill(message: Any, key: str, value: Any, path: str) -> None:
        for index, entry in enumerate(listed(value, path)):
            fill_message(getattr(message, key).add(), f"{path}[{index}]", entry, fields)

    def show(message: Any, key: str) -> list[Any] | None:
        return [show_message(entry, fields) for entry in getattr(message, key)] or None

    return Form(fill, show)


def list_of(expected: str) -> Form:
    """The form of a list of values."""

    def fill(message: Any, key: str, value: Any, path: str) -> None:
        extend(getattr(message, key), value, path, expected)

    return Form(fill, lambda message, key: list(getattr(message, key)))


def _fill_plain(message: Any, key: str, value: Any, path: str) -> None:
    kind = message.DESCRIPTOR.fields_by_name[key].enum_type
    if kind is None:
        fill_scalar(message, key, value, path)
        return
    numbers = enum_numbers(kind)
    if value not in numbers:
        raise FormError(path, repr(value)[:80], " or ".join(numbers))
    setattr(message, key, numbers[value])


def present(message: Any, key: str) -> Any:
    """The value of a field; None if it is unset and the message records that."""
    field = message.DESCRIPTOR.fields_by_name[key]
    if field.has_presence and not message.HasField(key):
        return None
    value = getattr(message, key)
    if field.enum_type is None:
        return value
    return enum_words(field.enum_type).get(value, str(value) if value else None)


def _fill_seconds(message: Any, key: str, value: Any, path: str) -> None:
    try:
        getattr(message, key.removesuffix("_s")).FromNanoseconds(round(value * 1e9))
    except (TypeError, ValueError, OverflowError):
        raise FormError(path, repr(value)[:80], "a number of seconds") from None


def _show_seconds(message: Any, key: str) -> float | None:
    field = key.removesuffix("_s")
    return getattr(message, field).ToNanoseconds() / 1e9 if message.HasField(field) else None


def read_time(message: Any, field: str) -> datetime | None:
    """A time; None if there is none."""
    if not message.HasField(field):
        return None
    time: datetime = getattr(message, field).ToDatetime(tzinfo=UTC)
    return time


PLAIN = Form(_fill_plain, present)
"""One value, or a word of an enumeration."""

UNLESS_DEFAULT = Form(_fill_plain, lambda message, key: present(message, key) or None)
"""One value, omitted if it is empty or 0."""

SECONDS = Form(_fill_seconds, _show_seconds)
"""A duration, whose key ends with ``_s``."""


def _key_advice(key: str, known: Iterable[str]) -> str:
    keys = tuple(known)
    close = difflib.get_close_matches(key.casefold(), keys, n=1)
    return f"did you mean {close[0]}?" if close else "there are " + ", ".join(keys)


@cache
def enum_words(kind: EnumDescriptor) -> dict[int, str]:
    """Words of an enumeration, by number: ``clear`` for ``SKY_CLEAR`` of ``Sky``; 0 has none."""
    prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind.name).lower() + "_"
    return {
        value.number: value.name.lower().removeprefix(prefix)
        for value in kind.values
        if value.number
    }


@cache
def enum_numbers(kind: EnumDescriptor) -> dict[str, int]:
    """Numbers of an enumeration, by word."""
    return {word: number for number, word in enum_words(kind).items()}

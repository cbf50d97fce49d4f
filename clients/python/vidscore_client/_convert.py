"""Between messages, dictionaries and this package's dataclasses, by the names of their fields.

A key of a dictionary, and a field of a dataclass, is the field of the message that has its name;
its type follows from the message's descriptor, or from the dataclass. Only what differs from that
is written down, as a `Form` or as a value that is given.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from types import NoneType
from typing import Any, NamedTuple, TypeVar, cast, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from vidscore_client.errors import InputError

Result = TypeVar("Result")
Read = Callable[[Any, str], Any]

_EXPECTED = {
    FieldDescriptor.CPPTYPE_STRING: "a string",
    FieldDescriptor.CPPTYPE_BOOL: "true or false",
    FieldDescriptor.CPPTYPE_DOUBLE: "a number",
}


class Form(NamedTuple):
    """How a key of a dictionary is written into a message and read out of it.

    Attributes:
        fill: Takes the message, the key, the value and its path, for errors.
        show: Takes the message and the key; gives the value, or None where it is unset.
    """

    fill: Callable[[Any, str, Any, str], None]
    show: Read


Fields = Mapping[str, Form]


# --- From and to dictionaries ----------------------------------------------------------------


def fill_message(message: Message, path: str, document: object, fields: Fields) -> None:
    """Set the fields of a message from a dictionary.

    Args:
        message: The message.
        path: Path of the dictionary, for errors.
        document: The dictionary.
        fields: The form of each of its keys.

    Raises:
        InputError: If it is no dictionary, has another key, or a value of another type.
    """
    if not isinstance(document, Mapping):
        raise InputError(path, repr(document)[:80], "an object")
    for key, value in document.items():
        if key not in fields:
            raise InputError(f"{path}.{key}", "unknown key", "", _key_advice(str(key), fields))
        fields[key].fill(message, key, value, f"{path}.{key}")


def show_message(message: Any, fields: Fields) -> dict[str, Any]:
    """The dictionary form of a message; what is unset is left out."""
    shown = {key: form.show(message, key) for key, form in fields.items()}
    return {key: value for key, value in shown.items() if value is not None}


def listed(value: Any, path: str) -> list[Any]:
    """A value that must be a list.

    Raises:
        InputError: If it is none.
    """
    if isinstance(value, str | Mapping) or not hasattr(value, "__iter__"):
        raise InputError(path, repr(value)[:80], "a list")
    return list(value)


def extend(column: Any, values: Any, path: str, expected: str) -> None:
    """Add values to a repeated field.

    Raises:
        InputError: If they are not what is expected.
    """
    try:
        column.extend(listed(values, path))
    except (TypeError, ValueError):
        raise InputError(path, repr(values)[:80], expected) from None


def fill_scalar(message: Any, key: str, value: Any, path: str, expected: str = "") -> None:
    """Set a field of one value.

    Raises:
        InputError: If the value is of another type, or too large.
    """
    try:
        setattr(message, key, value)
    except (TypeError, ValueError):
        kind = message.DESCRIPTOR.fields_by_name[key].cpp_type
        told = expected or _EXPECTED.get(kind, "an integer")
        raise InputError(path, repr(value)[:80], told) from None


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
    numbers = {word: number for number, word in enum_words(kind).items()}
    if value not in numbers:
        raise InputError(path, repr(value)[:80], " or ".join(numbers))
    setattr(message, key, numbers[value])


def present(message: Any, key: str) -> Any:
    """The value of a field; None where it is unset, as far as the message knows of that."""
    field = message.DESCRIPTOR.fields_by_name[key]
    if field.has_presence and not message.HasField(key):
        return None
    value = getattr(message, key)
    return value if field.enum_type is None else enum_words(field.enum_type).get(value)


def _fill_seconds(message: Any, key: str, value: Any, path: str) -> None:
    try:
        getattr(message, key.removesuffix("_s")).FromNanoseconds(round(value * 1e9))
    except (TypeError, ValueError, OverflowError):
        raise InputError(path, repr(value)[:80], "a number of seconds") from None


def _show_seconds(message: Any, key: str) -> float | None:
    field = key.removesuffix("_s")
    return getattr(message, field).ToNanoseconds() / 1e9 if message.HasField(field) else None


PLAIN = Form(_fill_plain, present)
"""One value, or a word of an enumeration."""

UNLESS_DEFAULT = Form(_fill_plain, lambda message, key: present(message, key) or None)
"""One value, which is left out where it is empty or 0."""

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


# --- To dataclasses --------------------------------------------------------------------------


def to_dataclass(kind: type[Result], message: Any, **given: Any) -> Result:
    """What a message says, as a dataclass.

    Args:
        kind: The dataclass.
        message: The message.
        given: Values of fields that the message has otherwise.
    """
    readers = _readers(cast(Any, kind))
    values = {name: given[name] if name in given else read(message, name) for name, read in readers}
    return kind(**values)


def duration_of(name: str, seconds: float | None) -> Duration | None:
    """Seconds as a message; None for None.

    Args:
        name: Name of the argument, for errors.
        seconds: The seconds.

    Raises:
        InputError: If it is no number of seconds.
    """
    if seconds is None:
        return None
    duration = Duration()
    try:
        duration.FromNanoseconds(round(seconds * 1e9))
    except (TypeError, ValueError, OverflowError):
        raise InputError(name, repr(seconds)[:80], "a number of seconds") from None
    return duration


def read_time(message: Any, field: str) -> datetime | None:
    """A time; None where there is none."""
    if not message.HasField(field):
        return None
    time: datetime = getattr(message, field).ToDatetime(tzinfo=UTC)
    return time


@cache
def _readers(kind: type) -> tuple[tuple[str, Read], ...]:
    hints = get_type_hints(kind)
    fields = dataclasses.fields(kind)
    return tuple((field.name, _reader(hints[field.name])) for field in fields)


def _reader(annotation: Any) -> Read:
    """What reads a field of that type."""
    arguments: tuple[Any, ...] = get_args(annotation)
    if get_origin(annotation) is tuple:
        return _tuple_reader(_dataclass(arguments[0]))
    if NoneType in arguments:
        inner = next(argument for argument in arguments if argument is not NoneType)
        return read_time if inner is datetime else _optional_reader(_dataclass(inner))
    nested = _dataclass(annotation)
    if nested is not None:
        return lambda message, name: to_dataclass(nested, getattr(message, name))
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        known = frozenset(annotation)
        return lambda message, name: annotation(
            word if (word := present(message, name)) in known else "unknown"
        )
    return getattr


def _tuple_reader(nested: type[Any] | None) -> Read:
    if nested is None:
        return lambda message, name: tuple(getattr(message, name))
    return lambda message, name: tuple(
        to_dataclass(nested, entry) for entry in getattr(message, name)
    )


def _optional_reader(nested: type[Any] | None) -> Read:
    if nested is None:
        return present
    return lambda message, name: (
        to_dataclass(nested, getattr(message, name)) if message.HasField(name) else None
    )


def _dataclass(annotation: Any) -> type[Any] | None:
    return annotation if dataclasses.is_dataclass(annotation) else None  # type: ignore[return-value]

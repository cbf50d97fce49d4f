"""Convert between messages and this package's dataclasses, by the names of their fields.

A field of a dataclass is the field of the message with its name; its type follows from the
dataclass. Only other fields are given as values.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from functools import cache
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from google.protobuf.duration_pb2 import Duration

from vidscore_client.errors import InputError
from vidscore_protos.forms import FormError, present, read_time

Result = TypeVar("Result")
Read = Callable[[Any, str], Any]


@contextmanager
def checked() -> Iterator[None]:
    """Convert the error of a dictionary that does not fit its message."""
    try:
        yield
    except FormError as error:
        raise InputError(error.path, error.found, error.expected, error.advice) from None


def to_dataclass(kind: type[Result], message: Any, **given: Any) -> Result:
    """Convert a message to a dataclass.

    Args:
        kind: The dataclass.
        message: The message.
        given: Values of fields that differ from the message's.
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
        InputError: If it is not a number of seconds.
    """
    if seconds is None:
        return None
    duration = Duration()
    try:
        duration.FromNanoseconds(round(seconds * 1e9))
    except (TypeError, ValueError, OverflowError):
        raise InputError(name, repr(seconds)[:80], "a number of seconds") from None
    return duration


@cache
def _readers(kind: type) -> tuple[tuple[str, Read], ...]:
    hints = get_type_hints(kind)
    fields = dataclasses.fields(kind)
    return tuple((field.name, _reader(hints[field.name])) for field in fields)


def _reader(annotation: Any) -> Read:
    """The reader of a field of a type."""
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

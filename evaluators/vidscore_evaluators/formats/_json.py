"""Parse JSON from outside, and name its values in messages."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.source import SHOWN_CHARACTERS


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Disable garbage collection while parsing, which makes many objects and no cycles; it is slow.

    The objects must be freed by the end, or the next collection visits them all.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def parse_json(data: bytes, name: str, expected: str = "a JSON array") -> Any:
    """Parse a document.

    Args:
        data: UTF-8 without a byte order mark.
        name: Name of the file.
        expected: What it should be, for error messages.

    Raises:
        InputError: If it is empty or not JSON; with line and column.
    """
    if not data.strip():
        raise InputError([Fault("an empty file", expected, source=name, line=1)])
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        found = f"invalid JSON ({error.msg})"
        column = f"column {error.colno}"
        fault = Fault(found, expected, source=name, line=error.lineno, field=column)
        raise InputError([fault]) from None


class DuplicateKey(dict[str, Any]):
    """A JSON object with a duplicate key."""


def mark_duplicate_keys(data: bytes, document: list[Any]) -> list[Any]:
    """Parse a document again, with objects that repeat a key as `DuplicateKey`."""

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        return built if len(built) == len(pairs) else DuplicateKey(built)

    try:
        marked: list[Any] = json.loads(data, object_pairs_hook=build)
    except RecursionError:
        return document  # too deep for this parser; such a document breaks other rules
    return marked


def is_integer(value: object, least: int, greatest: int) -> bool:
    """Whether a value is an integer within bounds; a boolean is not."""
    return type(value) is int and least <= value <= greatest


def show_value(value: object) -> str:
    """A value of a user's document, truncated."""
    if isinstance(value, list | dict):
        return f"{type_name(value)} of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def type_name(value: object) -> str:
    """Type of a JSON value, in words."""
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    return names.get(type(value), "null" if value is None else "a number")

"""A validator of the part of JSON Schema (draft 2020-12) that the schema of JSON lines uses.

It was written from the standard alone. An unknown keyword is an error, so every requirement of the
schema is checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Schema = Mapping[str, Any]

_TEXTS = {"$schema", "title", "description", "$defs"}
_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
    ),
}


def is_valid(value: Any, schema: Schema, root: Schema) -> bool:
    """Whether a value is valid under a schema."""
    return all(
        _keeps(value, keyword, wanted, schema, root)
        for keyword, wanted in schema.items()
        if keyword not in _TEXTS
    )


def _keeps(value: Any, keyword: str, wanted: Any, schema: Schema, root: Schema) -> bool:
    if keyword == "$ref":
        return is_valid(value, root["$defs"][wanted.removeprefix("#/$defs/")], root)
    if keyword == "type":
        return any(_TYPES[name](value) for name in ([wanted] if type(wanted) is str else wanted))
    if keyword == "enum":
        return value in wanted
    if keyword == "oneOf":
        return sum(is_valid(value, one, root) for one in wanted) == 1
    if keyword == "anyOf":
        return any(is_valid(value, one, root) for one in wanted)
    if keyword == "not":
        return not is_valid(value, wanted, root)
    checks = _CHECKS[keyword]
    return not _TYPES[checks[0]](value) or checks[1](value, wanted, schema, root)


def _properties(value: Any, wanted: Any, schema: Schema, root: Schema) -> bool:
    del schema
    return all(is_valid(value[key], wanted[key], root) for key in value if key in wanted)


def _others(value: Any, wanted: Any, schema: Schema, root: Schema) -> bool:
    others = [key for key in value if key not in schema.get("properties", {})]
    return (
        not others if wanted is False else all(is_valid(value[key], wanted, root) for key in others)
    )


_Check = Callable[[Any, Any, Schema, Schema], bool]

_CHECKS: Mapping[str, tuple[str, _Check]] = {
    "required": ("object", lambda value, wanted, *_: set(wanted) <= set(value)),
    "properties": ("object", _properties),
    "additionalProperties": ("object", _others),
    "maxProperties": ("object", lambda value, wanted, *_: len(value) <= wanted),
    "propertyNames": (
        "object",
        lambda value, wanted, _, root: all(is_valid(key, wanted, root) for key in value),
    ),
    "items": (
        "array",
        lambda value, wanted, _, root: all(is_valid(entry, wanted, root) for entry in value),
    ),
    "minItems": ("array", lambda value, wanted, *_: len(value) >= wanted),
    "maxItems": ("array", lambda value, wanted, *_: len(value) <= wanted),
    "minimum": ("number", lambda value, wanted, *_: value >= wanted),
    "maximum": ("number", lambda value, wanted, *_: value <= wanted),
    "maxLength": ("string", lambda value, wanted, *_: len(value) <= wanted),
    "pattern": ("string", lambda value, wanted, *_: re.search(wanted, value) is not None),
}

"""One converter between dataclasses and plain dictionaries (TOML, JSON), by a table of fields.

`rules_of` derives the table of a dataclass from its type hints and the `converted` declaration of a
field. `to_dict` and `from_dict` use this table alone, so that other forms of the same dataclass,
such as a message, can use it too.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct

from vidscore_evaluators.errors import Fault, SpecificationError
from vidscore_evaluators.names import checked_name, name_advice

Read = Callable[[object], Any]
"""Converts a plain value; the message of its ValueError is what was expected."""

Write = Callable[[Any], Any]
"""Inverse of a `Read`."""

Converted = TypeVar("Converted")

_METADATA = "vidscore"
_LEADING = "vidscore.leading"
_SHOWN_RANGES = 20


class FieldRule(Struct, frozen=True):
    """How one field of a dataclass is converted.

    Attributes:
        name: Its name, and its key.
        read: Converts its plain value; for a list of objects, each of them.
        write: Inverse of `read`.
        default: Its default, at which the key is left out; `dataclasses.MISSING` if required.
        item: Dataclass of the objects of a list; None for other fields.
        unique: Fields that together identify one of these objects; messages show the last.
    """

    name: str
    read: Read
    write: Write
    default: Any
    item: type | None = None
    unique: tuple[str, ...] = ()


def converted(
    default: Any = dataclasses.MISSING,
    *,
    read: Read | None = None,
    write: Write | None = None,
    unique: tuple[str, ...] = (),
    leading: bool = False,
) -> Any:
    """Declare a dataclass field with its conversion; see `FieldRule`.

    A leading field is written before the others.
    """
    metadata = {
        _METADATA: {"read": read, "write": write, "unique": unique},
        _LEADING: leading,
    }
    if default == {}:
        return dataclasses.field(default_factory=dict, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@cache
def rules_of(kind: type) -> Mapping[str, FieldRule]:
    """The rules of a dataclass by key: leading fields first, then the others in order."""
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)
    ordered = sorted(fields, key=lambda field: not field.metadata.get(_LEADING))
    return MappingProxyType({field.name: _rule(field, hints[field.name]) for field in ordered})


def _rule(field: dataclasses.Field[Any], hint: Any) -> FieldRule:
    given = field.metadata.get(_METADATA, {})
    factory = field.default_factory
    default = field.default if factory is dataclasses.MISSING else factory()
    [item, *_] = typing.get_args(hint) or (None,)
    is_list = typing.get_origin(hint) is tuple and dataclasses.is_dataclass(item)
    return FieldRule(
        name=field.name,
        read=given.get("read") or checked_name,
        write=given.get("write") or _unchanged,
        default=default,
        item=item if is_list else None,
        unique=given.get("unique", ()),
    )


def to_dict(instance: object) -> dict[str, Any]:
    """A dataclass as dictionaries, lists, strings and numbers; defaults are left out.

    A value of a wrong type is left as it is, for `from_dict` to refuse.
    """
    found: dict[str, Any] = {}
    kind: type = instance.__class__
    for rule in rules_of(kind).values():
        value = getattr(instance, rule.name)
        if isinstance(value, np.ndarray) or value != rule.default:
            found[rule.name] = (
                rule.write(value) if rule.item is None else _entries(rule.item, value)
            )
    return found


def _entries(kind: type, value: object) -> object:
    if not isinstance(value, tuple | list):
        return value
    return [to_dict(entry) if isinstance(entry, kind) else entry for entry in value]


def from_dict(kind: type[Converted], document: object, source: str | None = None) -> Converted:
    """Inverse of `to_dict`.

    Args:
        kind: A dataclass.
        document: Its plain form.
        source: Name of the file that it came from, for messages.

    Raises:
        SpecificationError: With every unknown key, wrong value, missing key and repeated name.
    """
    reader = _Reader(source)
    fields = reader.read_object(kind, document, "")
    faults = reader.faults + reader.repeats
    if faults:
        raise SpecificationError(faults)
    return kind(**fields)


class _Reader:
    """Collects faults while objects are read; repeated names are listed last."""

    def __init__(self, source: str | None) -> None:
        self._source = source
        self.faults: list[Fault] = []
        self.repeats: list[Fault] = []

    def read_object(self, kind: type, document: object, path: str) -> dict[str, Any]:
        """The fields of an object, without those that have faults."""
        if not isinstance(document, Mapping):
            self._fault(path or "the document", _shown(document), "an object")
            return {}
        rules = rules_of(kind)
        read: dict[str, Any] = {}
        for key, value in document.items():
            place = f"{path}.{key}" if path else str(key)
            if key not in rules:
                self._fault(place, "unknown key", "", name_advice(str(key), rules))
                continue
            try:
                read[key] = self._value(rules[key], value, place)
            except ValueError as error:
                self._fault(place, _shown(value), str(error))
        for rule in rules.values():
            if rule.default is dataclasses.MISSING and rule.name not in document:
                self._fault(f"{path}.{rule.name}" if path else rule.name, "missing", "")
        return read

    def _value(self, rule: FieldRule, value: object, place: str) -> Any:
        if rule.item is None:
            return rule.read(value)
        if not isinstance(value, list):
            raise ValueError("an array")
        known = len(self.faults)
        entries = [
            self.read_object(rule.item, entry, f"{place}[{index}]")
            for index, entry in enumerate(value)
        ]
        self._find_repeats(rule, entries, place)
        return () if len(self.faults) > known else tuple(rule.item(**entry) for entry in entries)

    def _find_repeats(self, rule: FieldRule, entries: list[dict[str, Any]], place: str) -> None:
        if rule.item is None or not rule.unique:
            return
        rules = rules_of(rule.item)
        seen: set[tuple[Any, ...]] = set()
        for index, entry in enumerate(entries):
            name = tuple(entry.get(key, rules[key].default) for key in rule.unique)
            if name in seen and dataclasses.MISSING not in name:
                field = f"{place}[{index}].{rule.unique[-1]}"
                fault = Fault(_shown(name[-1]), "a unique name", source=self._source, field=field)
                self.repeats.append(fault)
            seen.add(name)

    def _fault(self, field: str, found: str, expected: str, advice: str | None = None) -> None:
        fault = Fault(found, expected, source=self._source, field=field, advice=advice)
        self.faults.append(fault)


def _unchanged(value: object) -> object:
    return value


def _shown(value: object) -> str:
    shown = value[:_SHOWN_RANGES].tolist() if isinstance(value, np.ndarray) else value
    return repr(shown)[:80]

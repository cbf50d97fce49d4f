"""Messages as JSON, by the rules of ProtoJSON; errors are a list of faults.

A field is read by both of its names, `frameNumbers` and `frame_numbers`, and written by the first.
Unlike protobuf's own reader, this one reads a column of numbers at once and finds every fault. Both
read the same text as the same message, which tests check. If a key is repeated in an object, the
last one counts.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import orjson
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from vidscore_evaluators.errors import Fault, InputError

MOST_FAULTS = 100
"""Maximum number of faults."""

MOST_QUOTED = 80
"""Maximum number of characters of a value that a fault quotes."""

_WELL_KNOWN = "google.protobuf."
_EXPECTED_OF = {
    "google.protobuf.Timestamp": 'a time such as "2026-05-01T12:00:00Z"',
    "google.protobuf.Duration": 'a time in seconds such as "90s"',
    "google.protobuf.FieldMask": 'fields such as "title,policy.visibility"',
    "google.protobuf.Struct": "an object",
}

_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: (-(1 << 31), (1 << 31) - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(1 << 63), (1 << 63) - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, (1 << 32) - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, (1 << 64) - 1),
}
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_MOST_DIGITS = 400
"""Maximum length of a number in a text."""


_RAISED_BY_PROTOBUF = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Further errors of protobuf's reader, for values of unexpected types."""


class _TooMany(Exception):  # noqa: N818 - it ends the search
    """The maximum number of faults was found."""


class _Wrong(Exception):  # noqa: N818 - it becomes a fault
    """A value that a field cannot have; carries the expectation."""


def read_json(data: bytes, message: Message, source: str | None = None) -> None:
    """Fill an empty message from its JSON.

    Args:
        data: The text, in UTF-8.
        message: The message.
        source: Place to name in faults.

    Raises:
        InputError: With every fault, up to a hundred.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _unreadable(f"invalid JSON at {place}: {error.msg[:MOST_QUOTED]}", source) from None
    read_value(value, message, source)


def read_value(value: Any, message: Message, source: str | None = None) -> None:
    """Fill an empty message from parsed JSON.

    Args:
        value: Dictionaries, lists, strings, numbers, booleans and None.
        message: The message.
        source: Place to name in faults.

    Raises:
        InputError: With every fault, up to a hundred.
    """
    reader = _Reader(source)
    try:
        reader.fill(message, value, "")
    except _TooMany:
        pass
    except RecursionError:
        raise _unreadable("JSON that is nested too deeply", source) from None
    if reader.faults:
        raise InputError(reader.faults)


def write_json(message: Message) -> bytes:
    """A message as one line of JSON, without a line end."""
    return orjson.dumps(json_format.MessageToDict(message))


def _unreadable(found: str, source: str | None) -> InputError:
    return InputError([Fault(found, "a JSON object", source=source)])


@cache
def _fields(kind: Descriptor) -> Mapping[str, FieldDescriptor]:
    """The fields of a message by both of their names."""
    by_name = {field.json_name: field for field in kind.fields}
    return by_name | {field.name: field for field in kind.fields}


class _Reader:
    """Fills messages, and collects faults.

    Args:
        source: Place to name in faults.

    Attributes:
        faults: The faults found.
    """

    def __init__(self, source: str | None) -> None:
        self.faults: list[Fault] = []
        self._source = source

    def fill(self, message: Message, value: Any, path: str) -> None:
        """Fill a message from its value."""
        kind = message.DESCRIPTOR
        if kind.full_name.startswith(_WELL_KNOWN):
            self._fill_well_known(message, value, path)
        elif not isinstance(value, dict):
            self._note(path, _quoted(value), "an object")
        else:
            self._fill_fields(message, value, path)

    def _fill_fields(self, message: Message, value: Mapping[str, Any], path: str) -> None:
        fields = _fields(message.DESCRIPTOR)
        given: dict[str, str] = {}
        for key, inner in value.items():
            field = fields.get(key)
            if field is None:
                name = message.DESCRIPTOR.name
                self._note(_below(path, key), "an unknown field", f"a field of {name}")
                continue
            place = _below(path, field.name)
            if field.name in given:
                self._note(place, f"{given[field.name]} and {key}", "the field by one of its names")
            given[field.name] = key
            if inner is None and not _takes_null(field):
                continue
            oneof = field.containing_oneof
            if oneof is not None and (other := message.WhichOneof(oneof.name)) is not None:
                if other != field.name:
                    self._note(place, f"{field.name} beside {other}", "one of the two")
                continue
            self._set(message, field, inner, place)

    def _set(self, message: Message, field: FieldDescriptor, value: Any, path: str) -> None:
        target = getattr(message, field.name)
        kind = field.message_type
        if kind is not None and kind.GetOptions().map_entry:
            self._fill_map(target, kind, value, path)
        elif field.is_repeated:
            if not isinstance(value, list):
                self._note(path, _quoted(value), "a list")
            elif kind is not None:
                for row, entry in enumerate(value):
                    self.fill(target.add(), entry, f"{path}[{row}]")
            elif _is_column(field, value):
                target.extend(value)
            else:
                self._extend(target, field, value, path)
        elif kind is not None:
            target.SetInParent()
            self.fill(target, value, path)
        else:
            with_value = self._scalar(field, value, path)
            if with_value is not None:
                setattr(message, field.name, with_value)

    def _extend(self, target: Any, field: FieldDescriptor, value: list[Any], path: str) -> None:
        for row, entry in enumerate(value):
            found = self._scalar(field, entry, f"{path}[{row}]")
            if found is not None:
                target.append(found)

    def _fill_map(self, target: Any, kind: Descriptor, value: Any, path: str) -> None:
        if not isinstance(value, dict):
            self._note(path, _quoted(value), "an object")
            return
        of_key, of_value = (kind.fields_by_name[name] for name in ("key", "value"))
        for key, entry in value.items():
            place = f"{path}[{_quoted(key)}]"
            name = self._scalar(of_key, key, place)
            if name is None:
                continue
            if of_value.message_type is not None:
                self.fill(target[name], entry, place)
            elif (found := self._scalar(of_value, entry, place)) is not None:
                target[name] = found

    def _fill_well_known(self, message: Message, value: Any, path: str) -> None:
        """Fill one of protobuf's own types, with protobuf's reader."""
        try:
            json_format.ParseDict(value, message)
            message.SerializeToString()
        except (json_format.Error, *_RAISED_BY_PROTOBUF):
            kind = message.DESCRIPTOR
            expected = _EXPECTED_OF.get(kind.full_name, f"a {kind.name}")
            self._note(path, _quoted(value), expected)

    def _scalar(self, field: FieldDescriptor, value: Any, path: str) -> Any:
        """A value converted for its field; None, with a fault, if that fails."""
        try:
            return _SCALARS[field.cpp_type](field, value)
        except _Wrong as wrong:
            self._note(path, _quoted(value), str(wrong))
            return None

    def _note(self, path: str, found: str, expected: str) -> None:
        self.faults.append(Fault(found, expected, source=self._source, field=path or None))
        if len(self.faults) == MOST_FAULTS:
            raise _TooMany


def _below(path: str, name: str) -> str:
    shown = name if name.isprintable() else repr(name)
    return f"{path}.{shown[:MOST_QUOTED]}" if path else shown[:MOST_QUOTED]


def _quoted(value: Any) -> str:
    """A value in JSON, truncated."""
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "an object"
    text = orjson.dumps(value).decode()
    return text if len(text) <= MOST_QUOTED else text[:MOST_QUOTED] + "..."


def _takes_null(field: FieldDescriptor) -> bool:
    """Whether null is a value of a field, rather than its absence."""
    kind = field.message_type
    return kind is not None and kind.full_name == "google.protobuf.Value"


def _is_column(field: FieldDescriptor, values: Sequence[Any]) -> bool:
    """Whether a list has only plain numbers that all fit the field."""
    kinds = set(map(type, values))
    if not kinds:
        return True
    if field.cpp_type in _INTEGERS:
        low, high = _INTEGERS[field.cpp_type]
        return kinds == {int} and low <= min(values) and max(values) <= high
    if field.cpp_type == FieldDescriptor.CPPTYPE_DOUBLE:
        return kinds <= {float, int} and all(map(math.isfinite, values))
    return False


# --- One value: converted for its field, or `_Wrong` with the expectation


def _integer(field: FieldDescriptor, value: Any) -> int:
    low, high = _INTEGERS[field.cpp_type]
    number = value
    if isinstance(value, str) and value.strip() == value and len(value) <= _MOST_DIGITS:
        number = _number_in(value)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
        raise _Wrong(f"an integer from {low} to {high}")
    return number


def _number_in(text: str) -> int | float | None:
    """The number in a text, in JSON's syntax; None if it is not a number."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, int | float) else None


def _double(field: FieldDescriptor, value: Any) -> float:
    number = value
    if isinstance(value, str) and value.strip() == value and len(value) <= _MOST_DIGITS:
        if value in _NOT_FINITE:
            return _NOT_FINITE[value]
        number = _number_in(value)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise _Wrong("a number")
    try:
        found = float(number)
        if field.cpp_type == FieldDescriptor.CPPTYPE_FLOAT:
            struct.pack("<f", found)
    except OverflowError:
        found = math.inf
    if math.isinf(found):
        raise _Wrong("a smaller number")
    return found


def _boolean(_: FieldDescriptor, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Wrong("true or false")
    return value


def _enum(field: Any, value: Any) -> int:
    values: Mapping[str, Any] = field.enum_type.values_by_name
    if isinstance(value, str) and value in values:
        return int(values[value].number)
    low, high = _INTEGERS[FieldDescriptor.CPPTYPE_INT32]
    whole = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
    if whole and low <= value <= high:
        return int(value)
    raise _Wrong("one of " + ", ".join(values))


def _text(field: FieldDescriptor, value: Any) -> str | bytes:
    if field.type == FieldDescriptor.TYPE_BYTES:
        return _bytes(value)
    if not isinstance(value, str):
        raise _Wrong("a string")
    return value


def _bytes(value: Any) -> bytes:
    try:
        text = value.rstrip("=").encode("ascii").translate(_TO_STANDARD)
        return base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except (AttributeError, UnicodeEncodeError, binascii.Error):
        raise _Wrong("bytes in base64") from None


_TO_STANDARD = bytes.maketrans(b"-_", b"+/")

_SCALARS: Mapping[int, Callable[[FieldDescriptor, Any], Any]] = {
    **dict.fromkeys(_INTEGERS, _integer),
    FieldDescriptor.CPPTYPE_DOUBLE: _double,
    FieldDescriptor.CPPTYPE_FLOAT: _double,
    FieldDescriptor.CPPTYPE_BOOL: _boolean,
    FieldDescriptor.CPPTYPE_ENUM: _enum,
    FieldDescriptor.CPPTYPE_STRING: _text,
}

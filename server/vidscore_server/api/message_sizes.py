"""Size limits of requests, and their size in memory, computed before they are read.

A request of 16 MiB can hold eight million empty messages, which take 400 MB, or as many objects of
JSON, which take several GB. So only methods whose requests carry frames, a specification, a backup
or a list of names accept large ones. The parts of large requests are counted in their bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor

from vidscore_evaluators.errors import LimitError
from vidscore_server.settings import Settings

VARINT, FIXED64, DELIMITED, START_GROUP, END_GROUP, FIXED32 = range(6)
"""Wire types of fields."""

SMALL_BYTES = 1 << 16
"""Requests up to this size take little memory, whatever they contain, and are not counted."""

PART_BYTES = 48
"""Memory of a message with few fields, a text, a single number, or an object of JSON."""

FIELD_BYTES = 8
"""Additional memory of a message per field."""

QUOTE_BYTES = 8
"""Memory of a text of JSON, per quotation mark."""

_LARGE = frozenset(
    {
        "vidscore.v1.AnnotationBatch",
        "vidscore.v1.BenchmarkSpec",
        "vidscore.v1.ImportBackupRequest",
        "vidscore.v1.RescoreSubmissionsRequest",
    }
)
"""Messages that may be large, as may requests that contain them."""

_BYTES_OF_VALUE = {
    FieldDescriptor.CPPTYPE_DOUBLE: 1,  # as many as in the message
    FieldDescriptor.CPPTYPE_FLOAT: 1,
    FieldDescriptor.CPPTYPE_INT64: 8,  # each has at least one byte
    FieldDescriptor.CPPTYPE_UINT64: 8,
    FieldDescriptor.CPPTYPE_STRING: 1,
}
_BYTES_OF_OTHER_VALUES = 4

MOST_DIGITS = 10
"""Maximum length of a number, in bytes."""


class SizeLimit(NamedTuple):
    """Maximum size of a request.

    Attributes:
        name: The setting of the limit.
        maximum_bytes: Its value.
    """

    name: str
    maximum_bytes: int

    def refusal(self, count_bytes: int) -> LimitError:
        """The error of a larger request."""
        return LimitError(f"a message of {count_bytes} bytes", self.name, self.maximum_bytes)


@cache
def method_descriptor(name: str) -> MethodDescriptor:
    """The descriptor of a method, by its full name."""
    service, _, method = name[1:].partition("/")
    return descriptor_pool.Default().FindServiceByName(service).methods_by_name[method]


def size_limit(method: str, settings: Settings) -> SizeLimit:
    """Size limit of the requests of a method.

    Args:
        method: Its full name; unknown methods take small requests.
        settings: The server's limits.
    """
    most = settings.maximum_message_bytes
    small = settings.maximum_small_message_bytes
    if small >= most or takes_large(method):
        return SizeLimit("maximum_message_bytes", most)
    return SizeLimit("maximum_small_message_bytes", small)


@cache
def takes_large(method: str) -> bool:
    """Whether a method accepts large requests."""
    try:
        return _may_be_large(method_descriptor(method).input_type)
    except KeyError:
        return False


def _may_be_large(kind: Descriptor) -> bool:
    inner = (field.message_type for field in kind.fields if field.message_type is not None)
    return kind.full_name in _LARGE or any(map(_may_be_large, inner))


class Weight(NamedTuple):
    """Upper bound on the memory of a message.

    Attributes:
        parts_bytes: Messages, texts and single numbers.
        columns_bytes: Numbers in columns.
    """

    parts_bytes: int
    columns_bytes: int


def weight_of(kind: Descriptor, data: bytes, most_bytes: int) -> Weight:
    """Upper bound on the memory of a read request; invalid bytes are left to its reader.

    Args:
        kind: Its type.
        data: The request.
        most_bytes: Stop counting if its parts take more.
    """
    scale = _Scale(data, most_bytes)
    with suppress(IndexError):
        scale.weigh(_shape(kind), 0, len(data))
    return Weight(scale.parts_bytes, scale.columns_bytes)


def json_weight(text: bytes) -> int:
    """Memory of the objects and texts of JSON as messages.

    Numbers are left out: their text is nearly as large.
    """
    objects = text.count(b"{") + text.count(b"[")
    return PART_BYTES * objects + QUOTE_BYTES * text.count(b'"')


class _Part(NamedTuple):
    """A field.

    Attributes:
        part_bytes: Memory of each value.
        factor: Memory of each byte of a value.
        fields: Fields of the value, if it is a message; otherwise None.
    """

    part_bytes: int
    factor: int
    fields: Mapping[int, _Part] | None


_UNKNOWN = _Part(PART_BYTES, 1, None)


@cache
def _shape(kind: Descriptor) -> Mapping[int, _Part]:
    """Fields of a message by their tags as delimited fields."""
    return {field.number << 3 | DELIMITED: _part(field) for field in kind.fields}


def _part(field: FieldDescriptor) -> _Part:
    kind = field.message_type
    if kind is not None:
        return _Part(PART_BYTES + FIELD_BYTES * len(kind.fields), 0, _shape(kind))
    return _Part(PART_BYTES, _BYTES_OF_VALUE.get(field.cpp_type, _BYTES_OF_OTHER_VALUES), None)


class _Scale:
    """Walks through the fields of a message (protobuf encoding), and sums up their memory."""

    def __init__(self, data: bytes, most_bytes: int) -> None:
        self.parts_bytes = 0
        self.columns_bytes = 0
        self._data = data
        self._most_bytes = most_bytes

    def weigh(self, shape: Mapping[int, _Part], place: int, end: int) -> None:
        """Add the fields from a place on; raises IndexError for invalid bytes."""
        data = self._data
        groups = 0  # open ones; none of our messages has groups, so their fields are unknown
        while place < end and self.parts_bytes <= self._most_bytes:
            tag = data[place]
            place += 1
            if tag >= 0x80:
                tag, place = varint(data, place - 1)
            if tag & 7 != DELIMITED:
                self.parts_bytes += PART_BYTES
                groups += (tag & 7 == START_GROUP) - (tag & 7 == END_GROUP)
                place = _after(data, place, tag & 7)
                continue
            size = data[place]
            place += 1
            if size >= 0x80:
                size, place = varint(data, place - 1)
            if place + size > end:
                raise IndexError
            part = _UNKNOWN if groups else shape.get(tag, _UNKNOWN)
            self.parts_bytes += part.part_bytes
            self.columns_bytes += part.factor * size
            if part.fields is not None and size:
                self.weigh(part.fields, place, place + size)
            place += size


def _after(data: bytes, place: int, wire_type: int) -> int:
    """The place after a single number, or after the tag of a group."""
    if wire_type in {START_GROUP, END_GROUP}:
        return place
    if wire_type == VARINT:
        return varint(data, place)[1]
    if wire_type in {FIXED32, FIXED64}:
        return place + (4 if wire_type == FIXED32 else 8)
    raise IndexError


def varint(data: bytes | memoryview, place: int) -> tuple[int, int]:
    """A number at a place of a message, and the place after it.

    Raises:
        IndexError: If there is none.
    """
    value = 0
    for digit in range(MOST_DIGITS):
        byte = data[place + digit]
        value |= (byte & 0x7F) << 7 * digit
        if byte < 0x80:
            return value, place + digit + 1
    raise IndexError

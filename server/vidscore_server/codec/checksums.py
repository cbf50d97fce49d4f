"""Whether batches arrived as they were sent, by the CRC-32 that their client may send with them.

It is of the batch's bytes as they stand in the message, so that it does not matter how which
library writes a message. That is why it is looked for before the message is read.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vidscore_server.errors import ContentDamagedError

VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5
"""Wire types of fields."""

_Field = tuple[int, int, memoryview]
"""Number, wire type and bytes of a field; of a number that is a varint, none."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Numbers of the fields of a request.

    Attributes:
        batch: The batch.
        checksum: Its CRC-32.
    """

    batch: int
    checksum: int


_APPEND = _Layout(batch=4, checksum=5)
_LAYOUTS: Mapping[str, _Layout] = {
    "/vidscore.v1.SubmissionService/AppendFrames": _APPEND,
    "/vidscore.v1.SubmissionService/AppendBatch": _APPEND,
    "/vidscore.v1.BenchmarkService/UploadTruth": _Layout(batch=2, checksum=4),
}


CHECKED_METHODS = frozenset(_LAYOUTS)
"""Methods whose requests may carry a checksum."""

MOST_FIELDS = 100
"""Fields that are looked through; no library writes a request in so many pieces."""

MOST_DIGITS = 10
"""Bytes of the longest number."""


def damage_of(method: str, data: bytes) -> ContentDamagedError | None:
    """What is wrong with the bytes of a request; None where they are as they were sent, or may be.

    Args:
        method: Its method, one of `CHECKED_METHODS`.
        data: The request; bytes that are no message are left to whoever reads them.
    """
    layout = _LAYOUTS[method]
    found, told = 0, None
    try:
        for number, kind, value in _fields(memoryview(data)):
            if number == layout.batch and kind == DELIMITED:
                found = zlib.crc32(
                    value, found
                )  # parts of a message that comes in parts are joined
            elif number == layout.checksum and kind == FIXED32:
                told = int.from_bytes(value, "little")
    except IndexError:
        return None
    if told is None or told == found:
        return None
    return ContentDamagedError(
        f"the frames did not arrive as they were sent: their CRC-32 is {found:08x}, and {told:08x} "
        "was sent with them; nothing of them is stored, send them again"
    )


def _fields(data: memoryview) -> Iterator[_Field]:
    """The fields of a message (protobuf encoding); an IndexError says that it is none."""
    place = count = 0
    while place < len(data):
        count += 1
        if count > MOST_FIELDS:
            raise IndexError
        tag, place = _varint(data, place)
        kind, size = tag & 7, 0
        if kind == VARINT:
            _, place = _varint(data, place)
        elif kind == DELIMITED:
            size, place = _varint(data, place)
        elif kind in {FIXED32, FIXED64}:
            size = 4 if kind == FIXED32 else 8
        else:
            raise IndexError
        if place + size > len(data):
            raise IndexError
        yield tag >> 3, kind, data[place : place + size]
        place += size


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    """A number, and the place after it."""
    value = 0
    for digit in range(MOST_DIGITS):
        byte = data[place + digit]
        value |= (byte & 0x7F) << 7 * digit
        if byte < 0x80:
            return value, place + digit + 1
    raise IndexError

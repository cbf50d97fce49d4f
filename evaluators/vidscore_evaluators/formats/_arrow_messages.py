"""Messages of Arrow's files: refused before pyarrow takes memory for what they only claim to hold.

A message says how long its body is and where each buffer of a column is in it; one that is packed
begins with the number of its bytes unpacked. pyarrow takes as much memory as they say. Messages are
flatbuffers, of which a few fields are read here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from msgspec import Struct, field

from vidscore_evaluators.formats._heads import ARROW_FILE_HEAD

_CONTINUED = 0xFFFFFFFF
_MOST_METADATA_BYTES = 64 << 20

_DICTIONARY, _BATCH = 2, 3
_BLOCK, _BUFFER = struct.Struct("<qi4xq"), struct.Struct("<qq")
_END = struct.Struct("<i6s")


class _Table(Struct, frozen=True):
    """A table of a flatbuffer: its fields are where its list of places says."""

    data: bytes
    at: int

    @classmethod
    def root(cls, data: bytes) -> _Table:
        return cls(data, _number("<I", data, 0))

    def place(self, field: int) -> int:
        """Where a field is; 0 where it is not given."""
        fields = self.at - _number("<i", self.data, self.at)
        at = 4 + 2 * field
        offset = _number("<H", self.data, fields + at) if at < self._field_end(fields) else 0
        return self.at + offset if offset else 0

    def _field_end(self, fields: int) -> int:
        return _number("<H", self.data, fields)

    def number(self, kind: str, field: int) -> int:
        place = self.place(field)
        return _number(kind, self.data, place) if place else 0

    def table(self, field: int) -> _Table | None:
        place = self.place(field)
        return _Table(self.data, place + _number("<I", self.data, place)) if place else None

    def structs(self, kind: struct.Struct, field: int) -> Iterator[tuple[int, ...]]:
        place = self.place(field)
        if not place:
            return
        place += _number("<I", self.data, place)
        count = _number("<I", self.data, place)
        if place + 4 + count * kind.size > len(self.data):
            raise ValueError("a list that is longer than its message")
        for row in range(count):
            yield kind.unpack_from(self.data, place + 4 + row * kind.size)


def _number(kind: str, data: bytes, at: int) -> int:
    if at < 0:
        raise ValueError("a place before its message")
    [value] = struct.unpack_from(kind, data, at)
    return int(value)


class Claims(Struct, frozen=True):
    """What a file or a stream claims to hold.

    Attributes:
        byte_count: Bytes of all columns, unpacked.
        row_counts: Rows of each record batch, in order.
    """

    byte_count: int
    row_counts: tuple[int, ...]


def check_messages(file: BinaryIO, byte_count: int, *, look_inside: bool) -> Claims:
    """Check what the messages of a file or a stream claim.

    Args:
        file: The file.
        byte_count: Its size.
        look_inside: Whether to look at what packed buffers say, each of which is a part of its own.

    Raises:
        ValueError: If a message goes beyond the file, or one of its buffers beyond it.
    """
    try:
        messages = _Messages(file, byte_count, look_inside=look_inside)
        file.seek(0)
        if file.read(len(ARROW_FILE_HEAD)) == ARROW_FILE_HEAD:
            for place in messages.places():
                messages.look_at(place)
        else:
            messages.look_at_stream()
        return Claims(messages.size, tuple(messages.row_counts))
    except struct.error:
        raise ValueError("a message that ends too early") from None


class _Messages(Struct):
    file: BinaryIO
    byte_count: int
    look_inside: bool
    end: int = 0
    """Where the message ends that was looked at last."""
    size: int = 0
    row_counts: list[int] = field(default_factory=list)

    def read(self, at: int, count: int) -> bytes:
        if not (0 <= at <= self.byte_count and 0 <= count <= self.byte_count - at):
            raise ValueError("a message that goes beyond the file")
        self.file.seek(at)
        return self.file.read(count)

    def places(self) -> list[int]:
        """Where the messages of a file are, as its end says."""
        tail = self.byte_count - _END.size
        length, head = _END.unpack(self.read(tail, _END.size))
        if head != ARROW_FILE_HEAD or not 0 < length <= _MOST_METADATA_BYTES:
            raise ValueError("no end of an Arrow file")
        footer = _Table.root(self.read(tail - length, length))
        return [block[0] for field in (2, 3) for block in footer.structs(_BLOCK, field)]

    def look_at_stream(self) -> None:
        at = 0
        while at < self.byte_count:
            self.look_at(at)
            if self.end == at:
                break
            at = self.end

    def look_at(self, at: int) -> None:
        """Count rows and bytes of the message at a place."""
        continued, length = struct.unpack("<II", self.read(at, 8))
        if continued != _CONTINUED:
            raise ValueError("a message of a version that is not read")
        if not length:
            self.end = at
            return
        if length > _MOST_METADATA_BYTES:
            raise ValueError("a message that says too much of itself")
        message = _Table.root(self.read(at + 8, length))
        body, size = at + 8 + length, message.number("<q", 3)
        if not 0 <= size <= self.byte_count - body:
            raise ValueError("a message that goes beyond the file")
        self.end = body + size
        header, kind = message.table(2), message.number("<B", 1)
        if kind == _DICTIONARY and header is not None:
            header = header.table(1)
        elif kind != _BATCH:
            return
        if header is not None:
            self.size += self._size_of_batch(header, body, size)
            if kind == _BATCH:
                self.row_counts.append(header.number("<q", 0))

    def _size_of_batch(self, batch: _Table, body: int, size: int) -> int:
        is_packed, total = bool(batch.place(3)), 0
        for offset, length in batch.structs(_BUFFER, 2):
            if not (0 <= offset <= size and 0 <= length <= size - offset):
                raise ValueError("a column that goes beyond its message")
            unpacked = -1
            if is_packed and length and self.look_inside:
                [unpacked] = struct.unpack("<q", self.read(body + offset, 8))
            total += max(length, unpacked)
        return total

"""Arrow's own files (IPC, Feather) and streams: the columns of generic CSV with types.

They have the same contents as Parquet files, and are read by the same code. `pyarrow`, which reads
and writes them, is an optional dependency.

A file states the position of each of its batches, so that single columns can be read; a stream is
read in order. Neither has statistics of its columns. Both contain columns as they are in memory,
where a wrong number may point anywhere: a batch is checked before it is used.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, BinaryIO

from msgspec import Struct, field

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.data_frames import data_frame
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._arrow_columns import checked_array
from vidscore_evaluators.formats._arrow_masks import COLUMNS as MASK_COLUMNS
from vidscore_evaluators.formats._column_files import DIVIDE, FileKind, OpenFile
from vidscore_evaluators.formats._column_reader import read_columns
from vidscore_evaluators.formats._column_writing import columns_of, groups_of, rows_of_frames
from vidscore_evaluators.formats._files import InputPath, is_folder
from vidscore_evaluators.formats._format import (
    CAPACITY,
    Format,
    WriteOptions,
    Writer,
    refuse_unnamed,
)
from vidscore_evaluators.formats._heads import (
    ARROW,
    ARROW_FILE_HEAD,
    ARROW_STREAM_HEAD,
    SUFFIXES,
    holds_files,
)
from vidscore_evaluators.formats.generic import refuse_own_names
from vidscore_evaluators.formats.source import Files
from vidscore_evaluators.names import counted
from vidscore_evaluators.parquet_tables import GROUP_ROWS, arrow_library


class ArrowFile(OpenFile):
    """An open Arrow file or stream."""

    def _open(self, source: Any, *, is_local: bool) -> None:
        self._check_size(source, is_local=is_local)
        source.seek(0)
        head = source.read(len(ARROW_FILE_HEAD))
        source.seek(0)
        self._source = source
        self._is_stream = head != ARROW_FILE_HEAD
        ipc = self._pa.ipc
        self._reader = ipc.open_stream(source) if self._is_stream else ipc.open_file(source)
        self.schema = self._reader.schema
        # This refuses names that are not UTF-8.
        _ = self.schema.names, [str(one) for one in self.schema.types]
        self._readers: dict[tuple[int, ...], Any] = {}

    def _check_size(self, source: Any, *, is_local: bool) -> None:
        claims = _check_messages(source, source.seek(0, io.SEEK_END), look_inside=is_local)
        self._row_counts, size = claims.row_counts, claims.byte_count
        most = self._limits.maximum_unpacked_bytes
        if size > most:
            expected = f"at most maximum_unpacked_bytes = {most}"
            found = f"columns of {size} bytes"
            raise InputError([Fault(found, expected, source=self.name, advice=DIVIDE)])

    def groups(self) -> Iterator[ArrowGroup]:
        """Its record batches."""
        if self._is_stream:
            while True:
                with self.readable():
                    batch = next(self._reader, None)
                if batch is None:
                    break
                yield ArrowGroup(self, None, batch.num_rows, batch)
            return
        for index, row_count in enumerate(self._row_counts):
            yield ArrowGroup(self, index, row_count)

    def batch(self, index: int, fields: tuple[int, ...], row_count: int) -> Any:
        """The columns at some places of a record batch of a file; no others are read."""
        with self.readable():
            if fields not in self._readers:
                options = self._pa.ipc.IpcReadOptions(included_fields=list(fields))
                self._readers[fields] = self._pa.ipc.open_file(self._source, options=options)
            found = self._readers[fields].get_batch(index)
            if found.num_rows != row_count:
                raise ValueError(f"{counted(found.num_rows, 'row')} in place of {row_count}")
            return found


class ArrowGroup(Struct, frozen=True):
    """A record batch of an open file.

    Attributes:
        of: The file.
        index: Its index; None in a stream.
        row_count: Number of its rows.
        read: The batch, in a stream.
    """

    of: ArrowFile
    index: int | None
    row_count: int
    read: Any = None

    def bounds(self, column: str) -> None:
        """None, since such files have no statistics."""

    def batches(self, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
        """Arrays of some columns, of at most `GROUP_ROWS` rows each."""
        whole = self.read
        if self.index is not None:
            fields = sorted(self.of.schema.get_field_index(name) for name in columns)
            whole = self.of.batch(self.index, tuple(fields), self.row_count)
        with self.of.readable():
            arrays = [checked_array(whole.column(name)) for name in columns]
        for first in range(0, max(1, self.row_count), GROUP_ROWS):
            yield [array.slice(first, GROUP_ROWS) for array in arrays]


_KIND = FileKind(ARROW, "an Arrow file", SUFFIXES[ARROW], ArrowFile)


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a path is a file or stream of Arrow, or a folder of such files or columns."""
    if is_folder(path):
        return holds_files(path, SUFFIXES[ARROW])
    return head.startswith(ARROW_FILE_HEAD) or bool(ARROW_STREAM_HEAD.match(head))


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    del options
    refuse_unnamed(annotations)
    refuse_own_names(annotations, MASK_COLUMNS)
    library = arrow_library()
    # A file has one dictionary per column, which every batch refers to.
    table = data_frame(columns_of(annotations.with_used_tables(), side), "pyarrow")
    file = io.BytesIO()
    with library.ipc.new_file(file, table.schema) as writer:
        for first, end in _rows_of_groups(annotations):
            for batch in table.slice(first, end - first).to_batches():
                writer.write_batch(batch)
    return {"": file.getvalue()}


def _rows_of_groups(annotations: Annotations) -> Iterator[tuple[int, int]]:
    """First row and end of each group."""
    ends = list(chain([0], rows_of_frames(annotations).cumsum().tolist()))
    return ((ends[first], ends[end]) for first, end in groups_of(annotations))


FORMAT = Format(
    name=ARROW,
    title="Arrow's files (IPC, Feather) and streams: the columns of generic CSV",
    read=lambda path, _side, options: read_columns(path, _KIND, options),
    writer=Writer(folder=False, capacity=CAPACITY, write=_write),
    matches=matches,
    by_sequence=True,
)


# --- messages --------------------------------------------------------------------------------
#
# False claims are refused before pyarrow allocates memory for them. A message states the length of
# its body and the place of each column buffer in it; a packed buffer begins with its unpacked size.
# pyarrow allocates as much memory as they state. Messages are flatbuffers, of which a few fields
# are read here.


_CONTINUED = 0xFFFFFFFF
_MOST_METADATA_BYTES = 64 << 20

_DICTIONARY, _BATCH = 2, 3
_BLOCK, _BUFFER = struct.Struct("<qi4xq"), struct.Struct("<qq")
_END = struct.Struct("<i6s")


class _Table(Struct, frozen=True):
    """A table of a flatbuffer; its table of offsets locates its fields."""

    data: bytes
    at: int

    @classmethod
    def root(cls, data: bytes) -> _Table:
        return cls(data, _number("<I", data, 0))

    def place(self, field: int) -> int:
        """Place of a field; 0 if it is not given."""
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


class _Claims(Struct, frozen=True):
    """Sizes that a file or a stream claims to have.

    Attributes:
        byte_count: Bytes of all columns, unpacked.
        row_counts: Rows of each record batch, in order.
    """

    byte_count: int
    row_counts: tuple[int, ...]


def _check_messages(file: BinaryIO, byte_count: int, *, look_inside: bool) -> _Claims:
    """Check the claims in the messages of a file or a stream.

    Args:
        file: The file.
        byte_count: Its size.
        look_inside: Whether to read the claims of packed buffers, each of which is a separate read.

    Raises:
        ValueError: If a message extends beyond the file, or one of its buffers beyond the message.
    """
    try:
        messages = _Messages(file, byte_count, look_inside=look_inside)
        file.seek(0)
        if file.read(len(ARROW_FILE_HEAD)) == ARROW_FILE_HEAD:
            for place in messages.places():
                messages.look_at(place)
        else:
            messages.look_at_stream()
        return _Claims(messages.size, tuple(messages.row_counts))
    except struct.error:
        raise ValueError("a message that ends too early") from None


class _Messages(Struct):
    file: BinaryIO
    byte_count: int
    look_inside: bool
    end: int = 0
    """End of the last message that was examined."""
    size: int = 0
    row_counts: list[int] = field(default_factory=list)

    def read(self, at: int, count: int) -> bytes:
        if not (0 <= at <= self.byte_count and 0 <= count <= self.byte_count - at):
            raise ValueError("a message that goes beyond the file")
        self.file.seek(at)
        return self.file.read(count)

    def places(self) -> list[int]:
        """Places of the messages of a file, from its footer."""
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

"""Arrow's own files (IPC, Feather) and streams: the columns of generic CSV with types.

They hold what files of Parquet hold, and are read by the same code. `pyarrow`, which reads and
writes them, is an extra.

A file says where each of its batches is, so that single columns of it can be read; of a stream all
comes in its order. Neither says what is in a column. Both hold columns as they lie in memory, where
a wrong number may lead anywhere: a batch is checked before it is used.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.data_frames import data_frame
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._arrow_columns import checked_array
from vidscore_evaluators.formats._arrow_masks import COLUMNS as MASK_COLUMNS
from vidscore_evaluators.formats._arrow_messages import check_messages
from vidscore_evaluators.formats._column_files import FileKind, OpenFile
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
from vidscore_evaluators.parquet_tables import GROUP_ROWS, arrow_library


class ArrowFile(OpenFile):
    """A file or a stream of Arrow that is open."""

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
        # Names that are no UTF-8 are refused here.
        _ = self.schema.names, [str(one) for one in self.schema.types]
        self._readers: dict[tuple[int, ...], Any] = {}

    def _check_size(self, source: Any, *, is_local: bool) -> None:
        claims = check_messages(source, source.seek(0, io.SEEK_END), look_inside=is_local)
        self._row_counts, size = claims.row_counts, claims.byte_count
        most = self._limits.maximum_unpacked_bytes
        if size > most:
            expected = f"at most maximum_unpacked_bytes = {most}"
            raise InputError([Fault(f"columns of {size} bytes", expected, source=self.name)])

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
            if row_count < 0:
                raise InputError([Fault(f"{row_count} rows", "0 or more", source=self.name)])
            yield ArrowGroup(self, index, row_count)

    def batch(self, index: int, fields: tuple[int, ...], row_count: int) -> Any:
        """The columns at these places of a record batch of a file; no other is read."""
        with self.readable():
            if fields not in self._readers:
                options = self._pa.ipc.IpcReadOptions(included_fields=list(fields))
                self._readers[fields] = self._pa.ipc.open_file(self._source, options=options)
            found = self._readers[fields].get_batch(index)
            if found.num_rows != row_count:
                raise ValueError(f"{found.num_rows} rows in place of {row_count}")
            return found


class ArrowGroup(Struct, frozen=True):
    """A record batch of a file that is open.

    Attributes:
        of: The file.
        index: Its place; None in a stream.
        row_count: How many rows it has.
        read: The batch, in a stream.
    """

    of: ArrowFile
    index: int | None
    row_count: int
    read: Any = None

    def bounds(self, column: str) -> None:
        """None, for such files have no statistics."""

    def batches(self, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
        """Arrays of these columns, of at most `GROUP_ROWS` rows each."""
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
    # A file has one dictionary for each column, and each batch refers to it.
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

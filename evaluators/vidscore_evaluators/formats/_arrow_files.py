"""Files of Arrow's own form (IPC, Feather), whole files and streams, by their record batches.

A file says where each of its batches is, so that single columns of it can be read; of a stream all
comes in its order. Neither says what is in a column. Both hold columns as they lie in memory, where
a wrong number may lead anywhere: a batch is checked before it is used.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._arrow_columns import checked_array
from vidscore_evaluators.formats._arrow_messages import check_messages
from vidscore_evaluators.formats._column_files import FileKind, OpenFile
from vidscore_evaluators.formats._heads import ARROW, ARROW_FILE_HEAD, SUFFIXES
from vidscore_evaluators.parquet_tables import GROUP_ROWS


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


KIND = FileKind(ARROW, "an Arrow file", SUFFIXES[ARROW], ArrowFile)

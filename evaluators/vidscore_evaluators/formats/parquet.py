"""Parquet: the columns of generic CSV with types, one file or a folder of files.

`pyarrow`, which reads and writes such files, is an optional dependency.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.formats._arrow_columns import checked_array
from vidscore_evaluators.formats._arrow_masks import COLUMNS as MASK_COLUMNS
from vidscore_evaluators.formats._column_files import FileKind, OpenFile
from vidscore_evaluators.formats._column_reader import read_columns
from vidscore_evaluators.formats._column_writing import columns_of, groups_of
from vidscore_evaluators.formats._files import InputPath, is_folder
from vidscore_evaluators.formats._format import (
    CAPACITY,
    Format,
    WriteOptions,
    Writer,
    refuse_unnamed,
)
from vidscore_evaluators.formats._heads import PARQUET, PARQUET_HEAD, SUFFIXES, holds_files
from vidscore_evaluators.formats.generic import refuse_own_names
from vidscore_evaluators.formats.source import Files
from vidscore_evaluators.parquet_tables import GROUP_ROWS, ParquetTables, parquet_library

_METADATA_BYTES = 100 << 20
"""Limit on the length of a text, and of a list, in the metadata of a file."""


class ParquetFile(OpenFile):
    """An open Parquet file."""

    def _open(self, source: Any, *, is_local: bool) -> None:
        self._source = source
        self._bounds: dict[str, Any] = {
            "thrift_string_size_limit": _METADATA_BYTES,
            "thrift_container_size_limit": _METADATA_BYTES,
            # Elsewhere, adjacent columns are fetched with one request.
            "pre_buffer": not is_local,
        }
        file = parquet_library().ParquetFile(source, **self._bounds)
        self.metadata = file.metadata
        self.schema = file.schema_arrow

    @cached_property
    def rows(self) -> Any:
        """The `pyarrow.parquet.ParquetFile` that rows are read with; most files do not need one.

        Repeated strings are held once, as dictionaries.
        """
        types = self._pa.types
        texts = [
            one.name
            for one in self.schema
            if types.is_string(one.type) or types.is_binary(one.type)
        ]
        bounds = self._bounds | {"metadata": self.metadata, "read_dictionary": texts}
        return parquet_library().ParquetFile(self._source, **bounds)

    def groups(self) -> Iterator[ParquetGroup]:
        """Its row groups."""
        for index in range(self.metadata.num_row_groups):
            with self.readable():
                count = self.metadata.row_group(index).num_rows
            yield ParquetGroup(self, index, count)


class ParquetGroup(Struct, frozen=True):
    """A row group of an open file."""

    of: ParquetFile
    index: int
    row_count: int

    def bounds(self, column: str) -> tuple[Any, Any] | None:
        """Minimum and maximum of a column, from its statistics; None if these are missing."""
        with self.of.readable():
            row_group = self.of.metadata.row_group(self.index)
            chunks = (row_group.column(index) for index in range(row_group.num_columns))
            chunk = next((one for one in chunks if one.path_in_schema == column), None)
            found = None if chunk is None else chunk.statistics
            if found is None or not (found.has_min_max and found.has_null_count):
                return None
            if found.null_count:
                return None
            return found.min, found.max

    def batches(self, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
        """Arrays of some columns, of at most `GROUP_ROWS` rows each."""
        with self.of.readable():
            batches = self.of.rows.iter_batches(
                batch_size=GROUP_ROWS, row_groups=[self.index], columns=list(columns)
            )
        while True:
            with self.of.readable():
                batch = next(batches, None)
                if batch is None:
                    return
                # pyarrow does not check the numbers of texts in their dictionary.
                arrays = [checked_array(batch.column(name)) for name in columns]
            yield arrays


_KIND = FileKind(PARQUET, "a Parquet file", SUFFIXES[PARQUET], ParquetFile)


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a path is a Parquet file, or a folder of files or columns of Parquet."""
    if is_folder(path):
        return holds_files(path, SUFFIXES[PARQUET])
    return head.startswith(PARQUET_HEAD)


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    del options
    refuse_unnamed(annotations)
    refuse_own_names(annotations, MASK_COLUMNS)
    file = io.BytesIO()
    tables = ParquetTables(file)
    for first, end in groups_of(annotations):
        tables.write(columns_of(annotations.frame_run(first, end).with_used_tables(), side))
    tables.finish()
    return {"": file.getvalue()}


FORMAT = Format(
    name=PARQUET,
    title="Parquet: the columns of generic CSV, one file or a folder of files",
    read=lambda path, _side, options: read_columns(path, _KIND, options),
    writer=Writer(folder=False, capacity=CAPACITY, write=_write),
    matches=matches,
    by_sequence=True,
)

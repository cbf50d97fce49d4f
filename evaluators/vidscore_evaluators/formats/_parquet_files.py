"""Files of Parquet: what they say of themselves, and their row groups in bounded batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._column_files import FileKind, OpenFile
from vidscore_evaluators.formats._heads import PARQUET
from vidscore_evaluators.parquet_tables import GROUP_ROWS, parquet_library

_METADATA_BYTES = 100 << 20
"""Longest text, and most entries of a list, in the metadata of a file."""


class ParquetFile(OpenFile):
    """A file of Parquet that is open."""

    def _open(self, source: Any, *, is_local: bool) -> None:
        bounds: dict[str, Any] = {
            "thrift_string_size_limit": _METADATA_BYTES,
            "thrift_container_size_limit": _METADATA_BYTES,
        }
        # Elsewhere, columns that lie side by side come with one request.
        bounds["pre_buffer"] = not is_local
        parquet = parquet_library()
        file = parquet.ParquetFile(source, **bounds)
        # As dictionaries, texts that repeat are held once.
        types = self._pa.types
        texts = [
            one.name
            for one in file.schema_arrow
            if types.is_string(one.type) or types.is_binary(one.type)
        ]
        bounds |= {"metadata": file.metadata, "read_dictionary": texts}
        self.file = parquet.ParquetFile(source, **bounds)
        self.schema = self.file.schema_arrow

    def groups(self) -> Iterator[ParquetGroup]:
        """Its row groups."""
        for index in range(self.file.metadata.num_row_groups):
            with self.readable():
                count = self.file.metadata.row_group(index).num_rows
            if count < 0:
                raise InputError([Fault(f"{count} rows", "", source=self.name)])
            yield ParquetGroup(self, index, count)


@dataclass(frozen=True)
class ParquetGroup:
    """A row group of a file that is open."""

    of: ParquetFile
    index: int
    row_count: int

    def bounds(self, column: str) -> tuple[Any, Any] | None:
        """Least and greatest value of a column, by its statistics; None where they do not say."""
        with self.of.readable():
            row_group = self.of.file.metadata.row_group(self.index)
            chunks = (row_group.column(index) for index in range(row_group.num_columns))
            chunk = next((one for one in chunks if one.path_in_schema == column), None)
            found = None if chunk is None else chunk.statistics
            if found is None or not found.has_min_max or found.null_count:
                return None
            return found.min, found.max

    def batches(self, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
        """Arrays of these columns, of at most `GROUP_ROWS` rows each."""
        with self.of.readable():
            batches = self.of.file.iter_batches(
                batch_size=GROUP_ROWS, row_groups=[self.index], columns=list(columns)
            )
        while True:
            with self.of.readable():
                batch = next(batches, None)
                arrays = None if batch is None else [batch.column(name) for name in columns]
            if arrays is None:
                return
            yield arrays


KIND = FileKind(PARQUET, "a Parquet file", (".parquet",), ParquetFile)

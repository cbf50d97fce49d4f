"""Parquet: tables of named columns, written row group by row group; pyarrow is an extra."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from vidscore_evaluators.data_frames import Column, data_frame
from vidscore_evaluators.errors import MissingExtraError

GROUP_ROWS = 1 << 16
"""Maximum number of rows of a row group."""


def arrow_library() -> Any:
    """The module `pyarrow`.

    Raises:
        MissingExtraError: If it is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("Parquet and Arrow files", "pyarrow", "parquet") from None
    return pa


def parquet_library() -> Any:
    """The module `pyarrow.parquet`.

    Raises:
        MissingExtraError: If pyarrow is not installed.
    """
    arrow_library()
    from pyarrow import parquet  # noqa: PLC0415 - an extra

    return parquet


class ParquetTables:
    """Writes tables of the same columns to a file, one by one; strings are dictionaries."""

    def __init__(self, file: IO[bytes]) -> None:
        """Write to an open file.

        Raises:
            MissingExtraError: If pyarrow is not installed.
        """
        self._file = file
        self._parquet = parquet_library()
        self._writer: Any = None

    def write(self, columns: Mapping[str, Column]) -> None:
        """Write rows as one row group of at most `GROUP_ROWS` rows."""
        table = data_frame(columns, "pyarrow")
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table, row_group_size=GROUP_ROWS)

    def finish(self) -> None:
        """Write the end of the file, if anything was written."""
        if self._writer is not None:
            self._writer.close()

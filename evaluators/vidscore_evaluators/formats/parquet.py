"""Parquet: the columns of generic CSV with types, one file or a folder of files.

`pyarrow`, which reads and writes such files, is an extra.
"""

from __future__ import annotations

import io

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.formats._column_reader import read_columns
from vidscore_evaluators.formats._column_writing import CAPACITY, columns_of, groups_of
from vidscore_evaluators.formats._files import InputPath, is_folder
from vidscore_evaluators.formats._format import Format, WriteOptions, Writer, refuse_unnamed
from vidscore_evaluators.formats._heads import PARQUET, PARQUET_HEAD, SUFFIXES, holds_files
from vidscore_evaluators.formats._parquet_files import KIND
from vidscore_evaluators.formats.source import Files
from vidscore_evaluators.parquet_tables import ParquetTables


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a path is a Parquet file, or a folder of files or columns of Parquet."""
    if is_folder(path):
        return holds_files(path, SUFFIXES[PARQUET])
    return head.startswith(PARQUET_HEAD)


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    del options
    refuse_unnamed(annotations)
    file = io.BytesIO()
    tables = ParquetTables(file)
    for first, end in groups_of(annotations):
        tables.write(columns_of(annotations.frame_run(first, end).with_used_tables(), side))
    tables.finish()
    return {"": file.getvalue()}


FORMAT = Format(
    name=PARQUET,
    title="Parquet: the columns of generic CSV, one file or a folder of files",
    read=lambda path, _side, options: read_columns(path, KIND, options),
    writer=Writer(folder=False, capacity=CAPACITY, write=_write),
    matches=matches,
    by_sequence=True,
)

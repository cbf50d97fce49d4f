"""Arrow's own files (IPC, Feather) and streams: the columns of generic CSV with types.

They hold what files of Parquet hold, and are read by the same code. `pyarrow`, which reads and
writes them, is an extra.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import chain

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.data_frames import data_frame
from vidscore_evaluators.formats._arrow_files import KIND
from vidscore_evaluators.formats._column_reader import read_columns
from vidscore_evaluators.formats._column_writing import (
    CAPACITY,
    columns_of,
    groups_of,
    rows_of_frames,
)
from vidscore_evaluators.formats._files import InputPath, is_folder
from vidscore_evaluators.formats._format import Format, WriteOptions, Writer, refuse_unnamed
from vidscore_evaluators.formats._heads import (
    ARROW,
    ARROW_FILE_HEAD,
    ARROW_STREAM_HEAD,
    SUFFIXES,
    holds_files,
)
from vidscore_evaluators.formats.source import Files
from vidscore_evaluators.parquet_tables import arrow_library


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a path is a file or stream of Arrow, or a folder of such files or columns."""
    if is_folder(path):
        return holds_files(path, SUFFIXES[ARROW])
    return head.startswith(ARROW_FILE_HEAD) or bool(ARROW_STREAM_HEAD.match(head))


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    del options
    refuse_unnamed(annotations)
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
    read=lambda path, _side, options: read_columns(path, KIND, options),
    writer=Writer(folder=False, capacity=CAPACITY, write=_write),
    matches=matches,
    by_sequence=True,
)

"""Files of Parquet: which there are, and their row groups, read in batches of bounded size.

A folder holds files of the same columns. Folders named ``domain=X`` and ``sequence=Y`` stand for
these columns, as engines write them that cut a table by columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import unquote

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import (
    InputPath,
    is_folder,
    read_bytes,
    require_file,
    visible_entries,
)
from vidscore_evaluators.formats._table import EXPECTED_STRING, parse_string
from vidscore_evaluators.formats._tree_paths import TreePath
from vidscore_evaluators.formats.source import ReadLimits, listed_names, show_text
from vidscore_evaluators.parquet_tables import GROUP_ROWS, parquet_library
from vidscore_evaluators.report import ReportWarning

SUFFIX = ".parquet"
PARTITIONED = ("domain", "sequence")
"""Columns that folders may stand for."""

EXPECTED = "a Parquet file, or a folder of such files"

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_METADATA_BYTES = 100 << 20
"""Longest text, and most entries of a list, in the metadata of a file."""

_BYTES_PER_VALUE = 8
_SHOWN_CHARACTERS = 200


@dataclass(frozen=True)
class DataFile:
    """A file of a side.

    Attributes:
        path: Where it is.
        partition: Columns that its folders stand for, with their values.
    """

    path: InputPath
    partition: Mapping[str, str] = field(default_factory=dict)


def find_files(
    root: InputPath, limits: ReadLimits
) -> tuple[list[DataFile], tuple[ReportWarning, ...]]:
    """The files of a side, in order of their names, and a warning about what else is there.

    Raises:
        InputError: With every fault: no file, too many, a folder that stands for no column.
    """
    if not is_folder(root):
        return [DataFile(root)], ()
    found: list[DataFile] = []
    others: list[str] = []
    faults: list[Fault] = []
    _walk(root, {}, found, others, faults)
    if not found and not faults:
        faults.append(Fault(f"no {SUFFIX} file", EXPECTED, source=str(root)))
    if len(found) > limits.maximum_files:
        expected = f"at most maximum_files = {limits.maximum_files}"
        faults.append(Fault(f"{len(found)} files", expected, source=str(root)))
    if len({frozenset(file.partition) for file in found}) > 1:
        expected = "all of them in folders of the same columns"
        faults.append(Fault("files in folders of different columns", expected, source=str(root)))
    if faults:
        raise InputError(faults)
    if not others:
        return found, ()
    message = f"no {SUFFIX} files, left alone: {listed_names(others)}"
    return found, (ReportWarning("ignored_files", message, len(others)),)


def _walk(
    folder: InputPath,
    partition: Mapping[str, str],
    found: list[DataFile],
    others: list[str],
    faults: list[Fault],
) -> None:
    for entry in visible_entries(folder):
        if not is_folder(entry):
            if entry.suffix == SUFFIX:
                found.append(DataFile(entry, partition))
            elif not entry.name.startswith("_"):  # `_SUCCESS` and the like, of engines
                others.append(entry.name)
            continue
        column, equals, value = entry.name.partition("=")
        if not equals:
            others.append(entry.name)
            continue
        text = "" if value == _NO_VALUE else parse_string(unquote(value))
        if column not in PARTITIONED or column in partition:
            expected = " or ".join(f"{name}=..." for name in PARTITIONED)
            advice = "each once; give the folder of the part that is meant"
            faults.append(
                Fault(f"the folder {entry.name[:80]}", expected, str(folder), advice=advice)
            )
        elif text is None:
            faults.append(Fault(show_text(value), EXPECTED_STRING, source=str(entry), field=column))
        else:
            _walk(entry, {**partition, column: text}, found, others, faults)


class OpenFile:
    """A file of Parquet that is open; use it as a context.

    Attributes:
        name: Its name in messages.
        metadata: Its `pyarrow.parquet.FileMetaData`.
        schema: Its `pyarrow.Schema`.
    """

    def __init__(self, path: InputPath, limits: ReadLimits) -> None:
        """Read what the file says of itself.

        Raises:
            InputError: If it is no such file, or too large.
            MissingExtraError: If pyarrow is not installed.
        """
        self.name = str(path)
        self._limits = limits
        self._parquet = parquet_library()
        self._stack = ExitStack()
        try:
            with self._readable():
                self._file = self._opened(path)
                self.metadata: Any = self._file.metadata
                self.schema: Any = self._file.schema_arrow
        except InputError:
            self._stack.close()
            raise

    def _opened(self, path: InputPath) -> Any:
        import pyarrow as pa  # noqa: PLC0415 - an extra

        require_file(path, EXPECTED, self._limits)
        file = path.opened() if isinstance(path, TreePath) else path.open("rb")
        if file is None:
            source: Any = pa.BufferReader(read_bytes(path, EXPECTED, self._limits))
        else:
            source = self._stack.enter_context(file)
        bounds: dict[str, Any] = {
            "thrift_string_size_limit": _METADATA_BYTES,
            "thrift_container_size_limit": _METADATA_BYTES,
        }
        # Elsewhere, columns that lie side by side come with one request.
        bounds["pre_buffer"] = isinstance(path, TreePath)
        file = self._parquet.ParquetFile(source, **bounds)
        # As dictionaries, texts that repeat are held once.
        types = pa.types
        texts = [
            one.name
            for one in file.schema_arrow
            if types.is_string(one.type) or types.is_binary(one.type)
        ]
        bounds |= {"metadata": file.metadata, "read_dictionary": texts}
        return self._parquet.ParquetFile(source, **bounds)

    def __enter__(self) -> Self:
        """The file itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._stack.close()

    def first_rows(self) -> list[int]:
        """Place of the first row of each row group, from 0, and the number of all rows.

        Raises:
            InputError: If a number is none that there can be.
        """
        firsts = [0]
        with self._readable():
            for group in range(self.metadata.num_row_groups):
                count = self.metadata.row_group(group).num_rows
                if count < 0:
                    raise InputError([Fault(f"{count} rows", "", source=self.name)])
                firsts.append(firsts[-1] + count)
        return firsts

    def statistics(self, group: int, column: str) -> tuple[Any, Any] | None:
        """Least and greatest value of a column in a row group; None where that is not known."""
        with self._readable():
            row_group = self.metadata.row_group(group)
            chunks = (row_group.column(index) for index in range(row_group.num_columns))
            chunk = next((one for one in chunks if one.path_in_schema == column), None)
            found = None if chunk is None else chunk.statistics
            if found is None or not found.has_min_max or found.null_count:
                return None
            return found.min, found.max

    def batches(self, group: int, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
        """Arrays of these columns of a row group, of at most `GROUP_ROWS` rows each.

        Raises:
            InputError: If the file is broken.
        """
        with self._readable():
            options = {"batch_size": GROUP_ROWS, "row_groups": [group], "columns": list(columns)}
            batches = self._file.iter_batches(**options)
        while True:
            with self._readable():
                batch = next(batches, None)
                arrays = None if batch is None else [batch.column(name) for name in columns]
            if arrays is None:
                return
            yield arrays

    def no_rows(self, columns: Sequence[str]) -> Sequence[Any]:
        """Arrays of these columns without a row."""
        table = self.schema.empty_table()
        return [table.column(name).combine_chunks() for name in columns]

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Errors of pyarrow as faults of the file."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        try:
            yield
        except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
            first = (str(error).splitlines() or [""])[0][:_SHOWN_CHARACTERS]
            found = f"a Parquet file that cannot be read ({first})"
            raise InputError([Fault(found, "a whole one", source=self.name)]) from None


def check_rows(rows: int, columns: int, source: str, limits: ReadLimits) -> None:
    """Refuse more rows than should be held; a small file can stand for very many.

    Raises:
        InputError: If there are too many.
    """
    size = rows * columns * _BYTES_PER_VALUE
    if size > limits.maximum_unpacked_bytes:
        expected = f"at most maximum_unpacked_bytes = {limits.maximum_unpacked_bytes}"
        advice = "score it in shards, which read only their sequences"
        found = f"{rows} rows of {columns} columns, {size} bytes"
        raise InputError([Fault(found, expected, source=source, advice=advice)])

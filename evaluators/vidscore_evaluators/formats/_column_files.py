"""Files of typed columns: finding them, and the interface of an open one.

A folder has files with the same columns. Subfolders named ``domain=X`` and ``sequence=Y`` stand for
these columns, as database engines write partitioned tables.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol, Self
from urllib.parse import unquote

from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import (
    InputPath,
    is_folder,
    read_bytes,
    require_file,
    visible_entries,
)
from vidscore_evaluators.formats._heads import PARTITIONED
from vidscore_evaluators.formats._table import EXPECTED_STRING, parse_string
from vidscore_evaluators.formats._tree_paths import TreePath
from vidscore_evaluators.formats.source import ReadLimits, listed_names, show_text
from vidscore_evaluators.names import counted
from vidscore_evaluators.parquet_tables import arrow_library
from vidscore_evaluators.report import ReportWarning

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_BYTES_PER_VALUE = 8
_SHOWN_CHARACTERS = 200

DIVIDE = "divide it: the files of a folder are read as one side"
"""Advice on a file that is too large."""


class DataFile(Struct, frozen=True):
    """A file of a side.

    Attributes:
        path: Its path.
        partition: Columns and values from the names of its folders.
    """

    path: InputPath
    partition: Mapping[str, str] = field(default_factory=dict)


class RowGroup(Protocol):
    """Neighbouring rows of a file, which can be read without the others."""

    @property
    def row_count(self) -> int:
        """Number of rows."""
        ...

    def bounds(self, column: str) -> tuple[Any, Any] | None:
        """Minimum and maximum of a column; None if unknown without reading."""
        ...

    def batches(self, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
        """Arrays of some columns, with a bounded number of rows each.

        Raises:
            InputError: If the file is broken.
        """
        ...


class OpenFile(ABC):
    """An open file; use it as a context manager.

    Attributes:
        name: Its name in messages.
        schema: Its `pyarrow.Schema`.
    """

    schema: Any

    def __init__(self, path: InputPath, limits: ReadLimits, kind: str) -> None:
        """Read the file's metadata.

        Args:
            path: Its path.
            limits: Limits of its size.
            kind: The expected kind, for error messages.

        Raises:
            InputError: If it is not such a file, or too large.
            MissingExtraError: If pyarrow is not installed.
        """
        self.name = str(path)
        self._limits = limits
        self._kind = kind
        self._stack = ExitStack()
        self._pa = arrow_library()
        try:
            with self.readable():
                require_file(path, kind, limits, DIVIDE)
                self._open(self._bytes_of(path), is_local=not isinstance(path, TreePath))
        except InputError:
            self._stack.close()
            raise

    @abstractmethod
    def _open(self, source: Any, *, is_local: bool) -> None:
        """Read and keep the file's metadata.

        Args:
            source: Its bytes, as an input of pyarrow.
            is_local: Whether every part of it is equally fast to read.
        """

    @abstractmethod
    def groups(self) -> Iterator[RowGroup]:
        """All rows, in order; finish a group before taking the next.

        Raises:
            InputError: If the file is broken.
        """

    def _bytes_of(self, path: InputPath) -> Any:
        file = path.opened() if isinstance(path, TreePath) else path.open("rb")
        if file is None:
            return self._pa.BufferReader(read_bytes(path, self._kind, self._limits))
        return self._stack.enter_context(file)

    def __enter__(self) -> Self:
        """The file itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._stack.close()

    def no_rows(self, columns: Sequence[str]) -> Sequence[Any]:
        """Empty arrays of some columns."""
        table = self.schema.empty_table()
        return [table.column(name).combine_chunks() for name in columns]

    @contextmanager
    def readable(self) -> Iterator[None]:
        """Turn errors of pyarrow into faults of the file."""
        try:
            yield
        except MemoryError:  # also raised by Arrow, though the file may be intact
            raise
        except (self._pa.ArrowException, OSError, ValueError, OverflowError) as error:
            first = (str(error).splitlines() or [""])[0][:_SHOWN_CHARACTERS]
            found = f"{self._kind} that cannot be read ({first})"
            raise InputError([Fault(found, "a complete one", source=self.name)]) from None


class FileKind(Struct, frozen=True):
    """One kind of file with typed columns.

    Attributes:
        format_name: Name of its format.
        title: Description of such a file, for error messages.
        suffixes: Suffixes of its files in folders; the first is recommended.
        open: Opens a file.
    """

    format_name: str
    title: str
    suffixes: tuple[str, ...]
    open: type[OpenFile]

    @property
    def called(self) -> str:
        """The suffixes, in words."""
        return " or ".join(self.suffixes)

    def opened(self, path: InputPath, limits: ReadLimits) -> OpenFile:
        """Open a file.

        Raises:
            InputError: If it is not such a file, or too large.
            MissingExtraError: If pyarrow is not installed.
        """
        return self.open(path, limits, self.title)


def find_files(
    root: InputPath, kind: FileKind, limits: ReadLimits
) -> tuple[list[DataFile], tuple[ReportWarning, ...]]:
    """The files of a side, sorted by name, and a warning about other files there.

    Raises:
        InputError: With every fault: no file, too many, a folder that stands for no column.
    """
    if not is_folder(root):
        return [DataFile(root)], ()
    walk = _Walk(kind)
    walk.enter(root, {})
    found, faults = walk.found, walk.faults
    if not found and not faults:
        expected = f"{kind.title}, or a folder of such files"
        faults.append(Fault(f"no {kind.called} file", expected, source=str(root)))
    if len(found) > limits.maximum_files:
        expected = f"at most maximum_files = {limits.maximum_files}"
        advice = "join files: one may have many sequences"
        faults.append(Fault(f"{len(found)} files", expected, source=str(root), advice=advice))
    if len({frozenset(file.partition) for file in found}) > 1:
        expected = "all of them in folders of the same columns"
        faults.append(Fault("files in folders of different columns", expected, source=str(root)))
    if faults:
        raise InputError(faults)
    if not walk.others:
        return found, ()
    message = f"no {kind.called} files, left alone: {listed_names(walk.others)}"
    return found, (ReportWarning("ignored_files", message, len(walk.others)),)


class _Walk(Struct):
    """Walks through a folder."""

    kind: FileKind
    found: list[DataFile] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def enter(self, folder: InputPath, partition: Mapping[str, str]) -> None:
        for entry in visible_entries(folder):
            if is_folder(entry):
                self._enter_column(folder, entry, partition)
            elif entry.suffix in self.kind.suffixes:
                self.found.append(DataFile(entry, partition))
            elif not entry.name.startswith("_"):  # skips `_SUCCESS` and similar files of engines
                self.others.append(entry.name)

    def _enter_column(
        self, folder: InputPath, entry: InputPath, partition: Mapping[str, str]
    ) -> None:
        column, equals, value = entry.name.partition("=")
        if not equals:
            self.others.append(entry.name)
            return
        text = "" if value == _NO_VALUE else parse_string(unquote(value))
        if column not in PARTITIONED or column in partition:
            expected = " or ".join(f"{name}=..." for name in PARTITIONED)
            advice = "each once; give the folder of the part that is meant"
            self.faults.append(
                Fault(f"the folder {entry.name[:80]}", expected, str(folder), advice=advice)
            )
        elif text is None:
            self.faults.append(
                Fault(show_text(value), EXPECTED_STRING, source=str(entry), field=column)
            )
        else:
            self.enter(entry, {**partition, column: text})


def check_rows(rows: int, columns: int, source: str, limits: ReadLimits) -> None:
    """Refuse more rows than memory should hold; a small file can contain very many.

    Raises:
        InputError: If there are too many.
    """
    size = rows * columns * _BYTES_PER_VALUE
    if size > limits.maximum_unpacked_bytes:
        expected = f"at most maximum_unpacked_bytes = {limits.maximum_unpacked_bytes}"
        advice = "score it in shards, which read only their sequences"
        found = f"{counted(rows, 'row')} of {counted(columns, 'column')}, {size} bytes"
        raise InputError([Fault(found, expected, source=source, advice=advice)])


# --- what this process knows about files -----------------------------------------------------
#
# An archive is read one shard at a time, and a shard needs few of its files. Which ones is only
# known after opening them, so each process opens a file once, and not once per shard.


MOST_NAMES = 1 << 18
"""Maximum number of cached names of files and sequences, about 60 MB; beyond it, the cache is
cleared."""


class KnownFile(Struct, frozen=True):
    """Metadata of a file.

    Attributes:
        name: Its name in messages.
        schema: Its `pyarrow.Schema`.
        keys: Sequences that have rows in it.
    """

    name: str
    schema: Any
    keys: frozenset[SequenceKey]


_lock = threading.Lock()
_known: dict[Hashable, KnownFile] = {}
_names = 0


def learn(place: Hashable, found: KnownFile) -> None:
    """Cache the metadata of a file, until it changes.

    Args:
        place: Its `place_of`, taken before reading: if the file changes meanwhile, the entry is not
            used.
        found: The metadata.
    """
    global _names  # noqa: PLW0603 - of the process, as `_known` is
    count = 1 + len(found.keys)
    if place is None or count > MOST_NAMES:
        return
    with _lock:
        if _names + count > MOST_NAMES:
            _known.clear()
            _names = 0
        # Files of one archive share a schema, which is then stored once.
        last = next(reversed(_known.values())).schema if _known else None
        if last is not None and found.schema.equals(last):
            found = replace(found, schema=last)
        if place not in _known:
            _names += count
        _known[place] = found


def recall(place: Hashable) -> KnownFile | None:
    """Cached metadata for a `place_of`; None if the file must be opened."""
    return _known.get(place)


def place_of(file: DataFile, kind: FileKind) -> Hashable:
    """Cache key of a file: its path, its folders of columns, and a token of its content.

    None if only the content itself would tell.
    """
    path = file.path
    state: Hashable
    if isinstance(path, TreePath):
        state = path.state()
    else:
        try:
            found = path.stat()
        except OSError:
            return None  # its reader reports the reason
        state = (found.st_ino, found.st_size, found.st_mtime_ns)
    if not state:
        return None
    return kind.format_name, str(path.absolute()), tuple(file.partition.items()), state

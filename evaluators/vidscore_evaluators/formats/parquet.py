"""Parquet: the columns of generic CSV with types, one file or a folder of files.

A row is an object, or lists its frame, as a row of generic CSV does; an empty field is null. NaN is
nothing that a writer meant, and refused. Texts are strings, or dictionaries of strings; numbers are
of any width. Files are read row group by row group, and of these only the chosen columns' types
decide what is held: neither nested values nor dates are ever decoded. Masks have three columns of
their own: `vidscore_evaluators.formats._parquet_masks`.

`pyarrow`, which reads and writes such files, is an extra.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vidscore_evaluators.annotations import (
    BOX,
    NO_TRACK,
    POINT,
    QUADRILATERAL,
    Annotations,
    FrameFlag,
    SequenceKey,
    Side,
)
from vidscore_evaluators.arrays import AnyArray, BoolArray, IntArray
from vidscore_evaluators.data_frames import Column
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import InputPath, is_folder, visible_entries
from vidscore_evaluators.formats._format import (
    EVERY_FLAG,
    Capacity,
    Format,
    WriteOptions,
    Writer,
    refuse_unnamed,
)
from vidscore_evaluators.formats._heads import PARQUET
from vidscore_evaluators.formats._parquet_columns import expected_type, rows_of
from vidscore_evaluators.formats._parquet_files import (
    PARTITIONED,
    SUFFIX,
    DataFile,
    OpenFile,
    check_rows,
    find_files,
)
from vidscore_evaluators.formats._parquet_masks import COLUMNS as MASK_COLUMNS
from vidscore_evaluators.formats._parquet_masks import SIZE as MASK_SIZE
from vidscore_evaluators.formats._parquet_masks import (
    MaskReader,
    check_sizes,
    column_problems,
    columns_of_masks,
    given_coordinates,
)
from vidscore_evaluators.formats._sequence_files import list_files
from vidscore_evaluators.formats._table import (
    Kind,
    RowTable,
    StringColumn,
    concatenate_tables,
    parse_string,
)
from vidscore_evaluators.formats._times import ARRIVAL
from vidscore_evaluators.formats._times import COLUMN as TIME
from vidscore_evaluators.formats.generic import (
    COORDINATES,
    FRAME_FLAG,
    NamedColumns,
    named_columns,
    object_words,
    read_table,
    sequences_of,
)
from vidscore_evaluators.formats.source import FaultList, Files, Reading, ReadOptions
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.parquet_tables import GROUP_ROWS, ParquetTables

NAME = PARQUET
HEAD = b"PAR1"

SMALL_GROUP_ROWS = 1 << 13
"""Rows from which on a row group ends with its sequence, so that readers of one find it alone."""


def read(path: InputPath, side: Side, options: ReadOptions) -> Reading:
    """Read a file or a folder.

    Raises:
        InputError: If there is nothing of the kind, a file of it cannot be read at all, or its
            columns are not those of this format.
        MissingExtraError: If pyarrow is not installed.
    """
    del side
    files, warnings = find_files(path, options)
    reader = _Reader(options)
    broken: list[Fault] = []
    for file in files:
        try:
            reader.read(file)
        except InputError as error:
            broken.extend(error.faults)
    if not (broken or reader.tables):
        reader.look_at(files[0])
    if broken:
        raise InputError([*broken, *reader.faults.listed()])
    listing = None
    if options.wanted is not None:
        names = ((str(file.path).removeprefix(str(path)), file.path) for file in files)
        listing = list_files(sorted(reader.keys), names)
    table, masks = reader.rows_and_masks()
    reading = read_table(table, str(path), NAME, masks)
    reading.faults.absorb(reader.faults)
    faults = reading.faults.relocated(reader.columns.as_typed)
    notes = (*warnings, *reader.columns.notes, *reading.source.warnings)
    source = replace(reading.source, warnings=notes)
    return Reading(source, faults, reading.skipped + reader.skipped, listing)


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a path is a Parquet file, or a folder of files or columns of Parquet."""
    if not is_folder(path):
        return head.startswith(HEAD)
    return any(
        entry.name.partition("=")[0] in PARTITIONED and "=" in entry.name
        if is_folder(entry)
        else entry.suffix == SUFFIX
        for entry in visible_entries(path)
    )


@dataclass
class _Reader:
    """Reads files of the same columns.

    Attributes:
        options: How much to accept.
        tables: Rows of what has been read, without those that have faults.
        faults: Faults of rows.
        skipped: Rows that have faults.
        rows: Rows so far.
        keys: Sequences so far, those that are not wanted included; only kept where some are wanted.
    """

    options: ReadOptions
    tables: list[RowTable] = field(default_factory=list)
    faults: FaultList = field(default_factory=FaultList)
    skipped: int = 0
    rows: int = 0
    keys: set[SequenceKey] = field(default_factory=set)
    _masks: MaskReader | None = None
    _columns: NamedColumns | None = None
    _names: tuple[str, ...] = ()
    _first: str = ""

    @property
    def columns(self) -> NamedColumns:
        """The columns of all files."""
        if self._columns is None:
            raise RuntimeError("nothing has been read")
        return self._columns

    def rows_and_masks(self) -> tuple[RowTable, Masks | None]:
        """All rows without a fault, and the masks that they have; None without their columns."""
        table = concatenate_tables(self.tables)
        if self._masks is None:
            return table, None
        masks = self._masks.masks()
        checks = check_sizes(table, masks)
        self.faults.absorb(checks.faults)
        self.skipped += int(checks.faulty.sum())
        return table.without(checks.faulty), masks

    def read(self, file: DataFile) -> None:
        """Read a file.

        Raises:
            InputError: If it cannot be read, or has other columns.
        """
        key = self._key_of(file)
        if key is not None and not self._is_wanted({key}):
            return
        with OpenFile(file.path, self.options) as opened:
            self._check_columns(opened, file)
            if not self.tables:  # else nothing would have these columns where there is no row
                self._add(opened.no_rows(self._names), opened.name, 0, file.partition)
            firsts = opened.first_rows()
            for group, first in enumerate(firsts[:-1]):
                if self._skips(opened, group, file):
                    continue
                self.rows += firsts[group + 1] - first
                check_rows(self.rows, len(self._names), opened.name, self.options)
                at = first
                for arrays in opened.batches(group, self._names):
                    self._add(arrays, opened.name, at, file.partition)
                    at += len(arrays[0])

    def look_at(self, file: DataFile) -> None:
        """Read the columns of a file without its rows, where no sequence of any file is wanted.

        Raises:
            InputError: If it cannot be read, or has other columns.
        """
        with OpenFile(file.path, self.options) as opened:
            self._check_columns(opened, file)
            self._add(opened.no_rows(self._names), opened.name, 0, file.partition)

    def _key_of(self, file: DataFile) -> SequenceKey | None:
        """The only sequence of a file; None where that takes a look into it."""
        if self.options.wanted is None or "sequence" not in file.partition:
            return None
        if "domain" not in file.partition and (self._columns is None or "domain" in self._names):
            return None
        return SequenceKey(file.partition.get("domain", ""), file.partition["sequence"])

    def _is_wanted(self, keys: Collection[SequenceKey]) -> bool:
        """Whether one of these sequences is wanted; all of them are noted."""
        self.keys.update(keys)
        return self.options.wanted is not None and any(map(self.options.wanted, keys))

    def _skips(self, opened: OpenFile, group: int, file: DataFile) -> bool:
        """Whether a row group has no sequence that is wanted."""
        if self.options.wanted is None:
            return False
        domain, sequence = (self._only_text(opened, group, name, file) for name in PARTITIONED)
        if domain is None or sequence is None:
            return not self._is_wanted(self._keys_within(opened, group, file))
        return not self._is_wanted({SequenceKey(domain, sequence)})

    def _only_text(self, opened: OpenFile, group: int, name: str, file: DataFile) -> str | None:
        """The text of a column in all rows of a row group, by its statistics; None of several."""
        if name in file.partition or name not in self._names:
            return file.partition.get(name, "")
        found = opened.statistics(group, name)
        return parse_string(str(found[0])) if found is not None and found[0] == found[1] else None

    def _keys_within(self, opened: OpenFile, group: int, file: DataFile) -> set[SequenceKey]:
        """Sequences of a row group, of which only their names are read."""
        names = [name for name in PARTITIONED if name in self._names]
        kinds = [Kind.STRING] * len(names)
        keys: set[SequenceKey] = set()
        for arrays in opened.batches(group, names):
            table, _ = rows_of(arrays, names, kinds, opened.name, 0)
            keys.update(sequences_of(_with_partition(table, file.partition))[0])
        return keys

    def _check_columns(self, opened: OpenFile, file: DataFile) -> None:
        names = tuple(opened.schema.names)
        faults = [
            Fault(f"the column {name}", f"none beside folders {name}=...", source=opened.name)
            for name in file.partition
            if name in names
        ]
        if self._columns is not None and set(names) != set(self._names):
            different = ", ".join(sorted(set(names) ^ set(self._names)))[:80]
            expected = f"the columns of {self._first}"
            faults.append(Fault(f"other columns ({different})", expected, source=opened.name))
        if faults:
            raise InputError(faults)
        masked = [name for name in MASK_COLUMNS if name in names]
        plain = [name for name in self._names or names if name not in masked]
        if masked:
            problems = column_problems(opened.schema, plain)
            faults = [replace(fault, source=opened.name) for fault in problems]
        columns = self._columns
        if columns is None:
            around = COORDINATES[BOX] if masked and not given_coordinates(plain) else ()
            columns = named_columns([*plain, *file.partition, *around], opened.name)
        for name, kind in zip(plain, columns.kinds, strict=False):
            found = opened.schema.field(name).type
            wanted = expected_type(kind, found)
            if wanted is not None:
                what = f"type {found}"[:80]
                faults.append(Fault(what, wanted, source=opened.name, field=f"column {name}"))
        if faults:
            raise InputError(faults)
        if self._columns is None:
            self._columns, self._first = columns, opened.name
            self._names = (*plain, *masked)
            self._masks = MaskReader(self.options) if masked else None

    def _add(
        self, arrays: Sequence[object], source: str, first: int, partition: Mapping[str, str]
    ) -> None:
        masks = self._masks
        count = len(self._names) - (0 if masks is None else len(MASK_COLUMNS))
        names, kinds = self.columns.names[:count], self.columns.kinds[:count]
        if masks is None:
            table, checks = rows_of(arrays, names, kinds, source, first)
        else:
            names, kinds = (*names, *MASK_SIZE), (*kinds, *[Kind.INTEGER] * len(MASK_SIZE))
            table, checks = rows_of(arrays[:-1], names, kinds, source, first)
            table = masks.read(arrays[-1], table, checks)
        table = table.without(checks.faulty)
        self.tables.append(_with_partition(table, partition))
        self.faults.absorb(checks.faults)
        self.skipped += int(checks.faulty.sum())


def _with_partition(table: RowTable, partition: Mapping[str, str]) -> RowTable:
    """The rows with the columns that their folders stand for."""
    codes = np.zeros(len(table), dtype=np.int64)
    constant = {name: StringColumn(codes, (text,)) for name, text in partition.items()}
    return replace(table, strings={**table.strings, **constant})


# --- writing ---------------------------------------------------------------------------------


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    del options
    refuse_unnamed(annotations)
    file = io.BytesIO()
    tables = ParquetTables(file)
    for first, end in _groups(annotations):
        tables.write(columns_of(annotations.frame_run(first, end).with_used_tables(), side))
    tables.finish()
    return {"": file.getvalue()}


def _groups(annotations: Annotations) -> Iterator[tuple[int, int]]:
    """First frame and end of each row group, of frames in order; at least one."""
    rows = _rows_of_frames(annotations)
    ends = np.cumsum(rows)
    of_sequence = annotations.frame_sequences
    first, count = 0, annotations.frame_count
    while first < count:
        before = int(ends[first] - rows[first])
        most = max(first + 1, int(np.searchsorted(ends, before + GROUP_ROWS, side="right")))
        least = int(np.searchsorted(ends, before + SMALL_GROUP_ROWS)) + 1
        borders = np.flatnonzero(of_sequence[least:most] != of_sequence[least - 1 : most - 1])
        end = least + int(borders[0]) if len(borders) else most
        yield first, end
        first = end
    if not count:
        yield 0, 0


def _is_listed(annotations: Annotations) -> BoolArray:
    """(F,) whether a frame has a row of its own: it has no object, or a flag."""
    marked = (annotations.frame_flags & FrameFlag.DONT_CARE) != 0
    listed: BoolArray = marked | (annotations.object_counts == 0)
    return listed


def _rows_of_frames(annotations: Annotations) -> IntArray:
    counts: IntArray = annotations.object_counts + _is_listed(annotations)
    return counts


def columns_of(annotations: Annotations, side: Side) -> dict[str, Column]:
    """The columns of a side: a row for each object, and one for each frame that needs it.

    Args:
        annotations: Truth or detections.
        side: Which; truth has no confidences.
    """
    rows = _rows_of_frames(annotations)
    frames = np.repeat(np.arange(annotations.frame_count), rows)
    alone = np.zeros(len(frames), dtype=np.bool_)
    alone[(np.cumsum(rows) - rows)[_is_listed(annotations)]] = True

    def of_objects(values: AnyArray, missing: BoolArray | bool = False) -> Column:
        spread = np.zeros(len(frames), dtype=values.dtype)
        spread[~alone] = values
        gaps = alone.copy()
        gaps[~alone] = missing
        return Column(spread, gaps)

    def of_frames(values: AnyArray) -> Column:
        spread = values[frames]
        return Column(spread, np.isnan(spread))

    keys = annotations.sequences
    sequences = annotations.frame_sequences[frames]
    columns = {
        "domain": Column(sequences, texts=[key.domain for key in keys]),
        "sequence": Column(sequences, texts=[key.sequence for key in keys]),
        "frame": Column(annotations.frame_numbers[frames]),
    }
    for name, seconds in (
        (TIME, annotations.frame_times_s),
        (ARRIVAL, annotations.frame_arrivals_s),
    ):
        if seconds is not None:
            columns[name] = of_frames(seconds)
    unnamed = np.array([not label for label in annotations.labels], dtype=np.bool_)
    labels = annotations.label_indices
    columns["class"] = replace(of_objects(labels, unnamed[labels]), texts=annotations.labels)
    for index, name in enumerate(COORDINATES[annotations.arity]):
        columns[name] = of_objects(annotations.coordinates[:, index])
    if side is Side.DETECTIONS:
        columns["confidence"] = of_objects(annotations.confidences)
    tracks = annotations.track_ids
    columns["track_id"] = of_objects(tracks, tracks == NO_TRACK)
    columns["flags"] = _flags(annotations, frames, alone)
    for name, values in sorted(annotations.columns.items()):
        columns[name] = of_objects(values, np.isnan(values))
    if annotations.masks is not None:
        for name, column in columns_of_masks(annotations.masks).items():
            columns[name] = replace(of_objects(column.values), texts=column.texts)
    return columns


def _flags(annotations: Annotations, frames: IntArray, alone: BoolArray) -> Column:
    """Flags in words: those of the object, or of the frame in its own row."""
    bits = np.zeros(len(frames), dtype=np.int64)
    bits[~alone] = annotations.flags
    of_frames = (annotations.frame_flags & FrameFlag.DONT_CARE) != 0
    bits[alone] = len(_OBJECT_WORDS) + of_frames[frames[alone]]
    return Column(bits, np.array([not text for text in _WORDS])[bits], texts=_WORDS)


_OBJECT_WORDS = tuple(object_words(bits) for bits in range(int(EVERY_FLAG) + 1))
_WORDS = (*_OBJECT_WORDS, "", FRAME_FLAG)
"""The words of each value of an object's flags, and then of a frame's."""

_CAPACITY = Capacity(
    arities=(POINT, BOX, QUADRILATERAL),
    domains=True,
    dont_care_frames=True,
    tracks=True,
    flags=EVERY_FLAG,
    columns=None,
    times=True,
    arrivals=True,
    masks=True,
)
FORMAT = Format(
    name=NAME,
    title="Parquet: the columns of generic CSV, one file or a folder of files",
    read=read,
    writer=Writer(
        folder=False,
        capacity={
            Side.TRUTH: replace(_CAPACITY, confidences=False, arrivals=False),
            Side.DETECTIONS: _CAPACITY,
        },
        write=_write,
    ),
    matches=matches,
    by_sequence=True,
)

"""Reads typed columns: the columns of generic CSV, from one file or a folder of files.

A row is an object, or lists its frame, as in generic CSV; an empty field is null. NaN is refused,
since no writer means it. Texts are strings, or dictionaries of strings; numbers may have any width.
Files are read in groups of rows, and memory depends only on the types of the chosen columns: nested
values and dates are never decoded. Masks have three columns of their own:
`vidscore_evaluators.formats._arrow_masks`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.annotations import BOX, SequenceKey
from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._arrow_columns import expected_type, rows_of
from vidscore_evaluators.formats._arrow_masks import COLUMNS as MASK_COLUMNS
from vidscore_evaluators.formats._arrow_masks import SIZE as MASK_SIZE
from vidscore_evaluators.formats._arrow_masks import (
    MaskReader,
    check_sizes,
    column_problems,
    given_coordinates,
)
from vidscore_evaluators.formats._column_files import (
    DataFile,
    FileKind,
    KnownFile,
    OpenFile,
    RowGroup,
    check_rows,
    find_files,
    learn,
    place_of,
    recall,
)
from vidscore_evaluators.formats._files import InputPath
from vidscore_evaluators.formats._heads import PARTITIONED
from vidscore_evaluators.formats._sequence_files import list_files
from vidscore_evaluators.formats._table import (
    Kind,
    RowChecks,
    RowTable,
    StringColumn,
    concatenate_tables,
    parse_string,
)
from vidscore_evaluators.formats.generic import (
    COORDINATES,
    KINDS,
    NamedColumns,
    named_columns,
    read_table,
    sequences_of,
)
from vidscore_evaluators.formats.source import (
    FaultList,
    Reading,
    ReadOptions,
    Wanted,
    WantedFrames,
    show_text,
    wanted_rows,
)
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

_OR_LEAVE = ", or leave it out if no evaluator needs it"


def read_columns(path: InputPath, kind: FileKind, options: ReadOptions) -> Reading:
    """Read a file or a folder.

    Raises:
        InputError: If there is no file of the kind, a file cannot be read at all, or its columns
            are not those of this format.
        MissingExtraError: If pyarrow is not installed.
    """
    files, warnings = find_files(path, kind, options)
    reader = _Reader(kind, options)
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
        listing = list_files(sorted(reader.keys), names, reader.empty)
    table, masks = reader.rows_and_masks()
    reading = read_table(table, str(path), kind.format_name, masks)
    reading.faults.absorb(reader.faults)
    faults = reading.faults.relocated(reader.columns.as_typed)
    notes = (*warnings, *reader.columns.notes, *reading.source.warnings)
    source = replace(reading.source, warnings=notes)
    return Reading(source, faults, reading.skipped + reader.skipped, listing)


class _Reader(Struct):
    """Reads files of the same columns.

    Attributes:
        kind: Their kind.
        options: Options of reading.
        tables: Rows read so far, without those that have faults.
        faults: Faults of rows.
        skipped: Number of rows with faults.
        rows: Number of rows so far.
        keys: Sequences so far, including skipped ones; only kept if some are selected.
        row_counts: Number of rows of each sequence with its own files, if these were opened.
    """

    kind: FileKind
    options: ReadOptions
    tables: list[RowTable] = field(default_factory=list)
    faults: FaultList = field(default_factory=FaultList)
    skipped: int = 0
    rows: int = 0
    keys: set[SequenceKey] = field(default_factory=set)
    row_counts: Counter[SequenceKey] = field(default_factory=Counter)
    _masks: MaskReader | None = None
    _columns: NamedColumns | None = None
    _names: tuple[str, ...] = ()
    _first: str = ""
    _checked: Any = None

    @property
    def columns(self) -> NamedColumns:
        """The columns of all files."""
        if self._columns is None:
            raise RuntimeError("nothing has been read")
        return self._columns

    @property
    def empty(self) -> frozenset[SequenceKey]:
        """Sequences that have their own files, but no rows."""
        return frozenset(key for key, count in self.row_counts.items() if not count)

    def rows_and_masks(self) -> tuple[RowTable, Masks | None]:
        """All rows without faults, and their masks; None without columns of masks."""
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
        if self.options.wanted is None:
            self._read_opened(file)
            return
        place = place_of(file, self.kind)
        known, row_count = recall(place) if self.tables else None, 0
        if known is not None and not self._is_wanted(known.keys):
            self._check_columns(known, file)  # a file of one sequence, and therefore without rows
        else:
            others, self.keys = self.keys, set()
            schema, name, row_count = self._read_opened(file)
            learn(place, KnownFile(name, schema, frozenset(self.keys)))
            self.keys |= others
        if key is not None:
            self.row_counts[key] += row_count

    def _read_opened(self, file: DataFile) -> tuple[Any, str, int]:
        """Read a file; returns its schema, its name in messages, and its number of rows."""
        with self.kind.opened(file.path, self.options) as opened:
            self._check_columns(opened, file)
            if not self.tables:  # otherwise, columns would be lost if no file had rows
                self._add_none(opened, file)
            first = 0
            for group in opened.groups():
                if group.row_count < 0:
                    found = f"{group.row_count} rows"
                    raise InputError([Fault(found, "0 or more", source=opened.name)])
                self._read_group(group, opened.name, first, file)
                first += group.row_count
            return opened.schema, opened.name, first

    def _read_group(self, group: RowGroup, name: str, first: int, file: DataFile) -> None:
        """Read a group of rows, given the number of its first row in the file."""
        key = self._only_key(group, file)
        if self._skips(group, key, name, file):
            return
        wanted = self.options.wanted
        if wanted is None or (key is not None and not isinstance(wanted, WantedFrames)):
            wanted = None  # all of them are
            self._hold(group.row_count, name)
        for arrays in group.batches(self._names):
            places = np.arange(first, first + len(arrays[0]), dtype=np.int64)
            first += len(places)
            if wanted is None:
                self._add(arrays, name, places, file)
                continue
            own = self._own_rows(wanted, arrays, name, file)
            self._hold(int(own.sum()), name)
            self._add([array.filter(own) for array in arrays], name, places[own], file)

    def _own_rows(
        self, wanted: Wanted, arrays: Sequence[Any], source: str, file: DataFile
    ) -> BoolArray:
        """(N,) rows that are wanted, or whose sequence or frame cannot be read."""
        names = [name for name in (*PARTITIONED, "frame") if name in self._names]
        kinds = [Kind.INTEGER if name == "frame" else Kind.STRING for name in names]
        chosen = [arrays[self._names.index(name)] for name in names]
        table, checks = rows_of(chosen, names, kinds, source, np.arange(len(arrays[0])))
        keys, sequences = sequences_of(_with_partition(table, file.partition))
        return wanted_rows(wanted, keys, sequences, table.integers["frame"]) | checks.faulty

    def _hold(self, rows: int, name: str) -> None:
        self.rows += rows
        check_rows(self.rows, len(self._names), name, self.options)

    def look_at(self, file: DataFile) -> None:
        """Read the columns of a file without its rows, if no sequence of any file is wanted.

        Raises:
            InputError: If it cannot be read, or has other columns.
        """
        with self.kind.opened(file.path, self.options) as opened:
            self._check_columns(opened, file)
            self._add_none(opened, file)

    def _key_of(self, file: DataFile) -> SequenceKey | None:
        """The only sequence of a file; None if that requires opening it."""
        if self.options.wanted is None or "sequence" not in file.partition:
            return None
        if "domain" not in file.partition and (self._columns is None or "domain" in self._names):
            return None
        return SequenceKey(file.partition.get("domain", ""), file.partition["sequence"])

    def _is_wanted(self, keys: Collection[SequenceKey]) -> bool:
        """Whether one of these sequences is wanted; all are recorded."""
        self.keys.update(keys)
        return self.options.wanted is not None and any(map(self.options.wanted, keys))

    def _only_key(self, group: RowGroup, file: DataFile) -> SequenceKey | None:
        """The one sequence of a group, from its bounds; None if there are several, or unknown."""
        if self.options.wanted is None:
            return None
        domain, sequence = (self._only_text(group, name, file) for name in PARTITIONED)
        return None if domain is None or sequence is None else SequenceKey(domain, sequence)

    def _skips(self, group: RowGroup, key: SequenceKey | None, source: str, file: DataFile) -> bool:
        """Whether a group has no wanted sequence, given the only one, if it is known."""
        if self.options.wanted is None:
            return False
        if key is None:
            return not self._is_wanted(self._keys_within(group, source, file))
        if not self._is_wanted({key}):
            return True
        frames = group.bounds("frame") if isinstance(self.options.wanted, WantedFrames) else None
        return frames is not None and not self._is_between(key, frames)

    def _is_between(self, key: SequenceKey, frames: tuple[object, object]) -> bool:
        """Whether a frame of a sequence may be wanted, given the minimum and maximum.

        Bounds that are no frames are for the reader of the rows to refuse.
        """
        numbers = [
            int(one)
            for one in frames
            if isinstance(one, int | float) and abs(one) <= MAXIMUM_FRAME_NUMBER
        ]
        wanted = self.options.wanted
        if not isinstance(wanted, WantedFrames) or len(numbers) < len(frames):
            return True
        return wanted.between(key, *numbers)

    def _only_text(self, group: RowGroup, name: str, file: DataFile) -> str | None:
        """The one string of a column in a group, from its bounds; None if there are several."""
        if name in file.partition or name not in self._names:
            return file.partition.get(name, "")
        found = group.bounds(name)
        return parse_string(str(found[0])) if found is not None and found[0] == found[1] else None

    def _keys_within(self, group: RowGroup, source: str, file: DataFile) -> set[SequenceKey]:
        """Sequences of a group, for which only their names are read."""
        names = [name for name in PARTITIONED if name in self._names]
        kinds = [Kind.STRING] * len(names)
        keys: set[SequenceKey] = set()
        for arrays in group.batches(names):
            table, _ = rows_of(arrays, names, kinds, source, np.arange(len(arrays[0])))
            keys.update(sequences_of(_with_partition(table, file.partition))[0])
        return keys

    def _check_columns(self, opened: OpenFile | KnownFile, file: DataFile) -> None:
        if self._checked is not None and opened.schema is self._checked:
            return
        names = tuple(opened.schema.names)
        if self._columns is not None and set(names) != set(self._names):
            different = ", ".join(sorted(set(names) ^ set(self._names)))[:80]
            expected = f"the columns of {self._first}"
            raise InputError([Fault(f"other columns ({different})", expected, source=opened.name)])
        faults: list[Fault] = []
        masked = [name for name in MASK_COLUMNS if name in names]
        plain = [name for name in self._names or names if name not in masked]
        if masked:
            problems = column_problems(opened.schema, plain)
            faults = [replace(fault, source=opened.name) for fault in problems]
        columns = self._columns
        if columns is None:
            around = COORDINATES[BOX] if masked and not given_coordinates(plain) else ()
            folders = [name for name in file.partition if name not in plain]
            columns = named_columns([*plain, *folders, *around], opened.name)
        for name, meant, kind in zip(plain, columns.names, columns.kinds, strict=False):
            found = opened.schema.field(name).type
            wanted = expected_type(kind, found)
            if wanted is not None:
                advice = "cast it when you write the file" + ("" if meant in KINDS else _OR_LEAVE)
                fault = Fault(f"type {found}"[:80], wanted, opened.name, advice=advice)
                faults.append(replace(fault, field=f"column {name}"))
        if faults:
            raise InputError(faults)
        if self._columns is None:
            self._columns, self._first = columns, opened.name
            self._names = (*plain, *masked)
            self._masks = MaskReader(self.options) if masked else None
        self._checked = opened.schema

    def _add_none(self, opened: OpenFile, file: DataFile) -> None:
        self._add(opened.no_rows(self._names), opened.name, np.arange(0), file)

    def _add(self, arrays: Sequence[object], source: str, places: IntArray, file: DataFile) -> None:
        masks = self._masks
        count = len(self._names) - (0 if masks is None else len(MASK_COLUMNS))
        names, kinds = self.columns.names[:count], self.columns.kinds[:count]
        if masks is None:
            table, checks = rows_of(arrays, names, kinds, source, places)
        else:
            names, kinds = (*names, *MASK_SIZE), (*kinds, *[Kind.INTEGER] * len(MASK_SIZE))
            table, checks = rows_of(arrays[:-1], names, kinds, source, places)
            table = masks.read(arrays[-1], table, checks)
        _check_partition(table, checks, file.partition)
        self.tables.append(_with_partition(table.without(checks.faulty), file.partition))
        self.faults.absorb(checks.faults)
        self.skipped += int(checks.faulty.sum())


def _check_partition(table: RowTable, checks: RowChecks, partition: Mapping[str, str]) -> None:
    """Refuse rows whose own columns contradict the folders of their file."""
    for name, text in partition.items():
        column = table.strings.get(name)
        if column is not None:
            other = np.array([value != text for value in column.values], dtype=np.bool_)
            expected = f"{show_text(text)}, for which its folder stands"
            checks.refuse(other[column.codes], name, column, expected)


def _with_partition(table: RowTable, partition: Mapping[str, str]) -> RowTable:
    """The rows with the columns of their folders."""
    codes = np.zeros(len(table), dtype=np.int64)
    constant = {name: StringColumn(codes, (text,)) for name, text in partition.items()}
    return replace(table, strings={**table.strings, **constant})

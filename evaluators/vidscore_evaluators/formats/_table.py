"""Typed columns of the rows of files: fields, checks of whole columns, and annotations from rows.

Every reader of rows produces a `RowTable`, and the rules of every format work on its whole columns,
never on single rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Literal

import numpy as np

from vidscore_evaluators.annotations import NO_TRACK, Annotations, SequenceKey
from vidscore_evaluators.arrays import (
    AnyArray,
    BoolArray,
    FlagArray,
    FloatArray,
    IntArray,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats.source import (
    MAXIMUM_FAULTS,
    NOTHING,
    FaultList,
    SourcePositions,
    show_text,
)
from vidscore_evaluators.validation import MAXIMUM_COORDINATE_PX, MAXIMUM_FRAME_NUMBER

EMPTY = int(np.iinfo(np.int64).min)
"""An empty field in a column of integers; in one of numbers it is NaN."""

MAXIMUM_STRING_BYTES = 255
"""Longest name or label: what file systems allow for a name."""

EXPECTED_STRING = (
    f"a string of at most {MAXIMUM_STRING_BYTES} bytes in UTF-8, without control characters"
)
EXPECTED_COORDINATE = f"a number from -{MAXIMUM_COORDINATE_PX:g} to {MAXIMUM_COORDINATE_PX:g}"

BLANKS = " \t"
"""What may surround a field without being part of it."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_INTEGER = re.compile(r"[+-]?[0-9]{1,30}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_GREATEST_INTEGER = 2**63 - 1
_GREATEST_EXACT = 2.0**53


def parse_string(field: str) -> str | None:
    """A string without blanks around it; None where it breaks the rule `EXPECTED_STRING`."""
    text = field.strip(BLANKS)
    if _CONTROL.search(text) or len(text.encode()) > MAXIMUM_STRING_BYTES:
        return None
    return text


def parse_number(field: str) -> float | None:
    """A finite decimal number; None for anything else."""
    text = field.strip(BLANKS)
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def parse_integer(field: str) -> int | None:
    """A number without fraction, in 64 bits; None for anything else. ``4.0`` is 4."""
    text = field.strip(BLANKS)
    if _INTEGER.fullmatch(text):
        integer = int(text)
        return integer if abs(integer) <= _GREATEST_INTEGER else None
    number = parse_number(text)
    if number is None or not number.is_integer() or abs(number) > _GREATEST_EXACT:
        return None
    return int(number)


class Kind(Enum):
    """What the fields of a column are; a field may always be empty."""

    NUMBER = "a finite number"
    INTEGER = "an integer"
    STRING = "a string"


@dataclass(frozen=True, eq=False)
class StringColumn:
    """Strings as indices into a table of the distinct ones.

    Attributes:
        codes: (N,) index into `values`.
        values: The distinct strings, without blanks around them.
    """

    codes: IntArray
    values: tuple[str, ...]

    @classmethod
    def of_integers(cls, integers: IntArray) -> StringColumn:
        """(N,) integers as the strings of their digits."""
        used, codes = np.unique(integers, return_inverse=True)
        return cls(codes.reshape(-1).astype(np.int64), tuple(map(str, used.tolist())))

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def where(self, *wanted: str) -> BoolArray:
        """(N,) whether a row's string is one of `wanted`, given in lower case, in any case."""
        chosen = np.array([value.casefold() in wanted for value in self.values], dtype=np.bool_)
        return chosen[self.codes]

    def take(self, rows: AnyArray | slice) -> StringColumn:
        """Keep some rows."""
        return StringColumn(self.codes[rows], self.values)

    def compact(self) -> StringColumn:
        """Drop the strings that no row has."""
        used = np.bincount(self.codes, minlength=len(self.values)) > 0
        if used.all():
            return self
        values = tuple(
            value for value, keep in zip(self.values, used.tolist(), strict=True) if keep
        )
        return StringColumn((np.cumsum(used) - 1)[self.codes], values)


@dataclass(frozen=True, eq=False)
class RowTable:
    """N rows as typed columns.

    Attributes:
        numbers: (N,) columns of `Kind.NUMBER`, NaN where a field is empty.
        integers: (N,) columns of `Kind.INTEGER`, `EMPTY` where a field is empty.
        strings: Columns of `Kind.STRING`.
        sources: Names of the files.
        source_of_row: (N,) index into `sources`.
        positions: (N,) line, or entry, of each row in its file.
        position_name: ``line`` or ``entry``.
    """

    numbers: Mapping[str, FloatArray]
    integers: Mapping[str, IntArray]
    strings: Mapping[str, StringColumn]
    sources: tuple[str, ...]
    source_of_row: IntArray
    positions: IntArray
    position_name: Literal["line", "entry"] = "line"

    @classmethod
    def of(
        cls,
        columns: Iterable[tuple[str, Kind, Any]],
        source: str,
        positions: IntArray,
        position_name: Literal["line", "entry"] = "line",
    ) -> RowTable:
        """The table of one file, out of (N,) columns with their names and kinds."""
        by_kind: dict[Kind, dict[str, Any]] = {kind: {} for kind in Kind}
        for name, kind, column in columns:
            by_kind[kind][name] = column
        numbers, integers, strings = by_kind.values()
        source_of_row = np.zeros(len(positions), dtype=np.int64)
        return cls(numbers, integers, strings, (source,), source_of_row, positions, position_name)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.positions)

    def take(self, rows: AnyArray) -> RowTable:
        """Keep some rows.

        Args:
            rows: (N,) boolean mask, or row indices.
        """
        return RowTable(
            numbers={name: column[rows] for name, column in self.numbers.items()},
            integers={name: column[rows] for name, column in self.integers.items()},
            strings={name: column.take(rows) for name, column in self.strings.items()},
            sources=self.sources,
            source_of_row=self.source_of_row[rows],
            positions=self.positions[rows],
            position_name=self.position_name,
        )

    def without(self, rows: BoolArray) -> RowTable:
        """Drop some rows; the table itself where there are none.

        Args:
            rows: (N,) whether to drop each.
        """
        return self.take(~rows) if rows.any() else self


def concatenate_tables(tables: Sequence[RowTable]) -> RowTable:
    """Concatenate the rows of tables of the same columns; at least one table."""
    if len(tables) == 1:
        return tables[0]
    first = tables[0]
    sources = tuple(dict.fromkeys(source for table in tables for source in table.sources))
    position = {source: index for index, source in enumerate(sources)}
    owners = [
        np.array([position[source] for source in table.sources], dtype=np.int64)[
            table.source_of_row
        ]
        for table in tables
    ]
    return RowTable(
        numbers={
            name: np.concatenate([table.numbers[name] for table in tables])
            for name in first.numbers
        },
        integers={
            name: np.concatenate([table.integers[name] for table in tables])
            for name in first.integers
        },
        strings={
            name: _concatenate_strings([table.strings[name] for table in tables])
            for name in first.strings
        },
        sources=sources,
        source_of_row=np.concatenate(owners),
        positions=np.concatenate([table.positions for table in tables]),
        position_name=first.position_name,
    )


def _concatenate_strings(columns: Sequence[StringColumn]) -> StringColumn:
    """String columns one after the other, over one table of strings."""
    table: dict[str, int] = {}
    codes = []
    for column in columns:
        index = [table.setdefault(value, len(table)) for value in column.values]
        codes.append(np.array(index, dtype=np.int64)[column.codes])
    return StringColumn(np.concatenate(codes), tuple(table))


class RowChecks:
    """Rules for the rows of a table, a column at a time.

    Attributes:
        faults: Faults of the rows.
        faulty: (N,) whether a row breaks a rule.
    """

    def __init__(self, table: RowTable) -> None:
        self._table = table
        self.faults = FaultList()
        self.faulty = np.zeros(len(table), dtype=np.bool_)

    def refuse(
        self,
        wrong: BoolArray,
        column: str,
        found: AnyArray | StringColumn | str,
        expected: str,
        advice: str | None = None,
    ) -> None:
        """Add a fault for each row that is wrong.

        Args:
            wrong: (N,) which rows are.
            column: Name of the column to blame.
            found: The column's values, or words for all rows.
            expected: What was expected.
            advice: What to do about it.
        """
        self.faulty |= wrong
        table, rows = self._table, np.flatnonzero(wrong)
        for row in rows[:MAXIMUM_FAULTS].tolist():
            source = table.sources[table.source_of_row[row]]
            self.faults.add(
                Fault(
                    found=_show(found, row),
                    expected=expected,
                    source=source,
                    **{table.position_name: int(table.positions[row])},
                    field=f"column {column}",
                    advice=advice,
                )
            )
        self.faults.total += len(rows[MAXIMUM_FAULTS:])

    def require_frames(self, column: str, least: int = 0) -> None:
        """Refuse frame numbers out of range."""
        frames = self._table.integers[column]
        expected = f"an integer from {least} to {MAXIMUM_FRAME_NUMBER}"
        wrong = (frames < least) | (frames > MAXIMUM_FRAME_NUMBER)
        self.refuse(wrong, column, frames, expected)

    def require_coordinates(self, columns: Sequence[str], rows: BoolArray | bool = True) -> None:
        """Refuse coordinates that are missing or out of range, in the (N,) rows that have them."""
        for name in columns:
            column = self._table.numbers[name]
            fits = np.abs(column) <= MAXIMUM_COORDINATE_PX
            self.refuse(rows & ~fits, name, column, EXPECTED_COORDINATE)

    def require_finite(self, column: str, rows: BoolArray | bool = True) -> None:
        """Refuse numbers that are missing or infinite, if there is such a column."""
        numbers = self._table.numbers.get(column)
        if numbers is not None:
            self.refuse(rows & ~np.isfinite(numbers), column, numbers, "a finite number")

    def require_tracks(self, column: str, rows: BoolArray | bool = True) -> None:
        """Refuse integers that are no track id."""
        tracks = self._table.integers[column]
        self.refuse(rows & (tracks < NO_TRACK), column, tracks, "-1 (no track), 0 or more")


def _show(found: AnyArray | StringColumn | str, row: int) -> str:
    if isinstance(found, str):
        return found
    if isinstance(found, StringColumn):
        return show_text(found.values[found.codes[row]])
    value = found[row]
    return NOTHING if np.isnan(value) or value == EMPTY else str(value)


@dataclass(frozen=True, eq=False)
class RowColumns:
    """Columns of N rows, in any order; a row lists its frame and may hold an object.

    Attributes:
        sequences: Table of sequences.
        sequence_of_row: (N,) index into `sequences`.
        frame_numbers: (N,) frame of each row.
        frame_flags: (N,) bits of `FrameFlag`; a frame has those of all its rows.
        holds_object: (N,) whether the row holds an object; without one, later columns are not used.
        coordinates: (N, arity) coordinates.
        labels: (N,) class labels.
        confidences: (N,) confidences.
        track_ids: (N,) track identities.
        flags: (N,) bits of `ObjectFlag`.
        columns: Further (N,) columns.
    """

    sequences: tuple[SequenceKey, ...]
    sequence_of_row: IntArray
    frame_numbers: IntArray
    frame_flags: FlagArray
    holds_object: BoolArray
    coordinates: FloatArray
    labels: StringColumn
    confidences: FloatArray
    track_ids: IntArray
    flags: FlagArray
    columns: Mapping[str, FloatArray] = field(default_factory=dict)


def group_rows(rows: RowColumns, table: RowTable) -> tuple[Annotations, SourcePositions]:
    """Build annotations whose frames are in ascending order of sequence and number.

    Args:
        rows: The rows.
        table: Where they are in the files.

    Returns:
        The annotations, and the position of each frame: that of its first row.
    """
    order = _order(rows)
    sequences, numbers = rows.sequence_of_row[order], rows.frame_numbers[order]
    first = run_starts(sequences, numbers)
    holds = rows.holds_object[order]
    objects = _objects(order, holds)
    labels = rows.labels.take(objects).compact()
    annotations = Annotations(
        sequences=rows.sequences,
        labels=labels.values,
        frame_sequences=sequences[first],
        frame_numbers=numbers[first],
        frame_flags=_any_flags(rows.frame_flags[order], first),
        frame_starts=_object_starts(holds, first),
        coordinates=rows.coordinates[objects],
        label_indices=labels.codes,
        confidences=rows.confidences[objects],
        track_ids=rows.track_ids[objects],
        flags=rows.flags[objects],
        columns={name: column[objects] for name, column in rows.columns.items()},
    )
    places = first if isinstance(order, slice) else order[first]
    return annotations, SourcePositions(
        sources=table.sources,
        source_of_frame=table.source_of_row[places],
        positions=table.positions[places],
        position_name=table.position_name,
    )


def with_listed_frames(
    rows: RowColumns,
    table: RowTable,
    frames: tuple[IntArray, IntArray],
    places: tuple[IntArray, IntArray],
) -> tuple[RowColumns, RowTable]:
    """Put K frames before the rows, as rows without an object, so that they are listed.

    Args:
        rows: The rows.
        table: Where they are in the files.
        frames: (K,) indices of the frames' sequences, and (K,) numbers of the frames.
        places: (K,) indices of their files, and (K,) positions in these.
    """
    count = len(frames[0])
    if count == 0:
        return rows, table

    def padded(column: AnyArray) -> AnyArray:
        return np.concatenate([np.zeros((count, *column.shape[1:]), dtype=column.dtype), column])

    listed = replace(
        rows,
        sequence_of_row=np.concatenate([frames[0], rows.sequence_of_row]),
        frame_numbers=np.concatenate([frames[1], rows.frame_numbers]),
        frame_flags=padded(rows.frame_flags),
        holds_object=padded(rows.holds_object),
        coordinates=padded(rows.coordinates),
        labels=StringColumn(padded(rows.labels.codes), rows.labels.values),
        confidences=padded(rows.confidences),
        track_ids=padded(rows.track_ids),
        flags=padded(rows.flags),
        columns={name: padded(column) for name, column in rows.columns.items()},
    )
    return listed, replace(
        table,
        source_of_row=np.concatenate([places[0], table.source_of_row]),
        positions=np.concatenate([places[1], table.positions]),
    )


def index_frames(
    frames: Collection[tuple[SequenceKey, int]],
) -> tuple[tuple[SequenceKey, ...], IntArray, IntArray]:
    """The sorted sequences of K frames, (K,) each frame's index among them, and (K,) numbers."""
    sequences = tuple(sorted({key for key, _ in frames}))
    rank = {key: index for index, key in enumerate(sequences)}
    of_frame = np.array([rank[key] for key, _ in frames], dtype=np.int64)
    return sequences, of_frame, np.array([number for _, number in frames], dtype=np.int64)


def _order(rows: RowColumns) -> IntArray | slice:
    """Row indices by sequence and frame; rows of one frame stay in their order.

    Rows that are in order already are a slice, by which no column is copied.
    """
    sequences, numbers = rows.sequence_of_row, rows.frame_numbers
    same = sequences[1:] == sequences[:-1]
    rising = np.where(same, numbers[1:] >= numbers[:-1], sequences[1:] > sequences[:-1])
    if rising.all():
        return slice(None)
    return np.lexsort((numbers, sequences))


def _objects(order: IntArray | slice, holds: BoolArray) -> IntArray | slice:
    """Those of the ordered rows that hold an object."""
    if isinstance(order, slice):
        return order if holds.all() else np.flatnonzero(holds)
    return order[holds]


def _any_flags(flags: FlagArray, first: IntArray) -> FlagArray:
    if len(first) == 0:
        return flags[:0]
    return np.bitwise_or.reduceat(flags, first)


def _object_starts(holds: BoolArray, first: IntArray) -> IntArray:
    before = starts_from_counts(holds)
    starts: IntArray = before[np.append(first, len(holds))]
    return starts

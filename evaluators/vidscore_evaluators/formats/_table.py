"""Typed columns of the rows of files, rules for their fields, and checks of whole columns.

Every reader of rows produces a `RowTable`, and the rules of every format work on its whole columns,
never on single rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import NO_TRACK
from vidscore_evaluators.arrays import AnyArray, BoolArray, FloatArray, IntArray
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats.source import MAXIMUM_FAULTS, NOTHING, FaultList, show_text
from vidscore_evaluators.validation import MAXIMUM_COORDINATE_PX, MAXIMUM_FRAME_NUMBER

EMPTY = int(np.iinfo(np.int64).min)
"""An empty field in a column of integers; in a column of numbers, it is NaN."""

MAXIMUM_STRING_BYTES = 255
"""Maximum length of a name or label: what file systems allow for a name."""

EXPECTED_STRING = (
    f"a string of at most {MAXIMUM_STRING_BYTES} bytes in UTF-8, without control characters"
)
EXPECTED_COORDINATE = f"a number from -{MAXIMUM_COORDINATE_PX:g} to {MAXIMUM_COORDINATE_PX:g}"

BLANKS = " \t"
"""Characters that may surround a field without being part of it."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_INTEGER = re.compile(r"[+-]?[0-9]{1,30}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_GREATEST_INTEGER = 2**63 - 1
GREATEST_EXACT = 2.0**53
"""Greatest number up to which binary64 has every integer."""


def parse_string(field: str) -> str | None:
    """A string without surrounding blanks; None if it breaks the rule `EXPECTED_STRING`."""
    text = field.strip(BLANKS)
    if _CONTROL.search(text) or len(text.encode()) > MAXIMUM_STRING_BYTES:
        return None
    return text


def parse_number(field: str) -> float | None:
    """A finite decimal number; None for other values."""
    text = field.strip(BLANKS)
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def parse_integer(field: str) -> int | None:
    """A number without fraction, in 64 bits; None for other values. ``4.0`` is 4."""
    text = field.strip(BLANKS)
    if _INTEGER.fullmatch(text):
        integer = int(text)
        return integer if abs(integer) <= _GREATEST_INTEGER else None
    number = parse_number(text)
    if number is None or not number.is_integer() or abs(number) > GREATEST_EXACT:
        return None
    return int(number)


class Kind(Enum):
    """Kind of the fields of a column; a field may always be empty."""

    NUMBER = "a finite number"
    INTEGER = "an integer"
    STRING = "a string"


class StringColumn(Struct, frozen=True, eq=False):
    """Strings as indices into a table of the distinct ones.

    Attributes:
        codes: (N,) index into `values`.
        values: The distinct strings, without surrounding blanks.
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
        """(N,) whether a row's string is one of `wanted`, given in lower case, ignoring case."""
        chosen = np.array([value.casefold() in wanted for value in self.values], dtype=np.bool_)
        return chosen[self.codes]

    def take(self, rows: AnyArray | slice) -> StringColumn:
        """Keep some rows."""
        return StringColumn(self.codes[rows], self.values)

    def compact(self) -> StringColumn:
        """Drop strings that no row has."""
        used = np.bincount(self.codes, minlength=len(self.values)) > 0
        if used.all():
            return self
        values = tuple(
            value for value, keep in zip(self.values, used.tolist(), strict=True) if keep
        )
        return StringColumn((np.cumsum(used) - 1)[self.codes], values)


class RowTable(Struct, frozen=True, eq=False):
    """N rows as typed columns.

    Attributes:
        numbers: (N,) columns of `Kind.NUMBER`, NaN for an empty field.
        integers: (N,) columns of `Kind.INTEGER`, `EMPTY` for an empty field.
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
        """The table of one file, from (N,) columns with their names and kinds."""
        by_kind: dict[Kind, dict[str, Any]] = {kind: {} for kind in Kind}
        for name, kind, column in columns:
            by_kind[kind][name] = column
        numbers, integers, strings = by_kind.values()
        source_of_row = np.zeros(len(positions), dtype=np.int64)
        return cls(numbers, integers, strings, (source,), source_of_row, positions, position_name)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.positions)

    def confidences(self, column: str) -> FloatArray:
        """(N,) confidences of a column; 1 where there is none, as truth need not have any."""
        given = self.numbers.get(column)
        return np.ones(len(self)) if given is None else np.where(np.isfinite(given), given, 1.0)

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
        """Drop some rows; the table itself if there are none.

        Args:
            rows: (N,) whether to drop each.
        """
        return self.take(~rows) if rows.any() else self


def concatenate_tables(tables: Sequence[RowTable]) -> RowTable:
    """Concatenate the rows of tables with the same columns; at least one table."""
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
    """Concatenate string columns, over one table of strings."""
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
        """Add a fault for each invalid row.

        Args:
            wrong: (N,) whether each row is invalid.
            column: Name of the column at fault.
            found: The column's values, or words for all rows.
            expected: What was expected.
            advice: Advice.
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

    def refuse_row(self, row: int, fault: Fault) -> None:
        """Add a fault of a row; it gets the place of that row."""
        self.faulty[row] = True
        table = self._table
        source = table.sources[table.source_of_row[row]]
        place = int(table.positions[row])
        line, entry = (place, None) if table.position_name == "line" else (None, place)
        self.faults.add(replace(fault, source=source, line=line, entry=entry))

    def require_frames(self, column: str, least: int = 0, most: int = MAXIMUM_FRAME_NUMBER) -> None:
        """Refuse frame numbers out of range."""
        frames = self._table.integers[column]
        expected = f"an integer from {least} to {most}"
        wrong = (frames < least) | (frames > most)
        self.refuse(wrong, column, frames, expected)

    def require_coordinates(self, columns: Sequence[str], rows: BoolArray | bool = True) -> None:
        """Refuse coordinates that are missing or out of range, in the (N,) rows that need them."""
        for name in columns:
            column = self._table.numbers[name]
            fits = np.abs(column) <= MAXIMUM_COORDINATE_PX
            self.refuse(rows & ~fits, name, column, EXPECTED_COORDINATE)

    def require_sizes(self) -> None:
        """Refuse widths and heights that are missing or out of range."""
        for name in ("width", "height"):
            column = self._table.numbers[name]
            fits = (column >= 0.0) & (column <= MAXIMUM_COORDINATE_PX)
            expected = f"a number from 0 to {MAXIMUM_COORDINATE_PX:g}"
            self.refuse(~fits, name, column, expected)

    def require_finite(self, column: str, rows: BoolArray | bool = True) -> None:
        """Refuse numbers that are missing or infinite, if there is such a column."""
        numbers = self._table.numbers.get(column)
        if numbers is not None:
            self.refuse(rows & ~np.isfinite(numbers), column, numbers, "a finite number")

    def require_tracks(self, column: str, rows: BoolArray | bool = True) -> None:
        """Refuse integers that are not track ids."""
        tracks = self._table.integers[column]
        self.refuse(rows & (tracks < NO_TRACK), column, tracks, "-1 (no track), 0 or more")


def _show(found: AnyArray | StringColumn | str, row: int) -> str:
    if isinstance(found, str):
        return found
    if isinstance(found, StringColumn):
        return show_text(found.values[found.codes[row]])
    value = found[row]
    return NOTHING if np.isnan(value) or value == EMPTY else str(value)

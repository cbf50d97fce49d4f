"""Read CSV rows one field at a time and say what is wrong with each.

Slow, and sure: quotes, blank lines and spaces around fields are understood, and every field that
is not what its column asks for becomes a fault with line and column. It runs only on what
`vidscore_evaluators.formats.csv_chunks` declines.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats.csv_chunks import ParsedColumn
from vidscore_evaluators.formats.fault_list import FaultList, show_text
from vidscore_evaluators.formats.table import EMPTY, Kind, TextColumn
from vidscore_evaluators.formats.texts import (
    BLANKS,
    EXPECTED_TEXT,
    clean_text,
    read_number,
    read_whole,
)

Column = tuple[str, Kind]
"""Name and kind of a column."""

_READERS: Mapping[Kind, Callable[[str], Any]] = MappingProxyType(
    {Kind.NUMBER: read_number, Kind.WHOLE: read_whole, Kind.TEXT: clean_text}
)
_EMPTY: Mapping[Kind, Any] = MappingProxyType(
    {Kind.NUMBER: np.nan, Kind.WHOLE: EMPTY, Kind.TEXT: ""}
)


@dataclass(frozen=True, eq=False)
class CarefulRows:
    """Rows read with care.

    Attributes:
        columns: The columns that have a kind, in order, without the faulty rows.
        lines: The line of each row that is left.
        faults: What is wrong with the others.
        skipped: Number of the others.
    """

    columns: list[ParsedColumn]
    lines: IntArray
    faults: FaultList
    skipped: int


def read_rows(
    rows: bytes | memoryview, columns: Sequence[Column | None], source: str, first_line: int
) -> CarefulRows:
    """Read rows with care.

    Args:
        rows: Rows in UTF-8 without carriage returns.
        columns: Name and kind of each column; None for one that is not read.
        source: Name of the file.
        first_line: Number of the first row's line.
    """
    reader = _Reader(columns, source)
    reader.read(bytes(rows).decode(errors="surrogateescape"), first_line)
    lines = np.array(reader.lines, dtype=np.int64)
    return CarefulRows(reader.columns(), lines, reader.faults, reader.skipped)


class _Reader:
    def __init__(self, columns: Sequence[Column | None], source: str) -> None:
        self._source = source
        self._width = len(columns)
        self._columns = [
            (index, *column) for index, column in enumerate(columns) if column is not None
        ]
        self._rows: list[list[Any]] = []
        self.lines: list[int] = []
        self.faults = FaultList()
        self.skipped = 0

    def read(self, text: str, first_line: int) -> None:
        rows = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
        while True:
            line = first_line + rows.line_num
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                self._fault(line, None, str(error), "a row of comma-separated values")
                self.skipped += 1
                continue
            self._read_row(row, line)

    def _read_row(self, row: list[str], line: int) -> None:
        if not row or (len(row) == 1 and not row[0].strip(BLANKS)):
            return
        if len(row) != self._width:
            self._fault(line, None, f"{len(row)} columns", f"{self._width} columns")
            self.skipped += 1
            return
        values = [
            self._read_field(row[index], name, kind, line) for index, name, kind in self._columns
        ]
        if any(value is None for value in values):
            self.skipped += 1
            return
        self._rows.append(values)
        self.lines.append(line)

    def _read_field(self, field: str, name: str, kind: Kind, line: int) -> Any:
        if not field.strip(BLANKS):
            return _EMPTY[kind]
        value = _READERS[kind](field)
        if value is None:
            expected = EXPECTED_TEXT if kind is Kind.TEXT else kind.value
            self._fault(line, name, show_text(field), expected)
        return value

    def _fault(self, line: int, column: str | None, found: str, expected: str) -> None:
        field = None if column is None else f"column {column}"
        self.faults.add(Fault(found, expected, source=self._source, line=line, field=field))

    def columns(self) -> list[ParsedColumn]:
        fields = list(zip(*self._rows, strict=True)) or [()] * len(self._columns)
        return [
            _to_column(values, kind)
            for values, (_, _, kind) in zip(fields, self._columns, strict=True)
        ]


def _to_column(values: Sequence[Any], kind: Kind) -> ParsedColumn:
    if kind is Kind.NUMBER:
        return np.array(values, dtype=np.float64)
    if kind is Kind.WHOLE:
        return np.array(values, dtype=np.int64)
    table = {text: index for index, text in enumerate(dict.fromkeys(values))}
    codes = np.array([table[text] for text in values], dtype=np.int64)
    return TextColumn(codes, tuple(table))

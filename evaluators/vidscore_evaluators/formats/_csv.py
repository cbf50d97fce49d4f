"""CSV files as typed columns: a fast path for well-formed rows, a slow path with full diagnostics.

The fast path is a compiled loop over the bytes; numbers with more digits than binary64 holds are
then parsed together by the JSON parser. It returns None on anything unusual (quotes, blank lines,
spaces in numbers, a wrong number of columns). The slow path then reads those rows field by field,
and turns every field of the wrong kind into a fault with line and column. If the fast path returns
a result, it equals the slow path's.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import orjson
from msgspec import Struct
from numpy.typing import NDArray

from vidscore_evaluators.arrays import AnyArray, FloatArray, IntArray, expand_runs
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._table import (
    BLANKS,
    EMPTY,
    EXPECTED_STRING,
    Kind,
    RowTable,
    StringColumn,
    concatenate_tables,
    parse_integer,
    parse_number,
    parse_string,
)
from vidscore_evaluators.formats.source import FaultList, show_text
from vidscore_evaluators.kernels.reading import count_bytes, factorize_strings, parse_rows
from vidscore_evaluators.names import counted

Bytes = NDArray[np.uint8]
NumberColumn = FloatArray | IntArray
ParsedColumn = NumberColumn | StringColumn

Column = tuple[str, Kind]
"""Name and kind of a column."""

CHUNK_BYTES = 1 << 20
"""Size of rows parsed together: large enough for array operations, small enough for the cache."""

LONGEST_ROW_BYTES = 100_000
"""Longer rows take the slow path."""

_OTHER_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


class CsvFile(Struct, frozen=True):
    """A CSV file.

    Attributes:
        source: Name of the file.
        header: Column names, without spaces around them.
        text: The content, with one newline at the end of every line.
        body: Offset of the rows.
        first_line: Line number of the first row: 2 after a header, 1 without one.
    """

    source: str
    header: tuple[str, ...]
    text: bytes
    body: int
    first_line: int = 2


def split_csv(data: bytes, source: str) -> CsvFile:
    """Split a CSV file into header and rows.

    Args:
        data: Content of the file, UTF-8 with or without a byte order mark.
        source: Name of the file.

    Raises:
        InputError: If the file is empty, has no header line or is in UTF-16.
    """
    text = _clean_lines(data, source)
    if text.isspace():
        raise InputError([Fault("an empty file", "a header line", source=source, line=1)])
    end = text.index(b"\n") + 1
    return CsvFile(source, _header(text[: end - 1], source), text, end)


def normalised_rows(data: bytes, source: str, *, blanks: bool = False) -> bytes:
    """Rows without a header, in the form of `CsvFile.text`.

    Args:
        data: Content of the file, UTF-8 with or without a byte order mark.
        source: Name of the file.
        blanks: Whether columns are separated by any number of blanks, not by commas.

    Returns:
        The rows, separated by commas; empty if there are none.

    Raises:
        InputError: If the file is in UTF-16.
    """
    text = _clean_lines(data, source)
    if text.isspace():
        return b""
    if blanks:
        text = re.sub(rb"[ \t]+", b",", re.sub(rb"(?m)^[ \t]+|[ \t]+$", b"", text))
    return text


def _clean_lines(data: bytes, source: str) -> bytes:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError([Fault("text in UTF-16", "text in UTF-8", source=source, line=1)])
    text = data.removeprefix(codecs.BOM_UTF8)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if text[-2:] == b"\n\n" or text[-1:] != b"\n":
        text = text.rstrip(b"\n") + b"\n"
    return text


def _header(line: bytes, source: str) -> tuple[str, ...]:
    try:
        fields = next(csv.reader([line.decode()], strict=True, skipinitialspace=True), [])
    except (csv.Error, UnicodeDecodeError):
        found = show_text(line.decode(errors="replace"))
        raise InputError(
            [Fault(found, "column names, separated by commas, in UTF-8", source=source, line=1)]
        ) from None
    names = tuple(field.strip() for field in fields)
    for delimiter, word in _OTHER_DELIMITERS.items():
        if len(names) == 1 and delimiter in names[0]:
            found = f"columns separated by {word}"
            raise InputError([Fault(found, "columns separated by commas", source=source, line=1)])
    return names


class CsvRows(Struct, frozen=True, eq=False):
    """The rows of a file.

    Attributes:
        table: The rows that could be read.
        faults: Faults of the others.
        skipped: Number of the others.
    """

    table: RowTable
    faults: FaultList
    skipped: int


def read_columns(file: CsvFile, kinds: Sequence[Kind | None]) -> CsvRows:
    """Read the rows of a file.

    Args:
        file: The file.
        kinds: Kind of each column of its header; None to skip a column.
    """
    columns = [
        None if kind is None else (name, kind)
        for name, kind in zip(file.header, kinds, strict=True)
    ]
    named = [column for column in columns if column is not None]
    # A quoted field may contain a newline, so lines are not rows.
    plain = file.text.find(b'"', file.body) < 0
    faults, skipped = FaultList(), 0
    tables = []
    everything = [(memoryview(file.text)[file.body :], file.first_line)]
    for rows, line in _chunks(file) if plain else everything:
        parsed = parse_chunk(rows, kinds) if plain else None
        if parsed is None:
            slow = SlowRows(rows, columns, file.source, line)
            parsed, lines = slow.columns(), np.array(slow.lines, dtype=np.int64)
            faults.absorb(slow.faults)
            skipped += slow.skipped
        else:
            lines = np.arange(line, line + len(parsed[0]), dtype=np.int64)
        typed = [(*column, values) for column, values in zip(named, parsed, strict=True)]
        tables.append(RowTable.of(typed, file.source, lines))
    return CsvRows(concatenate_tables(tables), faults, skipped)


def _chunks(file: CsvFile) -> Iterator[tuple[memoryview, int]]:
    """Whole lines of about `CHUNK_BYTES`, and the number of the first; at least one chunk."""
    text, start, line = file.text, file.body, file.first_line
    while True:
        end = text.rfind(b"\n", start, start + CHUNK_BYTES) + 1
        if end == 0:  # a line longer than a chunk, or no lines
            end = text.find(b"\n", start) + 1 or len(text)
        yield memoryview(text)[start:end], line
        if end == len(text):
            return
        line += line_count(memoryview(text)[start:end])
        start = end


# --- fast path -------------------------------------------------------------------------------

_CODES = {None: 0, Kind.NUMBER: 1, Kind.INTEGER: 2, Kind.STRING: 3}
"""Numbers of the kinds in the compiled loop."""

_COMMA, _NEWLINE = b",\n"
_NAN = np.array([np.nan])
_NUMBER_BYTES = np.isin(np.arange(256), list(b"0123456789+-.eE,"))
_KEY = int.from_bytes(os.urandom(8)) >> 1
"""Prevents deliberate collisions of strings in the hash table."""


def parse_chunk(
    rows: bytes | memoryview, kinds: Sequence[Kind | None]
) -> list[ParsedColumn] | None:
    """Read rows on the fast path.

    Args:
        rows: UTF-8 rows that all end in a newline, without quotes and carriage returns.
        kinds: Kind of each column; None to skip a column.

    Returns:
        The columns that have a kind, in order; None if the rows are not plainly well-formed.
    """
    if len(kinds) < 2:  # a blank line would look like a row of a single field
        return None
    text = np.frombuffer(rows, dtype=np.uint8)
    fields = _read_fields(text, kinds)
    if fields is None:
        return None
    columns: list[ParsedColumn] = []
    for index, kind in enumerate(kinds):
        if kind is None:
            continue
        column = (
            _strings(text, *next(fields.strings))
            if kind is Kind.STRING
            else _completed(
                next(fields.integers if kind is Kind.INTEGER else fields.numbers),
                text,
                fields.unread[fields.unread[:, 0] == index],
            )
        )
        if column is None:
            return None
        columns.append(column)
    return columns


def line_count(text: bytes | memoryview | Bytes) -> int:
    """Number of newlines in a text."""
    letters = np.frombuffer(text, dtype=np.uint8)
    return count_bytes(letters, len(letters), _NEWLINE)


class _Fields(NamedTuple):
    """Fields found by the compiled loop.

    Attributes:
        numbers: Columns of numbers, in order.
        integers: Columns of integers.
        strings: Starts and ends of the fields of each column of strings.
        unread: (K, 4) column, row, start and end of the numbers that are still to be read.
    """

    numbers: Iterator[NumberColumn]
    integers: Iterator[NumberColumn]
    strings: Iterator[tuple[IntArray, IntArray]]
    unread: IntArray


def _read_fields(text: Bytes, kinds: Sequence[Kind | None]) -> _Fields | None:
    """Split rows into fields; None if rows differ in length."""
    row_count = line_count(text)
    counts = {kind: list(kinds).count(kind) for kind in Kind}
    numbers = np.empty((counts[Kind.NUMBER], row_count))
    integers = np.empty((counts[Kind.INTEGER], row_count), dtype=np.int64)
    starts, ends = np.empty((2, counts[Kind.STRING], row_count), dtype=np.int64)
    # Most of it is never touched, and untouched memory costs nothing.
    unread = np.empty((numbers.size + integers.size, 4), dtype=np.int64)
    codes = np.array([_CODES[kind] for kind in kinds], dtype=np.uint8)
    found = parse_rows(
        *(text, codes, len(kinds), row_count, LONGEST_ROW_BYTES, _NAN, EMPTY),
        *(numbers, integers, starts, ends, unread),
    )
    if found < 0:
        return None
    return _Fields(iter(numbers), iter(integers), zip(starts, ends, strict=True), unread[:found])


def _completed(column: NumberColumn, text: Bytes, unread: IntArray) -> NumberColumn | None:
    """A column with the numbers that the compiled loop left out; None if one is not a number."""
    if len(unread) == 0:
        return column
    _, rows, starts, ends = unread.T
    numbers = _long_numbers(text, starts, ends - starts)
    if numbers is None:
        return None
    if column.dtype == np.int64:
        if numbers.dtype != np.int64 or (numbers == EMPTY).any():
            return None
    elif not np.isfinite(numbers).all():
        return None
    column[rows] = numbers
    return column


def _long_numbers(text: Bytes, starts: IntArray, lengths: IntArray) -> AnyArray | None:
    """Numbers of any length, all parsed together by the JSON parser; None if it refuses one."""
    fields = text[expand_runs(starts, lengths + 1)]
    fields[np.cumsum(lengths + 1) - 1] = _COMMA
    if not _NUMBER_BYTES[fields].all():
        return None
    try:
        return np.array(orjson.loads(b"[" + fields[:-1].tobytes() + b"]"))
    except (orjson.JSONDecodeError, OverflowError):
        return None


def _strings(text: Bytes, starts: IntArray, ends: IntArray) -> StringColumn | None:
    """A column of strings; None if one breaks the rule for strings."""
    slots = np.full(1 << (len(starts) + 1).bit_length(), -1, dtype=np.int64)
    codes, first = np.empty((2, len(starts)), dtype=np.int64)
    count = factorize_strings(
        *(text, starts, ends, len(starts), _KEY, slots, len(slots), codes, first)
    )
    names = [
        parse_string(text[starts[row] : ends[row]].tobytes().decode(errors="surrogateescape"))
        for row in first[:count].tolist()
    ]
    if None in names:
        return None
    table = {name: index for index, name in enumerate(dict.fromkeys(names))}
    if len(table) < len(names):  # strings that differ only in blanks
        codes = np.array([table[name] for name in names], dtype=np.int64)[codes]
    return StringColumn(codes, tuple(name for name in table if name is not None))


# --- slow path -------------------------------------------------------------------------------

_PARSERS: Mapping[Kind, Callable[[str], Any]] = MappingProxyType(
    {Kind.NUMBER: parse_number, Kind.INTEGER: parse_integer, Kind.STRING: parse_string}
)
_NO_UTF_8 = re.compile("[\udc80-\udcff]")
"""Characters that stand for bytes that are not UTF-8."""

_EMPTY: Mapping[Kind, Any] = MappingProxyType(
    {Kind.NUMBER: np.nan, Kind.INTEGER: EMPTY, Kind.STRING: ""}
)


class SlowRows:
    """Rows read field by field.

    Attributes:
        lines: The line of each row without a fault.
        faults: Faults of the others.
        skipped: Number of the others.
    """

    def __init__(
        self,
        rows: bytes | memoryview,
        columns: Sequence[Column | None],
        source: str,
        first_line: int,
    ) -> None:
        """Read rows.

        Args:
            rows: Rows in UTF-8 without carriage returns.
            columns: Name and kind of each column; None to skip a column.
            source: Name of the file.
            first_line: Line number of the first row.
        """
        self._source = source
        self._width = len(columns)
        self._columns = [
            (index, *column) for index, column in enumerate(columns) if column is not None
        ]
        self._rows: list[list[Any]] = []
        self.lines: list[int] = []
        self.faults = FaultList()
        self.skipped = 0
        text = io.StringIO(bytes(rows).decode(errors="surrogateescape"), newline="")
        reader = csv.reader(text, strict=True, skipinitialspace=True)
        while True:
            line = first_line + reader.line_num
            try:
                self._read_row(next(reader), line)
            except StopIteration:
                return
            except csv.Error as error:
                self._fault(line, None, str(error), "a row of comma-separated values")
                self.skipped += 1

    def columns(self) -> list[ParsedColumn]:
        """The columns that have a kind, in order, of the rows without a fault."""
        fields = list(zip(*self._rows, strict=True)) or [()] * len(self._columns)
        return [
            _to_column(values, kind)
            for values, (_, _, kind) in zip(fields, self._columns, strict=True)
        ]

    def _read_row(self, row: list[str], line: int) -> None:
        if not row or (len(row) == 1 and not row[0].strip(BLANKS)):
            return
        if len(row) != self._width:
            self._fault(line, None, counted(len(row), "column"), f"{self._width} columns")
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
        value = _PARSERS[kind](field)
        if value is None:
            if kind is Kind.STRING and _NO_UTF_8.search(field):
                self._fault(line, name, "bytes that are not valid UTF-8", "text in UTF-8")
                return value
            expected = EXPECTED_STRING if kind is Kind.STRING else kind.value
            self._fault(line, name, show_text(field), expected)
        return value

    def _fault(self, line: int, column: str | None, found: str, expected: str) -> None:
        field = None if column is None else f"column {column}"
        self.faults.add(Fault(found, expected, source=self._source, line=line, field=field))


def _to_column(values: Sequence[Any], kind: Kind) -> ParsedColumn:
    if kind is Kind.NUMBER:
        return np.array(values, dtype=np.float64)
    if kind is Kind.INTEGER:
        return np.array(values, dtype=np.int64)
    table = {value: index for index, value in enumerate(dict.fromkeys(values))}
    codes = np.array([table[value] for value in values], dtype=np.int64)
    return StringColumn(codes, tuple(table))

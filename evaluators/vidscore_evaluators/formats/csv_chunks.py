"""Read well-formed CSV rows as whole columns; decline, without a word, everything else.

A compiled loop goes over the bytes once. Numbers of more digits than binary64 holds go through the
JSON parser together. Whatever is not plainly well-formed (quotes, blank lines, spaces in numbers, a
wrong count of columns) makes `parse_chunk` answer None, and `vidscore_evaluators.formats.csv_rows`
reads those rows with care. Where this module does answer, its answer equals that one's.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from vidscore_evaluators.arrays import AnyArray, FloatArray, IntArray, expand_runs
from vidscore_evaluators.formats.table import EMPTY, Kind, TextColumn
from vidscore_evaluators.formats.texts import clean_text
from vidscore_evaluators.kernels import factorize_strings, parse_rows

Bytes = NDArray[np.uint8]
NumberColumn = FloatArray | IntArray
ParsedColumn = NumberColumn | TextColumn

LONGEST_ROW_BYTES = 100_000
"""Rows that are longer are read with care."""

_CODES = {None: 0, Kind.NUMBER: 1, Kind.WHOLE: 2, Kind.TEXT: 3}
"""What the compiled loop calls the kinds."""

_COMMA, _NEWLINE = b",\n"
_NOT_A_NUMBER = np.array([np.nan])
_NUMBER_BYTES = np.isin(np.arange(256), list(b"0123456789+-.eE,"))
_KEY = secrets.randbits(63)
"""Keeps those who choose texts from choosing ones that are slow to tell apart."""


def parse_chunk(
    rows: bytes | memoryview, kinds: Sequence[Kind | None]
) -> list[ParsedColumn] | None:
    """Read whole rows.

    Args:
        rows: UTF-8 rows that all end in a newline, without quotes and carriage returns.
        kinds: Kind of each column; None for one that is not read.

    Returns:
        The columns that have a kind, in order; None where the rows are not plainly well-formed.
    """
    if len(kinds) < 2:  # a blank line is no row, but looks like one of a single field
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
            _texts(text, *next(fields.texts))
            if kind is Kind.TEXT
            else _completed(
                next(fields.wholes if kind is Kind.WHOLE else fields.numbers),
                text,
                fields.unread[fields.unread[:, 0] == index],
            )
        )
        if column is None:
            return None
        columns.append(column)
    return columns


def line_count(text: bytes | memoryview | Bytes) -> int:
    """Newlines of a text; `bytes.count` is slower and keeps the interpreter's lock."""
    return int(np.count_nonzero(np.frombuffer(text, dtype=np.uint8) == _NEWLINE))


class _Fields(NamedTuple):
    """What the compiled loop has found.

    Attributes:
        numbers: Columns of numbers, in order.
        wholes: Columns of whole numbers.
        texts: Where the fields of each column of texts start and end.
        unread: (K, 4) column, row, start and end of the numbers that it has left out.
    """

    numbers: Iterator[NumberColumn]
    wholes: Iterator[NumberColumn]
    texts: Iterator[tuple[IntArray, IntArray]]
    unread: IntArray


def _read_fields(text: Bytes, kinds: Sequence[Kind | None]) -> _Fields | None:
    """Take rows apart; None where they are ragged."""
    row_count = line_count(text)
    counts = {kind: list(kinds).count(kind) for kind in Kind}
    numbers = np.empty((counts[Kind.NUMBER], row_count))
    wholes = np.empty((counts[Kind.WHOLE], row_count), dtype=np.int64)
    starts, ends = np.empty((2, counts[Kind.TEXT], row_count), dtype=np.int64)
    # Most of this is never touched, and so costs nothing.
    unread = np.empty((numbers.size + wholes.size, 4), dtype=np.int64)
    codes = np.array([_CODES[kind] for kind in kinds], dtype=np.uint8)
    found = parse_rows(
        *(text, codes, len(kinds), row_count, LONGEST_ROW_BYTES, _NOT_A_NUMBER, EMPTY),
        *(numbers, wholes, starts, ends, unread),
    )
    if found < 0:
        return None
    return _Fields(iter(numbers), iter(wholes), zip(starts, ends, strict=True), unread[:found])


def _completed(column: NumberColumn, text: Bytes, unread: IntArray) -> NumberColumn | None:
    """A column with the numbers that the compiled loop has left out; None if one is none."""
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
    """Fields of any length through the JSON parser, all at once; None where it declines one."""
    fields = text[expand_runs(starts, lengths + 1)]
    fields[np.cumsum(lengths + 1) - 1] = _COMMA
    if not _NUMBER_BYTES[fields].all():
        return None
    try:
        return np.array(orjson.loads(b"[" + fields[:-1].tobytes() + b"]"))
    except (orjson.JSONDecodeError, OverflowError):
        return None


def _texts(text: Bytes, starts: IntArray, ends: IntArray) -> TextColumn | None:
    """A column of texts; None where one breaks the rule for texts."""
    slots = np.full(1 << (len(starts) + 1).bit_length(), -1, dtype=np.int64)
    codes, first = np.empty((2, len(starts)), dtype=np.int64)
    count = factorize_strings(
        *(text, starts, ends, len(starts), _KEY, slots, len(slots), codes, first)
    )
    texts = [
        clean_text(text[starts[row] : ends[row]].tobytes().decode(errors="surrogateescape"))
        for row in first[:count].tolist()
    ]
    if None in texts:
        return None
    table = {name: index for index, name in enumerate(dict.fromkeys(texts))}
    if len(table) < len(texts):  # texts that differ in spaces alone
        codes = np.array([table[name] for name in texts], dtype=np.int64)[codes]
    return TextColumn(codes, tuple(name for name in table if name is not None))

"""Read CSV files into typed columns: whole arrays where rows are plain, with care where not."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.csv_chunks import ParsedColumn, line_count, parse_chunk
from vidscore_evaluators.formats.csv_rows import Column, read_rows
from vidscore_evaluators.formats.fault_list import FaultList, show_text
from vidscore_evaluators.formats.table import Kind, Table, TextColumn, concatenate_tables

CHUNK_BYTES = 1 << 20
"""Rows that are parsed at once: enough for whole arrays to pay, few enough to stay in a cache."""


_OTHER_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


@dataclass(frozen=True)
class CsvFile:
    """A CSV file.

    Attributes:
        source: Name of the file.
        header: Column names, without spaces around them.
        text: The whole, with newlines alone at the ends of lines and one after the last line.
        body: Where the rows start.
        first_line: Number of the line on which they do: 2 after a header, 1 without one.
    """

    source: str
    header: tuple[str, ...]
    text: bytes
    body: int
    first_line: int = 2


def split_csv(data: bytes, source: str) -> CsvFile:
    """Take the header off a CSV file.

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


def plain_rows(data: bytes, source: str, *, blanks: bool = False) -> bytes:
    """Bring rows without a header into the form that `CsvFile.text` has.

    Args:
        data: Content of the file, UTF-8 with or without a byte order mark.
        source: Name of the file.
        blanks: Whether blanks, any number of them, separate columns instead of commas.

    Returns:
        The rows, separated by commas; nothing where there are none.

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


@dataclass(frozen=True, eq=False)
class CsvRows:
    """The rows of a file.

    Attributes:
        table: Those that could be read.
        faults: What is wrong with the others.
        skipped: Number of the others.
    """

    table: Table
    faults: FaultList
    skipped: int


def read_columns(file: CsvFile, kinds: Sequence[Kind | None]) -> CsvRows:
    """Read the rows of a file.

    Args:
        file: The file.
        kinds: Kind of each column of its header; None for one that is not read.
    """
    columns = [
        None if kind is None else (name, kind)
        for name, kind in zip(file.header, kinds, strict=True)
    ]
    # A quoted field may hold a newline, so that lines are not rows.
    plain = file.text.find(b'"', file.body) < 0
    faults, skipped = FaultList(), 0
    tables = []
    whole = [(memoryview(file.text)[file.body :], file.first_line)]
    for rows, line in _chunks(file) if plain else whole:
        parsed = parse_chunk(rows, kinds) if plain else None
        if parsed is None:
            careful = read_rows(rows, columns, file.source, line)
            parsed, lines = careful.columns, careful.lines
            faults.absorb(careful.faults)
            skipped += careful.skipped
        else:
            lines = np.arange(line, line + _length(parsed[0]), dtype=np.int64)
        tables.append(_table(columns, parsed, file.source, lines))
    return CsvRows(concatenate_tables(tables), faults, skipped)


def _chunks(file: CsvFile) -> Iterator[tuple[memoryview, int]]:
    """Whole lines of about `CHUNK_BYTES`, and the number of the first; one chunk at least."""
    text, start, line = file.text, file.body, file.first_line
    while True:
        end = text.rfind(b"\n", start, start + CHUNK_BYTES) + 1
        if end == 0:  # a line longer than a chunk, or none at all
            end = text.find(b"\n", start) + 1 or len(text)
        yield memoryview(text)[start:end], line
        if end == len(text):
            return
        line += line_count(memoryview(text)[start:end])
        start = end


def _length(column: ParsedColumn) -> int:
    return len(column.codes) if isinstance(column, TextColumn) else len(column)


def _table(
    columns: Sequence[Column | None], parsed: list[ParsedColumn], source: str, lines: IntArray
) -> Table:
    named = [column for column in columns if column is not None]
    by_kind: dict[Kind, dict[str, Any]] = {kind: {} for kind in Kind}
    for (name, kind), values in zip(named, parsed, strict=True):
        by_kind[kind][name] = values
    return Table(
        numbers=by_kind[Kind.NUMBER],
        wholes=by_kind[Kind.WHOLE],
        texts=by_kind[Kind.TEXT],
        sources=(source,),
        source_of_row=np.zeros(len(lines), dtype=np.int64),
        positions=lines,
    )

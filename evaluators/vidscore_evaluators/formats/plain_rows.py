"""Read rows of files that have no header: one table for many small files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats.csv_chunks import line_count
from vidscore_evaluators.formats.csv_columns import CsvFile, CsvRows, read_columns
from vidscore_evaluators.formats.fault_list import FaultList
from vidscore_evaluators.formats.table import Kind

QUOTE = b'"'


def read_plain_files(
    names: Sequence[str],
    texts: Sequence[bytes],
    header: Sequence[str],
    kinds: Sequence[Kind | None],
) -> CsvRows:
    """Read the rows of files as one table.

    Args:
        names: Names of the files.
        texts: Their rows, as `vidscore_evaluators.formats.csv_columns.plain_rows` gives them.
        header: Names of the columns.
        kinds: Kind of each column; None for one that is not read.

    Returns:
        The rows; each row and fault has the file and line where it stands.
    """
    quoted = FaultList()
    plain = [_without_quotes(name, text, quoted) for name, text in zip(names, texts, strict=True)]
    lines = np.array([line_count(text) for text in plain], dtype=np.int64)
    first = np.cumsum(lines) - lines + 1
    rows = read_columns(CsvFile("", tuple(header), b"".join(plain), 0, first_line=1), kinds)

    def place(fault: Fault) -> Fault:
        file = _file_of(np.array([fault.line or 1]), first)[0]
        return replace(fault, source=names[file], line=int((fault.line or 1) - first[file] + 1))

    faults = rows.faults.relocated(place)
    faults.absorb(quoted)
    owners = _file_of(rows.table.positions, first)
    table = replace(
        rows.table,
        sources=tuple(names),
        source_of_row=owners,
        positions=rows.table.positions - first[owners] + 1,
    )
    return CsvRows(table, faults, rows.skipped + len(quoted))


def column_count(texts: Sequence[bytes]) -> int:
    """Columns of the first row that there is; 0 where there is none."""
    rows = (first_row(text)[1] for text in texts)
    row = next(filter(None, rows), b"")
    return row.count(b",") + 1 if row else 0


def first_row(text: bytes) -> tuple[int, bytes]:
    """Line and content of the first row; the content is empty where there is no row."""
    for number, line in enumerate(io.BytesIO(text), start=1):
        if line.strip(b" \t,\n"):
            return number, line.rstrip(b"\n")
    return 1, b""


def _file_of(lines: IntArray, first: IntArray) -> IntArray:
    # Files without lines start where the next one does; a line is never theirs.
    owners: IntArray = np.searchsorted(first, lines, side="right") - 1
    return owners


def _without_quotes(name: str, text: bytes, faults: FaultList) -> bytes:
    """Blank the lines with quotation marks: one alone would swallow the lines after it."""
    if QUOTE not in text:
        return text
    lines = text.split(b"\n")
    for index, line in enumerate(lines):
        if QUOTE in line:
            faults.add(Fault("a quotation mark", "none in a row", source=name, line=index + 1))
            lines[index] = b""
    return b"\n".join(lines)

"""Lines of CSV that are safe in a spreadsheet and on a terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import chain

from vidscore_evaluators.names import spreadsheet_text


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A whole file of CSV; see `csv_lines`.

    Args:
        header: Names of the columns.
        rows: Cells of each line.
    """
    return csv_lines(chain([header], rows))


def csv_lines(rows: Iterable[Sequence[object]]) -> str:
    """Lines of CSV without control characters, and without formulas that a spreadsheet would run.

    A string that would be a formula, or that already has apostrophes in front of one, gets an
    apostrophe in front. Control characters are escaped as everywhere. Numbers stay as they are;
    booleans are written as in JSON.

    Args:
        rows: Cells of each line.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(map(_cell, row) for row in rows)
    return text.getvalue()


def csv_cell(text: str) -> str:
    """A text as one cell of such a line."""
    # A line with one empty cell would be written as two quotation marks.
    return csv_lines([[text]]).removesuffix("\n") if text else ""


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return (
        value if value is None or isinstance(value, int | float) else spreadsheet_text(str(value))
    )

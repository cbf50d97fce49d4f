"""Text for machines: JSON, and lines of CSV that are safe in a spreadsheet and on a terminal."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain

import msgspec

from vidscore_evaluators.names import spreadsheet_text


def json_text(document: object, indent: int | None = 2) -> str:
    """A document as JSON text, with the characters that Python's `json` writes.

    Args:
        document: Dictionaries, lists, strings and finite numbers.
        indent: Blanks per level; None: all in one line.

    Raises:
        ValueError: If a number is not finite.
    """
    write = partial(json.dumps, document, ensure_ascii=False, allow_nan=False)
    if indent is None or indent < 1:
        return write(indent=indent)
    try:
        # Python's own indenting takes four times as long.
        return msgspec.json.format(write(), indent=indent)
    except UnicodeEncodeError:  # a file's name that is not UTF-8
        return write(indent=indent)


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

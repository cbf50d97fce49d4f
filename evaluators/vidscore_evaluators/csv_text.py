"""Lines of CSV that neither a spreadsheet nor a terminal takes for anything else."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from vidscore_evaluators.names import spreadsheet_text


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lines of CSV, in which no cell is a formula to a spreadsheet and none holds controls.

    A string that would be a formula, or already begins with apostrophes before one, gets an
    apostrophe in front; control characters are escaped as everywhere. Numbers stay as they are, and
    what is true or false is written as JSON writes it.

    Args:
        header: Names of the columns.
        rows: Cells of each line.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_cell, header))
    writer.writerows(map(_cell, row) for row in rows)
    return text.getvalue()


def csv_cell(text: str) -> str:
    """A text as one cell of such a line."""
    # A line of one empty cell would be two quotation marks.
    return csv_text([text], ()).removesuffix("\n") if text else ""


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return (
        value if value is None or isinstance(value, int | float) else spreadsheet_text(str(value))
    )

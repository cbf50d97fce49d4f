"""Reports as tables in text, as `vidscore_cli.report_table` draws them, without what draws those.

Importing rich takes longer than scoring a small set, and off a terminal there is nothing to draw.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from vidscore_cli.output import STDOUT, UNBOUNDED_WIDTH, deliver, deliver_table
from vidscore_cli.report_parts import (
    COLUMN_GAP,
    Words,
    cell_width,
    column_width,
    fold_heading,
    grid_cells,
    grid_pages,
    left_out_note,
)
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.report_grids import Grid

_INDENT = 2


def deliver_parts(parts: Iterable[Words | Grid], output: str, form: str = "table") -> None:
    """Write tables, and words between them, to a file or to standard output.

    Args:
        parts: Grids and words, in order.
        output: Path of the file, or "-".
        form: ``table`` for people, or a form of `vidscore_cli.markup`.
    """
    if form != "table":
        from vidscore_cli.markup import WRITERS

        deliver(WRITERS[form](parts), output)
    elif output == STDOUT and sys.stdout.isatty():
        from vidscore_cli.report_table import parts_renderable

        deliver_table(parts_renderable(parts), output)
    else:
        deliver(parts_text(parts), output)


def parts_text(parts: Iterable[Words | Grid]) -> str:
    """Tables, and words between them, as text."""
    lines = (line for part in parts for line in _lines(part))
    return "\n".join(line.rstrip() for line in lines)


def _lines(part: Words | Grid) -> Iterator[str]:
    if isinstance(part, Words):
        yield escape_controls(part.text)
        return
    yield ""
    yield part.title
    below = list(_table(part)) if part.lines else []
    if part.left_out:
        below.append(left_out_note(part))
    for line in below:
        yield " " * _INDENT + line


def _table(grid: Grid) -> Iterator[str]:
    """Lines of a grid: headings at the foot of their lines, a rule, and the rows."""
    for number, columns in enumerate(grid_pages(grid, UNBOUNDED_WIDTH - _INDENT)):
        if number:
            yield ""
        widths = [column_width(grid, column) for column in columns]
        headings = [fold_heading(grid.headings[column]) for column in columns]
        height = max(map(len, headings))
        folded = [[""] * (height - len(heading)) + heading for heading in headings]
        is_score = [column >= grid.leading for column in columns]
        for row in zip(*folded, strict=True):
            yield _row(row, widths, is_score)
        yield "─" * (sum(widths) + COLUMN_GAP * (len(widths) - 1))
        for cells in grid_cells(grid):
            yield _row([cells[column] for column in columns], widths, is_score)


def _row(cells: Iterable[str], widths: list[int], is_score: list[bool]) -> str:
    """Names to the left of their columns, scores to the right."""
    padded = []
    for cell, width, score in zip(cells, widths, is_score, strict=True):
        padding = " " * (width - cell_width(cell))
        padded.append(padding + cell if score else cell + padding)
    return (" " * COLUMN_GAP).join(padded)

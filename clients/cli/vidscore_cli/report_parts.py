"""The parts of reports for people, and the parts as text.

On a terminal `vidscore_cli.report_table` draws them. Importing rich for that takes longer than
scoring a small set, so other output is laid out here, as rich would do it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from vidscore_cli.output import STDOUT, UNBOUNDED_WIDTH, deliver, deliver_table
from vidscore_cli.reporting import View
from vidscore_evaluators.names import counted, escape_controls
from vidscore_evaluators.report import Curve, Report
from vidscore_evaluators.report_grids import (
    Grid,
    detail_grids,
    format_number,
    overall_grid,
    settings_text,
)

HEADING_WIDTH = 13
"""Maximum width of a heading before it is wrapped, in columns."""

_LONG = 2 * HEADING_WIDTH
"""Maximum number of characters of a heading, such as the name of a system, between underscores."""

_LONG_PARTS = re.compile(rf"[^\- ]{{1,{_LONG}}}[\- ]*|[\- ]+")

COLUMN_GAP = 3
"""Columns of a terminal between two columns of a table."""

_INDENT = 2


class Words(Struct, frozen=True):
    """A line of words between tables.

    Attributes:
        text: The line, not yet escaped; empty for a space between lines.
        heading: Whether it is a heading, not a note.
    """

    text: str
    heading: bool = False


def report_parts(reports: Sequence[Report], view: View) -> Iterator[Words | Grid]:
    """The parts of reports, in order, for any output."""
    for report in reports:
        of = f" ({report.preset})" if report.preset else ""
        yield Words(f"{report.evaluator} {report.version}{of}", heading=True)
        yield Words(settings_text(report))
    for selection in dict.fromkeys(map(_selection, reports)):
        if selection:
            yield Words(f"of a part of the data: {selection}")
    overall = overall_grid(reports)
    if overall.lines:
        yield overall
    for report in reports:
        whose = f"{report.evaluator}: " if len(reports) > 1 else ""
        for grid in detail_grids(report, sequences=view.sequences):
            yield replace(grid, title=whose + grid.title)
        yield from _curves(report.curves, view, whose)


def left_out_note(grid: Grid) -> str:
    """A sentence about the lines that a table does not have; empty if there are none."""
    if not grid.left_out:
        return ""
    lines = counted(grid.left_out, "line")
    return f"{lines} without any score not shown; --format json has all"


def cell_width(text: str) -> int:
    """Width of a text, in columns of a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # slow to import, and most texts need none of it

    return cell_len(text)


def fold_heading(heading: str) -> list[str]:
    """The lines of a heading, broken after underscores; where it is long, at any end of a word."""
    whole = heading.replace("_", "_\0").split("\0")
    parts = ([part] if len(part) <= _LONG else _LONG_PARTS.findall(part) for part in whole)
    lines = [""]
    for part in chain.from_iterable(parts):
        if lines[-1] and len(lines[-1]) + len(part) > HEADING_WIDTH:
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines]


def column_width(grid: Grid, column: int) -> int:
    """Width of a column of a grid, in columns of a terminal."""
    cells = (line[column] for line in grid.lines)
    return max(map(cell_width, [*fold_heading(grid.headings[column]), *cells]))


def grid_width(grid: Grid) -> int:
    """Width of a grid without folded headings, in columns of a terminal."""
    columns = zip(grid.headings, *grid.lines, strict=True)
    return sum(max(map(cell_width, cells)) + COLUMN_GAP for cells in columns) - COLUMN_GAP


def grid_pages(grid: Grid, width: int) -> list[list[int]]:
    """Columns of each part of a table that is too wide; leading ones are in every part."""
    widths = [column_width(grid, column) + COLUMN_GAP for column in range(len(grid.headings))]
    leading = list(range(grid.leading))
    pages = [list(leading)]
    used = sum(widths[: grid.leading])
    for column in range(grid.leading, len(grid.headings)):
        if len(pages[-1]) > len(leading) and used + widths[column] - COLUMN_GAP > width:
            pages.append(list(leading))
            used = sum(widths[: grid.leading])
        pages[-1].append(column)
        used += widths[column]
    return pages


def grid_cells(grid: Grid) -> Iterator[list[str]]:
    """The lines of a grid; a leading name that repeats the line above is left empty."""
    before: tuple[str, ...] = ()
    for line in grid.lines:
        same, cells = True, []
        for index, cell in enumerate(line):
            same = same and index < grid.leading - 1 and bool(before) and before[index] == cell
            cells.append("" if same else cell)
        yield cells
        before = line


def _selection(report: Report) -> str:
    """The part of the data that was scored; empty for all."""
    from vidscore_evaluators.convert import from_dict
    from vidscore_evaluators.selection import Selection

    return str(from_dict(Selection, report.selection))


def _curves(curves: Sequence[Curve], view: View, whose: str) -> Iterator[Words | Grid]:
    if curves and not view.curves:
        kinds = dict.fromkeys(curve.kind for curve in curves)
        count = counted(len(curves), "curve is", "curves are")
        yield Words("")
        yield Words(f"{whose}{count} not shown: {', '.join(kinds)}")
        yield Words("--curves shows their points, --format json has them")
    for curve in curves if view.curves else ():
        place = [escape_controls(part) for part in (curve.domain, curve.label) if part is not None]
        title = " of ".join(filter(None, [f"{whose}Curve {curve.name}", ", ".join(place)]))
        lines = [tuple(map(format_number, point.values())) for point in curve.points()]
        yield Grid(title, tuple(curve.columns), 0, lines)


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
    return "\n".join(line.rstrip() for line in lines).lstrip("\n")


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
    """Lines of a grid: headings, aligned at the bottom, a rule, and the rows."""
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

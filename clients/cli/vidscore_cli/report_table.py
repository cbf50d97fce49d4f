"""Reports as tables on a terminal or in a text file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, ConsoleRenderable, Group, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from vidscore_cli.output import counted, indented
from vidscore_cli.reporting import View
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.report import Curve, Report
from vidscore_evaluators.report_grids import (
    UNDEFINED,
    Grid,
    detail_grids,
    format_number,
    overall_grid,
    settings_text,
)

HEADING_WIDTH = 13
"""Columns of a heading before it goes on in the next line."""


COLUMN_GAP = 3
"""Columns of a terminal between two columns of a table."""


def report_renderables(reports: Sequence[Report], view: View) -> ConsoleRenderable:
    """Tables of reports: all of them together, then each in detail."""
    return parts_renderable(report_parts(reports, view))


def parts_renderable(parts: Iterable[Words | Grid]) -> ConsoleRenderable:
    """Tables, and words between them, on a terminal."""
    return Group(*(drawn for part in parts for drawn in _drawn(part)))


def plain_table(*headings: str) -> Table:
    """A table without a frame; its first column is never broken."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    for index, heading in enumerate(headings):
        table.add_column(heading, no_wrap=index == 0)
    return table


@dataclass(frozen=True)
class GridView:
    """A grid as a table: names to the left, scores to the right, long headings folded.

    Where the terminal is too narrow for all columns, the table goes on below with the rest.

    Attributes:
        grid: The grid.
    """

    grid: Grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw as many columns side by side as there is room for."""
        del console
        for number, columns in enumerate(self._pages(options.max_width)):
            if number:
                yield Text("")
            yield self._table(columns)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """The width of the widest part."""
        pages = self._pages(options.max_width)
        tables = [self._table(columns) for columns in pages]
        return Measurement.get(console, options, Group(*tables))

    def _pages(self, width: int) -> list[list[int]]:
        """Columns of each part of the table; the leading ones are in every part."""
        leading = list(range(self.grid.leading))
        pages = [list(leading)]
        for column in range(self.grid.leading, len(self.grid.headings)):
            used = sum(self._width(index) + COLUMN_GAP for index in pages[-1])
            if len(pages[-1]) > len(leading) and used + self._width(column) > width:
                pages.append(list(leading))
            pages[-1].append(column)
        return pages

    def _width(self, column: int) -> int:
        heading = fold_heading(self.grid.headings[column]).plain.split("\n")
        return max(
            cell_len(text) for text in [*heading, *(line[column] for line in self.grid.lines)]
        )

    def _table(self, columns: Sequence[int]) -> Table:
        grid = self.grid
        table = plain_table()
        for column in columns:
            heading = fold_heading(grid.headings[column])
            score = column >= grid.leading
            table.add_column(heading, justify="right" if score else "left", no_wrap=score)
        before: tuple[str, ...] = ()
        for line in grid.lines:
            cells = list(_cells(line, before, grid.leading))
            table.add_row(*(cells[column] for column in columns))
            before = line
        return table


def fold_heading(heading: str) -> Text:
    """A heading over several lines, broken after underscores."""
    lines = [""]
    for part in heading.replace("_", "_\0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(part) > HEADING_WIDTH:
            lines.append("")
        lines[-1] += part
    return Text("\n".join(lines))


def _cells(line: Sequence[str], before: Sequence[str], leading: int) -> Iterator[Text]:
    """Cells of a line; a leading name that the line above has as well is not said again."""
    same = True
    for index, cell in enumerate(line):
        same = same and index < leading - 1 and bool(before) and before[index] == cell
        yield Text("" if same else cell, style="dim" if cell == UNDEFINED else "")


@dataclass(frozen=True)
class Words:
    """A line of words between tables.

    Attributes:
        text: The line, not yet escaped; empty for a space between lines.
        heading: Whether it names what follows, or is a note.
    """

    text: str
    heading: bool = False


def report_parts(reports: Sequence[Report], view: View) -> Iterator[Words | Grid]:
    """What is told of reports, in order, whatever draws it."""
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
    """A sentence about the lines that a table does not have; empty where there are none."""
    if not grid.left_out:
        return ""
    lines = counted(grid.left_out, "line")
    return f"{lines} without any score not shown; --format json has all"


def _drawn(part: Words | Grid) -> Iterator[ConsoleRenderable]:
    if isinstance(part, Words):
        yield Text(escape_controls(part.text), style="bold" if part.heading else "dim")
        return
    yield Text("")
    yield Text(part.title, style="bold")
    if part.lines:
        yield indented(GridView(part))
    if part.left_out:
        yield indented(Text(left_out_note(part), style="dim"))


def _selection(report: Report) -> str:
    """The part of the data that was scored; empty for all."""
    from vidscore_evaluators.convert import from_dict
    from vidscore_evaluators.selection import Selection

    return str(from_dict(Selection, report.selection))


def _curves(curves: Sequence[Curve], view: View, whose: str) -> Iterator[Words | Grid]:
    if curves and not view.curves:
        kinds = dict.fromkeys(curve.kind for curve in curves)
        count = "1 curve is" if len(curves) == 1 else f"{len(curves)} curves are"
        yield Words("")
        yield Words(f"{whose}{count} not shown: {', '.join(kinds)}")
        yield Words("--curves shows their points, --format json has them")
    for curve in curves if view.curves else ():
        place = [escape_controls(part) for part in (curve.domain, curve.label) if part is not None]
        title = " of ".join(filter(None, [f"{whose}Curve {curve.name}", ", ".join(place)]))
        lines = [tuple(map(format_number, point.values())) for point in curve.points()]
        yield Grid(title, tuple(curve.columns), 0, lines)

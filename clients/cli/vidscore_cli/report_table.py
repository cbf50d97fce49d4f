"""Reports as tables on a terminal or in a text file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, ConsoleRenderable, Group, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from vidscore_cli.report_layout import UNDEFINED, Grid, detail_grids, format_number, overall_grid
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.report import Curve, Report

HEADING_WIDTH = 13
"""Columns of a heading before it goes on in the next line."""


COLUMN_GAP = 3
"""Columns of a terminal between two columns of a table."""


_AT_THRESHOLD = re.compile(r"_-?\d+(\.\d+)?$")
"""What the names of curves end with that differ in a threshold alone."""


@dataclass(frozen=True)
class View:
    """What of a report is shown.

    Attributes:
        sequences: The scores of single sequences.
        curves: The points of curves.
    """

    sequences: bool = False
    curves: bool = False


def report_renderables(reports: Sequence[Report], view: View) -> ConsoleRenderable:
    """Everything that people should see of some reports: first all, then each in detail."""
    return Group(*_all_parts(reports, view))


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


def _all_parts(reports: Sequence[Report], view: View) -> Iterator[ConsoleRenderable]:
    for report in reports:
        yield Text(f"{report.evaluator} {report.version}", style="bold")
        settings = ", ".join(_parameter(*item) for item in report.parameters.items())
        yield Text(settings, style="dim")
    overall = overall_grid(reports)
    if overall.lines:
        yield from _titled(overall.title, overall)
    for report in reports:
        whose = f"{report.evaluator}: " if len(reports) > 1 else ""
        for grid in detail_grids(report, sequences=view.sequences):
            yield from _titled(whose + grid.title, grid)
        yield from _curves(report.curves, view, whose)


def _titled(title: str, grid: Grid) -> Iterator[ConsoleRenderable]:
    yield Text("")
    yield Text(title, style="bold")
    if grid.lines:
        yield _indented(GridView(grid))
    if grid.left_out:
        lines = "1 line" if grid.left_out == 1 else f"{grid.left_out} lines"
        note = f"{lines} without any score not shown; --format json has all"
        yield _indented(Text(note, style="dim"))


def _parameter(name: str, value: object) -> str:
    shown = ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    return f"{name} = {escape_controls(shown) or 'none'}"


def _curves(curves: Sequence[Curve], view: View, whose: str) -> Iterator[ConsoleRenderable]:
    if curves and not view.curves:
        yield Text("")
        kinds = dict.fromkeys(_AT_THRESHOLD.sub("", curve.name) for curve in curves)
        names = ", ".join(kinds)
        count = "1 curve is" if len(curves) == 1 else f"{len(curves)} curves are"
        yield Text(f"{whose}{count} not shown: {names}", style="dim")
        yield Text("--curves shows their points, --format json has them", style="dim")
    for curve in curves if view.curves else ():
        place = [escape_controls(part) for part in (curve.domain, curve.class_) if part is not None]
        title = " of ".join(filter(None, [f"{whose}Curve {curve.name}", ", ".join(place)]))
        lines = [tuple(map(format_number, point.values())) for point in curve.points()]
        yield from _titled(title, Grid(title, tuple(curve.columns), 0, lines))


def _indented(renderable: ConsoleRenderable) -> Padding:
    return Padding(renderable, (0, 0, 0, 2), expand=False)

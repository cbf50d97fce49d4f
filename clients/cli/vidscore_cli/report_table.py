"""Reports as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile

from msgspec import Struct
from rich import box
from rich.console import Console, ConsoleOptions, ConsoleRenderable, Group, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from vidscore_cli.output import indented
from vidscore_cli.report_parts import (
    Words,
    fold_heading,
    grid_cells,
    grid_pages,
    grid_width,
    left_out_note,
)
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.report_grids import UNDEFINED, Grid


def parts_renderable(parts: Iterable[Words | Grid]) -> ConsoleRenderable:
    """Tables, and words between them, on a terminal."""
    drawn = (one for part in parts for one in _drawn(part))
    return Group(*dropwhile(lambda one: one == Text(""), drawn))


def plain_table(*headings: str) -> Table:
    """A table without a frame; its first column is never broken, the others are never cut."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    for index, heading in enumerate(headings):
        table.add_column(heading, no_wrap=index == 0, overflow="fold")
    return table


class GridView(Struct, frozen=True):
    """A grid as a table: names to the left, scores to the right, long headings folded.

    If the terminal is too narrow for all columns, the rest follow below.
    """

    grid: Grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw as many columns side by side as fit."""
        del console
        for number, columns in enumerate(grid_pages(self.grid, options.max_width)):
            if number:
                yield Text("")
            yield self._table(columns)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """The width of the widest part."""
        pages = grid_pages(self.grid, options.max_width)
        tables = [self._table(columns) for columns in pages]
        return Measurement.get(console, options, Group(*tables))

    def _table(self, columns: Sequence[int]) -> Table:
        grid = self.grid
        table = plain_table()
        for column in columns:
            heading = Text("\n".join(fold_heading(grid.headings[column])))
            score = column >= grid.leading
            table.add_column(heading, justify="right" if score else "left", no_wrap=score)
        for cells in grid_cells(grid):
            table.add_row(*(_cell(cells[column]) for column in columns))
        return table


class RecordsView(Struct, frozen=True):
    """Records as a table; columns that do not fit the terminal follow below.

    Attributes:
        grid: Their values; the leading columns are in every part.
    """

    grid: Grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the whole table, or as many columns side by side as fit."""
        del console
        grid = self.grid
        columns = range(len(grid.headings))
        if grid_width(grid) <= options.max_width:
            yield self._table(columns, grid.headings)
            return
        folded = ["\n".join(fold_heading(heading)) for heading in grid.headings]
        for number, part in enumerate(grid_pages(grid, options.max_width)):
            if number:
                yield Text("")
            yield self._table(part, folded)

    def _table(self, columns: Sequence[int], headings: Sequence[str]) -> Table:
        table = plain_table(*(headings[column] for column in columns))
        for line in self.grid.lines:
            table.add_row(*(Text(line[column]) for column in columns))
        return table


def _cell(text: str) -> Text:
    return Text(text, style="dim" if text == UNDEFINED else "")


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

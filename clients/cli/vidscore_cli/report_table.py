"""Reports as tables on a terminal or in a text file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from vidscore_cli.report_layout import UNDEFINED, Grid, format_number, lay_out
from vidscore_evaluators.report import Curve, Report, ReportWarning

HEADING_WIDTH = 13
"""Columns of a heading before it goes on in the next line."""


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
    """Everything that people should see of some reports, one after the other."""
    parts: list[ConsoleRenderable] = []
    for report in reports:
        parts.extend([Text("")] * bool(parts))
        parts.extend(_report(report, view))
    return Group(*parts)


def plain_table(*headings: str) -> Table:
    """A table without a frame; its first column is never broken."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    for index, heading in enumerate(headings):
        table.add_column(heading, no_wrap=index == 0)
    return table


def grid_table(grid: Grid) -> Table:
    """A grid as a table: names to the left, scores to the right, long headings folded."""
    table = plain_table()
    for index, heading in enumerate(grid.headings):
        if index < grid.leading:
            table.add_column(Text(heading), no_wrap=True)
        else:
            table.add_column(fold_heading(heading), justify="right", no_wrap=True)
    before: tuple[str, ...] = ()
    for line in grid.lines:
        table.add_row(*_cells(line, before, grid.leading))
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


def _report(report: Report, view: View) -> Iterator[ConsoleRenderable]:
    yield Text(f"{report.evaluator} {report.version}", style="bold")
    yield Text(", ".join(_parameter(*item) for item in report.parameters.items()), style="dim")
    for grid in lay_out(report, sequences=view.sequences):
        yield Text("")
        yield Text(grid.title, style="bold")
        yield _indented(grid_table(grid))
    yield from _curves(report.curves, view)
    yield from _warnings(report.warnings)


def _parameter(name: str, value: object) -> str:
    listed = isinstance(value, tuple | list)
    return f"{name} = {', '.join(map(str, value)) if listed else value}"  # type: ignore[call-overload]


def _curves(curves: Sequence[Curve], view: View) -> Iterator[ConsoleRenderable]:
    if not curves:
        return
    yield Text("")
    if not view.curves:
        names = ", ".join(dict.fromkeys(curve.name for curve in curves))
        yield Text(f"Curves: {len(curves)} ({names}); --curves shows their points", style="dim")
        return
    for curve in curves:
        place = [part for part in (curve.domain, curve.class_) if part is not None]
        yield Text(" ".join([f"Curve {curve.name}", *(["of", ", ".join(place)] if place else [])]))
        lines = [tuple(map(format_number, point.values())) for point in curve.points()]
        yield _indented(grid_table(Grid("", tuple(curve.columns), 0, lines)))
        yield Text("")


def _warnings(warnings: Iterable[ReportWarning]) -> Iterator[ConsoleRenderable]:
    heading = "Warnings"
    for warning in warnings:
        if heading:
            yield Text("")
            yield Text(heading, style="bold yellow")
            heading = ""
        times = f" ({warning.count} times)" if warning.count > 1 else ""
        yield _indented(Text(f"{warning.message}{times}"))


def _indented(renderable: ConsoleRenderable) -> Padding:
    return Padding(renderable, (0, 0, 0, 2), expand=False)

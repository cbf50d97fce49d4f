"""Reports as tables on a terminal or in a text file.

Scores over all classes, of all evaluators, stand in one table with a line for each measure and a
column for each domain; scores of a class, or of a sequence, in tables with a line for each of
them and a column for each measure. Keys that have the same measures share a table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, ConsoleRenderable, Group, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from vidscore_cli.output import counted, indented
from vidscore_cli.reporting import View
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.report import Curve, Number, Report, Row

Key = tuple[str | None, str | None, str | None]
"""Domain, class and sequence; None stands for all of them."""

ALL = "all"
NO_NAME = "(no name)"
UNDEFINED = "undefined"
DECIMALS = 4


@dataclass(frozen=True)
class Grid:
    """One table.

    Attributes:
        title: What its scores are of.
        headings: Headings of the leading columns, then of the columns of scores.
        leading: How many of the headings are leading ones.
        lines: Cells of each line, one for each heading; a missing score is an empty cell.
        left_out: Lines that are not there, because there is nothing that they are of.
    """

    title: str
    headings: tuple[str, ...]
    leading: int
    lines: list[tuple[str, ...]] = field(default_factory=list)
    left_out: int = 0


def overall_grid(reports: Sequence[Report]) -> Grid:
    """Scores over all classes, of every evaluator: a line a measure, a column a domain.

    Args:
        reports: The reports; where there are several, a line begins with its evaluator.
    """
    overall = [_scores_by_domain(report) for report in reports]
    found = dict.fromkeys(domain for scores in overall for domain in scores)
    domains = sorted(found, key=_last_if_all)
    several = len(reports) > 1
    headings = ["score"] if domains == [None] else [_named(domain) for domain in domains]
    grid = Grid(
        "Over everything" if domains == [None] else "By domain",
        (*(["evaluator"] * several), "measure", *headings),
        leading=1 + several,
    )
    for report, scores in zip(reports, overall, strict=True):
        names = [report.evaluator] * several
        for measure in _measures_of(scores):
            cells = (_cell(scores.get(domain, {}), measure) for domain in domains)
            grid.lines.append((*names, measure, *cells))
    return grid


def detail_grids(report: Report, *, sequences: bool) -> list[Grid]:
    """Scores of classes and, where wanted, of sequences: a line each, a column a measure.

    Args:
        report: The report.
        sequences: Whether the scores of single sequences are wanted.
    """
    keys = _scores_by_key(report.rows())
    classes = {key: scores for key, scores in keys.items() if key[1] is not None and not key[2]}
    single = {key: scores for key, scores in keys.items() if key[2] is not None}
    return [*_measures_across(classes), *(_measures_across(single) if sequences else [])]


def format_number(value: Number) -> str:
    """A score for people: counts whole, figures with four decimals, undefined ones so called.

    Rounding never turns a fraction into an integer, and never a wider column: 0.99999
    is no perfect score and becomes 0.9999, and 0.0000292 becomes 3e-05.
    """
    if value is None:
        return UNDEFINED
    if isinstance(value, int):
        return str(value)
    text = f"{value:.{DECIMALS}f}"
    rounded = float(text)
    if rounded == value or not rounded.is_integer():
        return text
    if rounded == 0.0:
        return f"{value:.0e}"
    step = math.copysign(10.0**-DECIMALS, value - rounded)
    return f"{rounded + step:.{DECIMALS}f}"


def _scores_by_key(rows: Iterable[Row]) -> dict[Key, dict[str, Number]]:
    keys: dict[Key, dict[str, Number]] = {}
    for row in rows:
        keys.setdefault((row.domain, row.label, row.sequence), {})[row.measure] = row.value
    return keys


def _scores_by_domain(report: Report) -> dict[str | None, dict[str, Number]]:
    keys = _scores_by_key(report.rows())
    return {key[0]: scores for key, scores in keys.items() if key[1:] == (None, None)}


def _measures_of(scores: Mapping[str | None, Mapping[str, Number]]) -> list[str]:
    """Measures in the order in which the evaluator gives them, those of all domains first."""
    domains = sorted(scores, key=_last_if_all, reverse=True)
    return list(dict.fromkeys(measure for domain in domains for measure in scores[domain]))


def _last_if_all(domain: str | None) -> tuple[bool, str]:
    return (domain is None, "")


def _measures_across(keys: Mapping[Key, Mapping[str, Number]]) -> list[Grid]:
    groups: dict[tuple[object, ...], list[Key]] = {}
    for key, scores in keys.items():
        groups.setdefault((key[0] is None, key[1] is None, *scores), []).append(key)
    return [_grid_of(group, keys) for group in groups.values()]


def _grid_of(group: Sequence[Key], keys: Mapping[Key, Mapping[str, Number]]) -> Grid:
    names = ("domain", "label", "sequence")
    used = [index for index in range(3) if group[0][index] is not None]
    measures = tuple(keys[group[0]])
    title = "By " + " and ".join(names[index] for index in used)
    headings = (*(names[index] for index in used), *measures)
    shown = [key for key in group if _occurs(keys[key])]
    grid = Grid(title, headings, leading=len(used), left_out=len(group) - len(shown))
    for key in shown:
        place = (_named(key[index]) for index in used)
        grid.lines.append((*place, *(_cell(keys[key], name) for name in measures)))
    return grid


def _occurs(scores: Mapping[str, Number]) -> bool:
    """Whether the scores are of anything: none undefined, or a figure or a positive count."""
    values = scores.values()
    return None not in values or any(value or isinstance(value, float) for value in values)


def _named(name: str | None) -> str:
    return ALL if name is None else escape_controls(name) or NO_NAME


def _cell(scores: Mapping[str, Number], name: str) -> str:
    return format_number(scores[name]) if name in scores else ""


HEADING_WIDTH = 13
"""Columns of a heading before it goes on in the next line."""


COLUMN_GAP = 3
"""Columns of a terminal between two columns of a table."""


_AT_THRESHOLD = re.compile(r"_-?\d+(\.\d+)?$")
"""Suffix of the names of curves that differ only in a threshold."""


def report_renderables(reports: Sequence[Report], view: View) -> ConsoleRenderable:
    """Tables of reports: all of them together, then each in detail."""
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
        of = f" ({report.preset})" if report.preset else ""
        yield Text(f"{report.evaluator} {report.version}{escape_controls(of)}", style="bold")
        yield Text(_settings(report), style="dim")
    for selection in dict.fromkeys(map(_selection, reports)):
        if selection:
            yield Text(f"of a part of the data: {escape_controls(selection)}", style="dim")
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
        yield indented(GridView(grid))
    if grid.left_out:
        lines = counted(grid.left_out, "line")
        note = f"{lines} without any score not shown; --format json has all"
        yield indented(Text(note, style="dim"))


def _settings(report: Report) -> str:
    """The parameters that are not the defaults; all where the evaluator is not installed here."""
    from vidscore_evaluators.errors import UnknownEvaluatorError
    from vidscore_evaluators.parameters import describe_parameters
    from vidscore_evaluators.registry import evaluator_class

    try:
        described = describe_parameters(evaluator_class(report.evaluator).Parameters)
    except UnknownEvaluatorError:
        described = ()
    defaults = {entry.name: entry.default for entry in described}
    changed = [
        _parameter(name, value)
        for name, value in report.parameters.items()
        if name not in defaults or _plain(value) != _plain(defaults[name])
    ]
    return ", ".join(changed) if changed else "default parameters"


def _selection(report: Report) -> str:
    """The part of the data that was scored; empty for all."""
    from vidscore_evaluators.convert import from_dict
    from vidscore_evaluators.selection import Selection

    return str(from_dict(Selection, report.selection))


def _plain(value: object) -> object:
    """Arrays of a report that was read are lists, defaults are tuples."""
    return list(value) if isinstance(value, tuple | list) else value


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
        place = [escape_controls(part) for part in (curve.domain, curve.label) if part is not None]
        title = " of ".join(filter(None, [f"{whose}Curve {curve.name}", ", ".join(place)]))
        lines = [tuple(map(format_number, point.values())) for point in curve.points()]
        yield from _titled(title, Grid(title, tuple(curve.columns), 0, lines))

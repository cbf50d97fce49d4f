"""The display of a report in Python: as text in a terminal, as HTML in a notebook.

Both show the same tables, cut to fit, and say how much is left out and how to get it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from vidscore_evaluators.figures.curves import CurveChart
from vidscore_evaluators.figures.markup import markup_text
from vidscore_evaluators.figures.report_curves import curve_charts
from vidscore_evaluators.names import counted, escape_controls
from vidscore_evaluators.report import Report
from vidscore_evaluators.report_grids import ALL, Grid, detail_grids, overall_grid, settings_text

MOST_LINES = 40
"""Maximum number of lines of a report as text."""

MOST_COLUMNS = 100
"""Maximum number of characters of a line, unless its names alone take more."""

MOST_CHARTS = 4
"""Maximum number of curves of a report as HTML."""

_AROUND = 3
"""Extra lines of each table: an empty one, its title, its headings."""

_ENDS = 6
"""Lines before and after the tables: two about the evaluator, and an empty one with at most three
notes."""

_GAP = 3
_HEADING_WIDTH = 100
_LONGEST_LIST = 60
_LONGEST_NAME = 40


def report_text(report: Report) -> str:
    """A report as lines of text, at most `MOST_LINES`."""
    grids, notes = _shown(report)
    lines = [_heading(report), _cut(settings_text(report), _HEADING_WIDTH)]
    for grid in grids:
        lines += ["", grid.title, *_aligned(grid)]
    return "\n".join([*lines, "", *notes] if notes else lines)


def report_html(report: Report) -> str:
    """A report as HTML: the tables of `report_text`, and curves as pictures."""
    grids, notes = _shown(report)
    parts = [
        f"<p><strong>{markup_text(_heading(report))}</strong><br>",
        f"{markup_text(_cut(settings_text(report), _HEADING_WIDTH))}</p>",
        *map(_table, grids),
        *(f"<p>{markup_text(note)}</p>" for note in notes),
        *map(_figure, curve_charts(report, MOST_CHARTS)),
    ]
    return f'<div class="vidscore-report">{"".join(parts)}</div>'


def _figure(chart: CurveChart) -> str:
    """A picture with its title, which also says how many lines there is no room for."""
    return f"<figure><figcaption>{markup_text(chart.title)}</figcaption>{chart.svg()}</figure>"


def _heading(report: Report) -> str:
    of = f" ({report.preset})" if report.preset else ""
    return _cut(escape_controls(f"{report.evaluator} {report.version}{of}"), _HEADING_WIDTH)


def _shown(report: Report) -> tuple[list[Grid], list[str]]:
    """The tables that are shown, cut to fit, and sentences about the part that is left out."""
    grids = [overall_grid([report]), *detail_grids(report, sequences=True)]
    room = MOST_LINES - _ENDS
    fitting = []
    for grid in grids:
        if grid.lines and room > _AROUND:
            lines = [_short_names(line, grid.leading) for line in grid.lines[: room - _AROUND]]
            cut = _narrowed(replace(grid, lines=lines))
            fitting.append(cut)
            room -= _AROUND + len(cut.lines)
    scores = sum(_score_count(grid) for grid in fitting)
    return fitting, list(_notes(report, scores))


def _score_count(grid: Grid) -> int:
    """Number of scores in a table; cells without a score are empty."""
    return sum(1 for line in grid.lines for cell in line[grid.leading :] if cell)


def _notes(report: Report, scores: int) -> Iterator[str]:
    columns = (values for block in report.scores.blocks for values in block.measures.values())
    left_out = sum(map(len, columns)) - scores
    if left_out:
        count = counted(left_out, "score is", "scores are")
        yield f"{count} not shown; rows() has all of them, frame() as a data frame"
    if report.curves:
        names = _listed(dict.fromkeys(curve.name for curve in report.curves))
        yield f"{counted(len(report.curves), 'curve')}, which plot(name) draws: {names}"
    if report.warnings:
        codes = _listed(dict.fromkeys(warning.code for warning in report.warnings))
        yield f"{counted(len(report.warnings), 'warning')}, in full in warnings: {codes}"


def _listed(names: Iterable[str]) -> str:
    return _cut(escape_controls(", ".join(names)), _LONGEST_LIST)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def _short_names(line: tuple[str, ...], leading: int) -> tuple[str, ...]:
    return (*(_cut(name, _LONGEST_NAME) for name in line[:leading]), *line[leading:])


def _widths(grid: Grid) -> list[int]:
    return [max(map(len, column)) for column in zip(grid.headings, *grid.lines, strict=True)]


def _narrowed(grid: Grid) -> Grid:
    """The table without the columns that do not fit; scores of everything stay."""
    widths = _widths(grid)
    order = list(range(len(widths)))
    if grid.headings[-1] == ALL:
        order.insert(grid.leading, order.pop())
    kept, used = [], 0
    for place, column in enumerate(order):
        used += widths[column] + _GAP
        # Keep at least one column of scores, however long the names are.
        if place <= grid.leading or used <= MOST_COLUMNS:
            kept.append(column)
        else:
            break
    kept.sort()
    return replace(
        grid,
        headings=tuple(grid.headings[column] for column in kept),
        lines=[tuple(line[column] for column in kept) for line in grid.lines],
    )


def _aligned(grid: Grid) -> Iterator[str]:
    """Lines of a table: names left-aligned, scores right-aligned."""
    widths = _widths(grid)
    for line in (grid.headings, *grid.lines):
        cells = [
            cell.ljust(width) if column < grid.leading else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield ("  " + (" " * _GAP).join(cells)).rstrip()


def _table(grid: Grid) -> str:
    heads = "".join(f'<th scope="col">{markup_text(text)}</th>' for text in grid.headings)
    lines = "".join(f"<tr>{''.join(_html_cells(line, grid.leading))}</tr>" for line in grid.lines)
    return (
        f"<table><caption>{markup_text(grid.title)}</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
    )


def _html_cells(line: Sequence[str], leading: int) -> Iterator[str]:
    for column, cell in enumerate(line):
        text = markup_text(cell)
        yield f'<th scope="row">{text}</th>' if column < leading else f"<td>{text}</td>"

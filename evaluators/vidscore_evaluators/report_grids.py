"""Reports as tables of text: the content of lines and columns, independent of how they are drawn.

Scores over all classes, of all evaluators, are in one table with a line per measure and a column
per domain. Scores of classes and of sequences are in tables with a line for each of them and a
column per measure. Keys that have the same measures share a table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from vidscore_evaluators.errors import UnknownEvaluatorError
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.parameters import describe_parameters
from vidscore_evaluators.registry import evaluator_class
from vidscore_evaluators.report import Number, Report, Row

Key = tuple[str | None, str | None, str | None]
"""Domain, class and sequence; None stands for all of them."""

ALL = "all"
NO_NAME = "(no name)"
UNDEFINED = "undefined"
DECIMALS = 4


class Grid(Struct, frozen=True):
    """One table.

    Attributes:
        title: The scope of its scores.
        headings: Headings of the leading columns, then of the columns of scores.
        leading: Number of leading headings.
        lines: Cells of each line, one for each heading; a missing score is an empty cell.
        left_out: Number of lines left out, because nothing occurs in their scope.
    """

    title: str
    headings: tuple[str, ...]
    leading: int
    lines: list[tuple[str, ...]] = field(default_factory=list)
    left_out: int = 0


def overall_grid(reports: Sequence[Report]) -> Grid:
    """Scores over all classes, of every evaluator: one line per measure, one column per domain.

    Args:
        reports: The reports; if there are several, each line begins with its evaluator.
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
    """Scores of classes and, if asked for, of sequences: one line each, one column per measure.

    Args:
        report: The report.
        sequences: Whether to include the scores of single sequences.
    """
    keys = _scores_by_key(report.rows())
    classes = {key: scores for key, scores in keys.items() if key[1] is not None and not key[2]}
    single = {key: scores for key, scores in keys.items() if key[2] is not None}
    return [*_measures_across(classes), *(_measures_across(single) if sequences else [])]


LEAST_IN_POWERS = 1e15
"""Numbers from here on are written as powers of ten; in full they may have 309 digits."""


def format_number(value: Number) -> str:
    """A score for people: counts as integers, other figures with four decimals, or "undefined".

    Rounding never turns a fraction into an integer and never widens a column: 0.99999 is not a
    perfect score and becomes 0.9999; 0.0000292 becomes 3e-05.
    """
    if value is None:
        return UNDEFINED
    return str(value) if isinstance(value, int) else format_fraction(value, f".{DECIMALS}f")


def format_fraction(value: float, form: str) -> str:
    """A number by a format with decimals, by the rule of `format_number`."""
    if abs(value) >= LEAST_IN_POWERS:
        return f"{value:.4g}"
    text = format(value, form)
    rounded = float(text.replace(",", ""))
    if rounded == value or not rounded.is_integer():
        return text
    if rounded == 0.0:
        return f"{value:.0e}"
    decimals = len(text) - text.index(".") - 1
    return format(rounded + math.copysign(10.0**-decimals, value - rounded), form)


def _scores_by_key(rows: Iterable[Row]) -> dict[Key, dict[str, Number]]:
    keys: dict[Key, dict[str, Number]] = {}
    for row in rows:
        keys.setdefault((row.domain, row.label, row.sequence), {})[row.measure] = row.value
    return keys


def _scores_by_domain(report: Report) -> dict[str | None, dict[str, Number]]:
    keys = _scores_by_key(report.rows())
    return {key[0]: scores for key, scores in keys.items() if key[1:] == (None, None)}


def _measures_of(scores: Mapping[str | None, Mapping[str, Number]]) -> list[str]:
    """Measures in the evaluator's order, those of all domains first."""
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
    """Whether anything was scored: no score undefined, or a nonzero count or any other figure."""
    values = scores.values()
    return None not in values or any(value or isinstance(value, float) for value in values)


def _named(name: str | None) -> str:
    return ALL if name is None else escape_controls(name) or NO_NAME


def _cell(scores: Mapping[str, Number], name: str) -> str:
    return format_number(scores[name]) if name in scores else ""


def settings_text(report: Report) -> str:
    """The parameters that differ from their defaults; all, if the evaluator is not installed."""
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


def _plain(value: object) -> object:
    """A comparable form: arrays of a report that was read are lists, defaults are tuples."""
    return list(value) if isinstance(value, tuple | list) else value


def _parameter(name: str, value: object) -> str:
    shown = ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    return f"{name} = {escape_controls(shown) or 'none'}"

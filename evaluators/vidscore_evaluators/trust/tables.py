"""Results as tables: sanity tests in the paper's layout, and rankings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.names import counted
from vidscore_evaluators.report import Number
from vidscore_evaluators.trust.criterion import Outcome
from vidscore_evaluators.trust.paper import (
    BASES,
    M_FULL,
    M_PARTIAL,
    OPTIMUM,
    Figures,
    Setting,
    paper_error,
    paper_indicators,
)
from vidscore_evaluators.trust.systems import title_of

HUNDREDTHS = 100.0
"""Ranking errors are given in units of 1e-2, as in the paper."""

INDICATORS = {"R_S": "rank switches", "R_std": "distortion", "R_Sen": "sensitivity"}

_BASE_NAMES = {"iou": "IoU", "giou": "GIoU"}
_MIDDLE: Mapping[str, float] = {"iou": 0.5, "giou": 0.0}
_SETTING_NAMES: Mapping[Setting, str] = {
    None: "",
    OPTIMUM: "optimum",
    M_PARTIAL: "M-partial",
    M_FULL: "M-full",
}

FigureRow = dict[str, float | str | None]
"""Criterion, base, setting or indicator, with figures here and in the paper."""


class TextTable(Struct, frozen=True):
    """A table of strings.

    Attributes:
        title: Its caption.
        headings: Headings of the columns.
        leading: Number of leading columns, which are names and not figures.
        lines: Cells of each line.
    """

    title: str
    headings: tuple[str, ...]
    leading: int
    lines: list[tuple[str, ...]] = field(default_factory=list)


def error_rows(test: str, outcomes: Sequence[Outcome]) -> list[FigureRow]:
    """Ranking errors in units of 1e-2, each beside the paper's if it has one."""
    return [
        {
            "criterion": outcome.candidate.name,
            "base": outcome.candidate.base,
            "setting": row.setting,
            "mean": HUNDREDTHS * row.mean,
            "std": None if row.deviation is None else HUNDREDTHS * row.deviation,
            **_of_paper(
                paper_error(test, outcome.candidate.name, outcome.candidate.base, row.setting)
            ),
        }
        for outcome in outcomes
        for row in outcome.error_rows()
    ]


def indicator_rows(test: str, outcomes: Sequence[Outcome], seed: int) -> list[FigureRow]:
    """Indicators of appendix 2, each beside the paper's if it has one."""
    rows: list[FigureRow] = []
    for outcome in outcomes:
        found = outcome.indicators(seed)
        if found is None:
            continue
        candidate = outcome.candidate
        printed = paper_indicators(test, candidate.name, candidate.base) or (None,) * 3
        values = (found.switches, found.distortion, found.sensitivity)
        for name, value, figures in zip(INDICATORS, values, printed, strict=True):
            rows.append(
                {
                    "criterion": candidate.name,
                    "base": candidate.base,
                    "indicator": name,
                    **_mean_and_deviation(value),
                    **_of_paper(figures),
                }
            )
    return rows


def error_tables(title: str, rows: Sequence[FigureRow]) -> list[TextTable]:
    """Ranking errors in the layout of Tables 2, 3 and 7; those without a base in a second table.

    Args:
        title: Title of the test.
        rows: Rows of `error_rows`.
    """
    heading = f"{title}: normalised Kendall tau ranking error (in units of 1e-2)"
    tables = [_by_base(heading, [row for row in rows if row["base"] in BASES])]
    tables.append(_by_setting(heading, [row for row in rows if row["base"] not in BASES]))
    return [table for table in tables if table.lines]


def indicator_table(title: str, rows: Sequence[FigureRow]) -> TextTable:
    """Indicators in the layout of Tables 4 and 6: one line per indicator, one column per criterion.

    Args:
        title: Title of the test.
        rows: Rows of `indicator_rows`.
    """
    columns = list(dict.fromkeys((row["criterion"], row["base"]) for row in rows))
    headings = [" ".join(filter(None, [str(name), _base_name(base)])) for name, base in columns]
    table = TextTable(
        f"{title}: indicators of how much ranks depend on the parameter",
        ("indicator", "", *headings),
        leading=2,
    )
    by_place = {(row["indicator"], row["criterion"], row["base"]): row for row in rows}
    for name, meaning in INDICATORS.items():
        cells = [by_place[name, *column] for column in columns]
        table.lines.extend(_two_lines((f"{name} ({meaning})",), cells))
    return table


def format_figures(mean: object, deviation: object) -> str:
    """Mean and, in brackets, standard deviation, with three digits as in the paper."""
    if not isinstance(mean, float):
        return ""
    return f"{mean:#.3g}" + (f" ({deviation:#.3g})" if isinstance(deviation, float) else "")


def _by_base(title: str, rows: Sequence[FigureRow]) -> TextTable:
    present = {(row["base"], row["setting"]) for row in rows}
    columns = [
        (base, setting)
        for base in BASES
        for setting in (None, _MIDDLE[base], OPTIMUM, M_PARTIAL, M_FULL)
        if (base, setting) in present
    ]
    table = TextTable(title, ("criterion", "", *(_column_name(*entry) for entry in columns)), 2)
    cells = {(row["criterion"], row["base"], row["setting"]): row for row in rows}
    for name in dict.fromkeys(row["criterion"] for row in rows):
        line = [cells.get((name, *column)) for column in columns]
        table.lines.extend(_two_lines((str(name),), line))
    return table


def _two_lines(
    names: tuple[str, ...], cells: Sequence[FigureRow | None]
) -> Iterator[tuple[str, ...]]:
    """Figures of this project and, if there are any, those of the paper below."""
    here = [format_figures(row["mean"], row["std"]) if row else "" for row in cells]
    paper = [format_figures(row["paper_mean"], row["paper_std"]) if row else "" for row in cells]
    yield (*names, "here", *here)
    if any(paper):
        yield (*names, "paper", *paper)


def _by_setting(title: str, rows: Sequence[FigureRow]) -> TextTable:
    table = TextTable(title, ("criterion", "base", "setting", "error"), 3)
    for row in rows:
        setting = row["setting"]
        name = f"{setting:g}" if isinstance(setting, float) else _SETTING_NAMES[setting]
        figures = format_figures(row["mean"], row["std"])
        table.lines.append((str(row["criterion"]), str(row["base"] or ""), name, figures))
    return table


def _column_name(base: str, setting: Setting) -> str:
    name = f"{setting:g}" if isinstance(setting, float) else _SETTING_NAMES[setting]
    return f"{_BASE_NAMES[base]} {name}".strip()


def _base_name(base: object) -> str:
    return _BASE_NAMES.get(str(base), "") if base else ""


def _of_paper(figures: Figures | None) -> FigureRow:
    mean, deviation = figures or (None, None)
    return {"paper_mean": mean, "paper_std": deviation}


def _mean_and_deviation(values: FloatArray) -> FigureRow:
    several = len(values) > 1
    return {"mean": float(values.mean()), "std": float(values.std(ddof=1)) if several else None}


# --- rankings --------------------------------------------------------------------------------

_LETTERS = "abcdefghijklmnopqrstuvwxyz"

Part = Mapping[str, Any]
"""A part of the document from `ranking_document`."""


def ranking_tables(document: Part) -> list[TextTable]:
    """All results as tables: for each evaluator, then the distances of their rankings."""
    systems: Sequence[str] = document["systems"]
    rankings: Sequence[Part] = document["rankings"]
    tables = [table for one in rankings for table in _tables(systems, one)]
    if len(rankings) > 1:
        tables.append(_distance_table(rankings, document["kendall_distances"]))
    return tables


def doubt_of_draws(document: Part) -> str | None:
    """Caveats about intervals, or why there are none; None from older servers."""
    return " ".join(document.get("notes", ())) or None


def _title(one: Part) -> str:
    return title_of(one["evaluator"], one["parameters"])


def _tables(systems: Sequence[str], one: Part) -> Iterator[TextTable]:
    yield _rank_table(systems, one)
    if one["bootstrap"] is not None:
        title = f"{_title(one)}: share of the draws in which the row ranks above the column"
        yield _square(title, systems, one["bootstrap"]["above"])
    for sweep in one["sweeps"]:
        yield _sweep_table(systems, one, sweep)
    if one["noise"] is not None:
        yield _noise_table(systems, one, one["noise"])


def _rank_table(systems: Sequence[str], one: Part) -> TextTable:
    """Ranks and scores, best first; systems that share a letter cannot be distinguished."""
    drawn: Part | None = one["bootstrap"]
    headings = ["system", "rank"]
    for measure in one["scores"]:
        headings += [measure] if drawn is None else [measure, f"{drawn['coverage']:.0%} interval"]
    table = TextTable(
        f"{_title(one)}: ranking",
        (*headings, *(["alike"] if drawn else [])),
        leading=1,
    )
    intervals = _intervals(drawn)
    for system in sorted(systems, key=lambda name: one["ranks"][name]):
        cells = [system, str(one["ranks"][system])]
        for measure, values in one["scores"].items():
            cells.append(_number(values[system]))
            if drawn is not None:
                cells.append(_interval(intervals[system, measure]))
        table.lines.append((*cells, *([_letters(drawn, system)] if drawn else [])))
    return table


def _intervals(drawn: Part | None) -> dict[tuple[str, str], Part]:
    """Intervals of the scores over everything, by system and measure."""
    found: Sequence[Part] = [] if drawn is None else drawn["intervals"]
    return {
        (interval["system"], interval["measure"]): interval
        for interval in found
        if interval["domain"] is None and interval["label"] is None
    }


def _sweep_table(systems: Sequence[str], one: Part, sweep: Part) -> TextTable:
    """Rank of each system at each value, and the indicators."""
    shown = ", ".join(f"{name} = {value:.3g}" for name, value in sweep["indicators"].items())
    table = TextTable(
        f"{_title(one)}: rank at each {sweep['parameter']} ({shown})",
        ("system", *(f"{value:g}" for value in sweep["values"])),
        leading=1,
    )
    for system in systems:
        table.lines.append((system, *map(str, sweep["ranks"][system])))
    return table


def _noise_table(systems: Sequence[str], one: Part, noise: Part) -> TextTable:
    title = (
        f"{_title(one)}: annotations off by up to {noise['bound_px']:g} px; the order changes in "
        f"{noise['changed']:.0%} of {counted(noise['trials'], 'trial')} (mean Kendall distance "
        f"{noise['kendall_distance']:.3g}); share in which the row ranks above the column"
    )
    return _square(title, systems, noise["above"])


def _distance_table(rankings: Sequence[Part], distances: Sequence[Sequence[float]]) -> TextTable:
    title = "Normalised Kendall distance between the rankings (0: the same, 1: reversed)"
    return _square(title, [_title(one) for one in rankings], distances)


def _square(title: str, names: Sequence[str], cells: Sequence[Sequence[float]]) -> TextTable:
    """A table of every name against every other."""
    table = TextTable(title, ("", *names), leading=1)
    for row, (name, values) in enumerate(zip(names, cells, strict=True)):
        shown = ("" if column == row else f"{value:.3f}" for column, value in enumerate(values))
        table.lines.append((name, *shown))
    return table


def _letters(drawn: Part, system: str) -> str:
    """Letters of the groups of a system; systems that share a letter cannot be distinguished."""
    return "".join(
        _LETTERS[index % len(_LETTERS)]
        for index, group in enumerate(drawn["groups"])
        if system in group
    )


def _number(value: Number) -> str:
    return "undefined" if value is None else f"{value:.4f}"


def _interval(interval: Part) -> str:
    low, high = interval["low"], interval["high"]
    return "undefined" if low is None or high is None else f"{low:.4f} to {high:.4f}"

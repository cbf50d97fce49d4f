"""Outcomes of sanity tests as rows for programs, and as tables laid out like the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.trust.criterion_test import BASES, Outcome
from vidscore_evaluators.trust.paper import (
    M_FULL,
    M_PARTIAL,
    OPTIMUM,
    Figures,
    Setting,
    paper_error,
    paper_indicators,
)

HUNDREDTHS = 100.0
"""Ranking errors are told in units of 1e-2, as in the paper."""

INDICATORS = {"R_S": "rank switches", "R_std": "distortion", "R_Sen": "sensitivity"}

_BASE_NAMES = {"iou": "IoU", "giou": "GIoU"}
_MIDDLE: Mapping[str, float] = {"iou": 0.5, "giou": 0.0}
_SETTING_NAMES: Mapping[Setting, str] = {
    None: "",
    OPTIMUM: "optimum",
    M_PARTIAL: "M-partial",
    M_FULL: "M-full",
}

Row = dict[str, float | str | None]


@dataclass(frozen=True)
class TextTable:
    """A table of texts.

    Attributes:
        title: What it shows.
        headings: Headings of the columns.
        leading: How many of the columns, the first ones, are names and not figures.
        lines: Cells of each line.
    """

    title: str
    headings: tuple[str, ...]
    leading: int
    lines: list[tuple[str, ...]] = field(default_factory=list)


def error_rows(test: str, outcomes: Sequence[Outcome]) -> list[Row]:
    """Ranking errors in units of 1e-2, each beside the paper's where it has one."""
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


def indicator_rows(test: str, outcomes: Sequence[Outcome], seed: int) -> list[Row]:
    """Indicators of appendix 2, each beside the paper's where it has one."""
    rows: list[Row] = []
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


def error_tables(title: str, rows: Sequence[Row]) -> list[TextTable]:
    """Ranking errors laid out as in Tables 2, 3 and 7; what has no base stands in a table below.

    Args:
        title: What the test is called.
        rows: Rows of `error_rows`.
    """
    heading = f"{title}: normalised Kendall tau ranking error (in units of 1e-2)"
    tables = [_by_base(heading, [row for row in rows if row["base"] in BASES])]
    tables.append(_by_setting(heading, [row for row in rows if row["base"] not in BASES]))
    return [table for table in tables if table.lines]


def indicator_table(title: str, rows: Sequence[Row]) -> TextTable:
    """Indicators laid out as in Tables 4 and 6: a line for each, a column a criterion.

    Args:
        title: What the test is called.
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


def _by_base(title: str, rows: Sequence[Row]) -> TextTable:
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


def _two_lines(names: tuple[str, ...], cells: Sequence[Row | None]) -> Iterator[tuple[str, ...]]:
    """Figures of this project and, if there are some, those of the paper below."""
    here = [format_figures(row["mean"], row["std"]) if row else "" for row in cells]
    paper = [format_figures(row["paper_mean"], row["paper_std"]) if row else "" for row in cells]
    yield (*names, "here", *here)
    if any(paper):
        yield (*names, "paper", *paper)


def _by_setting(title: str, rows: Sequence[Row]) -> TextTable:
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


def _of_paper(figures: Figures | None) -> Row:
    mean, deviation = figures or (None, None)
    return {"paper_mean": mean, "paper_std": deviation}


def _mean_and_deviation(values: FloatArray) -> Row:
    several = len(values) > 1
    return {"mean": float(values.mean()), "std": float(values.std(ddof=1)) if several else None}

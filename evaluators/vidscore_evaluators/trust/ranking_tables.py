"""The document about rankings as tables and pictures for people, wherever it was made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from vidscore_evaluators.report import Number
from vidscore_evaluators.trust.pictures import rank_picture
from vidscore_evaluators.trust.systems import title_of
from vidscore_evaluators.trust.tables import TextTable

_LETTERS = "abcdefghijklmnopqrstuvwxyz"

Part = Mapping[str, Any]
"""A part of the document that `ranking_document` makes."""


def ranking_tables(document: Part) -> list[TextTable]:
    """Everything as tables: for each evaluator, then how far their rankings are apart."""
    systems: Sequence[str] = document["systems"]
    rankings: Sequence[Part] = document["rankings"]
    tables = [table for one in rankings for table in _tables(systems, one)]
    if len(rankings) > 1:
        tables.append(_distance_table(rankings, document["kendall_distances"]))
    return tables


def ranking_pictures(document: Part) -> Iterator[tuple[str, str]]:
    """(name of a file, SVG) of the ranks over each parameter, for each evaluator."""
    systems: Sequence[str] = document["systems"]
    for one in document["rankings"]:
        title = _title(one)
        for sweep in one["sweeps"]:
            parameter = sweep["parameter"]
            ranks = np.array([sweep["ranks"][system] for system in systems], dtype=np.int64).T
            name = re.sub(r"[^a-z0-9_]+", "-", f"{title} {parameter}".lower())
            heading = f"{title}: rank by {parameter}"
            yield f"{name}.svg", rank_picture(heading, parameter, sweep["values"], ranks, systems)


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
    """Ranks and scores, best first; systems that share a letter cannot be told apart."""
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
        f"{noise['changed']:.0%} of {noise['trials']} trials (mean Kendall distance "
        f"{noise['kendall_distance']:.3g}); share in which the row ranks above the column"
    )
    return _square(title, systems, noise["above"])


def _distance_table(rankings: Sequence[Part], distances: Sequence[Sequence[float]]) -> TextTable:
    title = "Normalised Kendall distance between the rankings (0: the same, 1: reversed)"
    return _square(title, [_title(one) for one in rankings], distances)


def _square(title: str, names: Sequence[str], cells: Sequence[Sequence[float]]) -> TextTable:
    """A table of every name with every other."""
    table = TextTable(title, ("", *names), leading=1)
    for row, (name, values) in enumerate(zip(names, cells, strict=True)):
        shown = ("" if column == row else f"{value:.3f}" for column, value in enumerate(values))
        table.lines.append((name, *shown))
    return table


def _letters(drawn: Part, system: str) -> str:
    """Letters of the groups that a system is in: those that share one cannot be told apart."""
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

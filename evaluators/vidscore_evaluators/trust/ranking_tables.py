"""What is found about rankings, as tables for people and as a document for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from vidscore_evaluators.parameters import parameter_values
from vidscore_evaluators.report import Number
from vidscore_evaluators.trust.bootstrap import Bootstrap, Interval
from vidscore_evaluators.trust.indicators import Indicators
from vidscore_evaluators.trust.noise import NoiseEffect
from vidscore_evaluators.trust.ranking import RankingTrust, distances_between
from vidscore_evaluators.trust.ranking_sweep import Sweep
from vidscore_evaluators.trust.tables import INDICATORS, TextTable

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def ranking_tables(
    systems: Sequence[str], examined: Sequence[RankingTrust], seed: int
) -> list[TextTable]:
    """Everything as tables: for each evaluator, then how far their rankings are apart."""
    tables = [table for one in examined for table in _tables(systems, one, seed)]
    if len(examined) > 1:
        tables.append(_distance_table(examined))
    return tables


def ranking_document(
    systems: Sequence[str], examined: Sequence[RankingTrust], seed: int
) -> dict[str, Any]:
    """Everything as JSON can hold it."""
    return {
        "systems": list(systems),
        "rankings": [_document(systems, one, seed) for one in examined],
        "kendall_distances": distances_between(examined),
    }


def _tables(systems: Sequence[str], one: RankingTrust, seed: int) -> Iterator[TextTable]:
    yield _rank_table(systems, one)
    if one.bootstrap is not None:
        title = f"{one.title}: share of the draws in which the row ranks above the column"
        yield _square(title, systems, one.bootstrap.above.tolist())
    for sweep in one.sweeps:
        yield _sweep_table(systems, one, sweep, seed)
    if one.noise is not None:
        yield _noise_table(systems, one, one.noise)


def _rank_table(systems: Sequence[str], one: RankingTrust) -> TextTable:
    """Ranks and scores, best first; systems that share a letter cannot be told apart."""
    drawn = one.bootstrap
    headings = ["system", "rank"]
    for measure in one.scores:
        headings += [measure] if drawn is None else [measure, f"{drawn.coverage:.0%} interval"]
    table = TextTable(
        f"{one.title}: ranking",
        (*headings, *(["alike"] if drawn else [])),
        leading=1,
    )
    for row in sorted(range(len(systems)), key=lambda row: (one.ranks[row], row)):
        cells = [systems[row], str(one.ranks[row])]
        for measure, values in one.scores.items():
            cells.append(_number(values[row]))
            if drawn is not None:
                cells.append(_interval(drawn.intervals[row][None, None, measure]))
        table.lines.append((*cells, *([_letters(drawn, row)] if drawn else [])))
    return table


def _sweep_table(systems: Sequence[str], one: RankingTrust, sweep: Sweep, seed: int) -> TextTable:
    """Rank of each system at each value, and the indicators."""
    found = _indicators(sweep.indicators(seed))
    shown = ", ".join(f"{name} = {value:.3g}" for name, value in found.items())
    table = TextTable(
        f"{one.title}: rank at each {sweep.parameter} ({shown})",
        ("system", *(f"{value:g}" for value in sweep.values)),
        leading=1,
    )
    for column, name in enumerate(systems):
        table.lines.append((name, *map(str, sweep.ranks[:, column].tolist())))
    return table


def _noise_table(systems: Sequence[str], one: RankingTrust, noise: NoiseEffect) -> TextTable:
    title = (
        f"{one.title}: annotations off by up to {noise.bound_px:g} px; the order changes in "
        f"{noise.changed:.0%} of {len(noise.trials)} trials (mean Kendall distance "
        f"{noise.distance:.3g}); share in which the row ranks above the column"
    )
    return _square(title, systems, noise.above.tolist())


def _distance_table(examined: Sequence[RankingTrust]) -> TextTable:
    title = "Normalised Kendall distance between the rankings (0: the same, 1: reversed)"
    return _square(title, [one.title for one in examined], distances_between(examined))


def _square(title: str, names: Sequence[str], cells: Sequence[Sequence[float]]) -> TextTable:
    """A table of every name with every other."""
    table = TextTable(title, ("", *names), leading=1)
    for row, (name, values) in enumerate(zip(names, cells, strict=True)):
        shown = ("" if column == row else f"{value:.3f}" for column, value in enumerate(values))
        table.lines.append((name, *shown))
    return table


def _letters(drawn: Bootstrap, row: int) -> str:
    """Letters of the groups that a system is in: those that share one cannot be told apart."""
    return "".join(
        _LETTERS[index % len(_LETTERS)] for index, group in enumerate(drawn.groups) if row in group
    )


def _number(value: Number) -> str:
    return "undefined" if value is None else f"{value:.4f}"


def _interval(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return "undefined"
    return f"{interval.low:.4f} to {interval.high:.4f}"


def _indicators(found: Indicators) -> dict[str, float]:
    values = (found.switches, found.distortion, found.sensitivity)
    return {name: float(value) for name, value in zip(INDICATORS, values, strict=True)}


def _document(systems: Sequence[str], one: RankingTrust, seed: int) -> dict[str, Any]:
    parameters = parameter_values(one.evaluator.parameters)
    return {
        "evaluator": one.evaluator.name,
        "parameters": parameters,
        "ranks": dict(zip(systems, one.ranks.tolist(), strict=True)),
        "scores": {
            measure: dict(zip(systems, values, strict=True))
            for measure, values in one.scores.items()
        },
        "sweeps": [_sweep_document(systems, sweep, seed) for sweep in one.sweeps],
        "bootstrap": None if one.bootstrap is None else _draws_document(systems, one.bootstrap),
        "noise": None if one.noise is None else _noise_document(one.noise),
    }


def _sweep_document(systems: Sequence[str], sweep: Sweep, seed: int) -> dict[str, Any]:
    return {
        "parameter": sweep.parameter,
        "values": list(sweep.values),
        "ranks": dict(zip(systems, sweep.ranks.T.tolist(), strict=True)),
        "scores": {
            measure: dict(zip(systems, map(list, zip(*rows, strict=True)), strict=True))
            for measure, rows in sweep.scores.items()
        },
        "indicators": _indicators(sweep.indicators(seed)),
    }


def _draws_document(systems: Sequence[str], drawn: Bootstrap) -> dict[str, Any]:
    return {
        "draws": drawn.draws,
        "coverage": drawn.coverage,
        "intervals": [
            {
                "system": system,
                "domain": domain,
                "class": class_,
                "measure": measure,
                "value": interval.value,
                "low": interval.low,
                "high": interval.high,
            }
            for system, intervals in zip(systems, drawn.intervals, strict=True)
            for (domain, class_, measure), interval in intervals.items()
        ],
        "above": drawn.above.tolist(),
        "groups": [[systems[row] for row in group] for group in drawn.groups],
    }


def _noise_document(noise: NoiseEffect) -> dict[str, Any]:
    return {
        "bound_px": noise.bound_px,
        "trials": len(noise.trials),
        "changed": noise.changed,
        "kendall_distance": noise.distance,
        "above": noise.above.tolist(),
    }

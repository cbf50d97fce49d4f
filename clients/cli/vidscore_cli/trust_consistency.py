"""`vidscore trust consistency`: the smallest proof that a measure is no distance."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from vidscore_cli.output import check_output, deliver_json
from vidscore_cli.progress import ProgressBar
from vidscore_cli.selection import create_evaluators, select_evaluators
from vidscore_cli.trust_tables import deliver_tables
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.trust.consistency import (
    TRIANGLE,
    Consistency,
    Counterexample,
    describe,
    search_violations,
)
from vidscore_evaluators.trust.dissimilarities import declared_measure
from vidscore_evaluators.trust.tables import TextTable


@dataclass(frozen=True)
class ConsistencySearch:
    """What is typed after `vidscore trust consistency`; the names are those of the options."""

    evaluator: str
    settings: tuple[str, ...]
    measure: str | None
    sets: int
    seed: int
    format_: str
    output: str


def search_consistency(typed: ConsistencySearch) -> None:
    """Search, and write what was found.

    Raises:
        click.UsageError: If what was typed is wrong.
        InputError: If the evaluator has no measure of that name that is a dissimilarity.
    """
    check_output(typed.output)
    names = [typed.evaluator]
    specification, settings = select_evaluators(names, typed.settings, BenchmarkSpec())
    [evaluator] = create_evaluators(specification, names, settings)
    measure = None if typed.measure is None else declared_measure(evaluator, typed.measure)
    with ProgressBar() as bar:
        bar.stage("comparing sets")
        found = search_violations(
            evaluator, measure, set_count=typed.sets, seed=typed.seed, progress=bar.advance
        )
    if typed.format_ == "json":
        deliver_json(asdict(found), typed.output)
        return
    notes = [
        f"{found.pairs} pairs of sets, of which {found.undefined} have no defined dissimilarity.",
        "A set lists where squares of 10 px (or points) stand along a line, in px.",
    ]
    deliver_tables([_table(found, tracks=evaluator.needs.tracks)], notes, typed.output)


def _table(found: Consistency, *, tracks: bool) -> TextTable:
    table = TextTable(
        f"Is {found.measure} of {found.evaluator} a distance?",
        ("law", "smallest counter-example", "sets", "dissimilarities"),
        leading=4,
    )
    for law, counterexample in found.counterexamples.items():
        if counterexample is None:
            table.lines.append((law, "none found", "", ""))
            continue
        sets = ", ".join(
            f"{name} = {describe(objects, tracks=tracks)}"
            for name, objects in zip("xyz", counterexample.sets, strict=False)
        )
        table.lines.append((law, "found", sets, _dissimilarities(counterexample)))
    return table


def _dissimilarities(counterexample: Counterexample) -> str:
    values = [f"{value:g}" for value in counterexample.dissimilarities.values()]
    names = list(counterexample.dissimilarities)
    if counterexample.law == TRIANGLE:
        return f"{names[0]} = {values[0]} > {' + '.join(names[1:])} = {' + '.join(values[1:])}"
    return ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))

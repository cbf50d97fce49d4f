"""`vidscore trust consistency`: the smallest proof that a measure is not a distance."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from vidscore_cli.command_tree import command
from vidscore_cli.completions import complete_evaluator
from vidscore_cli.inputs import create_alone, refuse_presets
from vidscore_cli.options import number_option, settings_option
from vidscore_cli.output import check_output, deliver_json
from vidscore_cli.progress import ProgressBar
from vidscore_cli.trust_output import deliver_tables, form_options, seed_option
from vidscore_evaluators.errors import InputError

if TYPE_CHECKING:
    from vidscore_evaluators.trust.consistency import Consistency, Counterexample
    from vidscore_evaluators.trust.tables import TextTable


@command(
    "consistency",
    examples=(
        "vidscore trust consistency f1 --sets 10",
        "vidscore trust consistency map --set thresholds=0.5 --sets 10 --format json",
        "vidscore trust consistency spotgeo --measure mse --sets 10",
    ),
)
@click.argument("evaluator", metavar="EVALUATOR", shell_complete=complete_evaluator)
@settings_option()
@click.option(
    "--measure",
    metavar="MEASURE",
    help="Measure to examine. [default: the first ranking one]",
)
@number_option(
    "--sets",
    0,
    200,
    40,
    "Number of random sets of two and three objects to compare with all others.",
)
@seed_option()
@form_options()
def consistency(
    evaluator: str,
    settings: tuple[str, ...],
    measure: str | None,
    sets: int,
    seed: int,
    format_: str,
    output: str,
) -> None:
    """Search for the smallest proof that a measure is not a distance.

    A distance is 0 only for equal sets, is symmetric, and satisfies the triangle inequality. Small
    sets of objects are compared, all with all. A counter-example is a proof; finding none proves
    nothing.
    """
    from vidscore_evaluators.trust.consistency import search_violations
    from vidscore_evaluators.trust.dissimilarities import declared_measure

    check_output(output)
    created = create_alone(evaluator, settings)
    refuse_presets(created)
    [chosen] = created
    try:
        declared = None if measure is None else declared_measure(chosen, measure)
    except InputError as error:
        text = error.faults[0].description
        raise click.BadParameter(text, param_hint="--measure") from None
    with ProgressBar() as bar:
        bar.stage("comparing sets")
        found = search_violations(chosen, declared, set_count=sets, seed=seed, progress=bar.advance)
    if format_ == "json":
        deliver_json(asdict(found), output)
        return
    notes = [
        f"{found.pairs} pairs of sets, of which {found.undefined} have no defined dissimilarity.",
        "A set lists the positions, in px, of squares of 10 px (or points) along a line.",
    ]
    deliver_tables([_table(found, tracks=chosen.needs.tracks)], notes, output)


def _table(found: Consistency, *, tracks: bool) -> TextTable:
    from vidscore_evaluators.trust.consistency import describe
    from vidscore_evaluators.trust.tables import TextTable

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
    from vidscore_evaluators.trust.consistency import TRIANGLE

    values = [f"{value:g}" for value in counterexample.dissimilarities.values()]
    names = list(counterexample.dissimilarities)
    if counterexample.law == TRIANGLE:
        return f"{names[0]} = {values[0]} > {' + '.join(names[1:])} = {' + '.join(values[1:])}"
    return ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))

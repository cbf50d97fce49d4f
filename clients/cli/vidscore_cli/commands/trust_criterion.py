"""`vidscore trust criterion`: sanity tests of criteria."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from vidscore_cli.command_tree import command
from vidscore_cli.completions import complete_evaluator
from vidscore_cli.inputs import create_evaluators, refuse_presets, select_evaluators
from vidscore_cli.options import number_option, server_options, settings_option, workers_option
from vidscore_cli.output import check_output, deliver_json
from vidscore_cli.progress import ProgressBar
from vidscore_cli.remote import ALL_TYPED, open_client
from vidscore_cli.sites import ServerChoice
from vidscore_cli.trust_output import WAITING, deliver_tables, form_options, outcome_of, seed_option
from vidscore_evaluators.names import counted

if TYPE_CHECKING:
    from vidscore_evaluators.specification import EvaluatorSpec
    from vidscore_evaluators.trust.analyses import Document
    from vidscore_evaluators.trust.criterion import Plan

TESTS = ("multiclass-detection", "singleclass-detection", "tracking", "figure-3", "figure-11")
"""Names of the sanity tests; help must not import the tests themselves."""


class CriterionTest(Struct, frozen=True):
    """Options of `vidscore trust criterion`, by name."""

    criteria: tuple[str, ...]
    settings: tuple[str, ...]
    test: str
    strata: int
    realisations: int
    seed: int
    workers: int
    indicators: bool
    format_: str
    output: str
    server: ServerChoice | None


@command(
    "criterion",
    examples=(
        "vidscore trust criterion ospa map --strata 4 --realisations 1",
        "vidscore trust criterion ospa emd hausdorff f1 --test figure-3",
        "vidscore trust criterion spotgeo --set tau=5 --strata 1 --realisations 1 --format json",
    ),
)
@click.argument("criteria", metavar="[CRITERION]...", nargs=-1, shell_complete=complete_evaluator)
@settings_option()
@click.option(
    "--test",
    type=click.Choice(TESTS),
    default=TESTS[0],
    show_default=True,
    help="Scenes to rank.",
)
@number_option(
    "--strata",
    1,
    1000,
    40,
    "Number of parts of the range of object counts; more parts lower the variance.",
)
@number_option("--realisations", 1, 1000, 5, "Families of 20 prediction sets for each stratum.")
@seed_option()
@workers_option()
@server_options(instead="Let this server run the test, which needs an organiser's token.")
@click.option(
    "--indicators",
    is_flag=True,
    help="In JSON, give indicators of how ranks depend on a parameter instead of the errors.",
)
@form_options()
def criterion(**choices: Any) -> None:
    """Test whether criteria rank systems as their purpose intends.

    Each sanity test draws scenes whose true order is known, from the best to the worst; the
    ranking error says how far a criterion's order is from it: 0 is the same order, 50 is no
    better than chance. CRITERION is one of the criteria of the trustworthiness paper, which are
    all tested unless some are named, or any evaluator.
    """
    from vidscore_evaluators.trust.analyses import CriterionAnalysis
    from vidscore_evaluators.trust.criterion import Plan, chosen_candidates

    typed = CriterionTest(**choices)
    check_output(typed.output)
    plan = Plan(typed.strata, typed.realisations, typed.seed)
    criteria = _criteria(typed)
    if typed.server is not None:
        if typed.workers != 1:
            raise click.UsageError("not together with --server: --workers")
        _deliver(_test_remotely(typed.server, typed.test, criteria, plan), typed)
        return
    candidates = chosen_candidates(typed.test, criteria)
    with ProgressBar() as bar:
        analysis = CriterionAnalysis(typed.test, tuple(candidates), plan)
        document = analysis.run(workers=typed.workers, progress=bar.show)
    _deliver(document, typed)


def _test_remotely(
    server: ServerChoice, test: str, criteria: Sequence[EvaluatorSpec], plan: Plan
) -> Document:
    """Let a server test criteria: if none are given, all of the paper."""
    with ProgressBar() as bar, open_client(server, typed=ALL_TYPED) as client:
        bar.stage(WAITING)
        analysis = client.trust.test_criterion(
            test,
            [(entry.name, entry.parameters) for entry in criteria],
            strata=plan.strata,
            realisations=plan.realisations,
            seed=plan.seed,
        )
        return outcome_of(analysis, bar)


def _deliver(document: Document, typed: CriterionTest) -> None:
    from vidscore_evaluators.trust.paper import NOT_REPRODUCED
    from vidscore_evaluators.trust.sanity import SANITY_TESTS
    from vidscore_evaluators.trust.tables import error_tables, indicator_table

    rows, of_parameters = document["errors"], document["indicators"]
    if typed.format_ == "json":
        chosen = of_parameters if typed.indicators else rows
        deliver_json(chosen, typed.output)
        return
    test = SANITY_TESTS[typed.test]
    tables = error_tables(test.title, rows)
    if of_parameters:
        tables.append(indicator_table(test.title, of_parameters))
    notes = []
    if test.random:
        families = document["families"]
        of = counted(families, "family", "families")
        notes.append(f"Mean (standard deviation) over {of} of scenes.")
    if typed.test in NOT_REPRODUCED:
        notes.append(f"Note: {NOT_REPRODUCED[typed.test]}.")
    deliver_tables(tables, notes, typed.output)


def _criteria(typed: CriterionTest) -> list[EvaluatorSpec]:
    """The typed criteria with their typed parameters; faults are usage errors."""
    from vidscore_evaluators.specification import BenchmarkSpec
    from vidscore_evaluators.trust.paper import CRITERIA

    if not typed.criteria and not typed.settings:
        return []
    specification, settings = select_evaluators(typed.criteria, typed.settings, BenchmarkSpec())
    if typed.server is None:  # a server may have other evaluators
        evaluators = tuple(
            entry
            for entry in specification.evaluators
            if entry.parameters or entry.name not in CRITERIA[typed.test]
        )
        own = replace(specification, evaluators=evaluators)
        refuse_presets(create_evaluators(own, typed.criteria, settings))
    return list(specification.evaluators)

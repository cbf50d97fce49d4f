"""`vidscore trust criterion`: sanity tests of criteria."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click

from vidscore_cli.output import check_output, deliver_json
from vidscore_cli.progress import ProgressBar
from vidscore_cli.selection import create_evaluators, select_evaluators
from vidscore_cli.server_choice import ServerChoice
from vidscore_cli.trust_remote import test_remotely
from vidscore_cli.trust_tables import deliver_tables
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec
from vidscore_evaluators.trust.analyses import CriterionAnalysis, Document
from vidscore_evaluators.trust.criterion import Plan, chosen_candidates
from vidscore_evaluators.trust.paper import CRITERIA, NOT_REPRODUCED
from vidscore_evaluators.trust.sanity import SANITY_TESTS
from vidscore_evaluators.trust.tables import error_tables, indicator_table


@dataclass(frozen=True)
class CriterionTest:
    """What is typed after `vidscore trust criterion`; the names are those of the options."""

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


def test_criteria(typed: CriterionTest) -> None:
    """Run a sanity test and write its outcome.

    Raises:
        click.UsageError: If what was typed is wrong.
        VidscoreError: If a criterion cannot judge the scenes of the test.
    """
    check_output(typed.output)
    plan = Plan(typed.strata, typed.realisations, typed.seed)
    criteria = _criteria(typed)
    if typed.server is not None:
        if typed.workers != 1:
            raise click.UsageError("not together with --server: --workers")
        _deliver(test_remotely(typed.server, typed.test, criteria, plan), typed)
        return
    candidates = chosen_candidates(typed.test, criteria)
    with ProgressBar() as bar:
        analysis = CriterionAnalysis(typed.test, tuple(candidates), plan)
        document = analysis.run(workers=typed.workers, progress=bar.show)
    _deliver(document, typed)


def _deliver(document: Document, typed: CriterionTest) -> None:
    rows, of_parameters = document["errors"], document["indicators"]
    if typed.format_ == "json":
        chosen = of_parameters if typed.indicators else rows
        deliver_json(chosen, typed.output)
        return
    test = SANITY_TESTS[typed.test]
    tables = error_tables(test.title, rows)
    if of_parameters:
        tables.append(indicator_table(test.title, of_parameters))
    notes = [f"Mean (standard deviation) over {document['families']} families of scenes."]
    notes = notes if test.random else []
    if typed.test in NOT_REPRODUCED:
        notes.append(f"Note: {NOT_REPRODUCED[typed.test]}.")
    deliver_tables(tables, notes, typed.output)


def _criteria(typed: CriterionTest) -> list[EvaluatorSpec]:
    """Criteria as they were typed, with the parameters that were; faults are the typist's."""
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
        create_evaluators(own, typed.criteria, settings)
    return list(specification.evaluators)

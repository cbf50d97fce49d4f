"""`vidscore trust criterion`: sanity tests of criteria."""

from __future__ import annotations

import json
from dataclasses import dataclass

from vidscore_cli.output import check_output, deliver
from vidscore_cli.progress import ProgressBar
from vidscore_cli.selection import create_evaluators, select_evaluators
from vidscore_cli.trust_tables import deliver_tables
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.trust.criterion_test import (
    Candidate,
    Plan,
    declared_candidates,
    paper_candidates,
    run_criterion_test,
)
from vidscore_evaluators.trust.paper import CRITERIA, NOT_REPRODUCED
from vidscore_evaluators.trust.sanity.catalogue import SANITY_TESTS
from vidscore_evaluators.trust.tables import (
    error_rows,
    error_tables,
    indicator_rows,
    indicator_table,
)


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


def test_criteria(typed: CriterionTest) -> None:
    """Run a sanity test and write its outcome.

    Raises:
        click.UsageError: If what was typed is wrong.
        VidscoreError: If a criterion cannot judge the scenes of the test.
    """
    check_output(typed.output)
    candidates = _candidates(typed)
    plan = Plan(typed.strata, typed.realisations, typed.seed)
    with ProgressBar() as bar:
        bar.stage("testing")
        outcomes = run_criterion_test(
            typed.test, candidates, plan, workers=typed.workers, progress=bar.advance
        )
    rows = error_rows(typed.test, outcomes)
    of_parameters = indicator_rows(typed.test, outcomes, typed.seed)
    if typed.format_ == "json":
        document = of_parameters if typed.indicators else rows
        deliver(json.dumps(document, indent=2, allow_nan=False), typed.output)
        return
    test = SANITY_TESTS[typed.test]
    tables = error_tables(test.title, rows)
    if of_parameters:
        tables.append(indicator_table(test.title, of_parameters))
    notes = [f"Mean (standard deviation) over {len(plan.draws(test))} families of scenes."]
    notes = notes if test.random else []
    if typed.test in NOT_REPRODUCED:
        notes.append(f"Note: {NOT_REPRODUCED[typed.test]}.")
    deliver_tables(tables, notes, typed.output)


def _candidates(typed: CriterionTest) -> list[Candidate]:
    """The paper's criteria, unless others are named; with settings, every name is an evaluator."""
    if not typed.criteria and not typed.settings:
        return paper_candidates(typed.test)
    of_paper = set() if typed.settings else {*typed.criteria} & {*CRITERIA[typed.test]}
    evaluators = [name for name in typed.criteria if name not in of_paper]
    candidates = paper_candidates(typed.test, of_paper)
    if evaluators or typed.settings:
        specification, settings = select_evaluators(evaluators, typed.settings, BenchmarkSpec())
        create_evaluators(specification, evaluators, settings)
        for entry in specification.evaluators:
            candidates.extend(declared_candidates(entry.name, entry.parameters))
    return candidates

"""What trust analyses are asked for: checked, bounded, and as the operation keeps it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import (
    Fault,
    InputError,
    LimitError,
    UnknownEvaluatorError,
    VidscoreError,
)
from vidscore_evaluators.parameters import parameter_values
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.specification import EvaluatorSpec
from vidscore_evaluators.trust.criterion import Plan, chosen_candidates
from vidscore_evaluators.trust.ranking import Questions
from vidscore_evaluators.trust.sanity import SANITY_TESTS
from vidscore_evaluators.trust.systems import with_both_bases
from vidscore_server.hosting.definition import Definition
from vidscore_server.settings import Settings
from vidscore_server.store.records import OperationRecord, SubmissionRecord

RANKING, CRITERION = "ranking", "criterion"
KINDS = (RANKING, CRITERION)


@dataclass(frozen=True)
class RankingPlan:
    """An examination of a benchmark's ranking.

    Attributes:
        benchmark: The benchmark.
        revision: Revision of the truth, fixed when it was asked for.
        submissions: The submissions.
        evaluators: Who ranks, with every parameter that is not the default.
        questions: What is asked.
    """

    benchmark: str
    revision: int
    submissions: tuple[str, ...]
    evaluators: tuple[EvaluatorSpec, ...]
    questions: Questions


@dataclass(frozen=True)
class CriterionPlan:
    """A sanity test of criteria.

    Attributes:
        test: Name of the test.
        criteria: The criteria; none for all that the paper has for it.
        plan: How many families of scenes.
    """

    test: str
    criteria: tuple[EvaluatorSpec, ...]
    plan: Plan


TrustPlan = RankingPlan | CriterionPlan


def plan_to_json(plan: TrustPlan) -> str:
    """A plan as an operation keeps it."""
    return json.dumps(dataclasses.asdict(plan))


def read_plan(record: OperationRecord) -> TrustPlan:
    """The plan of an operation."""
    kept = json.loads(record.request)
    if record.kind == RANKING:
        return RankingPlan(
            kept["benchmark"],
            kept["revision"],
            tuple(kept["submissions"]),
            _specs(kept["evaluators"]),
            Questions(**kept["questions"]),
        )
    return CriterionPlan(kept["test"], _specs(kept["criteria"]), Plan(**kept["plan"]))


def ranking_evaluators(
    definition: Definition, wanted: Sequence[EvaluatorSpec], path: str = "evaluators"
) -> tuple[EvaluatorSpec, ...]:
    """Who ranks: evaluators that a caller wants, over what the benchmark says of them.

    Args:
        definition: The benchmark.
        wanted: Evaluators with the parameters that are to differ; none for the benchmark's own.
        path: Where they stand in the request.

    Raises:
        ExceptionGroup: Of an error for every evaluator that there is not, or that cannot judge
            the benchmark.
    """
    specification = definition.specification
    own = {entry.name: entry.parameters for entry in specification.evaluators}
    chosen: list[EvaluatorSpec] = []
    errors: list[VidscoreError] = []
    for index, entry in enumerate(wanted or [EvaluatorSpec(name) for name in own]):
        whole = EvaluatorSpec(entry.name, {**own.get(entry.name, {}), **entry.parameters})
        try:
            evaluator = create_evaluator(whole.name, whole.parameters, specification)
            for side in Side:
                with suppress(LookupError):  # before there is truth, its shape may be open
                    evaluator.check_arity(side, definition.arity(side))
        except (InputError, UnknownEvaluatorError) as error:
            errors.extend(_placed(error, f"{path}[{index}]", entry.name))
            continue
        both = [evaluator] if "base" in entry.parameters else with_both_bases(evaluator)
        chosen.extend(EvaluatorSpec(one.name, parameter_values(one.parameters)) for one in both)
    if errors:
        raise ExceptionGroup("the evaluators cannot be used", errors)
    return tuple(chosen)


def check_criteria(plan: CriterionPlan) -> None:
    """Refuse a test that there is not, and criteria that cannot be tested.

    Raises:
        InputError: If there is no such test.
        ExceptionGroup: Of an error for every criterion that cannot be tested.
    """
    if plan.test not in SANITY_TESTS:
        raise InputError([Fault(repr(plan.test)[:80], " or ".join(SANITY_TESTS), field="test")])
    errors: list[VidscoreError] = []
    for index, entry in enumerate(plan.criteria):
        try:
            chosen_candidates(plan.test, [entry])
        except (InputError, UnknownEvaluatorError) as error:
            errors.extend(_placed(error, f"criteria[{index}]", entry.name))
    if errors:
        raise ExceptionGroup("the criteria cannot be tested", errors)


def check_limits(
    plan: TrustPlan, submissions: Sequence[SubmissionRecord], settings: Settings
) -> None:
    """Refuse what would be too much for one analysis.

    Args:
        plan: What is asked for.
        submissions: The submissions of a ranking.
        settings: The server's limits.

    Raises:
        LimitError: With the limit that it breaks.
    """
    for found, what, limit in _amounts(plan, submissions):
        maximum = getattr(settings, limit)
        if found > maximum:
            raise LimitError(f"{found} {what}", limit, maximum)


def _amounts(
    plan: TrustPlan, submissions: Sequence[SubmissionRecord]
) -> Iterator[tuple[int, str, str]]:
    if isinstance(plan, CriterionPlan):
        yield len(plan.criteria), "criteria", "maximum_evaluators"
        families = plan.plan.strata * plan.plan.realisations
        yield families, "families of scenes", "maximum_trust_trials"
        return
    yield len({entry.name for entry in plan.evaluators}), "evaluators", "maximum_evaluators"
    yield len(submissions), "systems", "maximum_trust_systems"
    frame_count = sum(record.frame_count for record in submissions)
    yield frame_count, "frames of all systems", "maximum_trust_frames"
    yield plan.questions.draws, "draws of sequences", "maximum_trust_trials"
    yield plan.questions.trials, "trials with noise", "maximum_trust_trials"


def _placed(error: VidscoreError, path: str, name: str) -> list[VidscoreError]:
    """The error, with its place in the request."""
    if not isinstance(error, InputError):
        fault = Fault(repr(name)[:80], "an evaluator of this server", field=f"{path}.name")
        return [error, InputError([fault])]
    moved = [
        dataclasses.replace(
            fault, source=None, field=f"{path}.parameters.{fault.field}" if fault.field else path
        )
        for fault in error.faults
    ]
    return [type(error)(moved)]


def _specs(kept: Sequence[Mapping[str, Any]]) -> tuple[EvaluatorSpec, ...]:
    return tuple(EvaluatorSpec(entry["name"], entry["parameters"]) for entry in kept)

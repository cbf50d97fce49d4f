"""Whole analyses: each produces one document, which is printed, sent and stored.

The command line runs them in its own process, a server in another one; the document is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from vidscore_evaluators.parameters import parameter_values
from vidscore_evaluators.runtime import Progress
from vidscore_evaluators.trust.criterion import Candidate, Plan, run_criterion_test
from vidscore_evaluators.trust.doubts import doubts_of_draws
from vidscore_evaluators.trust.noise import NoiseEffect
from vidscore_evaluators.trust.ranking import (
    Questions,
    RankingTrust,
    Sweep,
    distances_between,
    examine,
)
from vidscore_evaluators.trust.resampling import Bootstrap
from vidscore_evaluators.trust.sanity import SANITY_TESTS
from vidscore_evaluators.trust.systems import Contest, Request
from vidscore_evaluators.trust.tables import INDICATORS, error_rows, indicator_rows


def ranking_document(
    contest: Contest, examined: Sequence[RankingTrust], questions: Questions
) -> dict[str, Any]:
    """The rankings as a JSON document.

    Args:
        contest: The systems.
        examined: Their ranking by each evaluator.
        questions: What was examined.
    """
    systems = list(contest.systems)
    return {
        "systems": systems,
        "rankings": [_document(systems, one, questions.seed) for one in examined],
        "kendall_distances": distances_between(examined),
        "notes": doubts_of_draws(contest, _labels(examined)) if questions.draws else [],
    }


def _labels(examined: Sequence[RankingTrust]) -> set[str]:
    """The labels whose scores have intervals."""
    drawn = (one.bootstrap for one in examined if one.bootstrap is not None)
    return {
        label
        for one in drawn
        for intervals in one.intervals
        for (_, label, _), interval in intervals.items()
        if label is not None and interval.low is not None
    }


def _document(systems: Sequence[str], one: RankingTrust, seed: int) -> dict[str, Any]:
    return {
        "evaluator": one.evaluator.name,
        "parameters": parameter_values(one.evaluator.parameters),
        "ranks": dict(zip(systems, one.ranks.tolist(), strict=True)),
        "scores": {
            measure: dict(zip(systems, values, strict=True))
            for measure, values in one.scores.items()
        },
        "sweeps": [_sweep(systems, sweep, seed) for sweep in one.sweeps],
        "bootstrap": None if one.bootstrap is None else _draws(systems, one.bootstrap),
        "noise": None if one.noise is None else _noise(one.noise),
    }


def _sweep(systems: Sequence[str], sweep: Sweep, seed: int) -> dict[str, Any]:
    found = sweep.indicators(seed)
    values = (found.switches, found.distortion, found.sensitivity)
    return {
        "parameter": sweep.parameter,
        "values": list(sweep.values),
        "ranks": dict(zip(systems, sweep.ranks.T.tolist(), strict=True)),
        "scores": {
            measure: dict(zip(systems, map(list, zip(*rows, strict=True)), strict=True))
            for measure, rows in sweep.scores.items()
        },
        "indicators": {name: float(value) for name, value in zip(INDICATORS, values, strict=True)},
    }


def _draws(systems: Sequence[str], drawn: Bootstrap) -> dict[str, Any]:
    return {
        "draws": drawn.draws,
        "coverage": drawn.coverage,
        "sequences": drawn.sequence_count,
        "intervals": [
            {
                "system": system,
                "domain": domain,
                "label": label,
                "measure": measure,
                "value": interval.value,
                "low": interval.low,
                "high": interval.high,
            }
            for system, intervals in zip(systems, drawn.intervals, strict=True)
            for (domain, label, measure), interval in intervals.items()
        ],
        "above": drawn.above.tolist(),
        "groups": [[systems[row] for row in group] for group in drawn.groups],
    }


def _noise(noise: NoiseEffect) -> dict[str, Any]:
    return {
        "bound_px": noise.bound_px,
        "trials": len(noise.trials),
        "changed": noise.changed,
        "kendall_distance": noise.distance,
        "above": noise.above.tolist(),
    }


Document = dict[str, Any]
"""Strings, numbers, lists and dictionaries, as JSON holds them."""

StageProgress = Callable[[str, int, int], None]
"""Called with (the stage, its steps done, its steps in all; 0 if unknown)."""


class RankingAnalysis(Struct, frozen=True, eq=False):
    """Analysis of how far the ranking of some systems can be relied on.

    Attributes:
        evaluators: The evaluators that rank.
        contest: The systems.
        questions: What to examine.
    """

    evaluators: tuple[Request, ...]
    contest: Contest
    questions: Questions

    def run(self, *, workers: int = 1, progress: StageProgress | None = None) -> Document:
        """Examine the ranking by each evaluator.

        Args:
            workers: Processes to use; the document does not depend on it.
            progress: Called as the work proceeds.

        Raises:
            InputError: If there are fewer than two systems, or an input breaks a rule.
        """
        evaluators = [request.create() for request in self.evaluators]
        self.contest.check(evaluators)
        examined = [
            examine(
                evaluator,
                self.contest,
                self.questions,
                workers=workers,
                progress=_of_stage(progress, f"examining {evaluator.name}"),
            )
            for evaluator in evaluators
        ]
        return ranking_document(self.contest, examined, self.questions)


class CriterionAnalysis(Struct, frozen=True):
    """Whether criteria rank scenes of a sanity test as their purpose intends.

    Attributes:
        test: Name of the test.
        candidates: The criteria.
        plan: The number of families of scenes.
    """

    test: str
    candidates: tuple[Candidate, ...]
    plan: Plan

    def run(self, *, workers: int = 1, progress: StageProgress | None = None) -> Document:
        """Let the criteria judge every family.

        Args:
            workers: Processes to use; the document does not depend on it.
            progress: Called as the work proceeds.

        Raises:
            InputError: If a criterion cannot judge the scenes of the test.
        """
        outcomes = run_criterion_test(
            self.test,
            self.candidates,
            self.plan,
            workers=workers,
            progress=_of_stage(progress, "testing"),
        )
        return {
            "test": self.test,
            "families": len(self.plan.draws(SANITY_TESTS[self.test])),
            "errors": error_rows(self.test, outcomes),
            "indicators": indicator_rows(self.test, outcomes, self.plan.seed),
        }


Analysis = RankingAnalysis | CriterionAnalysis


def _of_stage(progress: StageProgress | None, stage: str) -> Progress | None:
    if progress is None:
        return None
    progress(stage, 0, 0)
    return partial(progress, stage)

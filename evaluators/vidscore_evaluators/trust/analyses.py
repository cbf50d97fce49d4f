"""Whole analyses: one piece of work with one document as its outcome.

A command line runs them in its own process, a server in another one; the document is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from vidscore_evaluators.runtime import Progress
from vidscore_evaluators.trust.criterion_test import Candidate, Plan, run_criterion_test
from vidscore_evaluators.trust.ranking import Questions, examine
from vidscore_evaluators.trust.ranking_document import ranking_document
from vidscore_evaluators.trust.sanity.catalogue import SANITY_TESTS
from vidscore_evaluators.trust.systems import Contest, Request
from vidscore_evaluators.trust.tables import error_rows, indicator_rows

Document = dict[str, Any]
"""Texts, numbers, lists and tables, as JSON can hold them."""

StageProgress = Callable[[str, int, int], None]
"""Called with (what is being done, pieces of it done, pieces in all; 0 where that is not known)."""


@dataclass(frozen=True, eq=False)
class RankingAnalysis:
    """How far the ranking of some systems can be relied on.

    Attributes:
        evaluators: Who ranks.
        contest: The systems.
        questions: What is asked.
    """

    evaluators: tuple[Request, ...]
    contest: Contest
    questions: Questions

    def run(self, *, workers: int = 1, progress: StageProgress | None = None) -> Document:
        """Examine the ranking by each evaluator.

        Args:
            workers: Processes to use; the document does not depend on it.
            progress: Told how far it is.

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
        return ranking_document(list(self.contest.systems), examined, self.questions.seed)


@dataclass(frozen=True)
class CriterionAnalysis:
    """Whether criteria rank scenes of a sanity test as their purpose intends.

    Attributes:
        test: Name of the test.
        candidates: The criteria.
        plan: How many families of scenes.
    """

    test: str
    candidates: tuple[Candidate, ...]
    plan: Plan

    def run(self, *, workers: int = 1, progress: StageProgress | None = None) -> Document:
        """Let the criteria judge every family.

        Args:
            workers: Processes to use; the document does not depend on it.
            progress: Told how far it is.

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

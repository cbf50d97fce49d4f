"""What trust analyses may ask for: bounded by the settings, kept and read as it was."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from vidscore_evaluators.errors import LimitError
from vidscore_evaluators.specification import EvaluatorSpec
from vidscore_evaluators.trust.criterion import Plan
from vidscore_evaluators.trust.ranking import Questions
from vidscore_server.domain.trust_plans import (
    CRITERION,
    RANKING,
    CriterionPlan,
    RankingEvaluator,
    RankingPlan,
    TrustPlan,
    check_limits,
    plan_to_json,
    read_plan,
)
from vidscore_server.settings import load_settings
from vidscore_server.store.records import OperationRecord, SubmissionRecord, SubmissionState

NOW = datetime(2026, 5, 1, tzinfo=UTC)
RANKED = RankingPlan(
    "sky",
    1,
    ("a", "b", "c"),
    (RankingEvaluator("spotgeo", {"tau": 5.0}), RankingEvaluator("ospa", {}, ("car",))),
    Questions(draws=10, trials=5),
)
TESTED = CriterionPlan("figure-3", (EvaluatorSpec("ospa"), EvaluatorSpec("emd")), Plan(4, 5, 6))
SUBMISSION = SubmissionRecord(
    "sky", "a", "red", "", SubmissionState.SCORED, "", "", NOW, NOW, NOW, NOW, frame_count=50
)


@pytest.mark.parametrize(("kind", "plan"), [(RANKING, RANKED), (CRITERION, TESTED)])
def test_a_plan_is_read_as_it_was_kept(kind: str, plan: TrustPlan) -> None:
    assert read_plan(OperationRecord("x-1", kind, plan_to_json(plan), NOW)) == plan


@pytest.mark.parametrize(
    ("plan", "limit", "found"),
    [
        (RANKED, "maximum_trust_systems", 3),
        (RANKED, "maximum_trust_frames", 150),
        (RANKED, "maximum_trust_trials", 10),
        (replace(RANKED, questions=Questions(draws=0, trials=7)), "maximum_trust_trials", 7),
        (RANKED, "maximum_evaluators", 2),
        (TESTED, "maximum_trust_trials", 20),
        (TESTED, "maximum_evaluators", 2),
    ],
)
def test_as_much_as_a_limit_says_is_allowed_and_no_more(
    plan: TrustPlan, limit: str, found: int
) -> None:
    """Three submissions of 50 frames; four strata of five families."""
    submissions = [SUBMISSION, SUBMISSION, SUBMISSION]
    check_limits(plan, submissions, load_settings(flags={limit: found}))
    with pytest.raises(LimitError) as caught:
        check_limits(plan, submissions, load_settings(flags={limit: found - 1}))
    assert (caught.value.limit, caught.value.maximum) == (limit, found - 1)

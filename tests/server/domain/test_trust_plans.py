"""What trust analyses may ask for: bounded by the settings, stored and read unchanged."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from vidscore_evaluators.errors import LimitError
from vidscore_evaluators.presets import find_preset
from vidscore_evaluators.specification import EvaluatorSpec
from vidscore_evaluators.trust.criterion import Plan
from vidscore_evaluators.trust.ranking import Questions
from vidscore_server.domain.definition import definition_from_dict
from vidscore_server.domain.trust_plans import (
    CRITERION,
    RANKING,
    CriterionPlan,
    RankingEvaluator,
    RankingPlan,
    TrustPlan,
    check_limits,
    plan_to_json,
    ranking_evaluators,
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
def test_a_plan_is_read_as_stored(kind: str, plan: TrustPlan) -> None:
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
def test_limits_are_inclusive_in_plans(plan: TrustPlan, limit: str, found: int) -> None:
    """Three submissions of 50 frames; four strata of five families."""
    submissions = [SUBMISSION, SUBMISSION, SUBMISSION]
    check_limits(plan, submissions, load_settings(flags={limit: found}))
    with pytest.raises(LimitError) as caught:
        check_limits(plan, submissions, load_settings(flags={limit: found - 1}))
    assert (caught.value.limit, caught.value.maximum) == (limit, found - 1)


# --- What ranks in a trust analysis of a benchmark with a preset


DEFINITION = definition_from_dict({"evaluators": [{"name": "mot17"}]})
HOTA = next(entry for entry in find_preset("mot17").evaluators if entry.name == "hota")


def test_the_evaluators_of_the_preset_rank_with_its_parameters_and_labels() -> None:
    found = ranking_evaluators(DEFINITION, ())
    names = [entry.name for entry in find_preset("mot17").evaluators]
    assert list(dict.fromkeys(one.name for one in found)) == names
    assert {one.classes for one in found} == {find_preset("mot17").labels}
    created = found[0].request(DEFINITION.specification).create()
    assert created.specification.classes == find_preset("mot17").labels


def test_a_named_evaluator_of_the_preset_keeps_the_presets_parameters() -> None:
    [found] = ranking_evaluators(DEFINITION, [EvaluatorSpec("hota", {"base": "giou"})])
    assert found.parameters["base"] == "giou"
    assert {name: found.parameters[name] for name in HOTA.parameters} == dict(HOTA.parameters)
    assert found.classes == find_preset("mot17").labels


def test_a_preset_may_rank_a_benchmark_of_other_evaluators() -> None:
    other = definition_from_dict({"evaluators": [{"name": "f1"}], "truth_geometry": "box"})
    found = ranking_evaluators(other, [EvaluatorSpec("mot17")])
    assert found[0].classes == find_preset("mot17").labels
    assert ranking_evaluators(other, ())[0].classes is None


def test_a_preset_takes_no_parameters_in_an_analysis() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        ranking_evaluators(DEFINITION, [EvaluatorSpec("mot17", {"base": "giou"})])
    assert caught.group_contains(Exception, match="fixes its parameters")


def test_an_evaluator_ranks_only_once_named_or_from_a_preset() -> None:
    """Named alone it would get the preset's parameters, and both rankings would be the same."""
    with pytest.raises(ExceptionGroup) as caught:
        ranking_evaluators(DEFINITION, [EvaluatorSpec("hota"), EvaluatorSpec("mot17")], "chosen")
    [error] = caught.value.exceptions
    assert str(error) == (
        "chosen: found hota by itself and of the preset mot17, expected each evaluator once; "
        "score them one after the other"
    )

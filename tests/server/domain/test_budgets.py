"""The total number of submissions of a team: how it follows from the truth, and is shown."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace
from tests.server.domain.hosted import TRUTH, Hosted, dots, refusal
from tests.server.domain.streets import BOX, streets
from tests.server.scene import HERE, batch, points

from vidscore_evaluators.annotations import ObjectFlag
from vidscore_protos.v1 import annotations_pb2, benchmark_pb2
from vidscore_server.api.definitions import read_definition, write_benchmark
from vidscore_server.domain.benchmarks import from_json, policy_warnings, to_json
from vidscore_server.domain.definition import definition_from_dict
from vidscore_server.domain.policy import Policy, TruthSize, budget_of, default_budget
from vidscore_server.store.records import BenchmarkRecord

FRAME = points({1: HERE})
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def scattered(sequences: int) -> annotations_pb2.AnnotationBatch:
    """This many objects, each in a sequence of its own."""
    return batch((("", f"{row}"), 1, HERE) for row in range(sequences))


@pytest.mark.parametrize(
    ("objects", "sequences", "budget"),
    [
        (0, 0, 5),
        (25, 5, 5),
        (125, 125, 5),  # 125 samples, one answer for every 25.
        (150, 150, 6),
        (18_000, 1_280, 192),  # The geometric mean is 4800.
        (100_000, 1_000, 400),
        (100, 1_000_000, 5),  # Empty sequences are not samples.
        (10**7, 10**7, 1000),
    ],
)
def test_a_team_has_one_answer_per_25_samples_the_mean_of_sequences_and_objects(
    objects: int, sequences: int, budget: int
) -> None:
    assert default_budget(objects, sequences) == budget


def test_the_limit_of_the_policy_holds_whatever_the_truth() -> None:
    size = TruthSize(100_000, 1_000)
    assert [budget_of(Policy(submissions_in_all=n), size) for n in (0, 1, 9999)] == [0, 1, 9999]
    assert budget_of(Policy(), size) == 400
    assert budget_of(Policy(), None) == 5


def test_live_scores_count_as_answers_about_single_sequences() -> None:
    """100,000 objects in 10 sequences are 10,000 in one: the geometric mean with 1 is 100."""
    assert budget_of(Policy(visibility="live"), TruthSize(100_000, 10)) == 4
    assert budget_of(Policy(visibility="live"), None) == 3
    assert budget_of(Policy(visibility="live"), TruthSize(1_000_000, 10)) == 12


async def _budgets(hosted: Hosted) -> tuple[int, int, int]:
    """The limit of the policy, the limit in force, and the quota that a team is told."""
    benchmark = (await hosted.organiser.benchmark()).benchmark
    quotas = {quota.name: quota.maximum for quota in (await hosted.red.benchmark()).quotas}
    policy = benchmark.policy
    return policy.submissions_in_all, benchmark.submission_budget, quotas["submissions_in_all"]


async def test_a_new_benchmark_has_a_small_budget_until_its_truth_is_complete(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create_benchmark(submissions_in_all=None)
    assert await _budgets(hosted) == (-1, 5, 5)
    await hosted.organiser.upload(scattered(1000), complete=False)
    assert await _budgets(hosted) == (-1, 5, 5)
    await hosted.organiser.upload(scattered(250))
    assert await _budgets(hosted) == (-1, 10, 10)
    await hosted.organiser.upload(scattered(1000), complete=False)
    assert await _budgets(hosted) == (-1, 10, 10)
    await hosted.organiser.upload(scattered(150))
    assert await _budgets(hosted) == (-1, 6, 6)


async def test_merged_truth_counts_together_with_the_truth_it_is_merged_into(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create_benchmark(submissions_in_all=None)
    await hosted.organiser.upload(scattered(250))
    await hosted.organiser.upload(points({1: HERE}, "more"), points({1: HERE}, "0"), merge=True)

    def kept(reader: object) -> str:
        return str(reader.benchmark("dots").definition)  # type: ignore[attr-defined]

    text = await hosted.hosting.context.read(kept)
    # One frame of HERE is new; that of sequence 0 replaces its only object.
    assert from_json(text).truth_size == TruthSize(249 + 2 * len(HERE), 251)


async def test_objects_that_are_not_judged_are_not_samples(hosted: Hosted) -> None:
    await hosted.organiser.create(streets())
    truth = scattered(250)
    truth.geometry = annotations_pb2.GEOMETRY_BOX
    truth.coordinates[:] = BOX * 250
    truth.object_flags.extend([ObjectFlag.IGNORE] * 100 + [0] * 150)
    await hosted.organiser.upload(truth)
    assert await _budgets(hosted) == (-1, 6, 6)


async def test_the_default_budget_is_a_quota_like_any_other(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(submissions_in_all=None)
    await hosted.organiser.upload(TRUTH)
    for number in range(5):
        await hosted.red.submit(FRAME, f"s{number}")
    assert (await refusal(hosted.red.submission("s5"))).metadata["quota"] == "submissions_in_all"
    await hosted.blue.submit(FRAME, "of-blue")


async def test_no_limit_must_be_stated_and_is_shown(hosted: Hosted) -> None:
    created = await hosted.organiser.create_benchmark()
    assert (created.policy.submissions_in_all, created.policy.unlimited_submissions) == (0, True)
    assert created.submission_budget == 0
    await hosted.organiser.upload(TRUTH)
    for number in range(6):
        await hosted.red.begin(FRAME, f"s{number}")


@pytest.mark.parametrize("said", [0, 9, -1])
async def test_a_policy_update_without_a_budget_keeps_the_current_one(
    hosted: Hosted, said: int
) -> None:
    policy = {"submissions_in_all": said} if said else {"unlimited_submissions": True}
    before = (await hosted.organiser.create_benchmark(**policy)).policy
    after = await _change(hosted, submissions_in_all=None, submissions_per_day=7)
    assert after.policy.submissions_per_day == 7
    assert after.policy.submissions_in_all == before.submissions_in_all
    assert after.policy.unlimited_submissions == (said == 0)
    after = await _change(hosted, submissions_in_all=-1)
    assert (after.policy.submissions_in_all, after.submission_budget) == (-1, 5)


async def test_a_changed_benchmark_keeps_the_size_of_its_truth(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(submissions_in_all=9)
    await hosted.organiser.upload(scattered(250))
    assert (await _change(hosted, submissions_in_all=-1)).submission_budget == 10


async def _change(hosted: Hosted, **policy: object) -> benchmark_pb2.Benchmark:
    return await hosted.organiser.update(dots(**policy), "policy")


def test_a_stored_benchmark_without_a_limit_stays_without_one() -> None:
    """As earlier servers stored it: the policy has 0, and the size of the truth is not stored."""
    kept = {"evaluators": [{"name": "spotgeo"}], "policy": {"submissions_in_all": 0}}
    definition = from_json(json.dumps(kept))
    assert definition.submission_budget == 0
    assert from_json(to_json(definition)) == definition
    message = write_benchmark(BenchmarkRecord("b", "", None, None, NOW, NOW), definition)
    assert read_definition(message).submission_budget == 0


# --- warnings to organisers ---------------------------------------------------------------------


def _warnings(size: TruthSize | None, evaluator: str, **policy: object) -> list[str]:
    definition = definition_from_dict({"evaluators": [{"name": evaluator}], "policy": policy})
    return policy_warnings(replace(definition, truth_size=size))


def test_an_organiser_is_warned_of_a_benchmark_without_a_budget() -> None:
    [text] = _warnings(None, "f1", submissions_in_all=0)
    assert "any number of submissions" in text
    [text] = _warnings(TruthSize(100_000, 1_000), "f1", submissions_in_all=0)
    assert "(400)" in text
    assert _warnings(None, "f1") == _warnings(None, "f1", submissions_in_all=3) == []


@pytest.mark.parametrize("visibility", ["ladder", "final"])
def test_an_organiser_is_warned_if_one_object_changes_a_score_by_more_than_a_step(
    visibility: str,
) -> None:
    """F1 changes by at most 2 / n: 0.01 with 200 objects."""
    fine = {"visibility": visibility, "ladder_step": 0.01}
    [_, text] = _warnings(TruthSize(199, 9), "f1", **fine)
    assert "one of the 199 objects" in text
    assert not any("one of" in text for text in _warnings(TruthSize(200, 9), "f1", **fine))
    assert _warnings(TruthSize(20, 9), "f1", visibility=visibility, ladder_step=0.2) == []
    assert _warnings(TruthSize(20, 9), "f1", visibility=visibility) == []


def test_the_effect_of_an_object_is_its_fraction_of_the_range_of_the_ranking_measure() -> None:
    """An MSE is between 0 and tau^2 = 100."""
    said = {"ranking_measure": "mse", "ladder_step": 0.1}
    [_, text] = _warnings(TruthSize(1000, 9), "spotgeo", **said)
    assert "changes mse of spotgeo by up to 0.2" in text
    [text] = _warnings(TruthSize(1000, 9), "spotgeo", **said | {"ladder_step": 0.2})
    assert "changes mse" not in text


async def test_only_organisers_get_warnings_at_creation_and_when_the_truth_is_complete(
    hosted: Hosted,
) -> None:
    created = await hosted.organiser.create_benchmark(submissions_in_all=None)
    assert list(created.warnings) == []
    await hosted.organiser.upload(TRUTH)
    [step, text] = (await hosted.organiser.benchmark()).benchmark.warnings
    assert "ladder_step = 0.01 is finer than 0.5" in step  # sqrt(0.25 / 3 + 0.04 / 1) = 0.35
    assert "one of the 3 objects" in text
    for client in (hosted.red, hosted.viewer):
        assert list((await client.benchmark()).benchmark.warnings) == []

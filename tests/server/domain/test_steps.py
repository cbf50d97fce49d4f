"""The step that follows from the truth, its warnings, and how a changed truth changes it."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from tests.server.domain.hosted import Hosted, dots, values
from tests.server.domain.test_budgets import scattered
from tests.server.scene import HERE, points

from vidscore_protos.v1 import annotations_pb2, benchmark_pb2
from vidscore_server.domain.benchmarks import policy_warnings
from vidscore_server.domain.definition import definition_from_dict
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.policy import TruthSize, default_budget, default_step, readable_above
from vidscore_server.domain.publishing import keep_result
from vidscore_server.store import Transaction

FINAL = benchmark_pb2.VISIBILITY_FINAL


@pytest.mark.parametrize(
    ("objects", "sequences", "step"),
    [
        (3000, 5, 0.1),  # sqrt(0.25 / 3000 + 0.04 / 5) = 0.090
        (25, 5, 0.2),  # sqrt(0.25 / 25 + 0.04 / 5) = 0.134
        (3, 1, 0.5),  # sqrt(0.25 / 3 + 0.04) = 0.351
        (18_000, 1_280, 0.01),  # 0.0067, below the minimum.
        (100_000, 100, 0.05),  # sqrt(0.0000025 + 0.0004) = 0.02006
        (10**9, 100, 0.05),  # 0.0200000000006: it is never rounded down.
        (1, 1, 1.0),  # 0.539
        (0, 0, 1.0),
    ],
)
def test_the_default_step_is_the_standard_error_rounded_up(
    objects: int, sequences: int, step: float
) -> None:
    assert default_step(TruthSize(objects, sequences)) == step


def test_a_benchmark_of_five_sequences_has_a_step_of_a_tenth_and_five_submissions() -> None:
    assert (default_step(TruthSize(3000, 5)), default_budget(3000, 5)) == (0.1, 5)


def test_without_truth_the_step_is_that_of_one_object() -> None:
    assert default_step(None) == default_step(TruthSize(1, 1)) == 1.0


def test_the_step_has_the_unit_of_the_first_ranking_measure() -> None:
    """An MSE goes from 0 to 100 px^2, a range a hundred times that of F1."""
    definition = definition_from_dict(
        {"evaluators": [{"name": "spotgeo"}], "policy": {"ranking_measure": "mse"}}
    )
    sized = structs.replace(definition, truth_size=TruthSize(3000, 5))
    assert sized.step(sized.evaluators[0]) == 10.0


@pytest.mark.parametrize(
    ("value", "readable"),
    [(0.01, 0.01), (0.010001, 0.02), (0.2, 0.2), (0.21, 0.5), (0.51, 1.0), (3.0, 5.0), (7.0, 10.0)],
)
def test_a_readable_number_is_1_2_or_5_times_a_power_of_ten(value: float, readable: float) -> None:
    assert readable_above(value) == readable


@given(st.floats(1e-9, 1e9))
def test_rounding_up_to_a_readable_number_adds_less_than_a_factor_of_two_and_a_half(
    value: float,
) -> None:
    assert value <= readable_above(value) <= 2.5 * value


def test_a_step_below_the_standard_error_is_kept_with_a_warning() -> None:
    document = {"evaluators": [{"name": "f1"}], "policy": {"ladder_step": 0.05}}
    definition = structs.replace(definition_from_dict(document), truth_size=TruthSize(3000, 5))
    [text] = policy_warnings(definition)
    assert "ladder_step = 0.05 is finer than 0.1" in text
    assert "5 sequences with 3000 objects" in text
    assert definition.step(definition.evaluators[0]) == 0.05
    for step in (0.0, 0.1, 0.2):
        policy = dataclasses.replace(definition.policy, ladder_step=step)
        assert policy_warnings(structs.replace(definition, policy=policy)) == []


# --- over the wire -------------------------------------------------------------------------------


async def test_everyone_sees_the_step_in_force(hosted: Hosted) -> None:
    created = await hosted.organiser.create_benchmark(ladder_step=0.0)
    assert (created.policy.ladder_step, created.ladder_step_in_force) == (0.0, 1.0)
    await hosted.organiser.upload(scattered(25))
    for client in (hosted.organiser, hosted.red, hosted.viewer):
        found = (await client.benchmark()).benchmark
        assert (found.policy.ladder_step, found.ladder_step_in_force) == (0.0, 0.2)
    # sqrt(0.25 / 25 + 0.04 / 25) = 0.108


async def test_a_policy_without_a_step_uses_that_of_the_truth(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(scattered(25))
    message = dots()
    message.policy.ClearField("ladder_step")
    assert (await hosted.organiser.update(message, "policy")).ladder_step_in_force == 0.2


async def test_a_score_stays_rounded_to_the_earlier_step_until_the_board_is_updated(
    hosted: Hosted,
) -> None:
    """F1 of 2 of 3 objects is 0.8: 1.0 to a step of 0.5 and 0.8 to one of 0.2."""
    rescore = benchmark_pb2.RESCORE_REVIEW
    await hosted.organiser.create_benchmark(visibility=FINAL, ladder_step=0.0, rescore=rescore)
    small = [points({1: HERE}, name) for name in "abc"]
    await hosted.organiser.upload(*small)  # sqrt(0.25 / 3 + 0.04 / 3) = 0.31: a step of 0.5
    await hosted.red.submit(joined("ab"))
    await hosted.red.ended()
    assert await _shown_f1(hosted) == (1.0, 1.0)
    await hosted.organiser.upload(scattered(25), merge=True)
    assert (await hosted.red.benchmark()).benchmark.ladder_step_in_force == 0.2
    assert await _shown_f1(hosted) == (1.0, 1.0)
    await _score_again(hosted)
    assert {values(score.report)["f1"] for score in await hosted.red.scores()} == {1.0}
    assert (await hosted.red.board()).rows[0].scores[0].value == 1.0


async def _score_again(hosted: Hosted) -> None:
    """Store another score under the first revision, like a server that was slow."""
    results = await hosted.hosting.scorer.results(SubmissionName("dots", "one"), 1)

    def command(transaction: Transaction) -> None:
        benchmark, submission = transaction.benchmark("dots"), transaction.submission("dots", "one")
        assert benchmark is not None
        assert submission is not None
        definition = hosted.hosting.benchmarks.definition(benchmark)
        for result in results:
            keep_result(transaction, definition, submission, result, hosted.clock.now)

    await hosted.hosting.context.write(command)


async def _shown_f1(hosted: Hosted) -> tuple[float, float]:
    """What red is shown of its score, and of its row on the board."""
    [score] = await hosted.red.scores()
    [row] = (await hosted.red.board()).rows
    assert row.scores[0].measure == "f1"
    return values(score.report)["f1"], row.scores[0].value


def joined(names: str) -> annotations_pb2.AnnotationBatch:
    """A batch with one object in a sequence of each name."""
    batch = scattered(len(names))
    for key, name in zip(batch.sequences, names, strict=True):
        key.sequence = name
    return batch

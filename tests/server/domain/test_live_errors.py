"""An evaluator that fails over hidden truth tells a participant nothing of it."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from tests.server.domain.hosted import BENCHMARK, Hosted, dots, refusal
from tests.server.domain.test_live import LIVE, sequence
from tests.server.scene import parameter
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1 import benchmark_pb2, submission_service_pb2

pytestmark = pytest.mark.usefixtures("moody")


@pytest.mark.parametrize(
    ("mood", "when_scoring"), [("input_error", False), ("input_error", True), ("exit", True)]
)
async def test_an_error_of_an_evaluator_over_hidden_truth_is_not_told(
    hosted: Hosted, mood: str, when_scoring: bool
) -> None:
    """Its text may quote the truth, so it is a failure of the server, as that of a scoring is."""
    await _submit(hosted, dots(visibility=LIVE, minimum_frames=1), mood, when_scoring=when_scoring)
    found = await refusal(_watch(hosted))
    assert found.code is grpc.StatusCode.INTERNAL
    assert "mood" not in found.message
    assert "123.456" not in found.message
    assert not found.violations


async def _submit(
    hosted: Hosted, benchmark: benchmark_pb2.Benchmark, mood: str, *, when_scoring: bool
) -> None:
    """Submit a sequence to a benchmark whose evaluator fails."""
    [evaluator] = benchmark.specification.evaluators
    evaluator.name = "moody"
    evaluator.parameters.append(parameter("mood", mood))
    evaluator.parameters.append(parameter("when_scoring", when_scoring))
    await hosted.organiser.create(benchmark)
    await hosted.organiser.upload(sequence("a"))
    await hosted.red.append(await hosted.red.submission(), 0, sequence("a"))


async def _watch(hosted: Hosted) -> None:
    request = submission_service_pb2.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/one")
    async with asyncio.timeout(TIMEOUT_S):
        async for _ in hosted.red.submissions.WatchSubmission(
            request, metadata=hosted.red.metadata
        ):
            pass


@pytest.mark.parametrize("mood", ["input_error", "exit"])
async def test_an_error_of_an_evaluator_that_computes_scores_fails_the_scoring_alone(
    hosted: Hosted, mood: str
) -> None:
    await _submit(hosted, dots(), mood, when_scoring=True)
    await hosted.red.seal()
    failed = (await hosted.red.ended()).submission
    assert failed.state_reason == "scoring_failed"
    assert "mood" not in failed.state_message
    assert "123.456" not in failed.state_message

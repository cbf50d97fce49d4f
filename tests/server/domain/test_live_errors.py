"""An evaluator that fails over hidden truth tells a participant nothing of it."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from tests.server.domain.hosted import BENCHMARK, Hosted, dots, refusal
from tests.server.domain.test_live import LIVE, sequence
from tests.server.scene import parameter
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1 import submission_service_pb2

pytestmark = pytest.mark.usefixtures("moody")


async def test_a_fault_that_an_evaluator_finds_in_the_truth_is_not_told(hosted: Hosted) -> None:
    """Its text may quote the truth, so it is a failure of the server, as that of a scoring is."""
    benchmark = dots(visibility=LIVE, minimum_frames=1)
    [evaluator] = benchmark.specification.evaluators
    evaluator.name = "moody"
    evaluator.parameters.append(parameter("mood", "input_error"))
    await hosted.organiser.create(benchmark)
    await hosted.organiser.upload(sequence("a"))
    await hosted.red.append(await hosted.red.submission(), 0, sequence("a"))
    found = await refusal(_watch(hosted))
    assert found.code is grpc.StatusCode.INTERNAL
    assert "mood" not in found.message
    assert not found.violations


async def _watch(hosted: Hosted) -> None:
    request = submission_service_pb2.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/one")
    async with asyncio.timeout(TIMEOUT_S):
        async for _ in hosted.red.submissions.WatchSubmission(
            request, metadata=hosted.red.metadata
        ):
            pass

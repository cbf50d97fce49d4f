"""A few bytes of a specification can stand for millions of frames: that is valid, and cheap."""

from __future__ import annotations

import asyncio

import pytest
from tests.server.running import PlayedWorkers, serving
from tests.server.scene import HERE, configuration, counts, points

from vidscore_evaluators.jobs import Job, run_job
from vidscore_protos.v1 import scoring_service_pb2, scoring_service_pb2_grpc, specification_pb2

pytestmark = pytest.mark.usefixtures("moody")

MILLION = 1_000_000


def _sequence(*, ranges: int) -> specification_pb2.SequenceSpec:
    """A video of a million frames, as one range or as every second frame."""
    sequence = specification_pb2.SequenceSpec(name="1")
    if not ranges:
        sequence.frame_count = MILLION
    for first in range(ranges):
        sequence.frames.ranges.add(first=2 * first, last=2 * first)
    return sequence


@pytest.mark.slow
@pytest.mark.parametrize(("ranges", "frames"), [(0, MILLION), (20_000, 20_000)])
async def test_every_frame_that_a_specification_evaluates_is_scored(
    ranges: int, frames: int
) -> None:
    configured = configuration("moody")
    configured.specification.sequences.append(_sequence(ranges=ranges))
    message = scoring_service_pb2.ScoreBatchRequest(
        configuration=configured,
        truth=[points({0: HERE, 2: HERE})],
        detections=[points({0: HERE, 4: HERE})],
    )
    async with serving(PlayedWorkers()) as running:
        stub = scoring_service_pb2_grpc.ScoringServiceStub(running.channel)
        [report] = (await stub.ScoreBatch(message)).reports
    assert counts(report)["frames"] == frames


class CountingWorkers(PlayedWorkers):
    """Workers in this process that record the maximum number of large jobs at once."""

    def __init__(self) -> None:
        super().__init__()
        self.large_now = self.large_at_once = 0

    async def run(self, job: Job) -> bytes:
        is_large = job.truth.frame_count > MILLION / 2
        self.large_now += is_large
        self.large_at_once = max(self.large_at_once, self.large_now)
        try:
            return await asyncio.to_thread(run_job, job)
        finally:
            self.large_now -= is_large


@pytest.mark.slow
async def test_missing_frames_are_created_for_one_call_at_a_time() -> None:
    configured = configuration("moody")
    configured.specification.sequences.append(_sequence(ranges=0))
    message = scoring_service_pb2.ScoreBatchRequest(configuration=configured)
    workers = CountingWorkers()
    async with serving(workers) as running:
        stub = scoring_service_pb2_grpc.ScoringServiceStub(running.channel)
        answers = await asyncio.gather(*(stub.ScoreBatch(message) for _ in range(6)))
    assert [counts(answer.reports[0])["frames"] for answer in answers] == [MILLION] * 6
    assert workers.large_at_once == 1

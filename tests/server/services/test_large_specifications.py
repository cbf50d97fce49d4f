"""A specification says in a few bytes how many frames there are: that is legal, and cheap."""

from __future__ import annotations

import pytest
from tests.server.running import PlayedWorkers, serving
from tests.server.scene import HERE, configuration, counts, points

from vidscore.v1 import scoring_service_pb2, scoring_service_pb2_grpc, specification_pb2

pytestmark = pytest.mark.usefixtures("moody")

MILLION = 1_000_000


def _sequence(*, ranges: int) -> specification_pb2.SequenceSpec:
    """A video of a million frames, or of every second one, each by itself."""
    sequence = specification_pb2.SequenceSpec(name="1")
    if not ranges:
        sequence.frame_count = MILLION
    for first in range(ranges):
        sequence.frames.ranges.add(first=2 * first, last=2 * first)
    return sequence


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

"""A change of the visibility shows no digit of an earlier score that was not shown before."""

from __future__ import annotations

import asyncio

from tests.server.domain.hosted import TRUTH, Client, Hosted, values
from tests.server.domain.test_boards import FINAL
from tests.server.domain.test_disqualification import ONE, disqualify
from tests.server.domain.test_rescored_boards import update
from tests.server.scene import points
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1 import benchmark_pb2

TWO_OF_THREE = points({1: [(10.0, 20.0), (300.0, 200.0)], 2: [], 3: [], 4: [], 5: []})
ROUNDED = {"f1": 0.9, "mse": 30.0}
"""F1 0.8 to a step of 0.3; one miss of three objects costs 100 / 3 px^2, to one digit."""


async def _shown(client: Client) -> list[dict[str, float]]:
    return [values(score.report) for score in await client.scores()]


async def _scored(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(visibility=FINAL, ladder_step=0.3)
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(TWO_OF_THREE)
    await hosted.red.ended()
    assert await _shown(hosted.red) == [ROUNDED]


def _under_ladder(benchmark: benchmark_pb2.Benchmark) -> None:
    benchmark.policy.visibility = benchmark_pb2.VISIBILITY_LADDER


async def test_a_score_under_earlier_truth_stays_rounded_under_ladder(hosted: Hosted) -> None:
    await _scored(hosted)
    await hosted.organiser.upload(points({1: [(10.0, 20.0)], 2: [], 3: [], 4: [], 5: []}))
    async with asyncio.timeout(TIMEOUT_S):
        while len(before := await _shown(hosted.red)) < 2:
            pass
    await update(hosted, "policy", change=_under_ladder)
    assert await _shown(hosted.red) == before
    assert before[-1] == ROUNDED


async def test_a_disqualified_score_stays_rounded_under_ladder(hosted: Hosted) -> None:
    await _scored(hosted)
    await disqualify(hosted, ONE)
    await update(hosted, "policy", change=_under_ladder)
    assert await _shown(hosted.red) == [ROUNDED]
    [row] = (await hosted.viewer.board()).rows
    assert {score.measure: score.value for score in row.scores} == ROUNDED

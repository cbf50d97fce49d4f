"""Public benchmarks, and all others, for which a caller needs a token."""

from __future__ import annotations

import grpc
import pytest
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, dots, refusal
from tests.server.scene import HERE, points

from vidscore_protos.v1 import benchmark_service_pb2 as pb
from vidscore_server.domain.access import Gate, Transport
from vidscore_server.domain.policy import Policy
from vidscore_server.runtime import utc_now

GET = "/vidscore.v1.BenchmarkService/GetBenchmark"


async def _scored(hosted: Hosted, *, public_board_web: bool = False) -> None:
    await hosted.organiser.create(dots(public_board_web=public_board_web))
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(points({1: HERE, 2: [], 3: [], 4: [], 5: []}))
    await hosted.red.ended()


async def test_a_public_board_is_the_same_without_a_token_as_for_a_viewer(hosted: Hosted) -> None:
    await _scored(hosted, public_board_web=True)
    assert await hosted.nobody.board() == await hosted.viewer.board()
    assert [row.team for row in (await hosted.nobody.board()).rows] == ["red"]


async def test_a_public_benchmark_is_the_same_without_a_token_as_for_a_viewer(
    hosted: Hosted,
) -> None:
    await _scored(hosted, public_board_web=True)
    answers = [await client.benchmark() for client in (hosted.nobody, hosted.viewer)]
    assert answers[0] == answers[1]
    assert not answers[0].quotas


@pytest.mark.parametrize("name", [BENCHMARK, "benchmarks/none"])
async def test_without_a_token_every_other_benchmark_is_not_found(
    hosted: Hosted, name: str
) -> None:
    await _scored(hosted)
    for call, request in (
        ("GetBenchmark", pb.GetBenchmarkRequest(name=name)),
        ("GetLeaderboard", pb.GetLeaderboardRequest(benchmark=name)),
        ("GetChecklist", pb.GetChecklistRequest(benchmark=name)),
    ):
        refused = await refusal(getattr(hosted.nobody.benchmarks, call)(request))
        assert refused.code is grpc.StatusCode.UNAUTHENTICATED
        assert name not in refused.message


async def test_without_a_token_only_public_benchmarks_are_listed(hosted: Hosted) -> None:
    for number in range(5):
        await hosted.organiser.create(
            dots(public_board_web=number in {1, 4}), benchmark_id=f"b{number}"
        )
    names, token = [], ""
    for _ in range(2):
        request = pb.ListBenchmarksRequest(page_size=1, page_token=token)
        answer = await hosted.nobody.benchmarks.ListBenchmarks(request)
        names += [entry.name for entry in answer.benchmarks]
        token = answer.next_page_token
    assert names == ["benchmarks/b1", "benchmarks/b4"]
    assert token == ""


async def test_a_caller_without_a_token_may_be_anywhere() -> None:
    gate = Gate(None, utc_now)
    assert (await gate.admit(GET, [], Transport(open_to_anyone=False))).role is None


async def test_an_invalid_token_is_still_refused(hosted: Hosted) -> None:
    await _scored(hosted, public_board_web=True)
    refused = await refusal(hosted.client("x").benchmark())
    assert refused.code is grpc.StatusCode.UNAUTHENTICATED


def test_a_benchmark_that_viewers_do_not_see_cannot_be_public() -> None:
    [fault] = Policy(public_board=False, public_board_web=True).faults()
    assert fault.field == "public_board_web"

"""Teams share a server's streams: no team, and no caller without a token, keeps others out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from tests.server.api.test_ranking_service import upload
from tests.server.domain.hosted import BENCHMARK, TRUTH, Client, Hosted, append, hosting
from tests.server.scene import HERE, configuration, points, refused, stream
from tests.support.waiting import until

from vidscore_protos.v1 import (
    ranking_service_pb2_grpc,
    scoring_service_pb2,
    scoring_service_pb2_grpc,
)
from vidscore_protos.v1 import submission_service_pb2 as pb

NAME = f"{BENCHMARK}/submissions/one"


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Hosted]:
    """A server with few places, so that an attack is quick, and one submission per team."""
    async with hosting(tmp_path, maximum_streams=20) as hosted:
        await hosted.organiser.create_benchmark()
        for client, name in ((hosted.red, "one"), (hosted.blue, "two")):
            await client.submission(name)
        yield hosted


def _watches(client: Client, count: int, name: str = NAME) -> list[Any]:
    request = pb.WatchSubmissionRequest(name=name)
    return [
        client.submissions.WatchSubmission(request, metadata=client.metadata) for _ in range(count)
    ]


@contextlib.contextmanager
def _cancelled(calls: list[Any]) -> Iterator[None]:
    try:
        yield
    finally:
        for call in calls:
            call.cancel()


async def _appends(client: Client, name: str, number: int = 1, epoch: int = 1) -> Any:
    """An append call whose first frame is durable."""
    call = client.submissions.AppendFrames(metadata=client.metadata)
    stream_name = f"{BENCHMARK}/submissions/{name}/streams/default"
    batch = append(stream_name, number - 1, points({number: HERE}), epoch)
    await call.write(batch)
    answer = await call.read()
    assert isinstance(answer, pb.AppendResponse)
    assert answer.next_offset == number
    return call


async def _everybody_else_works(hosted: Hosted) -> None:
    """Another team appends and watches, and an organiser uploads truth."""
    call = await _appends(hosted.blue, "two")
    [watch] = _watches(hosted.blue, 1, f"{BENCHMARK}/submissions/two")
    with _cancelled([call, watch]):
        assert (await watch.read()).submission.frame_count == 1
        assert (await hosted.organiser.upload(TRUTH)).revision == 1


async def test_watches_of_one_team_do_not_keep_others_out(site: Hosted) -> None:
    watches = _watches(site.red, 100)
    with _cancelled(watches):
        await until(lambda: site.server.sessions.open_count == 18)  # Except for a tenth of 20.
        await _everybody_else_works(site)


async def test_streams_of_a_team_beyond_its_share_end_with_advice_when_to_return(
    site: Hosted,
) -> None:
    watches = _watches(site.red, 18)
    with _cancelled(watches):
        for watch in watches:
            await watch.read()
        call = await _appends(site.blue, "two")
        await until(lambda: any(watch.done() for watch in watches))
        [made_way] = [watch for watch in watches if watch.done()]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await made_way.read()
        _check_passing(caught.value)
        call.cancel()


async def test_scoring_without_tokens_keeps_nobody_out(site: Hosted) -> None:
    stub = scoring_service_pb2_grpc.ScoringServiceStub(site.channel)
    first = stream(configuration("spotgeo"))[0]
    async with AsyncExitStack() as calls:
        for _ in range(100):
            call = stub.Score()
            calls.callback(call.cancel)
        await until(lambda: site.server.sessions.open_count == 5)  # Of 10: as many as it leaves.
        await _everybody_else_works(site)
        with_token = stub.Score(metadata=site.blue.metadata)
        calls.callback(with_token.cancel)
        await with_token.write(first)
        answer = await with_token.read()
        assert isinstance(answer, scoring_service_pb2.ScoreResponse)
        assert answer.HasField("started")


async def test_a_scoring_stream_without_a_place_is_not_told_to_return(tmp_path: Path) -> None:
    async with hosting(tmp_path, maximum_streams=1) as hosted:
        stub = scoring_service_pb2_grpc.ScoringServiceStub(hosted.channel)
        holding, refused_call = stub.Score(), stub.Score()
        await holding.write(stream(configuration("spotgeo"))[0])
        await holding.read()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await refused_call.read()
        assert refused(caught.value).metadata["limit"] == "maximum_streams"
        assert _retry_delay_s(caught.value) is None
        holding.cancel()


async def test_a_newer_call_of_a_stream_ends_the_older_one_at_once(site: Hosted) -> None:
    older = await _appends(site.red, "one", 1)
    newer = await _appends(site.red, "one", 2)
    async with asyncio.timeout(60):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await older.read()
    found = refused(caught.value)
    assert (found.code, found.reason) == (grpc.StatusCode.ABORTED, "EPOCH_STALE")
    await until(lambda: site.server.sessions.open_count == 1)
    newer.cancel()


async def test_a_returning_writer_of_an_older_epoch_ends_nobody(site: Hosted) -> None:
    await site.red.open(NAME)
    younger = await _appends(site.red, "one", 1, epoch=2)
    stale = site.red.submissions.AppendFrames(metadata=site.red.metadata)
    late = append(f"{NAME}/streams/default", 1, points({2: HERE}), epoch=1)
    await stale.write(late)
    assert await stale.code() is grpc.StatusCode.ABORTED
    going_on = append(f"{NAME}/streams/default", 1, points({2: HERE}), epoch=2)
    await younger.write(going_on)
    answer = await younger.read()
    assert isinstance(answer, pb.AppendResponse)
    assert answer.next_offset == 2
    younger.cancel()


async def test_an_append_call_without_a_place_is_told_when_to_return(tmp_path: Path) -> None:
    async with hosting(tmp_path, maximum_streams=2) as hosted:
        await hosted.organiser.create_benchmark()
        for name in ("one", "two"):
            await hosted.red.submission(name)
        holding = await _appends(hosted.red, "one")
        late = hosted.red.submissions.AppendFrames(metadata=hosted.red.metadata)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await late.read()
        _check_passing(caught.value)
        holding.cancel()


async def test_open_unary_calls_of_one_team_keep_nobody_else_out(tmp_path: Path) -> None:
    async with hosting(tmp_path, maximum_calls=2) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.red.submission()
        held = [_half_sent(hosted, hosted.red) for _ in range(3)]
        with _cancelled(held):
            await until(lambda: any(call.done() for call in held))
            [refused_call] = [call for call in held if call.done()]
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await refused_call
            assert refused(caught.value).metadata["limit"] == "maximum_calls"
            assert _retry_delay_s(caught.value) is not None
            assert await hosted.blue.listed() == []
            await hosted.organiser.create_benchmark("other")


def _half_sent(hosted: Hosted, client: Client) -> Any:
    """A unary call whose message never arrives."""
    method = "/vidscore.v1.SubmissionService/GetSubmission"
    call: Any = hosted.channel.stream_unary(method)(metadata=client.metadata)
    return call


def _check_passing(error: grpc.aio.AioRpcError) -> None:
    found = refused(error)
    assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED")
    assert found.metadata["limit"] == "maximum_streams"
    assert _retry_delay_s(error) is not None


def _retry_delay_s(error: grpc.aio.AioRpcError) -> float | None:
    [data] = [value for key, value in error.trailing_metadata() if key == "grpc-status-details-bin"]
    assert isinstance(data, bytes)
    delay = RetryInfo()
    for detail in Status.FromString(data).details:
        if detail.Unpack(delay):
            return float(delay.retry_delay.ToTimedelta().total_seconds())
    return None


# --- Uploads of rankings


async def _examined(hosted: Hosted, client: Client) -> bool:
    stub = ranking_service_pb2_grpc.RankingServiceStub(hosted.channel)
    call = stub.ExamineUpload(iter(upload()), metadata=client.metadata)
    return [answer async for answer in call][-1].HasField("outcome")


@pytest.mark.slow
async def test_an_endless_upload_does_not_block_others_from_being_examined(tmp_path: Path) -> None:
    async with hosting(tmp_path) as hosted:
        stub = ranking_service_pb2_grpc.RankingServiceStub(hosted.channel)
        calls = [stub.ExamineUpload(metadata=who.metadata) for who in (hosted.nobody, hosted.red)]
        for call in calls:
            for request in upload()[:2]:
                await call.write(request)
        await until(lambda: hosted.server.sessions.open_count == 2)
        for client in (hosted.blue, hosted.viewer, hosted.organiser):
            assert await _examined(hosted, client)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await _examined(hosted, hosted.red)
        assert refused(caught.value).metadata["limit"] == "maximum_trust_analyses"
        for call in calls:
            call.cancel()


async def test_an_upload_must_arrive_within_the_time_of_an_analysis(tmp_path: Path) -> None:
    async with hosting(tmp_path, trust_timeout_s=1) as hosted:
        stub = ranking_service_pb2_grpc.RankingServiceStub(hosted.channel)
        call = stub.ExamineUpload(metadata=hosted.red.metadata)
        await call.write(upload()[0])
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call.read()
    told = refused(caught.value)
    assert (told.code, told.metadata["limit"]) == (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "trust_timeout_s",
    )

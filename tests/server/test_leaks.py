"""Every end of a call frees its place, its tasks and its file descriptors."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import grpc
import pytest
from tests.server.running import Running
from tests.server.scene import HERE, configuration, points, request, stream
from tests.support.waiting import until

from vidscore_protos.v1 import (
    ranking_service_pb2,
    ranking_service_pb2_grpc,
    scoring_service_pb2,
    scoring_service_pb2_grpc,
    trust_pb2,
)

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("moody")]

TRUTH = points({1: HERE, 2: []})
BAD = points({1: [(float("nan"), 0.0)]})
LIVE = scoring_service_pb2.LiveReporting(frame_interval=1)
CALLS = 5

Stub: TypeAlias = "scoring_service_pb2_grpc.ScoringServiceAsyncStub"
Call = Callable[[Running, Stub], Awaitable[grpc.StatusCode]]


def _batch(mood: str = "calm", *, bad: bool = False) -> scoring_service_pb2.ScoreBatchRequest:
    return scoring_service_pb2.ScoreBatchRequest(
        configuration=configuration("moody", mood=mood, delay_s=0.5),
        truth=[BAD if bad else TRUTH],
        detections=[TRUTH],
    )


def _stream(mood: str = "calm", *, bad: bool = False) -> list[scoring_service_pb2.ScoreRequest]:
    configured = configuration("moody", mood=mood, delay_s=0.5, live=LIVE)
    return stream(configured, ("truth", BAD if bad else TRUTH), ("detections", TRUTH))


async def _unary_ok(_: Running, stub: Stub) -> grpc.StatusCode:
    call = stub.ScoreBatch(_batch())
    await call
    return await call.code()


async def _unary_error(_: Running, stub: Stub) -> grpc.StatusCode:
    return await stub.ScoreBatch(_batch(bad=True)).code()


async def _unary_deadline(_: Running, stub: Stub) -> grpc.StatusCode:
    return await stub.ScoreBatch(_batch("slow"), timeout=0.2).code()


async def _unary_cancel(running: Running, stub: Stub) -> grpc.StatusCode:
    call = stub.ScoreBatch(_batch("slow"))
    await until(lambda: running.server.sessions.open_count == 1)
    call.cancel()
    return await call.code()


async def _stream_ok(_: Running, stub: Stub) -> grpc.StatusCode:
    return await _read_to_the_end(stub.Score(iter(_stream())))


async def _stream_error(_: Running, stub: Stub) -> grpc.StatusCode:
    return await _read_to_the_end(stub.Score(iter(_stream(bad=True))))


async def _stream_deadline(_: Running, stub: Stub) -> grpc.StatusCode:
    return await _read_to_the_end(stub.Score(iter(_stream("slow")), timeout=0.2))


async def _stream_cancel(_: Running, stub: Stub) -> grpc.StatusCode:
    """Cancelled while a live report is made and the client is still sending."""
    call = stub.Score()
    for message in _stream("slow"):
        await call.write(message)
    await call.read()
    with contextlib.suppress(asyncio.CancelledError):
        await call.write(request("truth", points({3: HERE})))
        call.cancel()
    return await call.code()


async def _examined(running: Running, *, bad: bool = False) -> grpc.StatusCode:
    make = ranking_service_pb2.ExamineUploadRequest
    calm = configuration("moody", mood="calm")
    configured = ranking_service_pb2.ExaminationConfiguration(
        specification=calm.specification,
        truth_geometry=calm.truth_geometry,
        detection_geometry=calm.detection_geometry,
        systems=["a", "b"],
        questions=trust_pb2.RankingQuestions(draws=0),
    )
    requests = [make(configuration=configured), make(truth=BAD if bad else TRUTH)]
    stub = ranking_service_pb2_grpc.RankingServiceStub(running.channel)
    return await _read_to_the_end(stub.ExamineUpload(iter(requests)))


async def _examination_ok(running: Running, _: Stub) -> grpc.StatusCode:
    """Each examination runs in its own process."""
    return await _examined(running)


async def _examination_error(running: Running, _: Stub) -> grpc.StatusCode:
    return await _examined(running, bad=True)


async def _read_to_the_end(
    call: grpc.aio.StreamStreamCall[Any, Any],
) -> grpc.StatusCode:
    with contextlib.suppress(grpc.aio.AioRpcError):
        async for _ in call:
            pass
    return await call.code()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("call", "code"),
    [
        (_unary_ok, grpc.StatusCode.OK),
        (_unary_error, grpc.StatusCode.INVALID_ARGUMENT),
        (_unary_deadline, grpc.StatusCode.DEADLINE_EXCEEDED),
        (_unary_cancel, grpc.StatusCode.CANCELLED),
        (_stream_ok, grpc.StatusCode.OK),
        (_stream_error, grpc.StatusCode.INVALID_ARGUMENT),
        (_stream_deadline, grpc.StatusCode.DEADLINE_EXCEEDED),
        (_stream_cancel, grpc.StatusCode.CANCELLED),
        (_examination_ok, grpc.StatusCode.OK),
        (_examination_error, grpc.StatusCode.INVALID_ARGUMENT),
    ],
)
async def test_a_call_leaves_places_tasks_and_descriptors_unchanged(
    running: Running, call: Call, code: grpc.StatusCode
) -> None:
    stub = scoring_service_pb2_grpc.ScoringServiceStub(running.channel)
    # This connects, and starts threads.
    assert await _stream_ok(running, stub) is grpc.StatusCode.OK
    # This starts workers.
    await asyncio.gather(*(stub.ScoreBatch(_batch("slow")) for _ in range(2)))
    await until(lambda: running.server.sessions.open_count == 0)
    await asyncio.sleep(0.05)
    tasks, descriptors = len(asyncio.all_tasks()), _descriptors()

    for _ in range(CALLS):
        assert await call(running, stub) is code

    await until(lambda: running.server.sessions.open_count == 0)
    await until(lambda: len(asyncio.all_tasks()) <= tasks)
    await until(lambda: _descriptors() <= descriptors)
    assert await _stream_ok(running, stub) is grpc.StatusCode.OK


def _descriptors() -> int:
    listing = Path("/proc/self/fd")
    return len(list(listing.iterdir())) if listing.exists() else 0

"""A server that stops acknowledges what it has received, and sends its clients elsewhere."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.server.domain.hosted import BENCHMARK, Hosted, append, hosting, refusal
from tests.server.domain.sky import batch
from tests.server.scene import refused
from tests.support.waiting import until

from vidscore_protos.v1 import server_service_pb2, server_service_pb2_grpc
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.store import Reader


def received(hosted: Hosted) -> float:
    """Number of messages of append streams that the server has read."""
    labels = ("bidi_stream", "vidscore.v1.SubmissionService", "AppendFrames")
    counted: float = hosted.server._metrics.calls.received.labels(*labels)._value.get()
    return counted


async def read_into(acknowledged: list[int], call: Any) -> None:
    """Read offsets until the call ends."""
    while True:
        acknowledged.append((await call.read()).next_offset)


async def stored(hosted: Hosted) -> int:
    """Durable frames of the submission; the server itself accepts no calls any more."""

    def look(reader: Reader) -> int:
        record = reader.submission("dots", "one")
        return 0 if record is None else record.frame_count

    return await hosted.hosting.context.read(look)


async def test_batches_that_wait_for_the_store_are_acknowledged_before_the_stream_ends(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create_benchmark()
    stream = await hosted.red.submission()
    call: Any = hosted.red.submissions.AppendFrames(metadata=hosted.red.metadata)
    acknowledged: list[int] = []
    for index in range(2):  # A call may have more in flight after each acknowledgement.
        await call.write(append(stream, index, batch([index])))
        acknowledged.append((await call.read()).next_offset)
    release = threading.Event()
    held = hosted.hosting.context.store.submit(lambda _: release.wait(60))
    for index in range(2, 5):
        await call.write(append(stream, index, batch([index])))
    await until(lambda: received(hosted) == 5)
    draining = asyncio.create_task(hosted.server.sessions.drain(60))
    await until(lambda: hosted.server.sessions.draining)
    release.set()
    assert await asyncio.to_thread(held.result, 60), "the store was held until the server drained"
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await read_into(acknowledged, call)
    found = await stored(hosted)
    assert acknowledged == list(range(1, found + 1))
    assert found >= 4
    status = refused(caught.value)
    assert (status.code, status.reason) == (grpc.StatusCode.UNAVAILABLE, "SERVER_DRAINING")
    await draining
    assert hosted.server.sessions.open_count == 0


async def test_a_draining_server_accepts_nothing_new_and_says_that_it_drains(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.server.sessions.drain(0)
    status = await refusal(hosted.red.submission())
    assert (status.code, status.reason) == (grpc.StatusCode.UNAVAILABLE, "SERVER_DRAINING")
    stub: Any = server_service_pb2_grpc.ServerServiceStub(hosted.channel)
    told = await stub.GetServer(server_service_pb2.GetServerRequest())
    assert told.server.draining


async def test_a_watch_ends_with_the_server_so_that_it_can_continue_elsewhere(
    tmp_path: Path,
) -> None:
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.red.submission()
        request = pb.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/one")
        call = hosted.red.submissions.WatchSubmission(request, metadata=hosted.red.metadata)
        await call.read()
        health: Any = health_pb2_grpc.HealthStub(hosted.channel)
        before = await health.Check(health_pb2.HealthCheckRequest())
        assert before.status == health_pb2.HealthCheckResponse.SERVING
        stopping = asyncio.create_task(hosted.server.stop(60))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call.read()
        assert refused(caught.value).reason == "SERVER_DRAINING"
        await stopping

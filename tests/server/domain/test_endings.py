"""Every end of a stream frees its session, its task and its waiter."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, NoReturn

import grpc
import pytest
from grpc._cython import cygrpc
from tests.server.domain.hosted import BENCHMARK, Hosted, append
from tests.server.scene import HERE, points, refused
from tests.support.waiting import until

from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.stream import Responses
from vidscore_server.logs import LOGGER_NAME

SUBMISSION = f"{BENCHMARK}/submissions/one"
REASON = "SERVER_DRAINING"


def _request(stream: str, number: int) -> pb.AppendRequest:
    return append(stream, number - 1, points({number: HERE}))


async def test_resumable_streams_end_at_once_when_the_server_drains(
    hosted: Hosted, stream: str
) -> None:
    appends = hosted.red.submissions.AppendFrames(metadata=hosted.red.metadata)
    await appends.write(_request(stream, 1))
    await appends.read()
    watch = hosted.red.submissions.WatchSubmission(
        pb.WatchSubmissionRequest(name=SUBMISSION), metadata=hosted.red.metadata
    )
    await watch.read()
    async with asyncio.timeout(60):
        await hosted.server.sessions.drain(3600)
        for call in (appends, watch):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call.read()
            found = refused(caught.value)
            assert (found.code, found.reason) == (grpc.StatusCode.UNAVAILABLE, REASON)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["cancelled", "deadline", "refused", "done"])
async def test_every_end_of_an_append_stream_frees_its_place(
    hosted: Hosted, stream: str, ending: str
) -> None:
    tasks = len(asyncio.all_tasks())
    # Long enough for a slow machine to answer the first frame, as it must.
    timeout = 5 if ending == "deadline" else None
    call = hosted.red.submissions.AppendFrames(metadata=hosted.red.metadata, timeout=timeout)
    await call.write(_request(stream, 1))
    await call.read()
    assert hosted.server.sessions.open_count == 1
    if ending == "cancelled":
        call.cancel()
    elif ending == "refused":
        await call.write(_request(stream, 4))
    elif ending == "done":
        await call.done_writing()
    expected = {
        "cancelled": grpc.StatusCode.CANCELLED,
        "deadline": grpc.StatusCode.DEADLINE_EXCEEDED,
        "refused": grpc.StatusCode.OUT_OF_RANGE,
        "done": grpc.StatusCode.OK,
    }
    assert await call.code() is expected[ending]
    await until(lambda: hosted.server.sessions.open_count == 0)
    await until(lambda: len(asyncio.all_tasks()) <= tasks)
    assert (await hosted.red.get()).frame_count == 1


async def test_a_watch_that_is_cancelled_leaves_no_waiter(hosted: Hosted, stream: str) -> None:
    del stream
    changes = hosted.hosting.context.changes
    call = hosted.red.submissions.WatchSubmission(
        pb.WatchSubmissionRequest(name=SUBMISSION), metadata=hosted.red.metadata
    )
    await call.read()
    await until(lambda: bool(changes._waiting))
    call.cancel()
    await until(lambda: not changes._waiting)
    await until(lambda: hosted.server.sessions.open_count == 0)


async def test_a_watch_from_a_revision_on_sends_only_newer_states(
    hosted: Hosted, stream: str
) -> None:
    await hosted.red.append(stream, 0, points({1: HERE}))
    revision = (await hosted.red.get()).revision
    request = pb.WatchSubmissionRequest(name=SUBMISSION, from_revision=revision)
    call = hosted.red.submissions.WatchSubmission(request, metadata=hosted.red.metadata)
    await hosted.red.append(stream, 1, points({2: HERE}))
    async with asyncio.timeout(60):
        response = await call.read()
    assert isinstance(response, pb.WatchSubmissionResponse)
    assert response.submission.revision == revision + 1
    assert response.submission.frame_count == 2
    call.cancel()


async def test_a_client_that_left_before_grpc_noticed_is_not_an_incident(
    hosted: Hosted, stream: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """gRPC fails to send, as it does on a connection that has just broken."""
    del stream

    async def send(responses: Responses[Any], response: Any) -> NoReturn:
        del responses, response
        raise cygrpc.ExecuteBatchError('Failed "execute_batch": (<SendMessageOperation>,)')

    monkeypatch.setattr(Responses, "send", send)
    call = hosted.red.submissions.WatchSubmission(
        pb.WatchSubmissionRequest(name=SUBMISSION), metadata=hosted.red.metadata
    )
    with caplog.at_level(logging.INFO, LOGGER_NAME), pytest.raises(grpc.aio.AioRpcError):
        await call.read()
    assert [record.message for record in caplog.records if record.message == "incident"] == []
    assert [record for record in caplog.records if record.message == "call"]

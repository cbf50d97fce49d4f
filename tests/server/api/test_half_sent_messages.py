"""Messages that arrive slowly or never take little memory and no place of others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from tests.server.domain.hosted import hosting
from tests.server.running import PlayedWorkers, serving
from tests.support.half_sent import half_sent, message_head
from tests.support.waiting import TIMEOUT_S, until

from vidscore_protos.v1 import (
    access_service_pb2,
    server_service_pb2,
    server_service_pb2_grpc,
)
from vidscore_server.api.guard import SPARE_BYTES
from vidscore_server.domain import sessions
from vidscore_server.domain.access import token_of
from vidscore_server.settings import Settings

GET_SERVER = "/vidscore.v1.ServerService/GetServer"
HEALTH = "/grpc.health.v1.Health/Check"
LIST = "/vidscore.v1.SubmissionService/ListSubmissions"

Answer = asyncio.Task[bytes]


async def test_a_message_far_over_the_limit_is_refused_by_its_length() -> None:
    async with (
        serving(PlayedWorkers()) as running,
        half_sent(running.address, GET_SERVER) as call,
        asyncio.timeout(TIMEOUT_S),
    ):
        call.send(message_head(Settings().maximum_message_bytes + SPARE_BYTES + 1))
        assert b"larger than max" in await call.answer()


@asynccontextmanager
async def _beginning(address: str, method: str, count: int) -> AsyncIterator[list[Answer]]:
    """Begin calls of which only a part of the message is sent."""
    async with AsyncExitStack() as stack:
        answers: list[Answer] = []
        for _ in range(count):
            call = await stack.enter_async_context(half_sent(address, method))
            call.send(message_head(1 << 20) + bytes(1 << 10))
            answers.append(asyncio.create_task(call.answer()))
            stack.callback(answers[-1].cancel)
        yield answers


@pytest.mark.parametrize("method", [GET_SERVER, HEALTH])
@pytest.mark.parametrize(("calls", "ended"), [(16, 14), (4, 3)])
async def test_calls_whose_message_does_not_arrive_leave_seven_eighths_to_others(
    monkeypatch: pytest.MonkeyPatch, method: str, calls: int, ended: int
) -> None:
    monkeypatch.setattr(sessions, "LATE_S", 0.05)
    async with (
        serving(PlayedWorkers(), maximum_calls=calls) as running,
        _beginning(running.address, method, calls) as answers,
    ):
        await until(lambda: sum(answer.done() for answer in answers) == ended)
        assert all(b"are late" in answer.result() for answer in answers if answer.done())
        await asyncio.sleep(0.2)
        assert sum(answer.done() for answer in answers) == ended
        monkeypatch.undo()  # on a busy machine the next message may be late, too
        stub = server_service_pb2_grpc.ServerServiceStub(running.channel)
        await stub.GetServer(server_service_pb2.GetServerRequest())


async def test_a_message_must_arrive_within_the_idle_timeout() -> None:
    async with (
        serving(PlayedWorkers(), idle_timeout_s=1) as running,
        _beginning(running.address, GET_SERVER, 1) as [answer],
        asyncio.timeout(TIMEOUT_S),
    ):
        assert b"no message has arrived for 1 s" in await answer


async def test_a_call_ends_with_its_token_even_before_its_message_has_arrived(
    tmp_path: Path,
) -> None:
    async with hosting(tmp_path) as hosted:
        token = token_of(hosted.red.secret)
        async with half_sent(hosted.address, LIST, hosted.red.metadata) as call:
            await asyncio.sleep(0.1)
            await hosted.organiser.access.RevokeToken(
                access_service_pb2.RevokeTokenRequest(name=f"tokens/{token}"),
                metadata=hosted.organiser.metadata,
            )
            async with asyncio.timeout(TIMEOUT_S):
                assert b"the token is no longer valid" in await call.answer()

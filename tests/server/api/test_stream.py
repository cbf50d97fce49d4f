"""Requests and responses of a call: waits are bounded, and nothing is dropped halfway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from vidscore_evaluators.errors import LimitError
from vidscore_server.api.stream import (
    MAXIMUM_BUFFERED,
    CallContext,
    IdleTimeout,
    Requests,
    Responses,
)
from vidscore_server.errors import IdleError


class _Client:
    """gRPC's side of a call; its client takes responses when the test says so."""

    def __init__(self) -> None:
        self.taking = asyncio.Event()
        self.taken: list[Any] = []

    async def write(self, response: Any) -> None:
        await self.taking.wait()
        self.taken.append(response)


def _responses(client: _Client, idle_timeout_s: int = 60) -> Responses[int]:
    return Responses(cast("CallContext", client), idle_timeout_s)


async def test_a_response_in_transit_arrives_although_its_sender_is_cancelled() -> None:
    client = _Client()
    responses = _responses(client)
    sending = asyncio.create_task(responses.send(1))
    await asyncio.sleep(0)
    sending.cancel()
    await asyncio.wait([sending])
    assert client.taken == []

    settling = asyncio.create_task(responses.drain())
    await asyncio.sleep(0)
    assert not settling.done()
    client.taking.set()
    await settling
    assert client.taken == [1]


async def test_a_client_that_takes_no_response_is_an_error_after_the_timeout() -> None:
    with pytest.raises(IdleError, match="the client took nothing for 0 s"):
        await _responses(_Client(), idle_timeout_s=0).send(1)


async def test_settling_without_a_response_waits_for_nothing() -> None:
    await _responses(_Client()).drain()


async def test_requests_are_counted_and_an_unreadable_one_raises() -> None:
    async def incoming() -> AsyncIterator[int | LimitError]:
        yield 1
        yield LimitError("much", "most", 1)

    requests = Requests(incoming(), idle_timeout_s=60)
    assert await anext(requests) == 1
    with pytest.raises(LimitError):
        await anext(requests)
    assert requests.received == 2


async def test_the_wait_for_a_request_is_bounded() -> None:
    async def silence() -> AsyncIterator[int]:
        await asyncio.Event().wait()
        yield 1

    with pytest.raises(IdleError, match="the limit idle_timeout_s is 0"):
        await anext(Requests(silence(), idle_timeout_s=0))


async def test_posted_responses_wait_for_the_client_only_if_there_are_many() -> None:
    client = _Client()
    responses = _responses(client)
    for number in range(MAXIMUM_BUFFERED):
        await responses.send_buffered(number)
    posting = asyncio.create_task(responses.send_buffered(MAXIMUM_BUFFERED))
    await asyncio.sleep(0)
    assert not posting.done()
    client.taking.set()
    await posting
    await responses.finish()
    assert client.taken == list(range(MAXIMUM_BUFFERED + 1))


async def test_an_idle_timeout_that_expired_starts_again_for_the_next_wait() -> None:
    idle_timeout = IdleTimeout(0.01)
    with pytest.raises(TimeoutError), idle_timeout:
        await asyncio.Event().wait()
    with idle_timeout:
        pass
    with pytest.raises(TimeoutError), idle_timeout:
        await asyncio.Event().wait()
    idle_timeout.close()


async def test_an_idle_timeout_does_not_affect_other_cancellations() -> None:
    async def wait() -> None:
        with IdleTimeout(60):
            await asyncio.Event().wait()

    waiting = asyncio.create_task(wait())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

"""Calls and waits of the asyncio client end properly, whatever ends them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest
from grpc._cython import cygrpc

from vidscore_client._tasks import TaskCall, TaskMonitor
from vidscore_client.errors import DeadlineError


class _Over:
    """A call whose time is up, which its sender notices first."""

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        raise grpc.aio.AioRpcError(
            grpc.StatusCode.DEADLINE_EXCEEDED,
            initial_metadata=grpc.aio.Metadata(),
            trailing_metadata=grpc.aio.Metadata(),
            details="Deadline Exceeded",
        )

    async def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.DEADLINE_EXCEEDED

    async def details(self) -> str:
        return "Deadline Exceeded"

    async def trailing_metadata(self) -> grpc.aio.Metadata:
        return grpc.aio.Metadata()

    async def done_writing(self) -> None:
        raise cygrpc.ExecuteBatchError('Failed "execute_batch": (<SendCloseFromClientOperation>,)')

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Never call it: reading raises the status."""

    def cancel(self) -> None:
        """Nothing is left to cancel."""


async def test_a_call_whose_end_the_sender_notices_first_raises_its_status() -> None:
    async def nothing() -> None:
        return None

    call = TaskCall(_Over(), nothing)
    await call._sender
    with pytest.raises(DeadlineError):
        await call.read()


async def test_a_wait_in_a_cancelled_task_lasts_as_long_as_it_may() -> None:
    """Closing a stream waits for its last acknowledgements, even after Ctrl-C."""
    waited: list[bool] = []

    async def wait_at_the_end() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            waited.append(await TaskMonitor().wait_until(lambda: False, 0.01))

    task = asyncio.create_task(wait_at_the_end())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert waited == [False]

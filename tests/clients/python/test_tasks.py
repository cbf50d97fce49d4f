"""A call that is over while its last message is sent ends with the status of the call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest
from grpc._cython import cygrpc

from vidscore_client._tasks import TaskCall
from vidscore_client.errors import DeadlineError


class _Over:
    """A call whose time is up, of which its sender hears first."""

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
        """Never calls: the status is what reading raises."""

    def cancel(self) -> None:
        """Nothing is left to cancel."""


async def test_a_call_whose_end_its_sender_meets_first_raises_the_status_of_the_call() -> None:
    async def nothing() -> None:
        return None

    call = TaskCall(_Over(), nothing)
    await call._sender
    with pytest.raises(DeadlineError):
        await call.read()

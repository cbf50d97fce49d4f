"""The status that a server ended an asyncio stream with, whatever grpc makes of it.

A write that fails because the server has just ended the call makes grpc put INTERNAL, "Internal
error from Core", in the place of the server's status, before that has come or after
(https://github.com/grpc/grpc/issues/36066). Both statuses are seen here, and the server's is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import grpc

from vidscore_client._status import error_from_failure

MADE_UP = "Internal error from Core"
WAITS = 50
WAIT_S = 0.01


class StatusWatch:
    """Watches how one call ends.

    Args:
        call: The call, just started.
    """

    def __init__(self, call: Any) -> None:
        """Be told of the statuses that grpc gives the call."""
        self._call = call
        self._meant: grpc.aio.AioRpcError | None = None
        call.add_done_callback(self._note)

    async def settle(self, failure: grpc.RpcError) -> grpc.RpcError | None:
        """The failure that the server means; None where it has ended the call well.

        Args:
            failure: What reading from the call raised.
        """
        for _ in range(WAITS):
            for seen in (failure, self._meant, _status(self._call)):
                if seen is not None and seen.details() != MADE_UP:
                    return None if seen.code() is grpc.StatusCode.OK else seen
            await asyncio.sleep(WAIT_S)
        return failure

    async def raise_meant(self, failure: grpc.RpcError) -> None:
        """Raise the error that the server means; return where it has ended the call well.

        Args:
            failure: What reading from the call raised.

        Raises:
            VidscoreError: The error.
        """
        meant = await self.settle(failure)
        if meant is not None:
            raise error_from_failure(meant) from failure

    def _note(self, call: Any) -> None:
        status = _status(call)
        if status.details() != MADE_UP:
            self._meant = status


def _status(call: Any) -> grpc.aio.AioRpcError:
    """The status that an ended call has at this moment."""
    return grpc.aio.AioRpcError(
        _result(call.code()),
        initial_metadata=grpc.aio.Metadata(),
        trailing_metadata=_result(call.trailing_metadata()),
        details=_result(call.details()),
    )


def _result(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns that has nothing to wait for."""
    try:
        coroutine.send(None)
    except StopIteration as finished:
        return finished.value
    coroutine.close()
    raise RuntimeError("an ended call keeps its status waiting")

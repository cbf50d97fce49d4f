"""Handles of long work on the server, asyncio and synchronous."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from google.longrunning import operations_pb2
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message

from vidscore_client._retrying import Retrying
from vidscore_client._status import error_from_status
from vidscore_client._transport import Transport, run_blocking
from vidscore_client._values import check_timeout
from vidscore_client.errors import DeadlineError, InternalError, VidscoreError
from vidscore_client.frames import parse_string
from vidscore_client.settings import DEFAULT_RETRY, Retry

OPERATIONS = "/google.longrunning.Operations/"

POLL_S = 0.2
"""Seconds between two polls of its progress."""

ProgressType = TypeVar("ProgressType")
OutcomeType = TypeVar("OutcomeType")


@dataclass(frozen=True)
class LongKind(Generic[ProgressType, OutcomeType]):
    """A kind of long work: its messages and its name.

    Attributes:
        noun: Its name in errors, such as ``re-scoring``.
        metadata: Message that holds its progress.
        response: Message that holds its outcome.
        read_progress: Converts the first.
        read_outcome: Converts the second.
    """

    noun: str
    metadata: type[Message]
    response: type[Message]
    read_progress: Callable[[Any], ProgressType]
    read_outcome: Callable[[Any], OutcomeType]

    def status_of(
        self, message: operations_pb2.Operation
    ) -> OperationStatus[ProgressType, OutcomeType]:
        """The status of an operation."""
        metadata, response = self.metadata(), self.response()
        message.metadata.Unpack(metadata)
        ending = message.WhichOneof("result")
        if ending == "response":
            message.response.Unpack(response)
        return OperationStatus(
            name=message.name,
            progress=self.read_progress(metadata),
            done=message.done,
            outcome=self.read_outcome(response) if ending == "response" else None,
            error=error_from_status(message.error) if ending == "error" else None,
        )

    async def get(
        self, transport: Transport, name: str
    ) -> OperationStatus[ProgressType, OutcomeType]:
        """The progress of an operation."""
        request = operations_pb2.GetOperationRequest(name=parse_string("name", name))
        message = await transport.unary(
            OPERATIONS + "GetOperation", request, operations_pb2.Operation
        )
        return self.status_of(message)

    def outcome_of(self, status: OperationStatus[ProgressType, OutcomeType]) -> OutcomeType:
        """The outcome of work that has ended.

        Raises:
            VidscoreError: The error with which it failed.
        """
        if status.error is not None:
            raise status.error
        if status.outcome is None:
            raise InternalError(f"the server ended a {self.noun} without an outcome")
        return status.outcome

    def not_ended(self, timeout_s: float | None) -> DeadlineError:
        """The error of work that exceeds the caller's timeout."""
        return DeadlineError(
            f"the {self.noun} has not ended within {timeout_s:g} s; it continues",
            code="DEADLINE_EXCEEDED",
        )


@dataclass(frozen=True)
class OperationStatus(Generic[ProgressType, OutcomeType]):
    """The progress of an operation.

    Attributes:
        name: Full name of the operation.
        progress: Its progress.
        done: Whether it has ended.
        outcome: Its outcome; None unless it has succeeded.
        error: Its error; None unless it has failed.
    """

    name: str
    progress: ProgressType
    done: bool
    outcome: OutcomeType | None
    error: VidscoreError | None


class AsyncLongWork(Generic[ProgressType, OutcomeType]):
    """Work that runs on the server; see `LongWork`."""

    def __init__(
        self,
        transport: Transport,
        kind: LongKind[ProgressType, OutcomeType],
        status: OperationStatus[ProgressType, OutcomeType],
    ) -> None:
        """Store its status.

        Args:
            transport: The connection.
            kind: Its kind.
            status: Its status.
        """
        self._transport = transport
        self._kind = kind
        self._status = status

    @property
    def name(self) -> str:
        """Name of the operation, by which it is found again."""
        return self._status.name

    @property
    def done(self) -> bool:
        """Whether it had ended when the server was last asked."""
        return self._status.done

    @property
    def progress(self) -> ProgressType:
        """Its progress when the server was last asked."""
        return self._status.progress

    async def refresh(self) -> ProgressType:
        """Ask the server for its progress."""
        self._status = await self._kind.get(self._transport, self.name)
        return self.progress

    async def cancel(self) -> None:
        """End it before its next step."""
        request = operations_pb2.CancelOperationRequest(name=self.name)
        await self._transport.unary(OPERATIONS + "CancelOperation", request, Empty)

    async def wait(
        self,
        timeout_s: float | None = None,
        on_progress: Callable[[ProgressType], object] | None = None,
        *,
        retry: Retry = DEFAULT_RETRY,
    ) -> OutcomeType:
        """Wait until it has ended; see `LongWork.wait`.

        `on_progress` may be a coroutine function.
        """
        check_timeout(timeout_s)
        limit_s = math.inf if timeout_s is None else time.monotonic() + timeout_s
        tries, pause_s = Retrying(retry), POLL_S
        while not self.done:
            left_s = limit_s - time.monotonic()
            if left_s <= 0:
                raise self._kind.not_ended(timeout_s)
            await self._transport.sleep(min(pause_s, left_s))
            try:
                progress = await self.refresh()
            except VidscoreError as error:
                pause_s = max(POLL_S, tries.delay_s(error, time.monotonic()))
                continue
            tries.progress()
            pause_s = POLL_S
            if on_progress is not None:
                await self._transport.call_back(on_progress, progress)
        return self._kind.outcome_of(self._status)


class LongWork(Generic[ProgressType, OutcomeType]):
    """Work that runs on the server."""

    def __init__(self, work: AsyncLongWork[ProgressType, OutcomeType]) -> None:
        self._work = work

    @property
    def name(self) -> str:
        """Name of the operation, by which it is found again."""
        return self._work.name

    @property
    def done(self) -> bool:
        """Whether it had ended when the server was last asked."""
        return self._work.done

    @property
    def progress(self) -> ProgressType:
        """Its progress when the server was last asked."""
        return self._work.progress

    def refresh(self) -> ProgressType:
        """Ask the server for its progress.

        Raises:
            VidscoreError: If the call fails.
        """
        return run_blocking(self._work.refresh())

    def cancel(self) -> None:
        """End it before its next step.

        Raises:
            VidscoreError: If the call fails.
        """
        run_blocking(self._work.cancel())

    def wait(
        self,
        timeout_s: float | None = None,
        on_progress: Callable[[ProgressType], object] | None = None,
        *,
        retry: Retry = DEFAULT_RETRY,
    ) -> OutcomeType:
        """Wait until it has ended, over breaks of the connection and restarts of the server.

        Args:
            timeout_s: Seconds to wait; None for no limit.
            on_progress: Called whenever the server was asked.
            retry: What happens after a break of the connection.

        Returns:
            Its outcome.

        Raises:
            DeadlineError: If it has not ended in time; it continues.
            CallCancelledError: If it was cancelled.
            VidscoreError: The error with which it failed.
        """
        return run_blocking(self._work.wait(timeout_s, on_progress, retry=retry))

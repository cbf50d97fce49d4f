"""The transport of the asyncio client: calls of grpc.aio, and tasks of the event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any

import grpc
from google.protobuf.message import Message

from vidscore_client._endpoint import Endpoint, check_metadata
from vidscore_client._status import error_from_failure
from vidscore_client._transport import SERIALIZE, NextRequest, bounded
from vidscore_client.errors import CallCancelledError, ClosedError


class TaskTransport:
    """A connection that belongs to the event loop that creates it; see `Transport`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.timeout_s = endpoint.timeout_s
        self.closed = False
        self._metadata = endpoint.metadata
        if endpoint.credentials is None:
            self._channel = grpc.aio.insecure_channel(endpoint.target, endpoint.options)
        else:
            self._channel = grpc.aio.secure_channel(
                endpoint.target, endpoint.credentials, endpoint.options
            )

    async def unary(self, path: str, request: Message, response: type[Message]) -> Any:
        """Make a unary call."""
        self._refuse_if_closed()
        method: Any = self._channel.unary_unary(
            path, request_serializer=SERIALIZE, response_deserializer=response.FromString
        )
        try:
            call = method(request, timeout=bounded(self.timeout_s), metadata=self._metadata)
            answer = await call
        except grpc.RpcError as failure:
            raise error_from_failure(failure) from failure
        check_metadata(await call.trailing_metadata())
        return answer

    def stream(
        self,
        path: str,
        next_request: NextRequest,
        response: type[Message],
        timeout_s: float | None = None,
    ) -> TaskCall:
        """Start a call of several messages."""
        self._refuse_if_closed()
        method: Any = self._channel.stream_stream(
            path, request_serializer=SERIALIZE, response_deserializer=response.FromString
        )
        return TaskCall(method(timeout=bounded(timeout_s), metadata=self._metadata), next_request)

    def monitor(self) -> TaskMonitor:
        """A new monitor."""
        return TaskMonitor()

    def worker(self, run: Callable[[], Coroutine[Any, Any, None]], name: str) -> TaskWorker:
        """A worker that is not started yet."""
        return TaskWorker(run, name)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def take_turns(self) -> None:
        """Let other tasks run."""
        await asyncio.sleep(0)

    async def call_back(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function of the user, and await its result."""
        outcome = function(*arguments)
        if inspect.isawaitable(outcome):
            await outcome

    async def close(self) -> None:
        """End all calls and the connection."""
        self.closed = True
        await self._channel.close()

    def _refuse_if_closed(self) -> None:
        if self.closed:
            raise ClosedError("the client is closed")


class TaskCall:
    """An open call, with the task that sends its requests."""

    def __init__(self, call: Any, next_request: NextRequest) -> None:
        self._call = call
        self._next_request = next_request
        self._error: BaseException | None = None
        self._cancelled = False  # whether this side has ended it
        self._status = _StatusWatch(call)
        self._responses = call.__aiter__()
        self._sender = asyncio.create_task(self._send())

    async def read(self) -> Any:
        """The next message of the server; None at the end."""
        try:
            return await anext(self._responses, None)
        except grpc.RpcError as failure:
            self._raise_error()
            meant = await self._status.resolve(failure)
            if meant is None:
                return None
            raise error_from_failure(meant) from failure
        except asyncio.CancelledError:
            # Raised if this side has cancelled the call, and if the reader's own task is cancelled.
            self._raise_error()
            if not self._cancelled:
                raise
            raise CallCancelledError(
                "the call was cancelled by this client", code="CANCELLED"
            ) from None

    def cancel(self) -> None:
        """End the call at once."""
        self._cancelled = True
        self._call.cancel()
        self._sender.cancel()

    async def _send(self) -> None:
        try:
            while (request := await self._next_request()) is not None:
                await self._call.write(request)
            await self._call.done_writing()
        except (grpc.RpcError, asyncio.InvalidStateError):
            return  # the call is over, and the reader gets the reason
        except Exception as error:  # noqa: BLE001 - the reader raises it
            if _is_undelivered(error):
                return  # the call is over, for a reason that is not known yet
            self._error = error
            self._call.cancel()

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error from None


def _is_undelivered(error: Exception) -> bool:
    """Whether gRPC failed to send a message, which happens only if the call is over."""
    return isinstance(error, grpc.aio.InternalError) and str(error).startswith(
        'Failed "execute_batch"'
    )


class TaskMonitor:
    """A wake-up event; see `Monitor`. It locks nothing."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def wake(self) -> None:
        """Wake all waiters."""
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    async def pause(self, timeout_s: float | None) -> None:
        """Wait for a wake-up, with a timeout."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            # `asyncio.timeout` would end a task that is closing because it was cancelled, before
            # Python 3.11.3.
            await asyncio.wait({future}, timeout=timeout_s)
        finally:
            self._waiting.discard(future)

    async def wait_until(self, predicate: Callable[[], bool], timeout_s: float | None) -> bool:
        """Wait until a condition holds, with a timeout."""
        loop = asyncio.get_running_loop()
        end_s = None if timeout_s is None else loop.time() + timeout_s
        while not predicate():
            left_s = None if end_s is None else end_s - loop.time()
            if left_s is not None and left_s <= 0:
                return False
            await self.pause(left_s)
        return True


class TaskWorker:
    """A task that runs a coroutine."""

    def __init__(self, run: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        self._run = run
        self._name = f"vidscore-{name}"
        self._task: asyncio.Task[None] | None = None

    @property
    def is_current(self) -> bool:
        """Whether the caller is this task."""
        return asyncio.current_task() is self._task

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._run(), name=self._name)

    def cancel(self) -> None:
        """End the task at once, unless it is the caller itself."""
        if self._task is not None and not self.is_current:
            self._task.cancel()

    async def join(self, timeout_s: float) -> None:
        """Wait for its end, unless it is the caller itself."""
        if self._task is None or self.is_current:
            return
        await asyncio.wait([self._task], timeout=timeout_s)
        if self._task.done() and not self._task.cancelled():
            self._task.exception()  # retrieved, so that asyncio does not log it


MADE_UP = "Internal error from Core"
WAITS = 50
WAIT_S = 0.01


class _StatusWatch:
    """Watches for the status with which the server ends a call, whatever grpc reports.

    If a write fails because the server has just ended the call, grpc reports INTERNAL, "Internal
    error from Core", instead of the server's status, before or after that status arrives
    (https://github.com/grpc/grpc/issues/36066). This class sees both, and raises the server's.
    """

    def __init__(self, call: Any) -> None:
        self._call = call
        self._meant: grpc.aio.AioRpcError | None = None
        call.add_done_callback(self._note)

    async def resolve(self, failure: grpc.RpcError) -> grpc.RpcError | None:
        """The server's failure; None if it has ended the call without one.

        Args:
            failure: The error of reading from the call.
        """
        for _ in range(WAITS):
            for seen in (failure, self._meant, _status(self._call)):
                if seen is not None and seen.details() != MADE_UP:
                    return None if seen.code() is grpc.StatusCode.OK else seen
            await asyncio.sleep(WAIT_S)
        return failure

    def _note(self, call: Any) -> None:
        status = _status(call)
        if status.details() != MADE_UP:
            self._meant = status


def _status(call: Any) -> grpc.aio.AioRpcError:
    """The current status of an ended call."""
    return grpc.aio.AioRpcError(
        _result(call.code()),
        initial_metadata=grpc.aio.Metadata(),
        trailing_metadata=_result(call.trailing_metadata()),
        details=_result(call.details()),
    )


def _result(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as finished:
        return finished.value
    coroutine.close()
    raise RuntimeError("an ended call keeps its status waiting")

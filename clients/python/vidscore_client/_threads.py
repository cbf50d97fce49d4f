"""The transport of the synchronous client: awaited operations block the calling thread."""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections.abc import Callable, Coroutine
from typing import Any

import grpc
from google.protobuf.message import Message

from vidscore_client._endpoint import Endpoint, check_metadata
from vidscore_client._status import error_from_failure
from vidscore_client._transport import LONGEST_S, SERIALIZE, NextRequest, bounded, run_blocking
from vidscore_client.errors import ClosedError


class ThreadTransport:
    """A connection whose calls may be made from any thread; see `Transport`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.timeout_s = endpoint.timeout_s
        self.closed = False
        self._metadata = endpoint.metadata
        if endpoint.credentials is None:
            self._channel = grpc.insecure_channel(endpoint.target, endpoint.options)
        else:
            self._channel = grpc.secure_channel(
                endpoint.target, endpoint.credentials, endpoint.options
            )
        _open.add(self)

    async def unary(self, path: str, request: Message, response: type[Message]) -> Any:
        """Make a unary call."""
        self._refuse_if_closed()
        method = self._channel.unary_unary(
            path, request_serializer=SERIALIZE, response_deserializer=response.FromString
        )
        call: Any = method.future(request, timeout=bounded(self.timeout_s), metadata=self._metadata)
        if (worker := getattr(_thread, "worker", None)) is not None:
            worker.wait_for(call)
        try:
            answer = call.result()
        except grpc.RpcError as failure:
            raise error_from_failure(failure) from _without_frames(failure)
        except grpc.FutureCancelledError as cancelled:
            raise error_from_failure(call) from cancelled
        check_metadata(call.trailing_metadata())
        return answer

    def stream(
        self,
        path: str,
        next_request: NextRequest,
        response: type[Message],
        timeout_s: float | None = None,
    ) -> ThreadCall:
        """Start a call of several messages."""
        self._refuse_if_closed()
        method = self._channel.stream_stream(
            path, request_serializer=SERIALIZE, response_deserializer=response.FromString
        )
        return ThreadCall(method, next_request, timeout=bounded(timeout_s), metadata=self._metadata)

    def monitor(self) -> ThreadMonitor:
        """A new monitor."""
        return ThreadMonitor()

    def worker(self, run: Callable[[], Coroutine[Any, Any, None]], name: str) -> ThreadWorker:
        """A worker that is not started yet."""
        return ThreadWorker(run, name)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(min(seconds, LONGEST_S))  # noqa: ASYNC251 - blocking is what this transport does

    async def take_turns(self) -> None:
        """Nothing to do: threads take turns by themselves."""

    async def call_back(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function of the user."""
        function(*arguments)

    async def close(self) -> None:
        """End all calls and the connection."""
        self.closed = True
        self._channel.close()

    def _refuse_if_closed(self) -> None:
        if self.closed:
            raise ClosedError("the client is closed")


class ThreadCall:
    """An open call; a thread of grpc asks it for its requests."""

    def __init__(self, method: Any, next_request: NextRequest, **options: Any) -> None:
        self._next_request = next_request
        self._error: BaseException | None = None
        self._call = method(self, **options)

    async def read(self) -> Any:
        """The next message of the server; None at the end."""
        try:
            return next(self._call, None)
        except grpc.RpcError as failure:
            if self._error is not None:  # grpc does not report its details
                raise self._error from None
            raise error_from_failure(failure) from _without_frames(failure)

    def cancel(self) -> None:
        """End the call at once."""
        self._call.cancel()

    def __iter__(self) -> ThreadCall:
        return self

    def __next__(self) -> Message:
        try:
            request = run_blocking(self._next_request())
        except BaseException as error:
            self._error = error
            raise
        if request is None:
            raise StopIteration
        return request


def _without_frames(failure: grpc.RpcError) -> grpc.RpcError:
    """A failure without its traceback.

    A call of grpc raises itself, so its traceback, and all callers with what they hold, would stay
    until the next collection of garbage.
    """
    return failure.with_traceback(None)


class ThreadMonitor(threading.Condition):
    """A lock with a condition; see `Monitor`."""

    def wake(self) -> None:
        """Wake all waiters."""
        self.notify_all()

    async def pause(self, timeout_s: float | None) -> None:
        """Release the lock until a wake-up, with a timeout."""
        self.wait(bounded(timeout_s))

    async def wait_until(self, predicate: Callable[[], bool], timeout_s: float | None) -> bool:
        """Wait until a condition holds, with a timeout."""
        return self.wait_for(predicate, bounded(timeout_s))


class ThreadWorker:
    """A daemon thread that runs a coroutine."""

    def __init__(self, run: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        self._cancelled = False
        self._call: Any = None  # the latest unary call
        self._thread = threading.Thread(
            target=self._work, args=(run,), name=f"vidscore-{name}", daemon=True
        )

    def _work(self, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
        _thread.worker = self
        run_blocking(run())

    @property
    def is_current(self) -> bool:
        """Whether the caller is this thread."""
        return threading.current_thread() is self._thread

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wait_for(self, call: Any) -> None:
        """Let `cancel` end a unary call of this thread."""
        self._call = call
        if self._cancelled:  # `cancel` may not have seen the call
            call.cancel()

    def cancel(self) -> None:
        """End the unary call that the thread waits for; otherwise a thread ends by itself."""
        self._cancelled = True
        if self._call is not None:
            self._call.cancel()

    async def join(self, timeout_s: float) -> None:
        """Wait for its end, unless it is the caller itself."""
        if not self.is_current:
            self._thread.join(timeout_s)


_thread = threading.local()
"""Its `worker` is the worker of the current thread, if there is one."""

_open: weakref.WeakSet[ThreadTransport] = weakref.WeakSet()


@atexit.register
def close_all() -> None:
    """Close leaked transports: grpc's threads must not run while the interpreter exits."""
    for transport in list(_open):
        run_blocking(transport.close())

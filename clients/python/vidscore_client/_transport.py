"""The client's interface to its environment: calls, workers, locks and time.

The client is written once, in coroutines. Over `TaskTransport` they run on an event loop. Over
`ThreadTransport` each awaited operation blocks its thread instead of suspending the coroutine, so
that `run_blocking` can call a coroutine like a function: the synchronous client has no event loop.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator
from copy import deepcopy
from operator import methodcaller
from types import TracebackType
from typing import Any, Protocol, TypeVar

from google.protobuf.message import Message

from vidscore_client._retrying import Retrying
from vidscore_client.errors import ClosedError, InternalError, VidscoreError
from vidscore_client.settings import Retry

Result = TypeVar("Result")

SERIALIZE = methodcaller("SerializeToString")

LONGEST_S = 1e9
"""Seconds above which a timeout is unlimited, because clocks cannot count further."""


def bounded(timeout_s: float | None) -> float | None:
    """A timeout that clocks accept; None for an unlimited one."""
    return None if timeout_s is None or timeout_s > LONGEST_S else timeout_s


NextRequest = Callable[[], Coroutine[Any, Any, Message | None]]
"""Returns the next message of a call when it is due; None for the end."""


class Call(Protocol):
    """An open call."""

    async def read(self) -> Any:
        """The next message of the server; None at the end of a call without an error.

        Raises:
            VidscoreError: The error with which the call failed.
            BaseException: An error from making a request.
        """

    def cancel(self) -> None:
        """End the call at once; does nothing if it has ended."""


class Worker(Protocol):
    """A coroutine that runs beside its caller."""

    @property
    def is_current(self) -> bool:
        """Whether the caller is run by this worker."""

    def start(self) -> None:
        """Begin."""

    def cancel(self) -> None:
        """End a task at once; a thread ends by itself, as soon as its unary call has ended."""

    async def join(self, timeout_s: float) -> None:
        """Wait for its end, unless it is the caller itself."""


class Monitor(Protocol):
    """A lock, and a wake-up event for waiters on the guarded state.

    Tasks need no lock, because nothing changes between two awaits.
    """

    def __enter__(self) -> Any:
        """Take the lock."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        """Release the lock."""

    def wake(self) -> None:
        """Wake all waiters; call it under the lock."""

    async def pause(self, timeout_s: float | None) -> None:
        """Release the lock until a wake-up, with a timeout; call it under the lock."""

    async def wait_until(self, predicate: Callable[[], bool], timeout_s: float | None) -> bool:
        """Wait until a condition holds, with a timeout; call it under the lock.

        Returns:
            Whether it holds.
        """


class Transport(Protocol):
    """A connection to a server, over threads or over tasks."""

    timeout_s: float
    """Seconds that a unary call, or the opening of a stream, may take."""

    closed: bool
    """Whether it accepts no more calls."""

    async def unary(self, path: str, request: Message, response: type[Message]) -> Any:
        """Make a unary call.

        Args:
            path: Service and method, as in the address of the call.
            request: The request.
            response: Class of the response.

        Raises:
            ClosedError: If the transport is closed.
            VidscoreError: The error with which the call failed.
        """

    def stream(
        self,
        path: str,
        next_request: NextRequest,
        response: type[Message],
        timeout_s: float | None = None,
    ) -> Call:
        """Start a call of several messages.

        Args:
            path: Service and method, as in the address of the call.
            next_request: Returns the requests; must end with the call.
            response: Class of the response.
            timeout_s: Seconds that the call may take; None for no limit.

        Raises:
            ClosedError: If the transport is closed.
        """

    def monitor(self) -> Monitor:
        """A new monitor."""

    def worker(self, run: Callable[[], Coroutine[Any, Any, None]], name: str) -> Worker:
        """A worker that is not started yet."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""

    async def take_turns(self) -> None:
        """Let other tasks run, which a caller that never waits would block."""

    async def call_back(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function of the user and, in tasks, await its result."""

    async def close(self) -> None:
        """End all calls and the connection."""


class Home:
    """The process in which an object with threads was made.

    A forked process has the state of a stream, but no thread that serves it.
    """

    def __init__(self) -> None:
        self._process = os.getpid()

    @property
    def is_here(self) -> bool:
        """Whether it is this process."""
        return os.getpid() == self._process

    def check(self) -> None:
        """Refuse another process; call it before taking a lock, which may never be released there.

        Raises:
            ClosedError: If this process was forked from it.
        """
        if not self.is_here:
            raise ClosedError(
                f"the stream belongs to process {self._process}; this process, {os.getpid()}, was "
                "forked from it and must make its own client and stream"
            )


def run_blocking(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine over a `ThreadTransport` to its end, in the calling thread."""
    try:
        coroutine.send(None)
    except StopIteration as finished:
        result: Result = finished.value
        return result
    coroutine.close()
    raise RuntimeError("a coroutine of the synchronous client has been suspended")


def iterate_blocking(generator: AsyncGenerator[Result, None]) -> Iterator[Result]:
    """Iterate over an asynchronous generator over a `ThreadTransport`, in the calling thread."""
    try:
        while True:
            try:
                item = run_blocking(generator.__anext__())
            except StopAsyncIteration:
                return
            yield item
    finally:
        run_blocking(generator.aclose())


def requests_of(requests: Iterable[Message]) -> NextRequest:
    """The requests of a call, from a known sequence or the caller's iterator."""
    rest = iter(requests)

    async def next_request() -> Message | None:
        return next(rest, None)

    return next_request


async def read_only(call: Call) -> Any:
    """The only answer of a client-streaming call.

    Raises:
        VidscoreError: The error with which the call failed.
    """
    try:
        answer = await call.read()
        if answer is None:
            raise InternalError("the server ended the call without an answer")
        await call.read()  # the status comes after the answer
        return answer
    finally:
        call.cancel()


async def list_pages(
    transport: Transport, path: str, request: Any, response: type[Message]
) -> list[Any]:
    """Every page of a list, in order; at least one.

    Args:
        transport: The connection.
        path: Service and method.
        request: The request of the first page.
        response: Class of a page.
    """
    pages = [await transport.unary(path, request, response)]
    while token := pages[-1].next_page_token:
        following = deepcopy(request)
        following.page_token = token
        pages.append(await transport.unary(path, following, response))
    return pages


async def read_resuming(
    transport: Transport, path: str, request: Any, response: type[Message], retry: Retry
) -> AsyncGenerator[Any, None]:
    """Responses of the server, over as many calls as necessary.

    After a break, the next call has the offset of the last response, and all else that the caller
    has changed in the request.

    Args:
        transport: The connection.
        path: Service and method.
        request: The request, which has an offset.
        response: Class of a response, which has the next offset.
        retry: What happens after a break.

    Raises:
        VidscoreError: If they cannot be read.
    """
    tries = Retrying(retry)
    while True:
        call = transport.stream(path, requests_of([request]), response)
        try:
            while (found := await call.read()) is not None:
                tries.progress()
                request.offset = found.next_offset
                yield found
        except VidscoreError as error:
            delay_s = tries.delay_s(error, time.monotonic())
        else:
            return
        finally:
            call.cancel()
        await transport.sleep(delay_s)

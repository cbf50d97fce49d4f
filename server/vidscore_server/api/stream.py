"""The requests and responses of a call, in order: sizes, checksums, and a bound on every wait.

A live system sends thousands of messages a second. So the waits of a call share one timer, and
buffered responses share one task that writes them.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Generic, TypeVar

import grpc
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError
from msgspec import Struct

from vidscore_evaluators.errors import Fault, InputError, LimitError, VidscoreError
from vidscore_server.api.message_sizes import (
    DELIMITED,
    FIXED32,
    FIXED64,
    SMALL_BYTES,
    VARINT,
    method_descriptor,
    size_limit,
    takes_large,
    varint,
    weight_of,
)
from vidscore_server.errors import ContentDamagedError, IdleError
from vidscore_server.logs import current_call
from vidscore_server.metrics import CallMeter
from vidscore_server.settings import Settings
from vidscore_server.status import STATUS_KEY, Refusal, status_of
from vidscore_server.version import SERVER_KEY, server_version

DRAIN_TIMEOUT_S = 2.0
"""Maximum time that a status waits for responses in flight."""

MAXIMUM_BUFFERED = 16
"""Maximum number of responses buffered for the client before their sender waits."""

CallContext = grpc.aio.ServicerContext[Any, Any]
Request = TypeVar("Request")
Response = TypeVar("Response")


class IdleTimeout:
    """Bounds successive waits of a task: a context that raises `TimeoutError`.

    It works like `asyncio.timeout`, but with one timer for all waits.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._loop = asyncio.get_running_loop()  # looking it up each time would be a system call
        self._timer: asyncio.TimerHandle | None = None
        self._since_s: float | None = None
        self._task: asyncio.Task[Any] | None = None
        self._cancelling = 0
        self._expired = False

    def __enter__(self) -> None:
        """Begin a wait of the current task."""
        self._task = asyncio.current_task(self._loop)
        self._cancelling = 0 if self._task is None else self._task.cancelling()
        self._since_s = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_later(self._timeout_s, self._look)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """End the wait."""
        self._since_s = None
        if not self._expired or self._task is None:
            return
        self._expired = False
        if self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def close(self) -> None:
        """Cancel the timer; no further waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        """End a wait that takes too long; it may have begun after the timer."""
        self._timer = None
        if self._since_s is None or self._task is None:
            return
        due_s = self._since_s + self._timeout_s
        if self._loop.time() < due_s:
            self._timer = self._loop.call_at(due_s, self._look)
            return
        self._expired = True
        self._task.cancel()


class Requests(Generic[Request]):
    """The requests of a call, one by one, with a bound on the wait for each.

    Args:
        incoming: Requests from gRPC, with errors in place of unreadable ones.
        idle_timeout_s: Longest wait for the next one.
        meter: Counts them; None for no count.

    Attributes:
        received: Number of received requests.
    """

    def __init__(
        self,
        incoming: AsyncIterator[Request | VidscoreError | LargeRequest[Request]],
        idle_timeout_s: int,
        meter: CallMeter | None = None,
    ) -> None:
        self.received = 0
        self._meter = meter
        self._incoming = incoming
        self._idle_timeout_s = idle_timeout_s
        self._idle_timeout = IdleTimeout(idle_timeout_s)

    def __aiter__(self) -> Requests[Request]:
        """The remaining requests."""
        return self

    async def __anext__(self) -> Request:
        """The next request.

        Raises:
            IdleError: If it takes too long.
            VidscoreError: If it is too large or cannot be read.
        """
        try:
            with self._idle_timeout:
                request: Any = await anext(self._incoming)
        except TimeoutError:
            raise idle("the client sent nothing", self._idle_timeout_s) from None
        if isinstance(request, LargeRequest):
            request = await _weighed(request)
        self.received += 1
        if self._meter is not None:
            self._meter.received(request)
        read: Request = readable(request)
        return read

    def close(self) -> None:
        """Cancel the timer; no further reads."""
        self._idle_timeout.close()


class Responses(Generic[Response]):
    """The responses of a call, in order, with a bound on the wait until the client reads them.

    A response in flight is never cancelled, even if its sender is: otherwise gRPC could no longer
    send the status of the call.

    Args:
        context: gRPC's side of the call.
        idle_timeout_s: Longest wait until the client reads one.
        meter: Counts them; None for no count.
    """

    def __init__(
        self, context: CallContext, idle_timeout_s: int, meter: CallMeter | None = None
    ) -> None:
        self._meter = meter
        self._context = context
        self._idle_timeout_s = idle_timeout_s
        self._waiting: deque[Response] = deque()
        self._writing: asyncio.Task[None] | None = None
        self._taken = asyncio.Event()
        self._error: Exception | None = None

    async def send(self, response: Response) -> None:
        """Send a response, and wait until the client has read it.

        Raises:
            IdleError: If the client does not read it in time.
        """
        self._put(response)
        await self._at_most(0)

    async def send_buffered(self, response: Response) -> None:
        """Send a response, and wait only if many are in flight.

        Raises:
            IdleError: If the client reads none in time.
        """
        self._put(response)
        if len(self._waiting) > MAXIMUM_BUFFERED or self._error is not None:
            await self._at_most(MAXIMUM_BUFFERED)

    async def finish(self) -> None:
        """Wait until the client has read everything.

        Raises:
            IdleError: If it reads none in time.
        """
        await self._at_most(0)

    async def drain(self) -> None:
        """Wait for buffered responses, briefly, and ignore failures."""
        with suppress(Exception):
            async with asyncio.timeout(DRAIN_TIMEOUT_S):
                await self._at_most(0)

    def _put(self, response: Response) -> None:
        self._waiting.append(response)
        if self._writing is None and self._error is None:
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        """Write until the buffer is empty."""
        try:
            while self._waiting:
                await self._context.write(self._waiting[0])
                self._waiting.popleft()
                self._taken.set()
                if self._meter is not None:
                    self._meter.sent()
        except Exception as error:  # noqa: BLE001 - whoever sends the next one is told
            self._error = error
        finally:
            self._writing = None
            self._taken.set()

    async def _at_most(self, count: int) -> None:
        """Wait until at most this many are buffered."""
        while len(self._waiting) > count and self._error is None:
            self._taken.clear()
            try:
                async with asyncio.timeout(self._idle_timeout_s):
                    await self._taken.wait()
            except TimeoutError:
                raise idle("the client took nothing", self._idle_timeout_s) from None
        if self._error is not None:
            raise self._error


def idle(found: str, timeout_s: int) -> IdleError:
    """An error about a client that does nothing."""
    return IdleError(f"{found} for {timeout_s} s", "idle_timeout_s", timeout_s)


def readable(request: Request | VidscoreError) -> Request:
    """Return a request, or raise its error if it is unreadable."""
    if isinstance(request, VidscoreError):
        raise request
    return request


async def refuse(context: CallContext, refusal: Refusal, given: object = None) -> None:
    """End a call with an error.

    Args:
        context: gRPC's side of the call.
        refusal: The status for the client.
        given: Argument of the call; for `Requests`, the status has the number received.
    """
    extra = {"call_id": current_call()}
    if isinstance(given, Requests):
        extra["requests_received"] = str(given.received)
    status = status_of(refusal, extra)
    metadata = ((STATUS_KEY, status.SerializeToString()), (SERVER_KEY, server_version()))
    await context.abort(refusal.code, status.message, metadata)


# --- Reading a request: errors in its bytes are raised where it is used


CALL_LIMIT = "maximum_unstored_call_bytes"

QUICK_BYTES = 1 << 19
"""Memory of parts that is counted in the event loop: at most a few milliseconds of work."""


class LargeRequest(Generic[Request]):
    """A request that is read after its memory was computed.

    Args:
        kind: Its type.
        data: Its bytes.
        read: Reads them, or raises a `DecodeError`.
        maximum_bytes: Maximum memory of its parts, in bytes.
    """

    def __init__(
        self, kind: Descriptor, data: bytes, read: Callable[[bytes], Request], maximum_bytes: int
    ) -> None:
        self._kind = kind
        self._data = data
        self._read = read
        self._maximum_bytes = maximum_bytes

    async def memory_bytes(self) -> int:
        """Upper bound on its memory, in bytes.

        Raises:
            LimitError: If its parts exceed the maximum.
        """
        most = self._maximum_bytes
        quick = min(QUICK_BYTES, most)
        weight = weight_of(self._kind, self._data, quick)
        if weight.parts_bytes > quick:
            weight = await asyncio.to_thread(weight_of, self._kind, self._data, most)
        if weight.parts_bytes > most:
            found = f"a message of {weight.parts_bytes} bytes in memory, or more"
            raise LimitError(found, CALL_LIMIT, most)
        return sum(weight)

    def read(self) -> Request | VidscoreError:
        """Read the request, once; its bytes are released."""
        data, self._data = self._data, b""
        return _read(self._read, data)


async def _weighed(request: LargeRequest[Request]) -> Request | VidscoreError:
    """Read a large request of a stream."""
    try:
        await request.memory_bytes()
    except LimitError as error:
        return error
    return request.read()


def request_reader(
    method: str, read: Callable[[bytes], Request], settings: Settings
) -> Callable[[bytes], Request | VidscoreError | LargeRequest[Request]]:
    """A deserializer that never raises: it returns the error for the caller to raise.

    Args:
        method: Method whose requests it reads.
        read: Reads a message, or raises a `DecodeError`.
        settings: The server's limits.
    """
    is_checked = method in CHECKED_METHODS
    limit = size_limit(method, settings)
    most = settings.maximum_unstored_call_bytes

    def read_or_refuse(data: bytes) -> Request | VidscoreError | LargeRequest[Request]:
        if len(data) > limit.maximum_bytes:
            return limit.refusal(len(data))
        if is_checked and (damage := damage_of(method, data)) is not None:
            return damage
        if len(data) > SMALL_BYTES and takes_large(method):
            return LargeRequest(method_descriptor(method).input_type, data, read, most)
        return _read(read, data)

    return read_or_refuse


def _read(read: Callable[[bytes], Request], data: bytes) -> Request | VidscoreError:
    try:
        return read(data)
    except DecodeError:
        return InputError([Fault("bytes that are not such a message", "a request message")])


# --- Checksums: the CRC-32 of a batch, which clients may send with it
#
# It covers the batch's bytes in the message, so that it does not depend on how a library serializes
# messages. That is why it is checked before the message is read.

_Field = tuple[int, int, memoryview]
"""Number, wire type and bytes of a field; no bytes for a varint."""


class _Layout(Struct, frozen=True):
    """Numbers of the fields of a request.

    Attributes:
        batch: The batch.
        checksum: Its CRC-32.
    """

    batch: int
    checksum: int


_APPEND = _Layout(batch=4, checksum=5)
_LAYOUTS: Mapping[str, _Layout] = {
    "/vidscore.v1.SubmissionService/AppendFrames": _APPEND,
    "/vidscore.v1.SubmissionService/AppendBatch": _APPEND,
    "/vidscore.v1.SubmissionService/AnswerFrames": _APPEND,
    "/vidscore.v1.BenchmarkService/UploadTruth": _Layout(batch=2, checksum=4),
}

CHECKED_METHODS = frozenset(_LAYOUTS)
"""Methods whose requests may carry a checksum."""


def checksum_field(method: str) -> int | None:
    """Number of the checksum field in a method's requests; None if there is none."""
    return _LAYOUTS[method].checksum if method in CHECKED_METHODS else None


MOST_FIELDS = 100
"""Maximum number of fields to search; no library writes a request in more pieces."""


def damage_of(method: str, data: bytes) -> ContentDamagedError | None:
    """The damage to the bytes of a request; None if their checksum matches, or there is none.

    Args:
        method: Its method, one of `CHECKED_METHODS`.
        data: The request; invalid bytes are left to the reader.
    """
    layout = _LAYOUTS[method]
    found, told = 0, None
    try:
        for number, kind, value in _fields(memoryview(data)):
            if number == layout.batch and kind == DELIMITED:
                found = zlib.crc32(value, found)  # a batch may come in parts, which are joined
            elif number == layout.checksum and kind == FIXED32:
                told = int.from_bytes(value, "little")
    except IndexError:
        return None
    if told is None or told == found:
        return None
    return ContentDamagedError(
        f"the frames did not arrive as they were sent: their CRC-32 is {found:08x}, and {told:08x} "
        "was sent with them; none of them is stored, send them again"
    )


def _fields(data: memoryview) -> Iterator[_Field]:
    """The fields of a message (protobuf encoding); raises IndexError for invalid bytes."""
    place = count = 0
    while place < len(data):
        count += 1
        if count > MOST_FIELDS:
            raise IndexError
        tag, place = varint(data, place)
        kind, size = tag & 7, 0
        if kind == VARINT:
            _, place = varint(data, place)
        elif kind == DELIMITED:
            size, place = varint(data, place)
        elif kind in {FIXED32, FIXED64}:
            size = 4 if kind == FIXED32 else 8
        else:
            raise IndexError
        if place + size > len(data):
            raise IndexError
        yield tag >> 3, kind, data[place : place + size]
        place += size

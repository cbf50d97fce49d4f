"""What all calls have in common: size limits, errors as statuses, a log line each.

The services raise domain errors and know nothing of statuses; a message that is too large or
cannot be read is raised by the guard in their place.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Generic, TypeAlias, TypeVar, cast

import grpc
from google.protobuf.message import DecodeError

from vidscore_evaluators.errors import Fault, InputError, LimitError, VidscoreError
from vidscore_server.access.caller import set_caller
from vidscore_server.access.gate import Gate
from vidscore_server.errors import IdleError
from vidscore_server.logs import log
from vidscore_server.runs.sessions import Sessions
from vidscore_server.settings import Settings
from vidscore_server.status import STATUS_KEY, refusal_of, status_of

GUARDED_PREFIXES = ("/vidscore.", "/google.longrunning.")
"""Methods of our services; health and reflection answer for themselves."""

SETTLE_TIMEOUT_S = 2.0
"""Longest wait of a status for a response that is on its way."""

HARD_LIMIT_FACTOR = 4
"""Messages up to so many times the limit are read, to say which limit they break.

gRPC itself refuses larger ones, without naming the setting.
"""

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Context = grpc.aio.ServicerContext[Any, Any]
Request = TypeVar("Request")
Response = TypeVar("Response")
Behaviour = Callable[[Any, "Responses[Any]"], Awaitable[Any]]


class Requests(Generic[Request]):
    """The requests of a call, one by one, with a bound on the wait for each.

    Args:
        incoming: What gRPC hands out: requests, and errors in the place of unreadable ones.
        idle_timeout_s: Longest wait for the next one.

    Attributes:
        received: Requests that have come.
    """

    def __init__(
        self, incoming: AsyncIterator[Request | VidscoreError], idle_timeout_s: int
    ) -> None:
        """Start before the first."""
        self.received = 0
        self._incoming = incoming
        self._idle_timeout_s = idle_timeout_s

    def __aiter__(self) -> Requests[Request]:
        """Go on where it stands."""
        return self

    async def __anext__(self) -> Request:
        """The next request.

        Raises:
            IdleError: If it takes too long.
            VidscoreError: If it is too large or cannot be read.
        """
        try:
            async with asyncio.timeout(self._idle_timeout_s):
                request = await anext(self._incoming)
        except TimeoutError:
            raise idle("the client sent nothing", self._idle_timeout_s) from None
        self.received += 1
        return _readable(request)


class Responses(Generic[Response]):
    """The responses of a call, one by one, with a bound on the wait for each.

    A response on its way is never given up, even when the one who sends it is cancelled: gRPC
    could not send the status of the call any more.

    Args:
        context: gRPC's side of the call.
        idle_timeout_s: Longest wait until the client takes one.
    """

    def __init__(self, context: Context, idle_timeout_s: int) -> None:
        """Start before the first."""
        self._context = context
        self._idle_timeout_s = idle_timeout_s
        self._on_its_way: asyncio.Future[None] | None = None

    async def send(self, response: Response) -> None:
        """Send a response; not while another one is sent.

        Raises:
            IdleError: If the client does not take it in time.
        """
        self._on_its_way = asyncio.ensure_future(self._context.write(response))
        self._on_its_way.add_done_callback(_forget)
        try:
            async with asyncio.timeout(self._idle_timeout_s):
                await asyncio.shield(self._on_its_way)
        except TimeoutError:
            raise idle("the client took nothing", self._idle_timeout_s) from None

    async def settle(self) -> None:
        """Wait for what is on its way, but not for long."""
        if self._on_its_way is not None:
            await asyncio.wait([self._on_its_way], timeout=SETTLE_TIMEOUT_S)


class Guard(grpc.aio.ServerInterceptor):
    """Stands between gRPC and the services.

    Args:
        settings: The server's limits.
        sessions: Where a draining server shows.
        gate: Who lets callers in.
    """

    def __init__(self, settings: Settings, sessions: Sessions, gate: Gate) -> None:
        """Guard nothing yet."""
        self._gate = gate
        self._settings = settings
        self._sessions = sessions

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Put a guarded handler in the place of one of ours."""
        handler: Any = await continuation(handler_call_details)
        method = str(handler_call_details.method)
        if handler is None or not method.startswith(GUARDED_PREFIXES):
            return cast("Handler | None", handler)
        kind = _KINDS[handler.request_streaming, handler.response_streaming]
        behaviour = getattr(handler, kind)
        make_handler = getattr(grpc, f"{kind}_rpc_method_handler")
        guarded: Handler = make_handler(
            self._guarded(behaviour, method, streamed=handler.request_streaming),
            request_deserializer=self._reader(handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )
        return guarded

    def _guarded(
        self, behaviour: Behaviour, method: str, *, streamed: bool
    ) -> Callable[[Any, Context], Awaitable[Any]]:
        async def call(request: Any, context: Context) -> Any:
            started_s = time.monotonic()
            requests = Requests(request, self._settings.idle_timeout_s) if streamed else None
            responses: Responses[Any] = Responses(context, self._settings.idle_timeout_s)
            code, reason = "CANCELLED", ""
            try:
                self._sessions.refuse_while_draining()
                set_caller(await self._gate.admit(method, _metadata_of(context)))
                response = await behaviour(
                    _readable(request) if requests is None else requests, responses
                )
                code = "OK"
            except Exception as error:
                if context.cancelled():
                    raise asyncio.CancelledError from error
                refusal = refusal_of(error)
                code, reason = refusal.code.name, refusal.reason
                extra = {} if requests is None else {"requests_received": str(requests.received)}
                status = status_of(refusal, extra)
                metadata = ((STATUS_KEY, status.SerializeToString()),)
                await responses.settle()
                await context.abort(refusal.code, status.message, metadata)
            else:
                return response
            finally:
                _log_call(method, code, reason, started_s)

        return call

    def _reader(
        self, read: Callable[[bytes], Request]
    ) -> Callable[[bytes], Request | VidscoreError]:
        """A deserializer that never raises: what is wrong is raised where the request is used."""
        maximum = self._settings.maximum_message_bytes

        def read_or_refuse(data: bytes) -> Request | VidscoreError:
            if len(data) > maximum:
                found = f"a message of {len(data)} bytes"
                return LimitError(found, "maximum_message_bytes", maximum)
            try:
                return read(data)
            except DecodeError:
                return InputError([Fault("bytes that are no such message", "a request message")])

        return read_or_refuse


def _metadata_of(context: Context) -> list[tuple[str, str | bytes]]:
    return [(key, value) for key, value in context.invocation_metadata() or ()]


def idle(found: str, timeout_s: int) -> IdleError:
    """An error about a client that does nothing."""
    return IdleError(f"{found} for {timeout_s} s", "idle_timeout_s", timeout_s)


_KINDS = {
    (False, False): "unary_unary",
    (False, True): "unary_stream",
    (True, False): "stream_unary",
    (True, True): "stream_stream",
}


def _forget(sent: asyncio.Future[None]) -> None:
    """Take note of how a response fared, for one that nobody waits for any more."""
    if not sent.cancelled():
        sent.exception()


def _readable(request: Request | VidscoreError) -> Request:
    if isinstance(request, VidscoreError):
        raise request
    return request


def _log_call(method: str, code: str, reason: str, started_s: float) -> None:
    log(
        logging.INFO,
        "call",
        method=method,
        code=code,
        duration_ms=round((time.monotonic() - started_s) * 1000, 1),
        **({"reason": reason} if reason else {}),
    )

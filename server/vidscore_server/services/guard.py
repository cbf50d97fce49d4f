"""What all calls have in common: size limits, errors as statuses, a log line each.

The services raise domain errors and know nothing of statuses; a message that is too large or
cannot be read is raised by the guard in their place.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, cast

import grpc
from google.protobuf.message import DecodeError

from vidscore_evaluators.errors import Fault, InputError, LimitError, VidscoreError
from vidscore_server.access.caller import set_caller
from vidscore_server.access.gate import Gate
from vidscore_server.codec.checksums import CHECKED_METHODS, damage_of
from vidscore_server.logs import begin_call, current_call, log
from vidscore_server.metrics.calls import CallMeter, CallMetrics
from vidscore_server.runs.sessions import Sessions
from vidscore_server.services.exchange import Context, Request, Requests, Responses, readable
from vidscore_server.settings import Settings
from vidscore_server.status import STATUS_KEY, Refusal, refusal_of, status_of
from vidscore_server.version import CLIENT_KEY, SERVER_KEY, check_client, server_version

GUARDED_PREFIXES = ("/vidscore.", "/google.longrunning.")
"""Methods of our services; health and reflection answer for themselves."""

ALWAYS_ANSWERED = frozenset({"/vidscore.v1.ServerService/GetServer"})
"""Methods that answer clients of any version, and to the end: they tell what is wrong."""

HARD_LIMIT_FACTOR = 4
"""Messages up to so many times the limit are read, to say which limit they break.

gRPC itself refuses larger ones, without naming the setting.
"""

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Behaviour = Callable[[Any, Responses[Any]], Awaitable[Any]]


class Guard(grpc.aio.ServerInterceptor):
    """Stands between gRPC and the services.

    Args:
        settings: The server's limits.
        sessions: Where a draining server shows.
        gate: Who lets callers in.
        metrics: Where calls are counted.
    """

    def __init__(
        self, settings: Settings, sessions: Sessions, gate: Gate, metrics: CallMetrics
    ) -> None:
        """Guard nothing yet."""
        self._gate = gate
        self._metrics = metrics
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
            self._guarded(behaviour, method, kind),
            request_deserializer=self._reader(method, handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )
        return guarded

    def _guarded(
        self, behaviour: Behaviour, method: str, kind: str
    ) -> Callable[[Any, Context], Awaitable[Any]]:
        async def call(request: Any, context: Context) -> Any:
            begin_call()
            meter = self._metrics.begin(method, kind)
            given = self._requests(request, kind, meter)
            responses: Responses[Any] = Responses(context, self._settings.idle_timeout_s, meter)
            code, reason = "CANCELLED", ""
            try:
                await self._admit(method, context)
                response = await behaviour(readable(given), responses)
                await responses.finish()
                code = "OK"
            except Exception as error:
                if context.cancelled():
                    raise asyncio.CancelledError from error
                refusal = refusal_of(error)
                code, reason = refusal.code.name, refusal.reason
                await responses.settle()
                await _refuse(context, refusal, given)
            else:
                if response is not None:
                    meter.sent()
                return response
            finally:
                if isinstance(given, Requests):
                    given.close()
                meter.ended(code)
                _log_call(method, code, reason, meter.duration_s, context)

        return call

    def _requests(self, request: Any, kind: str, meter: CallMeter) -> Any:
        """What the service is given: the request, or all of them one by one."""
        if kind.startswith("stream"):
            return Requests(request, self._settings.idle_timeout_s, meter)
        meter.received(request)
        return request

    async def _admit(self, method: str, context: Context) -> None:
        """Let a call in, or raise why not; either way the client learns the server's version."""
        context.set_trailing_metadata(((SERVER_KEY, server_version()),))
        metadata = _metadata_of(context)
        if method not in ALWAYS_ANSWERED:
            self._sessions.refuse_while_draining()
            for key, value in metadata:
                if key == CLIENT_KEY:
                    check_client(value, server_version())
        set_caller(await self._gate.admit(method, metadata))

    def _reader(
        self, method: str, read: Callable[[bytes], Request]
    ) -> Callable[[bytes], Request | VidscoreError]:
        """A deserializer that never raises: what is wrong is raised where the request is used."""
        maximum = self._settings.maximum_message_bytes
        is_checked = method in CHECKED_METHODS

        def read_or_refuse(data: bytes) -> Request | VidscoreError:
            if len(data) > maximum:
                found = f"a message of {len(data)} bytes"
                return LimitError(found, "maximum_message_bytes", maximum)
            if is_checked and (damage := damage_of(method, data)) is not None:
                return damage
            try:
                return read(data)
            except DecodeError:
                return InputError([Fault("bytes that are no such message", "a request message")])

        return read_or_refuse


def _metadata_of(context: Context) -> list[tuple[str, str | bytes]]:
    return [(key, value) for key, value in context.invocation_metadata() or ()]


_KINDS = {
    (False, False): "unary_unary",
    (False, True): "unary_stream",
    (True, False): "stream_unary",
    (True, True): "stream_stream",
}


async def _refuse(context: Context, refusal: Refusal, given: Any) -> None:
    extra = {"call_id": current_call()}
    if isinstance(given, Requests):
        extra["requests_received"] = str(given.received)
    status = status_of(refusal, extra)
    metadata = ((STATUS_KEY, status.SerializeToString()), (SERVER_KEY, server_version()))
    await context.abort(refusal.code, status.message, metadata)


def _log_call(method: str, code: str, reason: str, duration_s: float, context: Context) -> None:
    log(
        logging.INFO,
        "call",
        method=method,
        code=code,
        duration_ms=round(duration_s * 1000, 1),
        peer=context.peer(),
        **({"reason": reason} if reason else {}),
    )

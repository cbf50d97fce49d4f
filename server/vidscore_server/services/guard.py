"""What all calls have in common: who may make them, limits, errors as statuses, a log line each.

A call is let in, or refused, before its first message is read: nobody spends the server's memory
without leave. The services raise domain errors and know nothing of statuses; a message that is
too large or cannot be read is raised by the guard in their place.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, cast

import grpc
from google.protobuf.message import DecodeError

from vidscore_evaluators.errors import Fault, InputError, LimitError, VidscoreError
from vidscore_server.access.caller import current_caller, set_caller
from vidscore_server.access.gate import Gate, Metadata
from vidscore_server.codec.checksums import CHECKED_METHODS, damage_of
from vidscore_server.concurrency import RunningCall
from vidscore_server.logs import begin_call, log
from vidscore_server.metrics import CallMeter, CallMetrics
from vidscore_server.runs.plain_calls import PlainCalls
from vidscore_server.runs.sessions import Sessions
from vidscore_server.services.exchange import (
    Context,
    Request,
    Requests,
    Responses,
    readable,
    refuse,
)
from vidscore_server.settings import Settings
from vidscore_server.status import refusal_of
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
        self._plain_calls = PlainCalls(settings.maximum_calls)

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
        refused = await self._refused(method, kind, handler_call_details.invocation_metadata)
        # A refused call is taken for a stream: of those gRPC reads nothing before it is asked to.
        taken_for = "stream_stream" if refused else kind
        make_handler = getattr(grpc, f"{taken_for}_rpc_method_handler")
        guarded: Handler = make_handler(
            self._guarded(getattr(handler, kind), method, kind, refused),
            request_deserializer=self._reader(method, handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )
        return guarded

    def _guarded(
        self, behaviour: Behaviour, method: str, kind: str, refused: Exception | None
    ) -> Callable[[Any, Context], Awaitable[Any]]:
        async def call(request: Any, context: Context) -> Any:
            begin_call()
            context.set_trailing_metadata(((SERVER_KEY, server_version()),))
            meter = self._metrics.begin(method, kind)
            given = None if refused else self._requests(request, kind, meter)
            responses: Responses[Any] = Responses(context, self._settings.idle_timeout_s, meter)
            code, reason = "CANCELLED", ""
            try:
                if refused is not None:
                    raise refused
                async with RunningCall() as running:
                    with self._gate.running.using(current_caller(), running):
                        response = await behaviour(readable(given), responses)
                        await responses.finish()
                code = "OK"
            except Exception as error:
                if context.cancelled():
                    raise asyncio.CancelledError from error
                refusal = refusal_of(error)
                code, reason = refusal.code.name, refusal.reason
                await responses.settle()
                await refuse(context, refusal, given)
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

    async def _refused(self, method: str, kind: str, metadata: Metadata) -> Exception | None:
        """Let a call in, or say why not."""
        try:
            if method not in ALWAYS_ANSWERED:
                self._sessions.refuse_while_draining()
                for key, value in metadata:
                    if key == CLIENT_KEY:
                        check_client(value, server_version())
            caller = await self._gate.admit(method, metadata)
            set_caller(caller)
            if kind == "unary_unary":  # streams have places
                self._plain_calls.begin(caller.shares_as)
        except Exception as error:  # noqa: BLE001 - the call's status tells it
            return error
        return None

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


_KINDS = {
    (False, False): "unary_unary",
    (False, True): "unary_stream",
    (True, False): "stream_unary",
    (True, True): "stream_stream",
}


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

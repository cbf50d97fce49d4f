"""The guard of all calls: access, limits, errors as statuses, and one log line per call.

A call is admitted or refused before its first message is read, so that only admitted callers use
the server's memory. The services raise domain errors and know nothing of statuses; if a message is
too large or unreadable, the guard raises the error for them.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, cast

import grpc
from msgspec import Struct, field

from vidscore_evaluators.errors import LimitError, VidscoreError
from vidscore_evaluators.names import counted
from vidscore_server.api.kept_answers import response_writer
from vidscore_server.api.stream import (
    CallContext,
    LargeRequest,
    Requests,
    Responses,
    readable,
    refuse,
    request_reader,
)
from vidscore_server.domain.access import Gate, Metadata, Transport, current_caller, set_caller
from vidscore_server.domain.byte_budget import ByteBudget
from vidscore_server.domain.sessions import LateCalls, PlainCalls, Sessions
from vidscore_server.errors import message_order
from vidscore_server.logs import begin_call, log
from vidscore_server.metrics import CallMeter, CallMetrics
from vidscore_server.runtime import RunningCall
from vidscore_server.settings import Settings
from vidscore_server.status import Refusal, leaves, refusal_of
from vidscore_server.version import CLIENT_KEY, SERVER_KEY, check_client, server_version

GUARDED_PREFIXES = ("/vidscore.", "/google.longrunning.")
"""Methods of our services; health and reflection answer for themselves."""

ALWAYS_ANSWERED = frozenset({"/vidscore.v1.ServerService/GetServer"})
"""Methods that answer clients of any version, even while draining: they explain problems."""

SPARE_BYTES = 1 << 20
"""Messages that exceed the limit by at most this are still read, to name the broken limit.

gRPC itself refuses larger ones by their length, without naming the setting.
"""

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Behaviour = Callable[[Any, Responses[Any]], Awaitable[Any]]


LOST = Refusal(
    grpc.StatusCode.UNAVAILABLE,
    "CONNECTION_LOST",
    "The connection broke while a response was on its way.",
)
"""Status of a lost client, which hardly anybody receives; the log has it."""


class Guard(grpc.aio.ServerInterceptor):
    """Interceptor between gRPC and the services.

    Args:
        settings: The server's limits.
        sessions: They tell whether the server drains.
        gate: Admits callers.
        metrics: Counts the calls.
        plain_calls: Counts the open calls of each team over all transports.
        transport: The transport of these calls.
        budget: Bounds the memory of large requests in progress.
    """

    def __init__(
        self,
        settings: Settings,
        sessions: Sessions,
        gate: Gate,
        metrics: CallMetrics,
        plain_calls: PlainCalls,
        transport: Transport,
        budget: ByteBudget,
    ) -> None:
        self._budget = budget
        self._gate = gate
        self._metrics = metrics
        self._settings = settings
        self._sessions = sessions
        self._transport = transport
        self._plain_calls = plain_calls
        self._late_calls = LateCalls(settings.maximum_calls, settings.idle_timeout_s)

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Replace a handler of ours by a guarded one."""
        handler: Any = await continuation(handler_call_details)
        method = str(handler_call_details.method)
        if not method.startswith(GUARDED_PREFIXES):
            return cast("Handler | None", handler)
        if handler is None:
            return grpc.stream_stream_rpc_method_handler(_not_served)
        kind = _KINDS[handler.request_streaming, handler.response_streaming]
        refused = await self._refused(method, kind, handler_call_details.invocation_metadata)
        # Every call is handled as a stream, because gRPC then reads nothing before it is asked to.
        make_handler = getattr(grpc, f"stream_{kind.partition('_')[2]}_rpc_method_handler")
        guarded: Handler = make_handler(
            self._guarded(getattr(handler, kind), method, kind, refused),
            request_deserializer=request_reader(
                method, handler.request_deserializer, self._settings
            ),
            response_serializer=response_writer(handler.response_serializer),
        )
        return guarded

    def _guarded(
        self, behaviour: Behaviour, method: str, kind: str, refused: Exception | None
    ) -> Callable[[Any, CallContext], Awaitable[Any]]:
        async def call(requests: Any, context: CallContext) -> Any:
            begin_call()
            context.set_trailing_metadata(((SERVER_KEY, server_version()),))
            meter = self._metrics.begin(method, kind)
            given = None
            if refused is None and kind.startswith("stream"):
                given = Requests(requests, self._settings.idle_timeout_s, meter)
            responses: Responses[Any] = Responses(context, self._settings.idle_timeout_s, meter)
            code, reason = "CANCELLED", ""
            try:
                if refused is not None:
                    raise refused
                async with RunningCall() as running:
                    with self._gate.running.using(current_caller(), running):
                        if given is None:
                            with self._late_calls.waiting(current_caller().shares_as, running):
                                request = await context.read()
                            response = await self._serve(behaviour, request, responses, meter)
                        else:
                            response = await behaviour(given, responses)
                        await responses.finish()
                code = "OK"
            except Exception as error:
                if context.cancelled():
                    raise asyncio.CancelledError from error
                lost = any(map(_is_undelivered, leaves(error)))
                refusal = LOST if lost else refusal_of(error)
                code, reason = refusal.code.name, refusal.reason
                await responses.drain()
                await refuse(context, refusal, given)
            else:
                if response is not None:
                    meter.sent()
                return response
            finally:
                if given is not None:
                    given.close()
                meter.ended(code)
                _log_call(method, code, reason, meter.duration_s, context)

        return call

    async def _serve(
        self, behaviour: Behaviour, request: Any, responses: Responses[Any], meter: CallMeter
    ) -> Any:
        """Serve a received request."""
        if request is grpc.aio.EOF:
            raise message_order("the end of the call", "a request")
        if isinstance(request, LargeRequest):
            return await self._with_room(behaviour, request, responses, meter)
        meter.received(request)
        return await behaviour(readable(request), responses)

    async def _with_room(
        self,
        behaviour: Behaviour,
        request: LargeRequest[Any],
        responses: Responses[Any],
        meter: CallMeter,
    ) -> Any:
        """Serve a large request; wait for room before it is read."""
        size = min(await request.memory_bytes(), self._budget.most_bytes)
        team = current_caller().shares_as
        reservation = await self._budget.reserve(object(), team, size)
        try:
            given = request.read()
            meter.received(given)
            return await behaviour(readable(given), responses)
        finally:
            self._budget.release(reservation)

    async def _refused(self, method: str, kind: str, metadata: Metadata) -> Exception | None:
        """Admit a call, or return the refusal."""
        try:
            if method not in ALWAYS_ANSWERED:
                self._sessions.refuse_while_draining()
                for key, value in metadata:
                    if key == CLIENT_KEY:
                        check_client(value, server_version())
            caller = await self._gate.admit(method, metadata, self._transport)
            set_caller(caller)
            if kind == "unary_unary":  # streams have places
                self._plain_calls.begin(caller.shares_as)
        except Exception as error:  # noqa: BLE001 - the call's status tells it
            return error
        return None


_KINDS = {
    (False, False): "unary_unary",
    (False, True): "unary_stream",
    (True, False): "stream_unary",
    (True, True): "stream_stream",
}


def _is_undelivered(error: BaseException) -> bool:
    """Whether gRPC failed to send, because the client is gone and gRPC has not noticed yet.

    An error before the sending began is a bug of the server.
    """
    return isinstance(error, grpc.aio.InternalError) and str(error).startswith(
        'Failed "execute_batch"'
    )


def _log_call(method: str, code: str, reason: str, duration_s: float, context: CallContext) -> None:
    log(
        logging.INFO,
        "call",
        method=method,
        code=code,
        duration_ms=round(duration_s * 1000, 1),
        peer=context.peer(),
        **({"reason": reason} if reason else {}),
    )


# --- Open calls

HEALTH_WATCH = "/grpc.health.v1.Health/Watch"
REFLECTIONS = tuple(
    f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo"
    for version in ("v1", "v1alpha")
)

WATCH_LIFETIME_S = 600.0
STREAM_LIFETIME_S = 60.0
PLAIN_LIFETIME_S = 10.0

HOSTS = 4
"""One host gets one in this many of the places."""


class Bound(Struct):
    """Places for calls of one kind, and how long each may last.

    Attributes:
        lifetime_s: Time after which a call ends.
        limit: Name of the setting of the number of places.
        maximum: Number of places; None for no bound.
        open_by_host: Number of places that each host holds.
    """

    lifetime_s: float
    limit: str = ""
    maximum: int | None = None
    open_by_host: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def place(self, host: str) -> Iterator[None]:
        """Hold a place.

        Raises:
            LimitError: If there is none, or none for this host.
        """
        if self.maximum is not None:
            self._refuse_without_room(host, self.maximum)
        self.open_by_host[host] += 1
        try:
            yield
        finally:
            self.open_by_host[host] -= 1
            if not self.open_by_host[host]:
                del self.open_by_host[host]

    def _refuse_without_room(self, host: str, maximum: int) -> None:
        if self.open_by_host.total() >= maximum:
            found = counted(maximum, "such stream is open", "such streams are open")
            raise LimitError(found, self.limit, maximum)
        count = self.open_by_host[host]
        if count >= max(1, maximum // HOSTS):
            of_one = ("such stream of one host is", "such streams of one host are")
            found = f"{counted(count, *of_one)} open, and one host may have a quarter of all"
            raise LimitError(found, self.limit, maximum)


async def _not_served(_requests: Any, context: CallContext) -> None:
    """Say what gRPC would not: without a store, most methods are missing."""
    text = (
        "the server does not serve this call: it hosts no benchmarks "
        "(vidscore serve --store does), or is older than its caller"
    )
    await context.abort(grpc.StatusCode.UNIMPLEMENTED, text)


class OpenCalls(grpc.aio.ServerInterceptor):
    """Bounds the calls that need no token: health checks and reflection.

    The servicers are gRPC's own, which do not bound the number or the duration of streams. Here
    each kind has a few places, of which one host gets a quarter, and each call has a lifetime.
    Unary health checks need no place: they are always answered once received.

    Args:
        settings: The server's limits.
        guarded: Prefixes of all other methods.
    """

    def __init__(self, settings: Settings, guarded: tuple[str, ...]) -> None:
        self._guarded = guarded
        self._late_calls = LateCalls(settings.maximum_calls, settings.idle_timeout_s)
        self._plain = Bound(PLAIN_LIFETIME_S)
        watches = Bound(WATCH_LIFETIME_S, "maximum_health_watches", settings.maximum_health_watches)
        reflections = Bound(
            STREAM_LIFETIME_S, "maximum_reflection_streams", settings.maximum_reflection_streams
        )
        self._bounds = {HEALTH_WATCH: watches, **dict.fromkeys(REFLECTIONS, reflections)}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Replace a handler that anybody may call by a bounded one."""
        handler: Any = await continuation(handler_call_details)
        method = str(handler_call_details.method)
        if handler is None or method.startswith(self._guarded):
            return cast("Handler | None", handler)
        bound = self._bounds.get(method, self._plain)

        async def call(requests: AsyncIterator[Any], context: CallContext) -> None:
            try:
                with bound.place(str(context.peer()).rpartition(":")[0]):
                    async with asyncio.timeout(bound.lifetime_s), RunningCall() as running:
                        given: Any = requests
                        if not handler.request_streaming:
                            with self._late_calls.waiting("", running):
                                given = await anext(requests, None)
                        await _run(handler, given, context)
            except VidscoreError as error:
                await refuse(context, refusal_of(error))
            except NotImplementedError:
                await context.abort(grpc.StatusCode.UNIMPLEMENTED, f"{method} is not served")
            except TimeoutError:
                text = f"the call reached its time limit of {bound.lifetime_s:g} s; start it again"
                await context.abort(grpc.StatusCode.UNAVAILABLE, text)

        # Always as a stream: for any other kind, gRPC would wait for the message for ever.
        return grpc.stream_stream_rpc_method_handler(
            call, handler.request_deserializer, handler.response_serializer
        )


async def _run(handler: Any, given: Any, context: CallContext) -> None:
    """Run a handler of gRPC's own, which returns its response, yields responses or writes them."""
    if given is None:
        raise message_order("the end of the call", "a request")
    kinds = (handler.unary_unary, handler.unary_stream, handler.stream_stream)
    [behaviour] = filter(None, kinds)
    answer = behaviour(given, context)
    if inspect.isasyncgen(answer):
        async for response in answer:
            await context.write(response)
    elif (response := await answer) is not None:
        await context.write(response)

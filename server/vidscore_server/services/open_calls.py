"""Calls that anybody may make without a token: health checks and reflection, within bounds.

The servicers are gRPC's own, whose streams could be opened without end and kept for ever. Here each
kind has a few places, of which one host has a quarter, and each call has a lifetime. Plain health
checks need no place: they are always answered.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import grpc

from vidscore_evaluators.errors import LimitError, VidscoreError
from vidscore_server.errors import message_order
from vidscore_server.services.exchange import Context, refuse
from vidscore_server.settings import Settings
from vidscore_server.status import refusal_of

HEALTH_WATCH = "/grpc.health.v1.Health/Watch"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"

WATCH_LIFETIME_S = 600.0
STREAM_LIFETIME_S = 60.0
PLAIN_LIFETIME_S = 10.0

HOSTS = 4
"""A host has one of so many of the places."""

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


@dataclass
class Bound:
    """Places for calls of one kind, and how long each may last.

    Attributes:
        lifetime_s: Time after which a call ends.
        limit: Name of the setting that says how many places there are.
        maximum: How many there are; None where there is one for every call.
        open_by_host: How many each host holds.
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
            raise LimitError(f"{maximum} such streams are open", self.limit, maximum)
        count = self.open_by_host[host]
        if count >= max(1, maximum // HOSTS):
            found = f"{count} such streams of one host are open, which has a quarter of all"
            raise LimitError(found, self.limit, maximum)


class OpenCalls(grpc.aio.ServerInterceptor):
    """Bounds what anybody may call.

    Args:
        settings: The server's limits.
        guarded: Prefixes of the methods that are none of these.
    """

    def __init__(self, settings: Settings, guarded: tuple[str, ...]) -> None:
        """Bound nothing yet."""
        self._guarded = guarded
        self._plain = Bound(PLAIN_LIFETIME_S)
        self._bounds = {
            HEALTH_WATCH: Bound(
                WATCH_LIFETIME_S, "maximum_health_watches", settings.maximum_health_watches
            ),
            REFLECTION: Bound(
                STREAM_LIFETIME_S, "maximum_reflection_streams", settings.maximum_reflection_streams
            ),
        }

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Put a bounded handler in the place of one that anybody may call."""
        handler: Any = await continuation(handler_call_details)
        method = str(handler_call_details.method)
        if handler is None or method.startswith(self._guarded):
            return cast("Handler | None", handler)
        bound = self._bounds.get(method, self._plain)

        async def call(requests: AsyncIterator[Any], context: Context) -> None:
            try:
                with bound.place(str(context.peer()).rpartition(":")[0]):
                    async with asyncio.timeout(bound.lifetime_s):
                        await _run(handler, requests, context)
            except VidscoreError as error:
                await refuse(context, refusal_of(error))
            except NotImplementedError:
                await context.abort(grpc.StatusCode.UNIMPLEMENTED, f"{method} is not served")
            except TimeoutError:
                text = f"the call has lasted {bound.lifetime_s:g} s, as long as it may; begin again"
                await context.abort(grpc.StatusCode.UNAVAILABLE, text)

        # As a stream, whatever it is: gRPC would wait for the message of any other for ever.
        return grpc.stream_stream_rpc_method_handler(
            call, handler.request_deserializer, handler.response_serializer
        )


async def _run(handler: Any, requests: AsyncIterator[Any], context: Context) -> None:
    """Run what gRPC brings along: it returns its response, yields responses or writes them."""
    given = requests if handler.request_streaming else await anext(requests, None)
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

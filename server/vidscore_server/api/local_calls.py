"""Calls of this process to its own services, with the guard, roles, limits and errors of gRPC.

HTTP and the pages of the site use it, so that they can neither see nor do anything that a gRPC
client with the same token could not.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import Context
from typing import Any, NamedTuple, NoReturn, TypeAlias, cast

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc.status_pb2 import Status

from vidscore_server.api.guard import Guard
from vidscore_server.api.kept_answers import ReadyAnswer
from vidscore_server.api.message_sizes import method_descriptor
from vidscore_server.api.stream import request_reader
from vidscore_server.settings import Settings
from vidscore_server.status import STATUS_KEY

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"

Metadata = tuple[tuple[str, str], ...]


class Refused(Exception):  # noqa: N818 - it is an answer
    """A refused call, with the status that a gRPC client would get.

    Attributes:
        code: Its canonical code.
        status: Its message and details.
    """

    def __init__(self, code: grpc.StatusCode, status: Status) -> None:
        self.code = code
        self.status = status
        super().__init__(status.message)


class Rpc(NamedTuple):
    """A method of a service that was added to the server.

    Attributes:
        name: Its full name, such as ``/vidscore.v1.ScoringService/Score``.
        handler: Its handler, before the guard.
    """

    name: str
    handler: Handler

    @property
    def request_streaming(self) -> bool:
        """Whether the caller may send several messages."""
        return bool(self.handler.request_streaming)

    @property
    def response_streaming(self) -> bool:
        """Whether the method returns several messages."""
        return bool(self.handler.response_streaming)


def request_class(name: str) -> type[Message]:
    """The class of the requests of a method, by its full name."""
    return GetMessageClass(method_descriptor(name).input_type)


class LocalCalls:
    """Runs calls in this process.

    Services are added to it as to a gRPC server.

    Args:
        guard: Guards the services.
        settings: The server's limits.
    """

    def __init__(self, guard: Guard, settings: Settings) -> None:
        self._guard = guard
        self._settings = settings
        self._rpcs: dict[str, Rpc] = {}

    def add_generic_rpc_handlers(self, handlers: Iterable[grpc.GenericRpcHandler]) -> None:
        """Add services, for gRPC's generated code."""
        for service in handlers:
            if isinstance(service, grpc.ServiceRpcHandler):
                self._add(service)

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Handler]) -> None:
        """Do nothing, for gRPC's newer generated code: its methods came with their service."""

    def _add(self, service: grpc.ServiceRpcHandler) -> None:
        name = service.service_name()
        for method in descriptor_pool.Default().FindServiceByName(name).methods:
            full_name = f"/{name}/{method.name}"
            details = cast("grpc.HandlerCallDetails", _Details(full_name, ()))
            handler = service.service(details)
            if handler is not None:
                self._rpcs[full_name] = Rpc(full_name, handler)

    @property
    def rpcs(self) -> Mapping[str, Rpc]:
        """Every method, by its full name."""
        return self._rpcs

    def request_of(self, rpc: Rpc, data: bytes) -> Any:
        """A request from its bytes; the error for its service if it is unreadable."""
        read = request_reader(
            rpc.name,
            cast("Callable[[bytes], Any]", rpc.handler.request_deserializer),
            self._settings,
        )
        return read(data)

    async def unary(
        self,
        rpc: Rpc,
        request: Any,
        metadata: Iterable[tuple[str, str]],
        peer: str,
        variables: Context | None = None,
    ) -> Any:
        """Make a call with one request and one response.

        Args:
            rpc: The method.
            request: The request, or the error of reading it.
            metadata: Metadata of the call.
            peer: Address of the caller, for the log.
            variables: As for `stream`.

        Raises:
            Refused: If the server refuses it, or it fails.
        """
        answers = self.stream(rpc, _only(request), metadata, peer, variables)
        [response] = [one async for one in answers]
        return response

    async def stream(
        self,
        rpc: Rpc,
        requests: AsyncIterator[Any],
        metadata: Iterable[tuple[str, str]],
        peer: str,
        variables: Context | None = None,
    ) -> AsyncGenerator[Any, None]:
        """Make a call, and yield its responses.

        Args:
            rpc: The method.
            requests: The requests, or errors in place of unreadable ones.
            metadata: Metadata of the call.
            peer: Address of the caller, for the log.
            variables: Context variables of the call; None for those of the caller.

        Raises:
            Refused: If the server refuses it, or it fails.
        """
        context = _Context(peer, requests)
        # A separate task, because caller and call id belong to the task.
        run = self._run(rpc, requests, tuple(metadata), context)
        task = asyncio.create_task(run, context=variables)
        task.add_done_callback(lambda _: context.responses.put_nowait(_End()))
        try:
            while not isinstance(response := await context.responses.get(), _End):
                yield response
                context.taken.set()
            await task
        finally:
            context.close()
            task.cancel()
            with suppress(asyncio.CancelledError, Refused):
                await task

    async def _run(
        self, rpc: Rpc, requests: AsyncIterator[Any], metadata: Metadata, context: _Context
    ) -> None:
        async def continuation(_: grpc.HandlerCallDetails) -> Handler:
            return rpc.handler

        details = cast("grpc.HandlerCallDetails", _Details(rpc.name, metadata))
        handler: Any = await self._guard.intercept_service(continuation, details)
        behaviour = handler.stream_stream or handler.stream_unary  # the guard makes all handlers so
        response = await behaviour(requests, context)
        if isinstance(response, ReadyAnswer):
            response = response.message
        if response is not None:
            await context.write(response)


class _End:
    """Follows the last response."""


class _Details(NamedTuple):
    """The details of a call that gRPC provides before its first message."""

    method: str
    invocation_metadata: Metadata


class _Context:
    """gRPC's side of a call: takes responses, and ends with a status.

    Args:
        peer: Address of the caller.

    Attributes:
        responses: Responses that were not read yet.
        taken: Set when one was read.
    """

    def __init__(self, peer: str, requests: AsyncIterator[Any]) -> None:
        self._peer = peer
        self._requests = requests
        self._closed = False
        self.responses: asyncio.Queue[Any] = asyncio.Queue()
        self.taken = asyncio.Event()

    async def read(self) -> Any:
        """The next request; gRPC's end marker if there is none."""
        return await anext(self._requests, grpc.aio.EOF)

    async def write(self, response: Any) -> None:
        """Hand over a response; the next one waits until it was read."""
        self.taken.clear()
        self.responses.put_nowait(response)
        await self.taken.wait()
        if self._closed:
            raise ConnectionError("nobody reads the responses any more")

    def close(self) -> None:
        """Accept no further responses; pending writes fail."""
        self._closed = True
        self.taken.set()

    async def abort(
        self, code: grpc.StatusCode, details: str = "", trailing_metadata: Metadata = ()
    ) -> NoReturn:
        """End the call with an error."""
        data = next((text for key, text in trailing_metadata if key == STATUS_KEY), b"")
        status = Status.FromString(cast("bytes", data))
        status.message = status.message or details
        raise Refused(code, status)

    def set_trailing_metadata(self, _: Metadata) -> None:
        """Ignore trailing metadata, because the transport has its own headers."""

    def cancelled(self) -> bool:
        """Always false: if the caller is gone, the task is cancelled."""
        return False

    def peer(self) -> str:
        """Address of the caller."""
        return self._peer


async def _only(request: Any) -> AsyncIterator[Any]:
    """A single request."""
    yield request

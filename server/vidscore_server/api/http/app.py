"""Routes of the HTTP API: accepted requests, and how each becomes a call.

A call is admitted or refused before its body is read, like one over gRPC. A browser's session is
not accepted here: only the site's own forms, which carry a key, may use one. There are no CORS
headers for pages of other sites either: a token does not belong in another site's page.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, nullcontext, suppress
from functools import cached_property, partial
from typing import Any
from urllib.parse import parse_qsl

import orjson
from google.protobuf.message import Message
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from vidscore_evaluators.errors import Fault, InputError, LimitError, VidscoreError
from vidscore_server.api.guard import GUARDED_PREFIXES
from vidscore_server.api.http.errors import error_of, not_served
from vidscore_server.api.http.exchange import Exchange, StalledError, deadline
from vidscore_server.api.http.methods import (
    EVENTS,
    LINES,
    PROTO,
    READ_BY_GET,
    RESUMED,
    request_types,
)
from vidscore_server.api.http.openapi import openapi
from vidscore_server.api.http.protojson import read_json, read_value
from vidscore_server.api.http.streams import (
    BYTES_PER_ROW,
    Events,
    JsonLines,
    StreamForm,
    json_of,
    send_stream,
)
from vidscore_server.api.local_calls import LocalCalls, Rpc, request_class
from vidscore_server.api.message_sizes import SMALL_BYTES, json_weight, method_descriptor
from vidscore_server.api.stream import CALL_LIMIT, checksum_field, idle
from vidscore_server.runtime import offload
from vidscore_server.settings import Settings
from vidscore_server.version import CLIENT_KEY

DOCUMENT = "/openapi.json"

METADATA = ("authorization", CLIENT_KEY)
"""Headers that become metadata of a call; all others are ignored."""

MOST_PARAMETERS = 100
MOST_REVISION_DIGITS = 18


def api_routes(calls: LocalCalls, settings: Settings) -> list[Route]:
    """The routes.

    Args:
        calls: Makes calls.
        settings: The server's limits.
    """
    api = HttpApi(calls, settings)
    return [
        *(Route(f"{prefix}{{rest:path}}", api) for prefix in GUARDED_PREFIXES),
        Route(DOCUMENT, api),
    ]


class HttpApi:
    """The RPCs as an ASGI application.

    Args:
        calls: Makes calls.
        settings: The server's limits.
    """

    def __init__(self, calls: LocalCalls, settings: Settings) -> None:
        self._calls = calls
        self._settings = settings
        self._taking_apart = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, unless its client disconnects first."""
        exchange = Exchange(scope, receive, send, self._settings)
        work = asyncio.create_task(self._serve(exchange))
        gone = asyncio.create_task(exchange.incoming.until_gone())
        try:
            await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.wait((work, gone))

    async def _serve(self, exchange: Exchange) -> None:
        try:
            await self._answer(exchange)
        except StalledError:
            return
        except Exception as error:  # noqa: BLE001 - the answer tells it
            told = error_of(error)
            if not exchange.started:
                with suppress(StalledError):
                    await exchange.refuse(told)

    async def _answer(self, exchange: Exchange) -> None:
        if exchange.path == DOCUMENT and self._settings.reflection:
            await _answer_by(exchange, ("GET", "HEAD"), {}, self._describe)
            return
        rpc = self._calls.rpcs.get(exchange.path)
        if rpc is None:
            raise not_served(404, f"{exchange.path[:200]} is not a method of this server")
        methods = ("GET", "POST") if rpc.name in READ_BY_GET else ("POST",)
        types = request_types(method_descriptor(rpc.name))
        listed = {"Accept-Post": ", ".join(types)}
        await _answer_by(exchange, methods, listed, partial(self._run, rpc, types))

    async def _describe(self, exchange: Exchange) -> None:
        """Answer with the API's document; to everyone, as reflection over gRPC."""
        await exchange.answer(200, self._document)

    @cached_property
    def _document(self) -> bytes:
        return orjson.dumps(openapi(self._calls.rpcs))

    async def _run(self, rpc: Rpc, types: tuple[str, ...], exchange: Exchange) -> None:
        """Make a call."""
        exchange.check(types if exchange.method == "POST" else (exchange.content_type,))
        form = _form(rpc, exchange)
        async with (
            aclosing(self._requests(rpc, exchange)) as requests,
            aclosing(self._call(rpc, requests, exchange)) as responses,
        ):
            if form is None:
                await _send_single(exchange, responses)
            else:
                await send_stream(exchange, form, responses)

    def _call(
        self, rpc: Rpc, requests: AsyncGenerator[Any, None], exchange: Exchange
    ) -> AsyncGenerator[Any, None]:
        metadata = [(name, text) for name, text in exchange.headers.items() if name in METADATA]
        return self._calls.stream(rpc, requests, metadata, exchange.peer)

    # --- Requests: an unreadable one is replaced by its error

    async def _requests(self, rpc: Rpc, exchange: Exchange) -> AsyncGenerator[Any, None]:
        try:
            if exchange.method == "GET":
                yield self._of_query(rpc, exchange)
            elif exchange.content_type == LINES:
                async for number, line in exchange.incoming.lines():
                    yield await self._of_json(rpc, line, f"line {number}")
            else:
                yield await self._of_body(rpc, exchange)
        except VidscoreError as error:
            yield error

    async def _of_body(self, rpc: Rpc, exchange: Exchange) -> Any:
        timeout_s = self._settings.idle_timeout_s
        try:
            async with asyncio.timeout(timeout_s):
                body = await exchange.incoming.whole(exchange.announced_bytes)
        except TimeoutError:
            raise idle("the client did not end its request", timeout_s) from None
        if exchange.content_type == PROTO:
            return self._calls.request_of(rpc, body)
        return await self._of_json(rpc, body, None, exchange.headers.get("last-event-id"))

    async def _of_json(
        self, rpc: Rpc, text: bytes, source: str | None, last_id: str | None = None
    ) -> Any:
        def fill(message: Message) -> None:
            self._refuse_heavy(text)
            read_json(text, message, source)

        # A parsed text takes many times its bytes. Parsing them one at a time delays nobody.
        async with self._taking_apart if len(text) > SMALL_BYTES else nullcontext():
            return await offload(len(text) // BYTES_PER_ROW, self._read, rpc, fill, source, last_id)

    def _refuse_heavy(self, text: bytes) -> None:
        """Refuse JSON that would become too large a message."""
        most = self._settings.maximum_unstored_call_bytes
        weight = json_weight(text) if len(text) > SMALL_BYTES else 0
        if weight > most:
            raise LimitError(f"a message of {weight} bytes in memory", CALL_LIMIT, most)

    def _of_query(self, rpc: Rpc, exchange: Exchange) -> Any:
        try:
            pairs = parse_qsl(
                exchange.query, keep_blank_values=True, max_num_fields=MOST_PARAMETERS
            )
        except ValueError:
            raise InputError([Fault("too many parameters", f"{MOST_PARAMETERS} at most")]) from None
        values = dict(pairs)
        names = [name for name, _ in pairs]
        twice = [
            Fault("it several times", "it once", field=name[:80])
            for name in values
            if names.count(name) > 1
        ]
        if twice:
            raise InputError(twice)

        def fill(message: Message) -> None:
            read_value(values, message)

        return self._read(rpc, fill, None, exchange.headers.get("last-event-id"))

    def _read(
        self, rpc: Rpc, fill: Callable[[Message], None], source: str | None, last_id: str | None
    ) -> Any:
        message = request_class(rpc.name)()
        fill(message)
        _refuse_checksum(rpc, message, source)
        if last_id is not None and rpc.name in RESUMED:
            setattr(message, RESUMED[rpc.name].field, _revision(last_id))
        return self._calls.request_of(rpc, message.SerializeToString())


async def _answer_by(
    exchange: Exchange,
    methods: tuple[str, ...],
    listed: Mapping[str, str],
    answer: Callable[[Exchange], Awaitable[None]],
) -> None:
    """Answer a request of an allowed HTTP method; tell others the allowed methods.

    Args:
        exchange: The request.
        methods: The allowed methods.
        listed: Additional headers of an answer to OPTIONS.
        answer: Answers it.

    Raises:
        HttpError: If the method is another.
    """
    allowed = ", ".join(("OPTIONS", *methods))
    if exchange.method in methods:
        await answer(exchange)
    elif exchange.method == "OPTIONS":
        await exchange.start(204, {"Allow": allowed, **listed})
        await exchange.end()
    else:
        message = f"{exchange.method[:20]!r} is not answered here; send {' or '.join(methods)}"
        raise not_served(405, message, Allow=allowed)


def _form(rpc: Rpc, exchange: Exchange) -> StreamForm | None:
    """The form in which a client wants several messages; None for a single message."""
    if not rpc.response_streaming:
        return None
    accepted = exchange.accepted
    if EVENTS in accepted:
        return Events(rpc.name)
    if accepted & {LINES, "*/*", "application/*"}:
        return JsonLines()
    message = f"several messages come as {LINES} or {EVENTS}; say so in Accept"
    raise not_served(406, message)


async def _send_single(exchange: Exchange, responses: AsyncGenerator[Any, None]) -> None:
    """Send the only message of a call in the form of its request: as JSON or as bytes."""
    async with deadline(exchange.timeout_ms):
        [response] = [one async for one in responses]
    if exchange.content_type == PROTO:
        headers = {"Content-Type": PROTO}
        await exchange.answer(200, response.SerializeToString(), headers)
    else:
        await exchange.answer(200, await json_of(response) + b"\n")


def _refuse_checksum(rpc: Rpc, message: Message, source: str | None) -> None:
    """Refuse a checksum in JSON: it would cover bytes that were never sent."""
    number = checksum_field(rpc.name)
    if number is None:
        return
    name = message.DESCRIPTOR.fields_by_number[number].name
    if message.HasField(name):
        advice = f"send it as {PROTO}, or without the checksum"
        fault = Fault(
            "a checksum of bytes of protobuf", "none in JSON", source, field=name, advice=advice
        )
        raise InputError([fault])


def _revision(last_id: str) -> int:
    """The number in the id of the last event."""
    if not (last_id.isascii() and last_id.isdecimal()) or len(last_id) > MOST_REVISION_DIGITS:
        fault = Fault(repr(last_id)[:80], "the id of an event", field="Last-Event-ID")
        raise InputError([fault])
    return int(last_id)

"""Answers of several messages: newline-delimited JSON, and server-sent events.

An error before the first message is answered as for any other call. Later it is the last line,
`{"error": {...}}`, or the last event, `failure`. A truncated answer has neither this nor the end of
its transfer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from operator import attrgetter
from typing import Any

import orjson
from google.protobuf.message import Message

from vidscore_server.api.http.errors import HttpError, error_of
from vidscore_server.api.http.exchange import Exchange, StalledError, deadline
from vidscore_server.api.http.methods import EVENTS, LINES, RESUMED
from vidscore_server.api.http.protojson import write_json
from vidscore_server.runtime import offload

PING_S = 15.0
"""Time without an event after which a comment is sent, because proxies drop idle connections."""

BYTES_PER_ROW = 8


class JsonLines:
    """The form with one line of JSON per message.

    Attributes:
        content_type: Type of the answer.
        pause_s: Time without a message after which `ping` is sent; None for never.
        empty_status: Status of an answer without any message.
        ping: What to send while there is no message.
        last: What to send after the last message of a successful call.
    """

    content_type = LINES
    pause_s: float | None = None
    empty_status = 200
    ping = last = b""

    def message(self, _: Message, text: bytes) -> bytes:
        """A message, which is also given as JSON."""
        return text + b"\n"

    def failure(self, error: HttpError) -> bytes:
        """A line with the error, after the last message."""
        return orjson.dumps({"error": error.body}) + b"\n"


class Events:
    """The form with one event per message; see `JsonLines` for the attributes.

    Args:
        rpc: Full name of the method.
    """

    content_type = EVENTS
    pause_s: float | None = PING_S
    empty_status = 204  # stops a browser that reconnects needlessly from doing so again
    ping = b": nothing new\n\n"
    last = b"event: end\ndata: {}\n\n"

    def __init__(self, rpc: str) -> None:
        resumed = RESUMED.get(rpc)
        self._id_of = None if resumed is None else attrgetter(resumed.told)

    def message(self, message: Message, text: bytes) -> bytes:
        """An event; with its id if the stream can be resumed."""
        place = b"" if self._id_of is None else b"id: %d\n" % self._id_of(message)
        return place + b"event: response\ndata: " + text + b"\n\n"

    def failure(self, error: HttpError) -> bytes:
        """An event of its own name, because browsers use `error` themselves."""
        return b"event: failure\ndata: " + orjson.dumps(error.body) + b"\n\n"


StreamForm = JsonLines | Events
"""How several messages are written."""


async def send_stream(
    exchange: Exchange, form: StreamForm, responses: AsyncGenerator[Any, None]
) -> None:
    """Send the messages of a call as they arrive.

    Args:
        exchange: The request to answer.
        form: Their form.
        responses: The messages.

    Raises:
        Exception: The error of the call, if it ended before its first message.
    """
    last = form.last
    try:
        async with (
            deadline(exchange.timeout_ms),
            aclosing(_paced(responses, form.pause_s)) as paced,
        ):
            async for message in paced:
                await _begin(exchange, form)
                await exchange.write(form.ping if message is None else await _text(form, message))
    except StalledError:
        raise
    except Exception as error:
        if not exchange.started:
            raise
        last = form.failure(error_of(error))
    if not exchange.started and form.empty_status != 200:
        await exchange.start(form.empty_status, {})
        await exchange.end()
        return
    await _begin(exchange, form)
    if last:
        await exchange.write(last)
    await exchange.end()


async def _begin(exchange: Exchange, form: StreamForm) -> None:
    if not exchange.started:
        # Proxies buffer answers unless they are told not to.
        headers = {"Content-Type": form.content_type, "X-Accel-Buffering": "no"}
        await exchange.start(200, headers)


async def _text(form: StreamForm, message: Message) -> bytes:
    return form.message(message, await json_of(message))


async def json_of(message: Message) -> bytes:
    """A message as JSON; a large one is converted in a thread."""
    return await offload(message.ByteSize() // BYTES_PER_ROW, write_json, message)


_END = object()


async def _paced(
    responses: AsyncGenerator[Any, None], pause_s: float | None
) -> AsyncGenerator[Message | None, None]:
    """Responses as they arrive, and None after each pause without one."""
    coming = asyncio.ensure_future(anext(responses, _END))
    try:
        while True:
            done, _ = await asyncio.wait((coming,), timeout=pause_s)
            if not done:
                yield None
                continue
            found: Any = coming.result()
            if found is _END:
                return
            yield found
            coming = asyncio.ensure_future(anext(responses, _END))
    finally:
        coming.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await coming

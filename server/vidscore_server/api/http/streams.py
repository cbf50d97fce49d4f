"""Answers of several messages: newline-delimited JSON, and server-sent events.

An error before the first message is an answer like that of any other call. Afterwards it is the
last line, `{"error": {...}}`, or the last event, `failure`. An answer that just breaks off has
neither this nor the end of its transfer.
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
"""Time without an event after which a comment is sent: proxies forget connections that are idle."""

BYTES_PER_ROW = 8


class JsonLines:
    """A message is a line of JSON.

    Attributes:
        content_type: Type of the answer.
        pause_s: Time after which `ping` is sent where no message comes; None for never.
        empty_status: Status of an answer without any message.
        ping: What says that there is nothing to say.
        last: What stands behind the last message of a call that ended well.
    """

    content_type = LINES
    pause_s: float | None = None
    empty_status = 200
    ping = last = b""

    def message(self, _: Message, text: bytes) -> bytes:
        """A message, which is given as JSON, too."""
        return text + b"\n"

    def failure(self, error: HttpError) -> bytes:
        """A line with nothing but the error, behind the last message."""
        return orjson.dumps({"error": error.body}) + b"\n"


class Events:
    """A message is an event; see `JsonLines` for the attributes.

    Args:
        rpc: Full name of the method.
    """

    content_type = EVENTS
    pause_s: float | None = PING_S
    empty_status = 204  # a browser that comes back for nothing stays away from then on
    ping = b": nothing new\n\n"
    last = b"event: end\ndata: {}\n\n"

    def __init__(self, rpc: str) -> None:
        resumed = RESUMED.get(rpc)
        self._id_of = None if resumed is None else attrgetter(resumed.told)

    def message(self, message: Message, text: bytes) -> bytes:
        """An event; where the stream can be resumed, with its id."""
        place = b"" if self._id_of is None else b"id: %d\n" % self._id_of(message)
        return place + b"event: response\ndata: " + text + b"\n\n"

    def failure(self, error: HttpError) -> bytes:
        """An event of its own, which is no `error`: browsers have one of that name."""
        return b"event: failure\ndata: " + orjson.dumps(error.body) + b"\n\n"


StreamForm = JsonLines | Events
"""How several messages are written."""


async def send_stream(
    exchange: Exchange, form: StreamForm, responses: AsyncGenerator[Any, None]
) -> None:
    """Send the messages of a call as they come.

    Args:
        exchange: Where they go.
        form: How they are written.
        responses: The messages.

    Raises:
        Exception: What the call ended with before its first message.
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
        # Proxies hold answers back until there is more, unless they are told not to.
        headers = {"Content-Type": form.content_type, "X-Accel-Buffering": "no"}
        await exchange.start(200, headers)


async def _text(form: StreamForm, message: Message) -> bytes:
    return form.message(message, await json_of(message))


async def json_of(message: Message) -> bytes:
    """A message as JSON, made in a thread where it is large."""
    return await offload(message.ByteSize() // BYTES_PER_ROW, write_json, message)


_END = object()


async def _paced(
    responses: AsyncGenerator[Any, None], pause_s: float | None
) -> AsyncGenerator[Message | None, None]:
    """Responses as they come, and None whenever there was none for a while."""
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

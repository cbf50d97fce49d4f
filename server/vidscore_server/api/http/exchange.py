"""One request and its answer: headers, body and response, with a bound on every wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

import orjson
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from vidscore_evaluators.errors import Fault, InputError
from vidscore_server.api.http.errors import HttpError, deadline_exceeded, not_served
from vidscore_server.api.http.methods import JSON
from vidscore_server.api.message_sizes import SizeLimit, size_limit
from vidscore_server.settings import Settings
from vidscore_server.version import SERVER_KEY, server_version

LINGER_S = 2.0
"""Time for a client to notice that it can stop sending its request."""

MOST_TIMEOUT_DIGITS = 10


class StalledError(Exception):
    """The client does not read its answer."""


class Exchange:
    """One request and its answer.

    Args:
        scope: The ASGI scope of the request.
        receive: Returns the pieces of its body.
        send: Takes the pieces of the answer.
        settings: The server's limits.

    Attributes:
        headers: Headers of the request.
        incoming: Its body.
        started: Whether the answer was started.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, settings: Settings) -> None:
        self.headers = Headers(scope=scope)
        # A request without either header has no body (RFC 9112, section 6.3).
        is_empty = not self.announced_bytes and "transfer-encoding" not in self.headers
        self._scope = scope
        limit = size_limit(self.path, settings)
        self.incoming = Incoming(receive, limit, is_empty=is_empty)
        self.started = False
        self._send_piece = send
        self._idle_timeout_s = settings.idle_timeout_s

    @property
    def method(self) -> str:
        """GET, POST or another."""
        return str(self._scope["method"])

    @property
    def path(self) -> str:
        """The path, without a query."""
        return str(self._scope["path"])

    @property
    def query(self) -> str:
        """The query string."""
        return str(self._scope["query_string"].decode("latin-1"))

    @property
    def peer(self) -> str:
        """Address of the client, for the log."""
        client = self._scope.get("client")
        return f"http:{client[0]}" if client else "http:"

    @property
    def content_type(self) -> str:
        """Type of the body, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def announced_bytes(self) -> int:
        """Size of the body; 0 if it is not known in advance."""
        text = self.headers.get("content-length", "")
        return int(text) if text.isdecimal() else 0

    @property
    def accepted(self) -> frozenset[str]:
        """Types that the client accepts; any if it names none."""
        entries = self.headers.get("accept", "").lower().split(",")
        names = {entry.partition(";")[0].strip() for entry in entries}
        return frozenset(filter(None, names)) or frozenset({"*/*"})

    @property
    def timeout_ms(self) -> int | None:
        """Deadline that the client sets for the call; None for none.

        Raises:
            InputError: If it is not a valid time.
        """
        text = self.headers.get("connect-timeout-ms")
        if text is None:
            return None
        if not (text.isascii() and text.isdecimal()) or len(text) > MOST_TIMEOUT_DIGITS:
            expected = "milliseconds, of at most ten digits"
            raise InputError([Fault(repr(text)[:80], expected, field="Connect-Timeout-Ms")])
        return int(text)

    def check(self, types: tuple[str, ...]) -> None:
        """Refuse a body that cannot be read, before it is received.

        Args:
            types: Accepted types of bodies.

        Raises:
            HttpError: If its type or its encoding is another.
            InputError: If it is of another version of Connect.
        """
        version = self.headers.get("connect-protocol-version", "1")
        if version != "1":
            fault = Fault(repr(version)[:80], "1", field="Connect-Protocol-Version")
            raise InputError([fault])
        encoding = self.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"", "identity"}:
            message = "a compressed body is not read; send it as it is (Content-Encoding: identity)"
            raise not_served(415, message, Accept_Encoding="identity")
        if self.content_type not in types:
            listed = ", ".join(types)
            message = f"a body of type {self.content_type[:80]!r} is not read here; send {listed}"
            raise not_served(415, message, Accept_Post=listed)

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        """Begin the answer."""
        told = {SERVER_KEY: server_version(), **headers}
        if not self.incoming.is_whole:
            told["Connection"] = "close"  # the rest of the body is not another request
        pairs = [(name.lower().encode(), text.encode("latin-1")) for name, text in told.items()]
        self.started = True
        await self._send({"type": "http.response.start", "status": status, "headers": pairs})

    async def write(self, data: bytes) -> None:
        """Send a piece of the answer.

        Raises:
            StalledError: If the client does not read it in time.
        """
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        """End the answer once the client has stopped sending, or has had time to."""
        if not self.incoming.is_whole:
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_S):
                    await self.incoming.discard()
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def answer(
        self, status: int, body: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send an answer as a whole.

        Args:
            status: Its status.
            body: Its body, of type JSON unless `headers` say otherwise.
            headers: Further headers.
        """
        given = {"Content-Type": JSON, "Content-Length": str(len(body)), **(headers or {})}
        await self.start(status, given)
        await self.write(body)
        await self.end()

    async def refuse(self, error: HttpError) -> None:
        """Send an error as the answer."""
        body = orjson.dumps(error.body, option=orjson.OPT_APPEND_NEWLINE)
        await self.answer(error.http_status, body, error.headers)

    async def _send(self, piece: dict[str, object]) -> None:
        try:
            async with asyncio.timeout(self._idle_timeout_s):
                await self._send_piece(piece)
        except TimeoutError:
            raise StalledError from None


@asynccontextmanager
async def deadline(timeout_ms: int | None) -> AsyncIterator[None]:
    """Bound the duration of a call.

    Args:
        timeout_ms: Its deadline; None for none.

    Raises:
        HttpError: If it takes longer.
    """
    bound = asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000)
    try:
        async with bound:
            yield
    except TimeoutError:
        if timeout_ms is None or not bound.expired():
            raise
        raise deadline_exceeded(timeout_ms) from None


# --- The body of one request, bounded before it is read


class Incoming:
    """The body of a request.

    Args:
        receive: Returns its pieces.
        limit: Maximum bytes of a message.
        is_empty: Whether there is no body.

    Attributes:
        is_whole: Whether all of it was received.
    """

    def __init__(self, receive: Receive, limit: SizeLimit, *, is_empty: bool) -> None:
        self.is_whole = is_empty
        self._receive = receive
        self._limit = limit
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue(1)

    async def until_gone(self) -> None:
        """Receive the body, as fast as it is used, until the client has gone.

        It runs concurrently with the call.
        """
        while (message := await self._receive())["type"] == "http.request":
            piece = message.get("body", b"")
            if piece:
                await self._pieces.put(piece)
            if not message.get("more_body", False):
                self.is_whole = True
                await self._pieces.put(b"")

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body, piece by piece."""
        while piece := await self._pieces.get():
            yield piece

    async def whole(self, announced_bytes: int) -> bytes:
        """The whole body of a single message.

        Args:
            announced_bytes: Its Content-Length; 0 if there is none.

        Raises:
            LimitError: If it is too large.
        """
        self._refuse_over(announced_bytes)
        body = bytearray()
        async for piece in self.pieces():
            body += piece
            self._refuse_over(len(body))
        return bytes(body)

    async def lines(self) -> AsyncIterator[tuple[int, bytes]]:
        """The non-empty lines of a body, each with its number, counted from 1.

        Raises:
            LimitError: If a line is too large.
        """
        rest = bytearray()
        number = 0
        async for piece in self.pieces():
            start = 0
            while (end := piece.find(b"\n", start)) >= 0:
                rest += piece[start:end]
                start = end + 1
                number += 1
                self._refuse_over(len(rest))
                if line := bytes(rest).strip():
                    yield number, line
                rest.clear()
            rest += piece[start:]
            self._refuse_over(len(rest))
        if line := bytes(rest).strip():
            yield number + 1, line

    async def discard(self) -> None:
        """Read the rest, for a client that sends everything before it reads."""
        async for _ in self.pieces():
            pass

    def _refuse_over(self, count_bytes: int) -> None:
        if count_bytes > self._limit.maximum_bytes:
            raise self._limit.refusal(count_bytes)

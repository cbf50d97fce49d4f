"""Callers of the HTTP API, with the same benchmark as the gRPC tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from google.protobuf import json_format
from starlette.types import ASGIApp
from tests.server.domain.hosted import BENCHMARK, Client
from tests.server.scene import points
from tests.server.web.site.browsing import Browser, Browsing, Page

from vidscore_server.api.http.app import HttpApi

V1 = "/vidscore.v1."
ONE = f"{BENCHMARK}/submissions/one"
STREAM = f"{ONE}/streams/default"
JSON, PROTO, LINES, EVENTS = (
    "application/json",
    "application/proto",
    "application/x-ndjson",
    "text/event-stream",
)
FOUND = points({1: [(10.0, 20.0), (300.0, 200.0)], 2: [], 3: [(50.5, 60.5)]})


@dataclass(frozen=True)
class Caller:
    """A caller with a token, or without one."""

    base: str
    secret: str = ""

    async def post(
        self,
        rpc: str,
        body: Any = None,
        /,
        kind: str = JSON,
        **headers: str,
    ) -> Page:
        """Call a method with a message as JSON, or with a given body."""
        data = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        return await self.ask("POST", V1 + rpc, data, content_type=kind, **headers)

    async def ask(self, method: str, path: str, body: bytes = b"", /, **headers: str) -> Page:
        own = {"authorization": f"Bearer {self.secret}"} if self.secret else {}
        return await Browser(self.base).ask(method, path, body, **(own | headers))

    async def value(self, rpc: str, body: Any = None, /) -> Any:
        """The answer to a call that must succeed."""
        page = await self.post(rpc, body)
        assert page.status == 200, page.text
        return json.loads(page.body)


def caller(site: Browsing, client: Client | None) -> Caller:
    return Caller(site.nobody.base, client.secret if client else "")


def as_json(message: Any) -> Any:
    return json_format.MessageToDict(message)


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def append_of(offset: int, batch: Any = FOUND, epoch: int = 1) -> dict[str, Any]:
    return {
        "stream": STREAM,
        "epoch": str(epoch),
        "offset": offset,
        "detections": as_json(batch),
    }


@dataclass
class Wire:
    """A request whose body is sent, and whose answer is read, piece by piece."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    left: bytes = b""

    async def send(self, data: bytes) -> None:
        """Send a piece of the body; an empty one ends it."""
        self.writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await self.writer.drain()

    async def head(self) -> tuple[int, Mapping[str, str]]:
        """Status and headers of the answer."""
        text = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        first, *rest = text.strip().split("\r\n")
        pairs = (line.split(": ", 1) for line in rest)
        return int(first.split()[1]), {name.lower(): value for name, value in pairs}

    async def line(self) -> str | None:
        """The next line of an answer in chunks; None at its end."""
        while b"\n" not in self.left:
            size = int(await self.reader.readline(), 16)
            chunk = await self.reader.readexactly(size + 2)
            if not size:
                return None
            self.left += chunk[:-2]
        line, _, self.left = self.left.partition(b"\n")
        return line.decode()

    async def event(self) -> dict[str, str] | None:
        """The next event of an answer, without comments; None at its end."""
        found: dict[str, str] = {}
        while (line := await self.line()) is not None:
            if not line and found:
                return found
            name, _, text = line.partition(": ")
            if name:
                found[name] = text
        return None


@asynccontextmanager
async def wire(own: Caller, method: str, path: str, **headers: str) -> AsyncIterator[Wire]:
    """A request that has begun; a body, if any, is sent in chunks."""
    place = urlsplit(own.base)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    told = {"host": place.netloc, "authorization": f"Bearer {own.secret}", **headers}
    if method == "POST":
        told["transfer-encoding"] = "chunked"
    lines_of = [f"{method} {path} HTTP/1.1"]
    lines_of += [f"{name.replace('_', '-')}: {text}" for name, text in told.items()]
    writer.write("\r\n".join([*lines_of, "", ""]).encode())
    try:
        async with asyncio.timeout(60):
            yield Wire(reader, writer)
    finally:
        writer.close()


@dataclass(frozen=True)
class Answer:
    """The answer of an application."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def answer_of(
    app: ASGIApp, method: str, path: str, body: bytes = b"", /, **headers: str
) -> Answer:
    """Ask an application without a network."""
    pieces: list[Any] = [{"type": "http.request", "body": body, "more_body": False}]
    never = asyncio.Event()
    sent: list[Any] = []

    async def receive() -> Any:
        if not pieces:
            await never.wait()
        return pieces.pop()

    async def send(piece: Any) -> None:
        sent.append(piece)

    name, _, query = path.partition("?")
    pairs = [(key.replace("_", "-").encode(), text.encode()) for key, text in headers.items()]
    scope = {
        "type": "http",
        "method": method,
        "path": name,
        "query_string": query.encode(),
        "headers": pairs,
    }
    await app(scope, receive, send)
    start, *rest = sent
    told = {key.decode(): text.decode() for key, text in start["headers"]}
    return Answer(start["status"], told, b"".join(piece.get("body", b"") for piece in rest))


def api_of(site: Browsing) -> HttpApi:
    """The HTTP API of a server, called without a network."""
    hosted = site.hosted.server._site
    assert hosted is not None
    return HttpApi(hosted._http_calls, hosted._settings)

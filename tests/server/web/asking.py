"""Requests to an application without a socket, and reading of the HTML that it returns."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message

HOST = "127.0.0.1:4000"
SECRET = "s3cret"


@dataclass
class Answer:
    """An answer."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


def ask(
    app: ASGIApp, path: str, *, host: str = HOST, method: str = "GET", **headers: str
) -> Answer:
    """Send a request to an application.

    Args:
        app: The application.
        path: Path and query.
        host: Its Host header.
        method: Its method.
        headers: Further headers; underscores stand for hyphens.
    """
    parts = urlsplit(path)
    sent = {"host": host} | {name.replace("_", "-").lower(): text for name, text in headers.items()}
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [(name.encode(), text.encode()) for name, text in sent.items()],
        "server": ("127.0.0.1", 4000),
        "client": ("127.0.0.1", 5000),
    }
    answer = Answer()

    sent_body = False

    async def receive() -> Message:
        nonlocal sent_body
        if sent_body:
            await asyncio.Event().wait()  # The client stays connected.
        sent_body = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode(): text.decode() for name, text in message["headers"]}
        else:
            answer.body += message.get("body", b"")

    async def run() -> None:
        await app(scope, receive, send)

    asyncio.run(run())
    return answer


class Page(HTMLParser):
    """Elements of a page: each with its attributes, and the text of the requested elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record an element."""
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        """Record its text."""
        if data.strip():
            self.texts.append(data.strip())

    def all(self, attribute: str) -> list[str]:
        """Every value of an attribute."""
        return [own[attribute] for _, own in self.elements if attribute in own]

"""A browser without a screen: it keeps cookies, follows redirects, and submits forms."""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from tests.server.domain.hosted import Hosted, hosting

MOST_REDIRECTS = 5


@dataclass(frozen=True)
class Page:
    """An answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    path: str
    cookies: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    @property
    def words(self) -> str:
        """The visible text, with single spaces."""
        reader = _Words()
        reader.feed(self.text)
        return " ".join(" ".join(reader.found).split())

    def fields(self, action: str) -> dict[str, str]:
        """Names and initial values of the fields of a form."""
        reader = _Forms()
        reader.feed(self.text)
        return reader.forms[action]


@dataclass
class Browser:
    """A browser of one visitor.

    Attributes:
        base: Address of the site.
        token: The token with which it signs in before its first request, if any.
        cookies: Cookies by name.
    """

    base: str
    token: str = ""
    cookies: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str, **headers: str) -> Page:
        """Open a page, through redirects."""
        page = await self.ask("GET", path, **headers)
        for _ in range(MOST_REDIRECTS):
            if page.status not in {302, 303, 307}:
                break
            page = await self.ask("GET", page.headers["location"])
        return page

    async def send(self, page: Page, action: str, /, **values: str) -> Page:
        """Fill in a form of a page, submit it, and open the page it leads to."""
        answer = await self.post(action, page.fields(action) | values)
        if answer.status == 303:
            return await self.get(answer.headers["location"])
        return answer

    async def agree(self, path: str, **chosen: str) -> Page:
        """Open a page; if it offers outcomes at a cost, agree to it."""
        page = await self.get(path)
        if page.status != 200:
            return page
        key = page.fields("/sign-out")["csrf"]
        answer = await self.post(path, {"csrf": key} | chosen)
        return await self.get(answer.headers["location"])

    async def post(self, path: str, fields: Mapping[str, str], **headers: str) -> Page:
        """Submit a form as a browser does."""
        parts = urlsplit(self.base)
        own = {
            "content_type": "application/x-www-form-urlencoded",
            "origin": f"{parts.scheme}://{parts.netloc}",
        }
        sent = {name: text for name, text in (own | headers).items() if text}
        return await self.ask("POST", path, urlencode(fields).encode(), **sent)

    async def upload(
        self, page: Page, action: str, /, file: tuple[str, bytes], **values: str
    ) -> Page:
        """Fill in a form with a file, submit it, and open the page it leads to."""
        boundary = "a-boundary-that-is-in-no-file"
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"'
            f"\r\n\r\n{text}\r\n".encode()
            for name, text in (page.fields(action) | values).items()
            if name != "file"
        ]
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{file[0]}"'
        parts += [f"{head}\r\n\r\n".encode(), file[1], f"\r\n--{boundary}--\r\n".encode()]
        base = urlsplit(self.base)
        answer = await self.ask(
            "POST",
            action,
            b"".join(parts),
            content_type=f"multipart/form-data; boundary={boundary}",
            origin=f"{base.scheme}://{base.netloc}",
        )
        return await self.get(answer.headers["location"]) if answer.status == 303 else answer

    async def sign_in(self, token: str) -> Page:
        """Sign in with a token."""
        return await self.send(await self.get("/sign-in"), "/sign-in", token=token)

    async def signed_in(self) -> Browser:
        """This browser, signed in with its own token if it has one."""
        if self.token:
            token, self.token = self.token, ""
            await self.sign_in(token)
        return self

    @property
    def cookie(self) -> str:
        """The header with its cookies."""
        return "; ".join(f"{name}={text}" for name, text in self.cookies.items())

    async def ask(self, method: str, path: str, body: bytes = b"", /, **headers: str) -> Page:
        """Make one request; underscores in header names stand for hyphens."""
        await self.signed_in()
        page = await asyncio.to_thread(self._ask, method, path, body, headers)
        for line in page.cookies:
            for name, morsel in SimpleCookie(line).items():
                if morsel["max-age"] == "0":
                    self.cookies.pop(name, None)
                else:
                    self.cookies[name] = morsel.value
        return page

    def _ask(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Page:
        parts = urlsplit(path)
        connection = http.client.HTTPConnection(urlsplit(self.base).netloc, timeout=60)
        sent = {name.replace("_", "-"): text for name, text in headers.items()}
        if self.cookies:
            sent["cookie"] = self.cookie
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request(method, target, body or None, sent)
            answer = connection.getresponse()
            received = {name.lower(): text for name, text in answer.getheaders()}
            cookies = tuple(answer.msg.get_all("set-cookie") or ())
            return Page(answer.status, received, answer.read(), path, cookies)
        finally:
            connection.close()


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        self._silent += tag in {"style", "script", "title"}

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in {"style", "script", "title"}

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.found.append(data)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: dict[str, dict[str, str]] = {}
        self._fields: dict[str, str] = {}
        self._area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: text or "" for name, text in attrs}
        self._area = given.get("name", "") if tag == "textarea" else ""
        if tag == "form":
            self._fields = self.forms.setdefault(given.get("action", ""), {})
        elif tag in {"input", "button", "select", "textarea"} and given.get("name"):
            kind = given.get("type", "text")
            if kind not in {"radio", "checkbox"} or "checked" in dict(attrs):
                self._fields.setdefault(given["name"], given.get("value", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":  # a line break at its beginning is no part of its value
            self._fields[self._area] = self._fields[self._area].removeprefix("\n")
            self._area = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self._fields[self._area] += data


class _Panels(HTMLParser):
    """The programs of a page, by the names that screen readers announce."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._name = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "pre":
            self._name = dict(attrs).get("aria-label") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre":
            self._name = ""

    def handle_data(self, data: str) -> None:
        if self._name:
            self.found[self._name] = self.found.get(self._name, "") + data


def programs(page: Page) -> dict[str, str]:
    """The instructions on the page of a benchmark, by language."""
    panels = _Panels()
    panels.feed(page.text)
    return {name.removeprefix("Submit: "): text for name, text in panels.found.items()}


@dataclass(frozen=True)
class Browsing:
    """A hosting server with its site, and a browser of each role."""

    hosted: Hosted
    nobody: Browser
    organiser: Browser
    red: Browser
    blue: Browser
    viewer: Browser


@asynccontextmanager
async def browsing(folder: Path, **flags: Any) -> AsyncIterator[Browsing]:
    """A hosting server with its site."""
    async with hosting(folder, **{"web": "127.0.0.1:0"} | flags) as hosted:
        site = hosted.server.site_url
        callers = (hosted.organiser, hosted.red, hosted.blue, hosted.viewer)
        yield Browsing(hosted, Browser(site), *(Browser(site, one.secret) for one in callers))

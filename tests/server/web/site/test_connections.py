"""Connections to the site: those that ask nothing keep nobody out, and do not stay."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.server.web.site.browsing import Browsing, browsing
from tests.support.waiting import TIMEOUT_S

from vidscore_server.web.site import protection, serving, visit

HEAD = b"GET /sign-in HTTP/1.1\r\nHost: %s\r\n"


@asynccontextmanager
async def _connected(
    site: Browsing,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    parts = urlsplit(site.nobody.base)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        yield reader, writer
    finally:
        writer.close()


def _address(site: Browsing) -> bytes:
    return urlsplit(site.nobody.base).netloc.encode()


def _unfinished_form(site: Browsing, path: str) -> bytes:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {_address(site).decode()}\r\nOrigin: {site.nobody.base}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 99\r\n\r\ntoken="
    )
    return head.encode()


async def test_connections_that_ask_nothing_shut_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "MOST_CONNECTIONS", 6)
    async with browsing(tmp_path) as site, AsyncExitStack() as stack:
        for _ in range(12):
            await stack.enter_async_context(_connected(site))
        assert (await site.nobody.get("/sign-in")).status == 200
        assert (await site.nobody.get("/openapi.json")).status == 200


async def test_of_connections_that_wait_the_one_that_waits_longest_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "MOST_CONNECTIONS", 2)
    async with browsing(tmp_path) as site, asyncio.timeout(TIMEOUT_S):
        whole = HEAD % _address(site) + b"\r\n"
        async with _connected(site) as (first, asking), _connected(site) as (second, _):
            asking.write(whole)
            await first.readuntil(b"</html>")  # it has waited for a shorter time now
            async with _connected(site):
                assert await second.read() == b""
                asking.write(whole)
                assert b" 200 " in await first.readuntil(b"\r\n\r\n")


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("sent", [b"", HEAD])
async def test_a_connection_without_a_whole_request_is_closed_in_time(
    site: Browsing, monkeypatch: pytest.MonkeyPatch, sent: bytes, count: int
) -> None:
    monkeypatch.setattr(serving, "HEAD_TIMEOUT_S", 0.2)
    async with _connected(site) as (reader, writer), asyncio.timeout(TIMEOUT_S):
        head = HEAD % _address(site)
        for _ in range(count):
            writer.write(head + b"\r\n")
            await reader.readuntil(b"</html>")
        writer.write(sent and head)
        assert (await reader.read()).strip() == b""


async def test_an_answer_that_takes_long_is_not_cut_off(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HEAD_TIMEOUT_S", 0.2)
    async with _connected(site) as (reader, writer), asyncio.timeout(TIMEOUT_S):
        writer.write(_unfinished_form(site, "/sign-in"))
        await asyncio.sleep(0.6)
        writer.write(b"x" * 93)
        assert b" 401 " in await reader.readuntil(b"\r\n")


async def test_unfinished_forms_of_one_host_shut_nobody_out_of_the_rest(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protection, "MOST_FORMS_OF_HOST", 2)
    async with AsyncExitStack() as stack:
        for _ in range(2):
            _, writer = await stack.enter_async_context(_connected(site))
            writer.write(_unfinished_form(site, "/sign-in"))
            await writer.drain()
        asked = [await site.nobody.post("/sign-out", {}) for _ in range(10)]
        page = asked[-1]
        assert page.status == 429
        assert "forms of your machine" in page.words
        assert (await site.nobody.get("/sign-in")).status == 200


async def test_a_form_that_does_not_end_is_refused_in_time(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visit, "FORM_TIMEOUT_S", 0.2)
    async with _connected(site) as (reader, writer), asyncio.timeout(TIMEOUT_S):
        writer.write(_unfinished_form(site, "/sign-in"))
        assert b" 504 " in await reader.readuntil(b"\r\n")

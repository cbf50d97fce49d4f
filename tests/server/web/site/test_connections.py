"""Idle connections to the site keep nobody out, and are closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.server.domain.hosted import BENCHMARK
from tests.server.web.site.browsing import Browsing, browsing
from tests.server.web.site.uploading import DOTS, begin, dots, send_file
from tests.support.waiting import PAUSE_S, TIMEOUT_S

from vidscore_server.web.site import protection, serving, visit
from vidscore_server.web.site.spool import SHARE_OF_TEAM

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


def _unfinished_form(site: Browsing) -> bytes:
    head = (
        f"POST /sign-in HTTP/1.1\r\nHost: {_address(site).decode()}\r\n"
        f"Origin: {site.nobody.base}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 99\r\n\r\ntoken="
    )
    return head.encode()


async def test_idle_connections_keep_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "MOST_CONNECTIONS", 6)
    async with browsing(tmp_path) as site, AsyncExitStack() as stack:
        for _ in range(12):
            await stack.enter_async_context(_connected(site))
        assert (await site.nobody.get("/sign-in")).status == 200
        assert (await site.nobody.get("/openapi.json")).status == 200


async def test_the_longest_idle_connection_is_closed_to_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "MOST_CONNECTIONS", 2)
    async with browsing(tmp_path) as site, asyncio.timeout(TIMEOUT_S):
        whole = HEAD % _address(site) + b"\r\n"
        async with _connected(site) as (first, asking), _connected(site) as (second, _):
            asking.write(whole)
            await first.readuntil(b"</html>")  # It has been idle for a shorter time now.
            async with _connected(site):
                assert await second.read() == b""
                asking.write(whole)
                assert b" 200 " in await first.readuntil(b"\r\n\r\n")


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("sent", [b"", HEAD])
async def test_a_connection_without_a_complete_request_is_closed_in_time(
    site: Browsing, monkeypatch: pytest.MonkeyPatch, sent: bytes, count: int
) -> None:
    # A whole request before takes longer where other tests run beside it.
    monkeypatch.setattr(serving, "HEAD_TIMEOUT_S", 0.2 + count)
    async with _connected(site) as (reader, writer), asyncio.timeout(TIMEOUT_S):
        head = HEAD % _address(site)
        for _ in range(count):
            writer.write(head + b"\r\n")
            await reader.readuntil(b"</html>")
        writer.write(sent and head)
        assert (await reader.read()).strip() == b""


async def test_a_slow_answer_is_not_cut_off(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HEAD_TIMEOUT_S", 0.2)
    async with _connected(site) as (reader, writer), asyncio.timeout(TIMEOUT_S):
        writer.write(_unfinished_form(site))
        await asyncio.sleep(0.6)
        writer.write(b"x" * 93)
        assert b" 401 " in await reader.readuntil(b"\r\n")


async def test_unfinished_forms_of_one_host_keep_nobody_else_out(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protection, "MOST_FORMS_OF_HOST", 2)
    async with AsyncExitStack() as stack:
        for _ in range(2):
            _, writer = await stack.enter_async_context(_connected(site))
            writer.write(_unfinished_form(site))
            await writer.drain()
        asked = [await site.nobody.post("/sign-out", {}) for _ in range(10)]
        page = asked[-1]
        assert page.status == 429
        assert "forms of your machine" in page.words
        assert (await site.nobody.get("/sign-in")).status == 200


async def test_an_endless_form_is_refused_in_time(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visit, "FORM_TIMEOUT_S", 0.2)
    async with _connected(site) as (reader, writer), asyncio.timeout(TIMEOUT_S):
        writer.write(_unfinished_form(site))
        assert b" 504 " in await reader.readuntil(b"\r\n")


@asynccontextmanager
async def _unfinished_upload(
    site: Browsing, stated_bytes: int | None
) -> AsyncIterator[asyncio.StreamReader]:
    """A form with a file of which only a part was sent."""
    cookie = (await site.red.signed_in()).cookie
    length = "Transfer-Encoding: chunked"
    if stated_bytes is not None:
        length = f"Content-Length: {stated_bytes}"
    head = (
        f"POST /{BENCHMARK}/submit HTTP/1.1\r\nHost: {_address(site).decode()}\r\n"
        f"Origin: {site.red.base}\r\nCookie: {cookie}\r\n{length}\r\n"
        "Content-Type: multipart/form-data; boundary=mark\r\n\r\n"
    )
    part = '--mark\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    async with _connected(site) as (reader, writer):
        writer.write((head + ("" if stated_bytes is None else part + "x" * 1000)).encode())
        await writer.drain()
        yield reader


@pytest.mark.parametrize("stated_bytes", [1_000_000, None])
async def test_endless_forms_use_only_the_room_of_their_team(
    tmp_path: Path, stated_bytes: int | None
) -> None:
    async with browsing(tmp_path, maximum_web_upload_bytes=1_000_000) as site:
        await dots(site)
        async with AsyncExitStack() as stack, asyncio.timeout(TIMEOUT_S):
            sent = [
                asyncio.ensure_future(
                    (await stack.enter_async_context(_unfinished_upload(site, stated_bytes))).read(
                        100
                    )
                )
                for _ in range(SHARE_OF_TEAM + 1)
            ]
            done, rest = await asyncio.wait(sent, return_when=asyncio.FIRST_COMPLETED)
            assert [b" 429 " in answer.result() for answer in done] == [True]
            assert len(rest) == SHARE_OF_TEAM
            for waiting in rest:
                waiting.cancel()
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                page = await send_file(site.red, DOTS)
                if page.status != 429:
                    break
                await asyncio.sleep(PAUSE_S)  # Until the server has noticed that they have left.
        assert "Frames 5" in page.words


async def test_an_endless_piece_is_abandoned_in_time(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await dots(site)
    begun = await begin(site.red, DOTS)
    monkeypatch.setattr(visit, "FORM_TIMEOUT_S", 0.2)
    path, key = f"{begun['path']}?offset=0", str(begun["csrf"])
    head = (
        f"PUT {path} HTTP/1.1\r\nHost: {_address(site).decode()}\r\nOrigin: {site.red.base}\r\n"
        f"Cookie: {site.red.cookie}\r\nX-Form-Key: {key}\r\nContent-Length: {len(DOTS)}\r\n\r\n"
    )
    async with _connected(site) as (reader, writer), asyncio.timeout(TIMEOUT_S):
        writer.write(head.encode() + DOTS[:20])
        assert b" 504 " in await reader.readuntil(b"\r\n")
    assert (await begin(site.red, DOTS))["offset"] == 20

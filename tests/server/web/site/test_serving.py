"""The site's own server: its address, TLS if gRPC has it, and how it stops."""

from __future__ import annotations

import asyncio
import socket
import ssl
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.server.api.http.asking import Caller
from tests.server.domain.hosted import hosting
from tests.server.web.site.browsing import Browser, Browsing
from tests.support.certificates import make_authority
from tests.support.sockets import sends_at_once

from vidscore_server.errors import ListenError
from vidscore_server.settings import load_settings
from vidscore_server.web.site.serving import SiteServer


@pytest.mark.slow
async def test_with_a_certificate_the_site_speaks_tls_and_its_cookie_is_secure(
    tmp_path: Path,
) -> None:
    authority = make_authority(tmp_path)
    authority.sign("server", "localhost")
    async with hosting(
        tmp_path,
        authorities=authority.read("ca.pem"),
        web="127.0.0.1:0",
        tls_certificate_file=str(tmp_path / "server.pem"),
        tls_key_file=str(tmp_path / "server.key"),
    ) as hosted:
        port = urlsplit(hosted.server.site_url).port
        address = f"https://localhost:{port}"
        assert hosted.server.site_url == f"https://127.0.0.1:{port}"
        trusting = ssl.create_default_context(cafile=str(authority.roots))
        request = urllib.request.Request(
            f"{address}/sign-in", f"token={hosted.red.secret}".encode(), {"Origin": address}
        )
        opener = urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=trusting), _StayHere()
        )
        answer = await asyncio.to_thread(opener.open, request)
        assert "; secure" in answer.headers["set-cookie"].lower()
        assert "strict-transport-security" in answer.headers


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Returns a redirect as the answer."""

    def http_error_303(self, *args: object) -> object:
        """The answer unchanged."""
        return args[1]


async def test_behind_a_proxy_names_and_cookie_use_the_proxys_address(tmp_path: Path) -> None:
    url = "https://scores.example.org/"
    async with hosting(tmp_path, web="127.0.0.1:0", web_base_url=url) as hosted:
        assert hosted.server.site_url == "https://scores.example.org"
        site = hosted.server._site
        assert site is not None
        browser = Browser(f"http://127.0.0.1:{site.port}")
        fields = {"token": hosted.red.secret}
        own = {"host": "scores.example.org", "origin": "https://scores.example.org"}
        answer = await browser.post("/sign-in", fields, **own)
        assert answer.status == 303
        assert "secure" in answer.cookies[0].lower()
        assert (await browser.post("/sign-in", fields)).status == 421  # By another name.
        foreign = own | {"origin": f"http://127.0.0.1:{site.port}"}
        assert (await browser.post("/sign-in", fields, **foreign)).status == 403


@pytest.mark.parametrize(("url", "status"), [("", 200), ("https://scores.example.org", 401)])
async def test_a_call_through_a_proxy_needs_a_token_as_from_another_machine(
    url: str, status: int, tmp_path: Path
) -> None:
    async with hosting(tmp_path, web="127.0.0.1:0", web_base_url=url) as hosted:
        site = hosted.server._site
        assert site is not None
        caller = Caller(f"http://127.0.0.1:{site.port}")
        names = {"host": urlsplit(url).netloc} if url else {}
        answer = await caller.post("EvaluatorService/ListEvaluators", **names)
        assert answer.status == status


async def test_a_stopped_site_no_longer_listens(tmp_path: Path) -> None:
    async with hosting(tmp_path, web="127.0.0.1:0") as hosted:
        parts = urlsplit(hosted.server.site_url)
    with socket.socket() as attempt:
        assert attempt.connect_ex((parts.hostname, parts.port)) != 0


async def test_a_method_that_a_page_lacks_gets_405_and_the_allowed_methods(site: Browsing) -> None:
    answer = await site.nobody.ask("PUT", "/benchmarks")
    assert answer.status == 405
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}
    assert "Method Not Allowed" in answer.words


async def test_an_address_in_use_is_named(site: Browsing) -> None:
    taken = urlsplit(site.nobody.base).netloc
    settings = load_settings(flags={"web": taken, "store": "site.db"})
    with pytest.raises(ListenError, match=f"cannot listen at {taken}: Address already in use"):
        SiteServer(settings)


async def test_answers_are_sent_without_delay() -> None:
    settings = load_settings(flags={"web": "127.0.0.1:0", "store": "site.db"})
    assert await sends_at_once(SiteServer(settings)._listener)


async def test_a_not_found_page_is_not_cached(site: Browsing) -> None:
    """It names the team, and has the key of its forms."""
    found = await site.red.get("/static/style.css")
    assert found.headers["cache-control"].startswith("public")
    missing = await site.red.get("/static/nothing")
    assert missing.status == 404
    assert "public" not in missing.headers.get("cache-control", "")


async def test_a_browser_that_disconnects_is_not_an_error_of_the_site(
    site: Browsing, caplog: pytest.LogCaptureFixture
) -> None:
    await site.red.get("/benchmarks")
    address = urlsplit(site.hosted.server.site_url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head = [
        "POST /sign-out HTTP/1.1",
        f"Host: {address.netloc}",
        f"Origin: {site.hosted.server.site_url}",
        f"Cookie: {site.red.cookie}",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Length: 100",
    ]
    writer.write(("\r\n".join(head) + "\r\n\r\nkey=").encode())
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    del reader
    await site.red.get("/benchmarks")
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []

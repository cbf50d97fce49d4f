"""Certificates that are renewed while the server runs, and the log of their end."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import socket
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.responses import PlainTextResponse
from tests.server.domain.hosted import BENCHMARK, Hosted, hosting
from tests.server.running import PlayedWorkers, serving
from tests.support.certificates import Authority, make_authority, openssl
from tests.support.waiting import until

from vidscore_protos.v1 import submission_service_pb2
from vidscore_protos.v1.submission_service_pb2 import WatchSubmissionResponse
from vidscore_server import certificates
from vidscore_server.certificates import Certificates
from vidscore_server.logs import JsonFormatter
from vidscore_server.settings import SettingsError, load_settings
from vidscore_server.web.site.serving import SiteServer

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "LOOK_INTERVAL_S", 0.02)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """An authority that has signed the first and the second certificate of a server."""
    authority = make_authority(tmp_path)
    for name in ("first", "second"):
        authority.sign(name, "localhost")
    install(authority, "first.pem", "first.key")
    return authority


def install(authority: Authority, chain: str, key: str) -> None:
    """Make these the server's files, one after the other, as programs that renew them do."""
    for source, target in ((chain, "server.pem"), (key, "server.key")):
        shutil.copy(authority.folder / source, authority.folder / "new")
        (authority.folder / "new").replace(authority.folder / target)


def settings_of(authority: Authority) -> dict[str, Any]:
    folder = authority.folder
    return {
        "tls_certificate_file": str(folder / "server.pem"),
        "tls_key_file": str(folder / "server.key"),
    }


def presented(address: str, authority: Authority, client: str = "") -> str:
    """Name of the certificate that a new connection gets, as a client with one or without."""
    context = ssl.create_default_context(cafile=authority.roots)
    context.set_alpn_protocols(["h2", "http/1.1"])
    if client:
        own = authority.folder / client
        context.load_cert_chain(own.with_suffix(".pem"), own.with_suffix(".key"))
    host, _, port = address.rpartition(":")
    with (
        socket.create_connection((host, int(port))) as connection,
        context.wrap_socket(connection, server_hostname="localhost") as encrypted,
    ):
        certificate = encrypted.getpeercert(binary_form=True)
        encrypted.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        if not encrypted.recv(1):
            raise ConnectionError("the server does not accept the client's certificate")
    [name] = [
        name
        for name in ("first", "second")
        if ssl.PEM_cert_to_DER_cert(authority.read(f"{name}.pem").decode("ascii")) == certificate
    ]
    return name


async def both_present(hosted: Hosted, authority: Authority, client: str = "") -> set[str]:
    """Names of the certificates that the gRPC server and the site present to new connections."""
    addresses = hosted.address, urlsplit(hosted.server.site_url).netloc
    return {await asyncio.to_thread(presented, address, authority, client) for address in addresses}


class Log:
    """The lines about certificates."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO, "vidscore_server")
        self._caplog = caplog

    def take(self) -> list[tuple[str, str]]:
        """Levels and events since the last time."""
        lines = [(record.levelname, record.getMessage()) for record in self._caplog.records]
        self._caplog.clear()
        return [line for line in lines if line[1].startswith("certificate")]


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Log:
    return Log(caplog)


async def test_new_connections_get_a_renewed_certificate_and_streams_continue(
    authority: Authority, tmp_path: Path, log: Log
) -> None:
    roots, files = authority.read("ca.pem"), settings_of(authority)
    async with hosting(tmp_path, authorities=roots, web="127.0.0.1:0", **files) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.red.submission()
        name = f"{BENCHMARK}/submissions/one"
        request = submission_service_pb2.WatchSubmissionRequest(name=name)
        watch = hosted.red.submissions.WatchSubmission(request, metadata=hosted.red.metadata)
        told = await watch.read()
        assert isinstance(told, WatchSubmissionResponse)
        assert told.submission.name == name
        assert await both_present(hosted, authority) == {"first"}
        assert log.take() == [("WARNING", "certificate")]  # it ends in a day

        install(authority, "second.pem", "second.key")
        await until(lambda: ("WARNING", "certificate") in log.take())

        assert await both_present(hosted, authority) == {"second"}
        await hosted.red.cancel()
        told = await watch.read()
        assert isinstance(told, WatchSubmissionResponse)
        assert told.submission.state == submission_service_pb2.SUBMISSION_STATE_CANCELLED
        watch.cancel()


@pytest.mark.parametrize(
    "wrong",
    ["second.pem first.key", "half.pem second.key", "second.pem half.key", "second.pem nothing"],
)
async def test_files_that_cannot_be_used_change_nothing_and_are_logged_once(
    authority: Authority, tmp_path: Path, log: Log, wrong: str
) -> None:
    for end in ("pem", "key"):
        whole = authority.read(f"second.{end}")
        (authority.folder / f"half.{end}").write_bytes(whole[: len(whole) // 2])
    (authority.folder / "nothing").touch()
    roots, files = authority.read("ca.pem"), settings_of(authority)
    async with hosting(tmp_path, authorities=roots, web="127.0.0.1:0", **files) as hosted:
        assert log.take() == [("WARNING", "certificate")]

        install(authority, *wrong.split())
        await until(lambda: ("WARNING", "certificate not renewed") in log.take())
        await asyncio.sleep(0.2)  # ten more looks
        assert log.take() == []
        assert await both_present(hosted, authority) == {"first"}

        install(authority, "second.pem", "second.key")
        await until(lambda: ("WARNING", "certificate") in log.take())
        assert await both_present(hosted, authority) == {"second"}


async def test_authorities_of_clients_are_renewed_too(authority: Authority, log: Log) -> None:
    (authority.folder / "other").mkdir()
    other = make_authority(authority.folder / "other")
    authority.sign("old", "client")
    other.sign("new", "client")
    trusted = authority.folder / "trusted.pem"
    shutil.copy(authority.roots, trusted)
    flags = {**settings_of(authority), "tls_client_authorities_file": str(trusted)}
    held = Certificates(load_settings(flags=flags))
    site = SiteServer(load_settings(flags={"web": "127.0.0.1:0", "store": "site.db", **flags}))
    site.start(PlainTextResponse("here"), held.context)
    async with serving(PlayedWorkers(), **flags) as running:
        addresses = running.address, str(site.address)

        async def admitted() -> list[tuple[str, str]]:
            """Each address with a client that may connect to it."""
            return [
                (address, client)
                for address in addresses
                for client in ("old", "other/new", "")
                if await asyncio.to_thread(may_connect, address, authority, client)
            ]

        assert await admitted() == [(address, "old") for address in addresses]
        log.take()
        shutil.copy(other.roots, trusted)
        await until(lambda: ("WARNING", "certificate") in log.take())
        held.look()
        assert await admitted() == [(address, "other/new") for address in addresses]
    await site.stop()


def may_connect(address: str, authority: Authority, client: str) -> bool:
    try:
        presented(address, authority, client)
    except (ssl.SSLError, ConnectionError):
        return False
    return True


@pytest.mark.parametrize(
    ("days", "level"), [(-1, "ERROR"), (13, "WARNING"), (15, "INFO"), (10_000, "INFO")]
)
def test_the_log_says_when_the_certificate_ends(
    authority: Authority, caplog: pytest.LogCaptureFixture, days: int, level: str
) -> None:
    """As openssl reads it; from 2050 on, times have another form."""
    caplog.set_level(logging.INFO, "vidscore_server")
    authority.sign("server", "localhost", days)
    Certificates(load_settings(flags=settings_of(authority)))
    [line] = [json.loads(JsonFormatter().format(record)) for record in caplog.records]
    end = openssl("x509", "-in", authority.folder / "server.pem", "-noout", "-enddate")
    assert (line["level"], line["event"]) == (level.lower(), "certificate")
    written = datetime.fromisoformat(line["ends"]).strftime("%b %e %H:%M:%S %Y GMT")
    assert end == f"notAfter={written}\n"


def test_each_day_the_log_warns_of_an_end_that_is_near(
    authority: Authority, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the files that shall replace it cannot be used."""
    authority.sign("server", "localhost", days=16)
    held = Certificates(load_settings(flags=settings_of(authority)))
    (authority.folder / "server.key").unlink()
    today = datetime.now(UTC)
    seen = []
    for days in (1, 1, 3, 3, 4, 17, 17):
        monkeypatch.setattr(certificates, "utc_now", lambda: today + timedelta(days))  # noqa: B023
        with pytest.raises(SettingsError):
            held.look()
        seen.append(log.take())
    warning, error = [("WARNING", "certificate")], [("ERROR", "certificate")]
    assert seen == [[("INFO", "certificate")], [], warning, [], warning, error, []]

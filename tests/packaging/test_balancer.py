"""The balancer of deploy/ over two real servers: clients and browsers continue when one stops."""

from __future__ import annotations

import http.client
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Self
from urllib.parse import urlencode

import pytest
from tests.support.certificates import Authority, make_authority
from tests.support.ports import HOST, free_port
from tests.support.requirements import missing
from tests.support.tree import ROOT
from tests.support.waiting import eventually

from vidscore_cli.demo.network import ServerProcess
from vidscore_client import DeadlineError, Health, UnavailableError, connect
from vidscore_server.domain.administration import initialise

pytestmark = pytest.mark.slow

CONFIGURATION = (ROOT / "deploy" / "haproxy.cfg").read_text("utf-8")
TIMEOUT_S = 60.0
SITE_NAME = "scores.example.org"


def test_clients_continue_when_a_server_stops(tmp_path: Path) -> None:
    authority = _certified(tmp_path)
    with ServerProcess("--workers", "1") as one, ServerProcess("--workers", "1") as two:
        servers = {"server-1:50051": one.address, "server-2:50051": two.address}
        with _balancer(authority, servers) as at:
            _serves(at["50051"])
            one.kill()
            _serves(at["50051"])


def test_a_server_that_comes_back_at_another_address_is_found(tmp_path: Path) -> None:
    """A container that is updated is made anew, and gets the next free address of its network."""
    with ExitStack() as held:
        port = free_port()
        names = held.enter_context(_Names())
        addressed = {
            "nameserver docker 127.0.0.11:53": f"nameserver docker {names.address}",
            "server-1:50051": f"server-1:{port}",
        }
        at = held.enter_context(_balancer(_certified(tmp_path), {}, addressed))
        for names.answer in ("127.0.0.5", "127.0.0.6"):
            with closing(socket.create_server((names.answer, port))) as server:
                place = HOST, int(at["50051"].rpartition(":")[2])
                eventually(partial(_reaches, place, server))


def _reaches(place: tuple[str, int], server: socket.socket) -> bool:
    """Whether a connection to the balancer is passed to a server; checks of health are not."""
    with suppress(OSError), socket.create_connection(place, TIMEOUT_S) as sent:
        sent.sendall(b"hello")
        sent.settimeout(1.0)
        server.settimeout(1.0)
        while True:
            received, _ = server.accept()
            with received:
                received.settimeout(1.0)
                if received.recv(5) == b"hello":
                    return True
    return False


class _Names:
    """A name server that has one address for every name."""

    def __init__(self) -> None:
        self.answer = HOST
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((HOST, 0))
        self.address = f"{HOST}:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while True:
            query, sender = self._socket.recvfrom(512)
            if not query:
                return
            end = query.index(b"\0", 12) + 5  # of the question: a name, its type and its class
            is_a = query[end - 4 : end - 2] == b"\0\1"
            # Header of an answer; then a pointer to the name, type A, class IN, a TTL of 0 s.
            head = query[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_a else b"\0\0") + b"\0\0\0\0"
            row = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(self.answer)
            self._socket.sendto(head + query[12:end] + (row if is_a else b""), sender)


def test_a_browser_that_does_not_go_on_is_disconnected(tmp_path: Path) -> None:
    """Otherwise a few thousand silent connections would keep everybody out for ten minutes."""
    authority = _certified(tmp_path)
    sooner = {"timeout http-request 20s": "timeout http-request 1s", "client 1m": "client 1s"}
    with _balancer(authority, {}, sooner) as at:
        for port, sent in (("8080", b"GET / HTTP/1.1\r\nHost: x\r\n"), ("8443", b"")):
            place = HOST, int(at[port].rpartition(":")[2])
            eventually(partial(_listens, place))
            with socket.create_connection(place, TIMEOUT_S) as silent:
                silent.sendall(sent)
                while silent.recv(4096):
                    pass


@pytest.mark.nightly
def test_browsers_stay_signed_in_when_a_server_stops(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = _certified(tmp_path)
    secret = initialise(database).secret
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "127.0.0.0/8")
    with _two_sites(database, authority) as (servers, sites), _balancer(authority, sites) as at:
        browser = _Browser(at["8443"], authority)
        browser.until_answered("/sign-in")
        assert browser.ask("POST", "/sign-in", {"token": secret}) == 303
        assert browser.ask("GET", "/organise") == 200
        servers[0].kill()
        # An address stays with one server, but which one is unknown: some of these were with it.
        for number in range(2, 10):
            browser.source = f"127.0.0.{number}"
            browser.until_answered("/organise")
        with closing(http.client.HTTPConnection(at["8080"], timeout=TIMEOUT_S)) as plain:
            plain.request("GET", "/organise", headers={"Host": SITE_NAME})
            sent_on = plain.getresponse()
            found = sent_on.status, sent_on.headers["location"]
        assert found == (301, f"https://{SITE_NAME}/organise")


@pytest.mark.nightly
def test_wrong_tokens_are_counted_by_the_browsers_real_address(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = _certified(tmp_path)
    secret = initialise(database).secret
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "127.0.0.0/8")
    with _two_sites(database, authority) as (_, sites), _balancer(authority, sites) as at:
        guessing = _Browser(at["8443"], authority, source="127.0.0.5")
        guessing.until_answered("/sign-in")
        answers = [
            guessing.ask("POST", "/sign-in", {"token": "wrong"}, {"X-Forwarded-For": f"10.0.0.{n}"})
            for n in range(6)
        ]
        assert answers == [401] * 5 + [429]
        other = _Browser(at["8443"], authority, source="127.0.0.6")
        assert other.ask("POST", "/sign-in", {"token": secret}) == 303


def _certified(folder: Path) -> Authority:
    """An authority, and the site's certificate with its key where haproxy reads it."""
    authority = make_authority(folder)
    authority.sign("server", SITE_NAME)
    (folder / "server.pem.key").write_bytes(authority.read("server.key"))
    return authority


@contextmanager
def _two_sites(
    database: str, authority: Authority
) -> Iterator[tuple[list[ServerProcess], dict[str, str]]]:
    """Two servers with a site over one database, and their addresses by the balancer's names."""
    servers: list[ServerProcess] = []
    sites: dict[str, str] = {}
    with ExitStack() as running:
        for number in (1, 2):
            site = f"{HOST}:{free_port()}"
            options = {
                "--store": database,
                "--workers": "1",
                "--web": site,
                "--web-base-url": f"https://{SITE_NAME}",
                "--tls-certificate-file": str(authority.folder / "server.pem"),
                "--tls-key-file": str(authority.folder / "server.key"),
            }
            words = [word for option in options.items() for word in option]
            servers.append(running.enter_context(ServerProcess(*words)))
            sites[f"server-{number}:8080"] = site
        yield servers, sites


@contextmanager
def _balancer(
    authority: Authority, servers: Mapping[str, str], changes: Mapping[str, str] = {}
) -> Iterator[dict[str, str]]:
    """Run haproxy as deploy/ configures it, over servers of this machine.

    Args:
        authority: Signed the certificate.
        servers: Addresses by their names in the configuration.
        changes: Parts of the configuration that a test replaces.

    Yields:
        Where it listens, by the port of the configuration.
    """
    haproxy = shutil.which("haproxy") or missing("haproxy")
    text = CONFIGURATION.replace("/certificates", str(authority.folder))
    for part, changed in changes.items():
        assert part in text
        text = text.replace(part, changed)
    with ExitStack() as held:
        at = {}
        for port in re.findall(r"bind :(\d+)", CONFIGURATION):
            # Bound and not listening: it is reserved until haproxy, which shares it, listens.
            holder = held.enter_context(socket.socket())
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            holder.bind((HOST, 0))
            at[port] = f"{HOST}:{holder.getsockname()[1]}"
            text = text.replace(f"bind :{port}", f"bind {at[port]}")
        for name in re.findall(r"server-\d:\d+", CONFIGURATION):
            # A server that a test does not have is down.
            text = text.replace(name, servers.get(name, f"{HOST}:1"))
        file = authority.folder / "haproxy.cfg"
        file.write_text(text)
        subprocess.run([haproxy, "-c", "-f", file], check=True, capture_output=True)
        balancer = subprocess.Popen([haproxy, "-db", "-f", file], stderr=subprocess.DEVNULL)
        try:
            yield at
        finally:
            balancer.send_signal(signal.SIGTERM)
            balancer.wait(TIMEOUT_S)


def _listens(place: tuple[str, int]) -> bool:
    with suppress(ConnectionRefusedError), socket.create_connection(place, TIMEOUT_S):
        return True
    return False


def _serves(address: str) -> None:
    """Wait until new connections reach a server, several times in a row."""
    deadline_s = time.monotonic() + TIMEOUT_S
    in_a_row = 0
    while in_a_row < 4:
        assert time.monotonic() < deadline_s
        try:
            with connect(address, timeout_s=5.0) as client:
                in_a_row = in_a_row + 1 if client.health() is Health.SERVING else 0
        except (UnavailableError, DeadlineError):
            in_a_row = 0
            time.sleep(0.1)


class _Browser:
    """A browser that trusts the authority, and resolves the site's name to the balancer.

    Args:
        address: Address of the balancer.
        authority: The trusted authority.
        source: Its own address, which may change.
    """

    def __init__(self, address: str, authority: Authority, source: str = HOST) -> None:
        self._host, _, port = address.rpartition(":")
        self._port = int(port)
        self._trusting = ssl.create_default_context(cafile=str(authority.roots))
        self.source = source
        self._cookies: dict[str, str] = {}

    def ask(
        self,
        method: str,
        path: str,
        fields: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> int:
        """The status of the answer to a request."""
        plain = socket.create_connection((self._host, self._port), TIMEOUT_S, (self.source, 0))
        connection = http.client.HTTPConnection(SITE_NAME, timeout=TIMEOUT_S)
        connection.sock = plain
        sent = {"Origin": f"https://{SITE_NAME}", **(headers or {})}
        if fields:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        if self._cookies:
            sent["Cookie"] = "; ".join(f"{name}={text}" for name, text in self._cookies.items())
        with closing(connection):
            connection.sock = self._trusting.wrap_socket(plain, server_hostname=SITE_NAME)
            connection.request(method, path, urlencode(fields or {}) or None, sent)
            answer = connection.getresponse()
            answer.read()
            for line in answer.msg.get_all("set-cookie") or ():
                self._cookies |= {name: part.value for name, part in SimpleCookie(line).items()}
            return answer.status

    def until_answered(self, path: str) -> None:
        """Wait until a page answers, while the balancer finds out which servers are up."""
        deadline_s = time.monotonic() + TIMEOUT_S
        while True:
            with suppress(OSError):
                if self.ask("GET", path) == 200:
                    return
            assert time.monotonic() < deadline_s
            time.sleep(0.1)

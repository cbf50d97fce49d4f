"""Real servers for runners: plain, and encrypted with tokens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.cases import Case
from tests.conformance.comparing import hold
from tests.crash.servers import KilledServer
from tests.support.certificates import Authority, make_authority

from vidscore_client import Client, Role, connect

SERVER_NAME = "vidscore.test"
WAIT_S = 120.0
CALL_TIMEOUT_S = 60.0


@dataclass
class Site:
    """A hosting server, with an organiser and a team.

    Attributes:
        server: The server, which can be killed and restarted.
        organiser: Client of the organiser.
        token: Secret of the team.
    """

    server: KilledServer
    organiser: Client
    token: str

    @property
    def address(self) -> str:
        """Where the server listens."""
        return self.server.address

    def host(self, benchmark: str, case: Case, **policy: object) -> None:
        """Host a benchmark with a case's truth and evaluators, and visible final scores."""
        configuration = case.document["configuration"]
        self.organiser.benchmarks.create(
            benchmark,
            {
                "evaluators": configuration["evaluators"],
                "truth_geometry": configuration["truth_geometry"],
                "detection_geometry": configuration["detection_geometry"],
                "policy": {
                    "visibility": "final",
                    "ladder_step": 0.01,
                    "submissions_in_all": 0,
                    **policy,
                },
            },
        )
        self.organiser.benchmarks.upload_truth(benchmark, [case.truth()])


@contextmanager
def site(folder: Path) -> Iterator[Site]:
    """Start a server with its own store."""
    folder.mkdir()
    server = KilledServer(folder, minimum_live_interval_ms="10", web="127.0.0.1:0")
    try:
        server.start()
        with connect(server.address, token=server.secret, timeout_s=CALL_TIMEOUT_S) as organiser:
            token = organiser.tokens.create(Role.PARTICIPANT, team="falcon").secret
            yield Site(server, organiser, token)
    finally:
        server.kill()


@dataclass(frozen=True)
class EncryptedSite:
    """A server that only speaks TLS.

    Attributes:
        address: Where it listens.
        authority: Signed its certificate, which is for `SERVER_NAME`, and one of a client.
        stranger: An authority that signed nothing.
        token: Secret of an organiser.
    """

    address: str
    authority: Authority
    stranger: Authority
    token: str


@contextmanager
def encrypted_site(folder: Path) -> Iterator[EncryptedSite]:
    """Start a server with its own certificate."""
    authorities = []
    for name in ("authority", "stranger"):
        (folder / name).mkdir(parents=True)
        authorities.append(make_authority(folder / name))
    known, stranger = authorities
    known.sign("server", SERVER_NAME)
    known.sign("client", "client.test")
    server = KilledServer(
        folder,
        tls_certificate_file=str(known.folder / "server.pem"),
        tls_key_file=str(known.folder / "server.key"),
    )
    try:
        server.start()
        yield EncryptedSite(server.address, known, stranger, server.secret)
    finally:
        server.kill()


def wait_until(condition: Callable[[], Any], what: str) -> None:
    """Wait until a condition holds.

    Raises:
        DeviationError: If it does not within a long time.
    """
    limit_s = time.monotonic() + WAIT_S
    while not condition():
        hold(time.monotonic() < limit_s, f"{what} did not come about")
        time.sleep(0.02)

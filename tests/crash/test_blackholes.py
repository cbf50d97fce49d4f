"""A network that drops packets while every place for a stream is taken leaves nobody stuck.

More teams stream than there are places. Connections go silent, or the whole network does, and the
server may be killed meanwhile: the calls over them hold every place until the server notices, and
neither side learns that the other has ended. Places become free by themselves, new callers get one,
and all clients that were cut off continue. Everything runs with default settings.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

import grpc
import pytest
from tests.campaigns.settings import CRASHES, SEED
from tests.crash.nursery import Nursery
from tests.crash.organiser import TIMEOUT_S, Organiser
from tests.crash.servers import KilledServer
from tests.crash.sites import Site
from tests.server.domain.sky import detections_of, place
from tests.support.chaos import ChaosProxy
from tests.support.waiting import eventually
from tools.campaign_record import record

from vidscore_client import connect

pytestmark = pytest.mark.campaign

KINDS = ("connections", "network and server", "network")
"""What a black hole swallows: open connections, also new ones; or both while a server dies."""
HOLES = max(1, CRASHES // 15)
"""Fewer than crashes: each takes as long as the detection of a dead peer."""

TEAMS = {f"team-{number}": 1 + number % 2 for number in range(12)}
"""Teams, with the number of streams of a submission; the second uses unary calls."""
PLACES = 6
"""Half the number of teams: on a busy machine many of them are between two submissions."""
MAXIMUM_STREAMS = PLACES + 1
"""One of the places is reserved for organisers."""
NEW_FRAMES = 40


class _Holes:
    """A server whose places are all taken, and the network of the clients that hold them."""

    def __init__(self, server: KilledServer, network: ChaosProxy, site: Site) -> None:
        self.tried: Counter[str] = Counter()
        self._server = server
        self._network = network
        self._site = site

    def make(self, kind: str) -> None:
        """Swallow everything, and check that nobody is stuck, then or later."""
        eventually(self._is_full_and_still)
        self._network.silence()
        if kind == "connections":
            self._network.calm()  # New connections work, and the old ones still hold all places.
        else:
            if kind == "network and server":
                self._server.kill()
                self._server.start()
                self.tried["SIGKILLs of a server"] += 1
            self._newcomer()
            self._network.calm()
        self._site.check_known()
        for writer, sealed in [(writer, len(writer.sent)) for writer in self._site.writers]:
            # Earlier frames may be acknowledged without a place, and no more submissions can be
            # sealed.
            eventually(lambda: writer.failure is not None or len(writer.sent) > sealed)  # noqa: B023 - called at once
        self.tried["blackholes at the limit of streams"] += 1

    def _is_full_and_still(self) -> bool:
        """Whether all places are taken while nothing moves; if not, everything continues."""
        self._network.delay(math.inf)
        if self._held_places() >= PLACES:
            return True
        self._network.calm()
        time.sleep(0.1)
        return False

    def _held_places(self) -> int:
        url = f"http://{self._server.metrics_address}/metrics"
        with urlopen(url, timeout=TIMEOUT_S) as answer:
            text = answer.read().decode()
        [count] = re.findall(r"^vidscore_open_streams (\d+)", text, re.MULTILINE)
        return int(count)

    def _newcomer(self) -> None:
        """A new team on another connection gets a place, while all others are cut off."""
        address, name = self._server.address, f"new-{self.tried.total()}"
        with grpc.insecure_channel(address) as channel:
            token = Organiser(channel, self._server.secret).token(name)
        with connect(address, token=token) as client, client.submit("dots", name) as stream:
            for index in range(NEW_FRAMES):
                stream.send(*place(index), detections_of(index))
            stream.seal(NEW_FRAMES, timeout_s=TIMEOUT_S)


def test_blackholes_at_the_limit_of_streams_leave_nobody_stuck(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Nursery() as nursery, ExitStack() as ending, capsys.disabled():
        server = KilledServer(
            tmp_path,
            nursery=nursery,
            maximum_streams=str(MAXIMUM_STREAMS),
            metrics_listen="127.0.0.1:0",
            idle_timeout_s="300",
        )
        ending.callback(server.kill)
        server.start()
        network = ending.enter_context(ChaosProxy(server.address))
        _go_through(server, network, Site.made([server], TEAMS, by_way_of=network.address))


def _go_through(server: KilledServer, network: ChaosProxy, site: Site) -> None:
    began_s = time.monotonic()
    holes = _Holes(server, network, site)
    with site.written_to():
        for number in range(HOLES):
            holes.make(KINDS[(SEED + number) % len(KINDS)])
    found = site.check_end()
    incidents = server.incidents()
    faults = {**holes.tried, "competitions for a stream": found["competitions"]}
    record("kills", SEED, faults, incidents, time.monotonic() - began_s)
    assert incidents == []

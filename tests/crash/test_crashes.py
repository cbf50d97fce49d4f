"""A server that is killed again and again loses nothing that it has acknowledged.

Clients stream submissions through the SDK to several sites, whose servers get SIGKILL: at random
moments, while they start and at each of their failpoints; and some stay away for longer than every
timeout. `make crash-test CRASHES=500` does it for longer.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random

import grpc
import pytest
from tests.crash.busy import BusyOrganiser
from tests.crash.checking import SIZES, check_reports
from tests.crash.deaths import AT_RANDOM, POINTS, STARTING, Dying, killed, schedule
from tests.crash.nursery import Nursery
from tests.crash.organiser import Organiser
from tests.crash.servers import KilledServer
from tests.crash.writers import Position, Writer
from tests.server.domain.sky import truth
from tools.campaign_record import record

pytestmark = pytest.mark.campaign

CRASHES = int(os.environ.get("CRASHES", "30"))
SEED = int(os.environ.get("SEED", "0"))

SITES = 3
TEAMS = {"red": 1, "blue": 2, "green": 1}
"""Teams of a site, and in how many streams each sends a submission."""
PACE_S = 0.01


@dataclass(frozen=True)
class Site:
    """A server, and who writes to it."""

    server: KilledServer
    writers: list[Writer]

    @classmethod
    def made(cls, server: KilledServer) -> Site:
        """Start a server, and make its benchmark."""
        server.start()
        with grpc.insecure_channel(server.address) as channel:
            organiser = Organiser(channel, server.secret)
            organiser.host(truth(max(SIZES)))
            writers = [
                Writer(server.address, team, organiser.token(team), streams, SIZES, PACE_S)
                for team, streams in TEAMS.items()
            ]
        return cls(server, writers)

    def known(self) -> list[Position]:
        """How far open streams are known to be durable."""
        return [position for writer in self.writers for position in writer.positions()]

    def check(self) -> Counter[str]:
        """See that everything ended well; gives how much there was."""
        sent = [entry for writer in self.writers for entry in writer.sent]
        with grpc.insecure_channel(self.server.address) as channel:
            check_reports(Organiser(channel, self.server.secret), sent)
        frames = sum(entry.frame_count for entry in sent)
        competitions = sum(writer.competitions for writer in self.writers)
        return Counter(submissions=len(sent), frames=frames, competitions=competitions)


def test_no_crash_loses_an_acknowledged_frame_or_counts_one_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = []
    with Nursery() as nursery, ExitStack() as ending, capsys.disabled():
        for number in range(SITES):
            folder = tmp_path / str(number)
            folder.mkdir()
            servers.append(KilledServer(folder, nursery=nursery))
            ending.callback(servers[-1].kill)
        _crash_again_and_again([Site.made(server) for server in servers], tmp_path)
    assert [line for server in servers for line in server.incidents()] == []


def _crash_again_and_again(sites: list[Site], folder: Path) -> None:
    print(f"\n{CRASHES} crashes, seed {SEED}")
    began_s = time.monotonic()
    busy = BusyOrganiser(sites[0].server.address, sites[0].server.secret, folder)
    workers = [busy, *(writer for site in sites for writer in site.writers)]
    dying = [
        Dying(site.server, moments, site.known, Random(f"{SEED} {number}"))
        for number, (site, moments) in enumerate(zip(sites, _shares(), strict=True))
    ]
    for thread in (*workers, *dying):
        thread.start()
    for thread in (*dying, *workers):
        thread.finish()
    found: Counter[str] = sum((site.check() for site in sites), Counter())
    died: Counter[str] = sum((thread.died for thread in dying), Counter())
    faults = {**killed(died), "competitions for a stream": found["competitions"]}
    record("kills", SEED, faults, [], time.monotonic() - began_s)
    print("the organiser:", ", ".join(f"{work} {n}" for work, n in sorted(busy.done.items())))
    print("crashes:", ", ".join(f"{moment} {count}" for moment, count in sorted(died.items())))
    print(
        f"{found['submissions']} submissions of {found['frames']} frames, none lost, none counted "
        "twice, every report that of the batch"
    )
    if 3 * len(POINTS) <= CRASHES:
        assert set(died) >= {AT_RANDOM, STARTING, *POINTS}


def _shares() -> list[list[str]]:
    """When each server dies; in one piece, so that each dies in every way."""
    moments = list(schedule(CRASHES))
    ends = [CRASHES * number // SITES for number in range(SITES + 1)]
    return [moments[start:end] for start, end in pairwise(ends)]

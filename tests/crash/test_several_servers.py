"""Servers over one PostgreSQL that are killed, and the database too, lose nothing acknowledged.

Clients stream submissions through the SDK to two servers. In turn a server gets SIGKILL, at a
random moment or at one of its failpoints, and the database is stopped as if it had been killed; at
times it comes back as a standby, which is promoted later.
`make crash-test CRASHES=500` does it for longer.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random

import grpc
import pytest
from tests.crash.checking import SIZES, check_positions, check_reports
from tests.crash.organiser import Organiser
from tests.crash.servers import KilledServer, new_site
from tests.crash.writers import Position, Writer
from tests.server.domain.sky import truth
from tests.support.postgresql import Cluster, running_cluster
from tools.campaign_record import record

from vidscore_server.runtime import FAILPOINTS

pytestmark = pytest.mark.campaign

CRASHES = max(6, int(os.environ.get("CRASHES", "50")) // 4)
"""Fewer than of one server alone: each takes longer."""
SEED = int(os.environ.get("SEED", "0"))

TEAMS = {"red": 1, "blue": 2, "green": 1, "grey": 2}
"""Teams, and in how many streams each sends a submission; every other one to the same server."""

AT_RANDOM = "server at random"
DATABASE = "database"
FAILOVER = "failover"
LATEST_PASS = {"before_scoring": 1, "before_score_commit": 1}
REACH_TIMEOUT_S = 30.0


@dataclass
class _Site:
    cluster: Cluster
    servers: tuple[KilledServer, KilledServer]
    chance: Random

    def crash(self, number: int, point: str) -> str:
        """Let something die and live again; gives what died."""
        if point == DATABASE:
            self.cluster.stop("immediate")
            time.sleep(self.chance.random())
            self.cluster.start()
            return DATABASE
        if point == FAILOVER:
            self.cluster.stop("immediate")
            self.cluster.start_as_standby()
            time.sleep(2 * self.chance.random())
            self.cluster.promote()
            return FAILOVER
        server = self.servers[number % len(self.servers)]
        server.kill()
        if point == AT_RANDOM:
            server.start()
            time.sleep(self.chance.random())
            server.kill()
        else:
            server.start(f"{point}=kill@{self.chance.randint(1, LATEST_PASS.get(point, 40))}")
            if not server.dies_within(REACH_TIMEOUT_S):
                point = f"{point} not reached"
            server.kill()
        server.start()
        return point


def test_no_crash_of_a_server_or_of_the_database_loses_or_doubles_a_frame(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running_cluster() as cluster, ExitStack() as ending:
        site = new_site(cluster.database())
        first, second = (KilledServer(tmp_path, site, lease_timeout_s="2") for _ in range(2))
        for server in (first, second):
            ending.callback(server.kill)
            server.start()
        try:
            with capsys.disabled():
                _crash_again_and_again(_Site(cluster, (first, second), Random(SEED)))
        finally:
            assert [*first.incidents(), *second.incidents()] == []


def _crash_again_and_again(site: _Site) -> None:
    began_s = time.monotonic()
    with grpc.insecure_channel(site.servers[0].address) as channel:
        organiser = Organiser(channel, site.servers[0].secret)
        organiser.host(truth(max(SIZES)))
        writers = [
            Writer(site.servers[row % 2].address, team, organiser.token(team), streams, SIZES)
            for row, (team, streams) in enumerate(TEAMS.items())
        ]
    print(f"\n{CRASHES} crashes, seed {SEED}")
    for writer in writers:
        writer.start()
    died: Counter[str] = Counter()
    for number, point in enumerate(_schedule(CRASHES), 1):
        known = [position for writer in writers for position in writer.positions()]
        died[what := site.crash(number, point)] += 1
        _check_known(site, known)
        sealed = sum(len(writer.sent) for writer in writers)
        print(f"crash {number:4}: {what}, {sealed} submissions sealed")
    for writer in writers:
        writer.finish()
    sent = [entry for writer in writers for entry in writer.sent]
    for server in site.servers:
        with grpc.insecure_channel(server.address) as channel:
            check_reports(Organiser(channel, server.secret), sent)
    moments = ", ".join(f"{moment} {count}" for moment, count in sorted(died.items()))
    print(
        f"{CRASHES} crashes ({moments}): {len(sent)} submissions of "
        f"{sum(entry.frame_count for entry in sent)} frames, none lost, none counted twice, every "
        "report that of the batch at both servers"
    )
    assert {DATABASE, FAILOVER, AT_RANDOM} <= set(died)
    of_database = died[DATABASE] + died[FAILOVER]
    faults = {
        "SIGKILLs of a server": CRASHES - of_database,
        "immediate stops of a database": died[DATABASE],
        "failovers to a standby": died[FAILOVER],
    }
    record("kills", SEED, faults, [], time.monotonic() - began_s)


def _check_known(site: _Site, known: list[Position]) -> None:
    """What was acknowledged before a crash is at both servers after it."""
    for server in site.servers:
        with grpc.insecure_channel(server.address) as channel:
            check_positions(Organiser(channel, server.secret), known)


def _schedule(count: int) -> Iterator[str]:
    """The database, a server at random, a server at a failpoint, in turn.

    Every other time the database comes back as a standby, which is promoted after a while.
    """
    for number in range(count):
        database = FAILOVER if number % 6 else DATABASE
        yield (database, AT_RANDOM, FAILPOINTS[number // 3 % len(FAILPOINTS)])[number % 3]

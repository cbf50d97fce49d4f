"""Servers over one PostgreSQL that are killed, like the database, lose nothing acknowledged.

Clients stream submissions through the SDK to three servers, whose clocks differ by hours. They get
SIGKILL all the time, at random moments, while they start and at their failpoints; and the database
is stopped as if it had been killed. Sometimes it comes back as a standby, which is promoted later.
`make crash-test CRASHES=500` runs it for longer.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from tests.campaigns.settings import CRASHES, SEED
from tests.crash.deaths import AT_RANDOM, Dying, killed, schedule
from tests.crash.nursery import Nursery
from tests.crash.servers import KilledServer, new_site
from tests.crash.sites import Site
from tests.support.postgresql import Cluster, running_cluster
from tools.campaign_record import record

pytestmark = pytest.mark.campaign

DEATHS = max(8, CRASHES // 2)
"""Fewer than for servers with their own files: all of these wait for one database."""

HOUR_S = 3600.0
CLOCK_SHIFTS_S = (0.0, 2 * HOUR_S, -2 * HOUR_S)
"""How far the clocks of the servers are ahead of the database's."""
TEAMS = {"red": 1, "blue": 2, "green": 1, "grey": 2}
"""Teams, and in how many streams each sends a submission; each to another server."""

DATABASE = "database"
FAILOVER = "failover"
DEATHS_BETWEEN = 6
"""Number of server deaths between two of the database."""


@dataclass
class _Crashing:
    cluster: Cluster
    site: Site
    chance: Random
    died: Counter[str] = field(default_factory=Counter)

    def kill_servers(self, moments: list[str]) -> None:
        """Let the servers die at the given moments, each of which belongs to one server."""
        count = len(self.site.servers)
        self.chance.shuffle(moments)
        dying = [
            Dying(
                server,
                moments[number::count],
                self.site.known,
                Random(self.chance.random()),
                clock_shift_s=shift_s,
                own_clock=False,
            )
            for number, (server, shift_s) in enumerate(
                zip(self.site.servers, CLOCK_SHIFTS_S, strict=True)
            )
        ]
        for thread in dying:
            thread.start()
        for thread in dying:
            thread.finish()
            self.died += thread.died

    def stop_database(self, how: str) -> None:
        """Stop the database as if it had been killed, and start it in one of two ways."""
        self.cluster.stop("immediate")
        if how == FAILOVER:
            self.cluster.start_as_standby()
            time.sleep(2 * self.chance.random())
            self.cluster.promote()
        else:
            time.sleep(self.chance.random())
            self.cluster.start()
        self.died[how] += 1
        self.site.check_known()


def test_no_crash_of_a_server_or_of_the_database_loses_or_doubles_a_frame(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running_cluster() as cluster, Nursery() as nursery, ExitStack() as ending:
        site = new_site(cluster.database())
        servers = [
            KilledServer(tmp_path, site, nursery, lease_timeout_s="2") for _ in CLOCK_SHIFTS_S
        ]
        for server, shift_s in zip(servers, CLOCK_SHIFTS_S, strict=True):
            ending.callback(server.kill)
            server.start(f"clock=shift:{shift_s:g}")
        with capsys.disabled():
            _crash_again_and_again(_Crashing(cluster, Site.made(servers, TEAMS), Random(SEED)))


def _crash_again_and_again(crashing: _Crashing) -> None:
    print(f"\n{DEATHS} crashes, seed {SEED}")
    began_s = time.monotonic()
    with crashing.site.written_to():
        moments = list(schedule(DEATHS))
        for number, start in enumerate(range(0, DEATHS, DEATHS_BETWEEN)):
            crashing.kill_servers(moments[start : start + DEATHS_BETWEEN])
            crashing.stop_database(DATABASE if number % 2 else FAILOVER)
    found, died = crashing.site.check_end(), crashing.died
    faults = {
        **killed(died),
        "competitions for a stream": found["competitions"],
        "immediate stops of a database": died[DATABASE],
        "failovers to a standby": died[FAILOVER],
    }
    incidents = [line for server in crashing.site.servers for line in server.incidents()]
    record("kills", SEED, faults, incidents, time.monotonic() - began_s)
    print("crashes:", ", ".join(f"{moment} {count}" for moment, count in sorted(died.items())))
    print(
        f"{found['submissions']} submissions of {found['frames']} frames, none lost, none counted "
        "twice, every report that of the batch at every server"
    )
    assert {DATABASE, FAILOVER, AT_RANDOM} <= set(died)
    assert incidents == []

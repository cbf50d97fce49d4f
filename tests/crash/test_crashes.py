"""A server that is killed repeatedly loses nothing that it has acknowledged.

Clients stream submissions through the SDK to several sites, whose servers get SIGKILL: at random
moments, while they start and at each of their failpoints; and some stay away for longer than every
timeout. `make crash-test CRASHES=500` runs it for longer.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from tests.campaigns.settings import CRASHES, SEED
from tests.crash.busy import BusyOrganiser
from tests.crash.deaths import AT_RANDOM, POINTS, STARTING, Dying, killed, schedule
from tests.crash.nursery import Nursery
from tests.crash.servers import KilledServer
from tests.crash.sites import Site
from tools.campaign_record import record

pytestmark = pytest.mark.campaign

SITES = 3
TEAMS = {"red": 1, "blue": 2, "green": 1}
"""Teams of a site, and in how many streams each sends a submission."""


def test_no_crash_loses_an_acknowledged_frame_or_counts_one_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Nursery() as nursery, ExitStack() as ending, capsys.disabled():
        servers = []
        for number in range(SITES):
            folder = tmp_path / str(number)
            folder.mkdir()
            servers.append(server := KilledServer(folder, nursery=nursery))
            ending.callback(server.kill)
            server.start()
        _crash_again_and_again([Site.made([server], TEAMS) for server in servers], tmp_path)


def _crash_again_and_again(sites: list[Site], folder: Path) -> None:
    print(f"\n{CRASHES} crashes, seed {SEED}")
    began_s = time.monotonic()
    server = sites[0].servers[0]
    busy = BusyOrganiser(server.address, server.secret, folder)
    busy.start()
    dying = [
        Dying(site.servers[0], moments, site.known, Random(f"{SEED} {number}"))
        for number, (site, moments) in enumerate(zip(sites, _shares(), strict=True))
    ]
    with ExitStack() as ending:
        for site in sites:
            ending.enter_context(site.written_to())
        for thread in dying:
            thread.start()
        for thread in dying:
            thread.finish()
    busy.finish()
    found = sum((site.check_end() for site in sites), Counter[str]())
    died = sum((thread.died for thread in dying), Counter[str]())
    faults = {**killed(died), "competitions for a stream": found["competitions"]}
    incidents = [line for site in sites for line in site.servers[0].incidents()]
    record("kills", SEED, faults, incidents, time.monotonic() - began_s)
    print("the organiser:", ", ".join(f"{work} {n}" for work, n in sorted(busy.done.items())))
    print("crashes:", ", ".join(f"{moment} {count}" for moment, count in sorted(died.items())))
    print(
        f"{found['submissions']} submissions of {found['frames']} frames, none lost, none counted "
        "twice, every report that of the batch"
    )
    assert incidents == []
    if 3 * len(POINTS) <= CRASHES:
        assert set(died) >= {AT_RANDOM, STARTING, *POINTS}


def _shares() -> list[list[str]]:
    """The moments of all deaths in one schedule, so that servers die in every way."""
    moments = list(schedule(CRASHES))
    ends = [CRASHES * number // SITES for number in range(SITES + 1)]
    return [moments[start:end] for start, end in pairwise(ends)]

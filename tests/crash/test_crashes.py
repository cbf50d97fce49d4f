"""A server that is killed again and again loses nothing that it has acknowledged.

Clients stream submissions through the SDK while the server's process gets SIGKILL: at random
moments, and at each of its failpoints. `make crash-test CRASHES=500` does it for longer.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import grpc
import pytest
from tests.crash.busy import BusyOrganiser
from tests.crash.checking import SIZES, check_positions, check_reports
from tests.crash.organiser import Organiser
from tests.crash.servers import KilledServer
from tests.crash.writers import Position, Writer
from tests.server.domain.sky import truth
from tools.campaign_record import record

from vidscore_server.runtime import FAILPOINTS

pytestmark = pytest.mark.campaign

CRASHES = int(os.environ.get("CRASHES", "30"))
SEED = int(os.environ.get("SEED", "0"))

TEAMS = {"red": 1, "blue": 2, "green": 1}
"""Teams, and in how many streams each sends a submission."""

AT_RANDOM = "at random"
STARTING = "while starting"
LONGEST_START_S = 2.0
EVERY_STARTING = 6
"""Every so manieth crash comes while the server starts."""
LIVE = {"after_give_out"}
"""What only live benchmarks reach; tests/server/domain/test_live_killed.py kills there."""
POINTS = [point for point in FAILPOINTS if point not in LIVE]
LATEST_PASS = {"before_scoring": 2, "before_score_commit": 2}
REACH_TIMEOUT_S = 60.0


def test_no_crash_loses_an_acknowledged_frame_or_counts_one_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = KilledServer(tmp_path)
    try:
        with capsys.disabled():
            _crash_again_and_again(server, tmp_path)
    finally:
        server.kill()
        assert server.incidents() == []


def _crash_again_and_again(server: KilledServer, folder: Path) -> None:
    began_s = time.monotonic()
    server.start()
    with grpc.insecure_channel(server.address) as channel:
        organiser = Organiser(channel, server.secret)
        organiser.host(truth(max(SIZES)))
        writers = [
            Writer(server.address, team, organiser.token(team), stream_count, SIZES)
            for team, stream_count in TEAMS.items()
        ]
        server.kill()
    busy = BusyOrganiser(server.address, server.secret, folder)
    print(f"\n{CRASHES} crashes, seed {SEED}")
    workers: list[Writer | BusyOrganiser] = [*writers, busy]
    for worker in workers:
        worker.start()
    reached: Counter[str] = Counter()
    known: list[Position] = []
    for number, (point, passes) in enumerate(_schedule(CRASHES), 1):
        moment = _crash(server, point, passes, known)
        reached[moment] += 1
        known = [position for writer in writers for position in writer.positions()]
        sealed = sum(len(writer.sent) for writer in writers)
        print(f"crash {number:4}: {moment}, {sealed} submissions sealed")
    server.start()
    for worker in workers:
        worker.finish()
    sent = [entry for writer in writers for entry in writer.sent]
    with grpc.insecure_channel(server.address) as channel:
        check_reports(Organiser(channel, server.secret), sent)
    frames = sum(entry.frame_count for entry in sent)
    moments = ", ".join(f"{moment} {count}" for moment, count in sorted(reached.items()))
    competitions = sum(writer.competitions for writer in writers)
    faults = {"SIGKILLs of a server": CRASHES, "competitions for a stream": competitions}
    record("kills", SEED, faults, [], time.monotonic() - began_s)
    done = ", ".join(f"{work} {count}" for work, count in sorted(busy.done.items()))
    print(f"the organiser: {done}")
    print(
        f"{CRASHES} crashes ({moments}): {len(sent)} submissions of {frames} frames, none lost, "
        "none counted twice, every report that of the batch"
    )
    if 3 * len(POINTS) <= CRASHES:
        assert set(reached) >= {AT_RANDOM, STARTING, *POINTS}


def _schedule(count: int) -> Iterator[tuple[str, int]]:
    """Every other crash at a random moment, the others at the failpoints in turn."""
    chance = Random(SEED)
    for number in range(count):
        if number % EVERY_STARTING == EVERY_STARTING - 2:
            yield STARTING, chance.randint(1, 40)
            continue
        point = POINTS[number // 2 % len(POINTS)] if number % 2 else AT_RANDOM
        yield point, chance.randint(1, LATEST_PASS.get(point, 40))


def _crash(server: KilledServer, point: str, passes: int, known: list[Position]) -> str:
    """Start the server, see that it has what it had, and let it die; gives where it died."""
    if point == STARTING:
        server.begin()
        time.sleep(passes / 40 * LONGEST_START_S)
        server.kill()
        return STARTING
    if point == AT_RANDOM:
        server.start()
        with grpc.insecure_channel(server.address) as channel:
            check_positions(Organiser(channel, server.secret), known)
        time.sleep(passes / 40)
        server.kill()
        return AT_RANDOM
    server.start(f"{point}=kill@{passes}")
    died = server.dies_within(REACH_TIMEOUT_S)
    server.kill()
    return point if died else f"{point} not reached"

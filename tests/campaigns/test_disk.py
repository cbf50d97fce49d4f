"""Disk faults lose no acknowledged data, and no score comes from damaged data.

A server's disk is full, fails, writes half, becomes read-only, or is taken away while clients
stream; each time they continue once it works again. And bits of a store's file are flipped before a
server starts.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections import Counter
from pathlib import Path
from random import Random

import grpc
import pytest
from tests.campaigns.settings import EFFORT, SEED
from tests.campaigns.shim import Faults, Mode, preloaded
from tests.crash.servers import KilledServer
from tests.crash.sites import Site
from tests.server.domain.hosted import Hosted, hosting
from tests.server.domain.sky import batch, batch_report, truth
from tests.server.scene import report_bytes
from tests.support.waiting import PAUSE_S, eventually
from tools.campaign_record import record

from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.store.errors import StoreError

pytestmark = pytest.mark.campaign

STORE = "store.db"
WINDOWS = 3
"""How often a round, of which there are `EFFORT`, repeats each kind of disk fault."""

FLIPPED_FILES = 24
"""Files with flipped bits per round."""

TEAMS = {"red": 1, "blue": 2, "green": 2}
WINDOW_S = 2.0
"""Longest wait for all faults of a window; only the first one is sure to come, unless it is a fault
of a read, which may be cached."""

WORDS = {
    Mode.FULL: "times full",
    Mode.WRITE_ERROR: "times EIO of writes",
    Mode.SHORT: "times short writes",
    Mode.SYNC_ERROR: "times EIO of fsync",
    Mode.READ_ERROR: "times EIO of reads",
    Mode.READ_ONLY: "times read-only",
}


def test_a_failing_disk_loses_no_acknowledged_frame(tmp_path: Path) -> None:
    for number in range(EFFORT):
        began_s, seed = time.monotonic(), SEED + number
        folder = tmp_path / str(number)
        folder.mkdir()
        tried = _Run(folder, Random(seed)).run()
        record("disk", seed, tried, [], time.monotonic() - began_s)
        assert set(WORDS.values()) - set(tried) <= {WORDS[Mode.READ_ERROR]}


class _Run:
    """A server with repeated disk faults while clients stream."""

    def __init__(self, folder: Path, chance: Random) -> None:
        self.folder = folder
        self.chance = chance
        self.server = KilledServer(folder)
        self.faults = Faults(folder / "faults")
        environment = preloaded((folder / STORE).resolve(), faults=self.faults.path)
        self.server.environment.update(environment)
        self.tried: Counter[str] = Counter()

    def run(self) -> Counter[str]:
        self.server.start()
        try:
            site = Site.made([self.server], TEAMS)
            with site.written_to():
                modes = [mode for mode in WORDS for _ in range(WINDOWS)]
                self.chance.shuffle(modes)
                for mode in modes:
                    self.fail(mode)
                    site.check_going_on()
                self.take_away()
                site.check_known()
            site.check_end()
            return self.tried
        finally:
            self.faults.end()
            self.server.kill()

    def fail(self, mode: Mode) -> None:
        """Make the disk fail for a while."""
        self.faults.begin(mode, every=self.chance.choice((1, 1, 2, 5)))
        wanted, end_s = self.chance.randint(1, 6), time.monotonic() + WINDOW_S
        while self.faults.hits < wanted and time.monotonic() < end_s:
            time.sleep(PAUSE_S)
        if mode is not Mode.READ_ERROR:
            eventually(lambda: self.faults.hits > 0)
        if self.faults.end():
            self.tried[WORDS[mode]] += 1

    def take_away(self) -> None:
        """Move the store's files away: the server ends, and the next one continues with them."""
        kept = self.folder / "kept"
        kept.mkdir()
        files = [self.folder / STORE, self.folder / f"{STORE}-wal"]
        moved = [file.rename(kept / file.name) for file in files]
        copies = [shutil.copyfile(file, kept / f"{file.name}.copy") for file in moved]
        assert self.server.ends() != 0, "a server went on without its store"
        for copy, file in zip(copies, files, strict=True):
            copy.replace(file)
        (self.folder / f"{STORE}-shm").unlink(missing_ok=True)
        self.server.start()
        self.tried["times taken away"] += 1


FRAME_COUNT = 20
SENT = range(0, FRAME_COUNT, 2)


async def test_no_score_comes_from_flipped_bits(tmp_path: Path) -> None:
    async with hosting(tmp_path, held=True) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.organiser.upload(truth(FRAME_COUNT))
        await hosted.red.submit(batch(SENT))
        secret = hosted.organiser.secret
    whole = (tmp_path / STORE).read_bytes()
    began_s, tried, findings = time.monotonic(), Counter[str](), list[str]()
    for number in range(EFFORT * FLIPPED_FILES):
        folder = tmp_path / str(number)
        folder.mkdir()
        bits = _flipped(whole, folder / STORE, Random(f"{SEED} {number}"))
        outcome = await _outcome(folder, secret)
        tried[f"files with flipped bits: {outcome}"] += 1
        if outcome == "wrong":
            findings.append(f"flipped bits {bits} of file {number} gave another score")
        shutil.rmtree(folder)
    record("disk", SEED, tried, findings, time.monotonic() - began_s)
    assert findings == []


def _flipped(whole: bytes, path: Path, chance: Random) -> list[int]:
    """Write a file with some bits flipped; returns which."""
    damaged = bytearray(whole)
    bits = chance.sample(range(8 * len(whole)), chance.choice((1, 4, 64)))
    for bit in bits:
        damaged[bit // 8] ^= 1 << bit % 8
    path.write_bytes(damaged)
    return bits


async def _outcome(folder: Path, secret: str) -> str:
    """What a server does with a store: refused, failed, left, or scored, correctly or wrongly."""
    try:
        async with asyncio.timeout(20), hosting(folder) as hosted:
            return await _scored(hosted, secret)
    except (StoreError, grpc.RpcError):
        return "refused"
    except TimeoutError:
        # For example, a table lacks a column, and the log reports it each round.
        return "left unscored"


async def _scored(hosted: Hosted, secret: str) -> str:
    organiser = hosted.client(secret)
    ended = await organiser.ended()
    if ended.submission.state != pb.SUBMISSION_STATE_SCORED:
        return "failed"
    [score] = await organiser.scores()
    found = report_bytes(score.report)
    return "scored as they were" if found == batch_report(FRAME_COUNT, SENT) else "wrong"

"""No power cut loses an acknowledged frame, or leaves a store that does not open.

A server runs on a store of which every change is logged, together with every acknowledgement that
clients got. From the log the test builds states that a power cut at any moment could have left, and
opens each as a server would.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import grpc
import pytest
from tests.campaigns.images import STORE, Acknowledged, faults_of
from tests.campaigns.power_cuts import Disk, Image
from tests.campaigns.settings import EFFORT, SEED
from tests.campaigns.shim import Change, Entry, Log, preloaded
from tests.crash.organiser import Organiser
from tests.crash.servers import KilledServer
from tests.crash.writers import Writer
from tests.server.domain.sky import truth
from tests.support.waiting import eventually
from tools.campaign_record import record

pytestmark = pytest.mark.campaign

IMAGES = 360 * min(EFFORT, 5)
"""Images of a round, of which there are `EFFORT`.

The trace of a round has many more moments than that, and takes longer than checking its images.
"""

LEAST_ACKNOWLEDGED = 60
"""Minimum number of acknowledgements of each of the three runs of the server in a round."""

MOST_FINDINGS = 5
SIZES = (60, 120)
TEAMS = {"red": 1, "blue": 2, "green": 3}


def test_no_power_cut_loses_an_acknowledged_frame(tmp_path: Path) -> None:
    for number in range(EFFORT):
        began_s, seed = time.monotonic(), SEED + number
        folder = tmp_path / str(number)
        folder.mkdir()
        entries = _trace(folder)
        assert {entry.change for entry in entries} >= set(Change) - {Change.RENAMED}
        tried, findings = _cut(entries, Random(seed), folder / "image")
        record("crash images", seed, tried, findings, time.monotonic() - began_s)
        assert findings == []


def _trace(folder: Path) -> list[Entry]:
    """Three runs of a server while clients stream: it is stopped, killed, and stopped."""
    store, log = folder / STORE, Log(folder / "log")
    environment = preloaded(store, log.path)
    made = subprocess.run(
        [sys.executable, "-m", "vidscore_cli", "init", "--store", str(store)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    log.acknowledge(MADE)
    [secret] = made.stdout.split()
    server = KilledServer(folder, (str(store), secret))
    server.environment.update(environment)
    server.start()
    try:
        with grpc.insecure_channel(server.address) as channel:
            organiser = Organiser(channel, secret)
            organiser.host(truth(max(SIZES)))
            writers = [
                Writer(server.address, team, organiser.token(team), streams, SIZES)
                for team, streams in TEAMS.items()
            ]
        with _acknowledging(writers, log) as count:
            for writer in writers:
                writer.start()
            for life, end in enumerate((server.restart, server.kill, server.stop), 1):
                eventually(lambda: count["all"] >= life * LEAST_ACKNOWLEDGED)  # noqa: B023 - called at once
                if life == 3:
                    for writer in writers:
                        writer.finish()
                end()
                if end == server.kill:
                    server.start()
    finally:
        server.kill()
        log.close()
    return list(log.entries())


MADE = Acknowledged("", "", 0).text
"""Acknowledges the creation of the store."""


@contextmanager
def _acknowledging(writers: list[Writer], log: Log) -> Iterator[Counter[str]]:
    """Log what clients are told, as they are told."""
    count: Counter[str] = Counter()
    ended = threading.Event()

    def watch() -> None:
        known: dict[tuple[str, str], int] = {}
        sealed = dict.fromkeys(writers, 0)
        while True:
            last = ended.is_set()
            for writer in writers:
                told = [
                    Acknowledged(*_short(entry.submission), entry.stream, entry.acknowledged)
                    for entry in writer.positions()
                ]
                new = writer.sent[sealed[writer] :]
                sealed[writer] += len(new)
                told += [Acknowledged(*_short(entry.name), "", entry.frame_count) for entry in new]
                for entry in told:
                    key = entry.submission, entry.stream
                    if entry.frame_count > known.get(key, 0):
                        known[key] = entry.frame_count
                        log.acknowledge(entry.text)
                        count["all"] += 1
            if last:
                return
            time.sleep(0.001)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield count
    finally:
        ended.set()
        watching.join()


def _short(name: str) -> tuple[str]:
    return (name.rpartition("/")[2],)


def _cut(entries: list[Entry], chance: Random, folder: Path) -> tuple[Counter[str], list[str]]:
    """Check images of random moments; returns how many of each kind, and the faults."""
    disk, tried, findings = Disk(), Counter[str](), list[str]()
    moments = Counter(chance.choices(range(len(entries)), k=IMAGES // len(KINDS)))
    for number, entry in enumerate(entries):
        disk.take(entry)
        if not moments[number] or MADE not in disk.acknowledged:
            continue
        told = _newest(disk.acknowledged)
        for kind in KINDS:
            image = _image(disk, kind, chance)
            tried[kind] += 1
            findings += [
                f"{fault} (entry {number}, {kind})" for fault in faults_of(image, told, folder)
            ]
        if len(findings) >= MOST_FINDINGS:
            break
    return tried, findings


KINDS = ("deaths of the process", "power cuts", "power cuts with torn or reordered writes")


def _image(disk: Disk, kind: str, chance: Random) -> Image:
    if kind == "deaths of the process":
        return disk.killed()
    return disk.synchronised() if kind == "power cuts" else disk.cut(chance)


def _newest(acknowledged: list[str]) -> list[Acknowledged]:
    """The last acknowledgement of each stream and submission, which covers the earlier ones."""
    told = (Acknowledged.read(text) for text in acknowledged if text != MADE)
    return list({(entry.submission, entry.stream): entry for entry in told}.values())

"""A Dask cluster of processes whose workers can be paused, changed and killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.waiting import TIMEOUT_S, eventually

SCORE_SHARD = ("vidscore_evaluators.shards.tasks", "score_shard")

HOLD = """
import itertools, os, time
from pathlib import Path
import {module} as held

folder = Path({folder!r})
calls = itertools.count()
# Dask may run this more than once.
real = getattr(held, "real", held.{function})
held.real = real

def {function}(*arguments):
    (folder / f"{{os.getpid()}}.{{next(calls)}}.begun").touch()
    free = {free}
    while len(list(folder.glob("*.begun"))) > free and not (folder / "go").exists():
        time.sleep(0.01)
    return real(*arguments)

held.{function} = {function}
"""
"""Workers that record each call, and wait for a file after a given number of calls."""

OTHER_VERSION = """
import {module} as held

held.software_versions = lambda: {{"numpy": "1.0", "scipy": "1.0", "vidscore": "0.0.1"}}
"""
"""Workers in whose environment another version is installed."""


@dataclass
class Cluster:
    """A scheduler and its workers.

    Attributes:
        folder: Holds their files.
        scheduler: The process of the scheduler.
        task: Module and name of the function that its tasks call.
        workers: The processes of the workers.
    """

    folder: Path
    scheduler: subprocess.Popen[bytes]
    task: tuple[str, str]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Address of the scheduler."""
        document = json.loads((self.folder / "scheduler.json").read_text())
        address: str = document["address"]
        return address

    @property
    def begun(self) -> list[str]:
        """Process and number of each call that has begun in pausable workers."""
        return [path.name for path in self.folder.glob("*.begun")]

    def add_worker(self, preload: str = "") -> subprocess.Popen[bytes]:
        """Start a worker of one thread, which runs a program first."""
        name = f"preload{len(self.workers)}.py"
        (self.folder / name).write_text(preload)
        worker = started(
            self.folder,
            "dask_worker",
            *("--scheduler-file", "scheduler.json", "--nthreads", "1", "--no-nanny"),
            *("--no-dashboard", "--preload", name),
        )
        self.workers.append(worker)
        return worker

    def add_held_worker(self, free: int = 0) -> subprocess.Popen[bytes]:
        """Start a worker that pauses after this many calls in all have begun, until `release`."""
        module, function = self.task
        return self.add_worker(
            HOLD.format(module=module, function=function, folder=str(self.folder), free=free)
        )

    def add_worker_of_other_version(self) -> subprocess.Popen[bytes]:
        """Start a worker in whose environment another version is installed."""
        return self.add_worker(OTHER_VERSION.format(module=self.task[0]))

    def release(self) -> None:
        """Let paused workers continue."""
        (self.folder / "go").touch()


def started(folder: Path, program: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a program of Dask."""
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{program}", *arguments],
            cwd=folder,
            stdout=log,
            stderr=log,
        )


@contextmanager
def running_cluster(folder: Path, task: tuple[str, str] = SCORE_SHARD) -> Iterator[Cluster]:
    """A scheduler without workers; it and all added workers end with the context.

    Args:
        folder: Folder for its files; it is created.
        task: Module and name of the function that its tasks call.
    """
    folder.mkdir()
    scheduler = started(
        folder,
        "dask_scheduler",
        *("--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
        *("--scheduler-file", "scheduler.json"),
    )
    cluster = Cluster(folder, scheduler, task)
    try:
        eventually(lambda: _is_whole(folder / "scheduler.json"))
        yield cluster
    finally:
        for process in (*cluster.workers, scheduler):
            process.kill()
            process.wait(TIMEOUT_S)


def _is_whole(file: Path) -> bool:
    """Whether a document has been written completely."""
    try:
        json.loads(file.read_text())
    except (OSError, ValueError):
        return False
    return True


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process as the system does, and wait until it has ended."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait(TIMEOUT_S)

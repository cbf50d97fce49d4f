"""Start servers as processes, and create a hosted benchmark on our server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

VIDSCORE = str(Path(sys.executable).with_name("vidscore"))
BENCHMARK = "speed"
STORE = "site.db"
IDLE_S = 0.05
"""Processor seconds per second; a server that uses less is idle."""

_ADDRESS = re.compile(r"serves at (\S+:\d+)")
_SITE = re.compile(r"site is at (\S+)")
_DEFINITION = """
title = "Speed"
truth_geometry = "point"
detection_geometry = "point"

[[evaluators]]
name = "f1"
parameters = { base = "euclidean" }

[policy]
visibility = "live"
submissions_in_all = 0
minimum_frames = 1
"""


@dataclass(frozen=True, slots=True)
class Host:
    """A server that hosts a benchmark.

    Attributes:
        address: Host and port.
        organiser: Token of an organiser.
        secret: Token of a participant.
        served: The server.
    """

    address: str
    organiser: str
    secret: str
    served: Served


@dataclass(frozen=True, slots=True)
class Served:
    """A server that was started.

    Attributes:
        address: Host and port.
        site: Address of its site; empty: it has none.
        pid: Its process id.
    """

    address: str
    site: str
    pid: int

    def memory_bytes(self) -> float:
        """Memory of the server and its workers; shared memory counts once."""
        return float(sum(map(_proportional_bytes, _family(self.pid))))

    def processor_s(self) -> float:
        """Processor seconds of the server and its workers so far."""
        return processor_s(self.pid)


@contextmanager
def echo_server() -> Iterator[Served]:
    """A server that only answers."""
    with _started([sys.executable, "-m", "bench.servers.echo"]) as served:
        yield served


@contextmanager
def scoring_server(*options: str) -> Iterator[Served]:
    """Our server without a store.

    Args:
        options: Options of ``vidscore serve``.
    """
    with _started([VIDSCORE, "serve", "--listen", "127.0.0.1:0", *options]) as served:
        yield served


@contextmanager
def hosting_server(folder: Path, truth: Path, *options: str, store: str = "") -> Iterator[Host]:
    """Our server with a store, and a benchmark with truth.

    Args:
        folder: Folder for its files.
        truth: File of the truth.
        options: Options of ``vidscore serve``.
        store: Address of an empty database for the store; empty: a file in the folder.
    """
    secret = _run(["init", "--store", store or str(folder / STORE)])
    with serving_store(store or folder / STORE, *options) as served:
        address = served.address
        organiser = {"VIDSCORE_TOKEN": secret, "VIDSCORE_SERVER": address}
        definition = folder / "benchmark.toml"
        definition.write_text(_DEFINITION, encoding="utf-8")
        _run(["benchmark", "create", BENCHMARK, str(definition)], organiser)
        _run(["benchmark", "truth", BENCHMARK, "--truth", str(truth), "--complete"], organiser)
        participant = _run(["token", "create", "participant", "--team", "speed"], organiser)
        yield Host(address, secret, participant, served)


@contextmanager
def serving_store(store: Path | str, *options: str) -> Iterator[Served]:
    """Our server over a store.

    Args:
        store: File of the store, or address of its database.
        options: Options of ``vidscore serve``.
    """
    command = [VIDSCORE, "serve", "--store", str(store), "--listen", "127.0.0.1:0", *options]
    with _started(command) as served:
        yield served


def settle(served: Served, timeout_s: float = 120.0) -> None:
    """Wait until a server has finished its start-up work and is idle.

    Args:
        served: The server.
        timeout_s: Maximum wait; after it, this returns without an error.
    """
    end_s = time.monotonic() + timeout_s
    before_s, used_s = -IDLE_S, served.processor_s()
    while used_s - before_s >= IDLE_S and time.monotonic() < end_s:
        time.sleep(1.0)
        before_s, used_s = used_s, served.processor_s()


def _run(arguments: list[str], variables: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [VIDSCORE, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **(variables or {})},
    )
    return done.stdout.strip()


@contextmanager
def _started(command: list[str]) -> Iterator[Served]:
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        address = _said(process, _ADDRESS)
        site = _said(process, _SITE) if "--web" in command else ""
        yield Served(address, site, process.pid)
    finally:
        process.terminate()
        process.wait(timeout=60)


def _said(process: subprocess.Popen[str], sought: re.Pattern[str]) -> str:
    """The address that a server prints."""
    assert process.stdout is not None
    for line in process.stdout:
        found = sought.search(line)
        if found:
            return found[1]
    raise RuntimeError(f"a server ended before it served, with status {process.wait()}")


def _family(pid: int) -> Iterator[int]:
    """A process and its descendants."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # the thread has ended
            for child in children.read_text(encoding="ascii").split():
                yield from _family(int(child))


def processor_s(pid: int) -> float:
    """Processor seconds of a process and its descendants, including ended ones."""
    ticks = 0
    for member in _family(pid):
        with suppress(FileNotFoundError):  # it has ended, and its parent counts its time
            text = Path(f"/proc/{member}/stat").read_text(encoding="ascii")
            # utime and stime, own and of ended children
            ticks += sum(map(int, text.rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _proportional_bytes(pid: int) -> int:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    [kibibytes] = re.findall(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)
    return int(kibibytes) * 1024

"""Start servers as processes, and make a hosted benchmark on ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

VIDSCORE = str(Path(sys.executable).with_name("vidscore"))
BENCHMARK = "speed"
STORE = "site.db"
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
        site: Address of its site; empty without one.
        pid: Its process.
    """

    address: str
    site: str
    pid: int

    def memory_bytes(self) -> float:
        """Memory of the server and its workers; what they share counts once."""
        return float(sum(map(_proportional_bytes, _family(self.pid))))


@contextmanager
def echo_server() -> Iterator[str]:
    """A server that only answers; gives its address."""
    with _started([sys.executable, "-m", "bench.servers.echo"]) as served:
        yield served.address


@contextmanager
def scoring_server(*options: str) -> Iterator[Served]:
    """Our server without a store.

    Args:
        options: Of ``vidscore serve``.
    """
    with _started([VIDSCORE, "serve", "--listen", "127.0.0.1:0", *options]) as served:
        yield served


@contextmanager
def hosting_server(folder: Path, truth: Path, *options: str) -> Iterator[Host]:
    """Our server with a store in a folder, and a benchmark with truth.

    Args:
        folder: Where the store goes.
        truth: File of the truth.
        options: Of ``vidscore serve``.
    """
    secret = _run(["init", "--store", str(folder / STORE)])
    with serving_store(folder, *options) as served:
        address = served.address
        organiser = {"VIDSCORE_TOKEN": secret, "VIDSCORE_SERVER": address}
        definition = folder / "benchmark.toml"
        definition.write_text(_DEFINITION, encoding="utf-8")
        _run(["benchmark", "create", BENCHMARK, str(definition)], organiser)
        _run(["benchmark", "truth", BENCHMARK, "--truth", str(truth), "--complete"], organiser)
        participant = _run(["token", "create", "participant", "--team", "speed"], organiser)
        yield Host(address, secret, participant, served)


@contextmanager
def serving_store(folder: Path, *options: str) -> Iterator[Served]:
    """Our server over the store in a folder.

    Args:
        folder: Where the store is.
        options: Of ``vidscore serve``.
    """
    store = str(folder / STORE)
    command = [VIDSCORE, "serve", "--store", store, "--listen", "127.0.0.1:0", *options]
    with _started(command) as served:
        yield served


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
    """What a server says of where it serves."""
    assert process.stdout is not None
    for line in process.stdout:
        found = sought.search(line)
        if found:
            return found[1]
    raise RuntimeError(f"a server ended before it served, with status {process.wait()}")


def _family(pid: int) -> Iterator[int]:
    """A process and all that it has started."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text(encoding="ascii").split():
            yield from _family(int(child))


def _proportional_bytes(pid: int) -> int:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    [kibibytes] = re.findall(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)
    return int(kibibytes) * 1024

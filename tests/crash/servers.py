"""A hosting server that is killed and restarted, at one address and over one store."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Protocol

from tests.crash.nursery import Nursery
from tests.support.ports import HOST, free_port

from vidscore_server.domain.administration import initialise
from vidscore_server.runtime import FAILPOINTS_VARIABLE

COMMAND = (sys.executable, "-m", "vidscore_cli", "serve")
TIMEOUT_S = 120.0
KILLED = -9

SETTINGS = {
    "workers": "1",
    "upkeep_interval_ms": "50",
    # A client whose server is killed gets no message that it is gone.
    "idle_timeout_s": "10",
}


class Process(Protocol):
    """A process of a server."""

    pid: int
    stderr: IO[str] | None

    def kill(self) -> None:
        """End it at once."""

    def terminate(self) -> None:
        """Ask it to exit."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has exited; returns its exit code.

        Raises:
            subprocess.TimeoutExpired: If it has not exited in time.
        """


def new_site(store: str) -> tuple[str, str]:
    """Create a store; returns it and the secret of an organiser's token."""
    return store, initialise(store).secret


class KilledServer:
    """`vidscore serve` over a store, one process after the other.

    Args:
        folder: Folder of the store, if it is a file.
        site: Another store and the secret of its organiser's token; None for a new store in the
            folder.
        nursery: Forks its processes, which is cheaper; None to start each from scratch.
        settings: Settings of the server, in addition to those of every such server.

    Attributes:
        secret: Token of an organiser.
        address: Where it listens, the same in all its lives.
        environment: Further variables of its environment.
    """

    def __init__(
        self,
        folder: Path,
        site: tuple[str, str] | None = None,
        nursery: Nursery | None = None,
        **settings: str,
    ) -> None:
        """Create the store; nothing runs yet."""
        self.address = f"{HOST}:{free_port()}"
        self.environment: dict[str, str] = {}
        store, self.secret = site or new_site(str(folder / "store.db"))
        self._settings = {**SETTINGS, "store": store, **settings}
        self._log: list[str] = []
        self._nursery = nursery
        self._process: Process | None = None
        self._reader: threading.Thread | None = None

    def start(self, failpoints: str = "") -> None:
        """Start it, and wait until it listens."""
        addresses = self.begin(failpoints)
        address = addresses.get(timeout=TIMEOUT_S)
        assert address is not None, self.said()
        self.address = address

    def begin(self, failpoints: str = "") -> SimpleQueue[str | None]:
        """Start it; the returned queue gets its address once it listens, or None if it ends."""
        environment = environment_of({**self._settings, "listen": self.address}, failpoints)
        environment |= self.environment
        self._process = (
            started(environment) if self._nursery is None else self._nursery.start(environment)
        )
        addresses: SimpleQueue[str | None] = SimpleQueue()
        self._reader = threading.Thread(target=self._read, args=(self._process, addresses))
        self._reader.start()
        return addresses

    @property
    def site_address(self) -> str:
        """Address of its site in its present life; empty until it is known, or if there is none."""
        for line in reversed(self._log):
            if '"event": "site"' in line:
                return str(json.loads(line)["address"])
            if '"event": "listening"' in line:
                break
        return ""

    @property
    def metrics_address(self) -> str:
        """Address of its metrics in its present life, once it listens.

        It has one if the setting `metrics_listen` says so.
        """
        lines = [line for line in self._log if '"event": "metrics"' in line]
        return str(json.loads(lines[-1])["address"])

    @property
    def process_id(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    def dies_within(self, time_s: float) -> bool:
        """Wait until it has exited by itself; whether it has. Only SIGKILL is an allowed exit."""
        assert self._process is not None
        try:
            code = self._process.wait(time_s)
        except subprocess.TimeoutExpired:
            return False
        assert code == KILLED, self.said()
        return True

    def pause(self) -> None:
        """Stop its process, as if the machine hung, until `go_on`."""
        os.kill(self.process_id, signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it continue."""
        os.kill(self.process_id, signal.SIGCONT)

    @contextmanager
    def paused_children(self) -> Iterator[None]:
        """Stop its workers until the end of the block."""
        tasks = Path(f"/proc/{self.process_id}/task")
        children = {
            int(child)
            for task in tasks.iterdir()
            for child in (task / "children").read_text().split()
        }
        for child in children:
            os.kill(child, signal.SIGSTOP)
        try:
            yield
        finally:
            for child in children:
                os.kill(child, signal.SIGCONT)

    def has_said(self, words: str) -> bool:
        """Whether a line of its log contains a text."""
        return any(words in line for line in self._log)

    def kill(self) -> None:
        """End it at once, if it still runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._reader is not None:
            self._reader.join()

    def ends(self) -> int:
        """Wait until it has exited by itself; returns its exit code."""
        assert self._process is not None
        code = self._process.wait(TIMEOUT_S)
        if self._reader is not None:
            self._reader.join()
        return code

    def stop(self) -> int:
        """Stop it normally; returns its exit code."""
        assert self._process is not None
        self._process.terminate()
        return self.ends()

    def restart(self) -> None:
        """Stop it normally, and start the next one at the same address."""
        assert self.stop() == 0, self.said()
        self.start()

    def incidents(self) -> list[str]:
        """Log lines about unexpected errors, in all its lives."""
        return [line for line in self._log if '"incident"' in line]

    def _read(self, process: Process, addresses: SimpleQueue[str | None]) -> None:
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                self._log.append(line)
                if '"event": "listening"' in line:
                    addresses.put(json.loads(line)["address"])
        addresses.put(None)  # It has exited.

    def said(self) -> str:
        """The last lines of its log."""
        return "".join(self._log[-20:])


def environment_of(settings: Mapping[str, str], failpoints: str = "") -> dict[str, str]:
    """The variables that give a server its settings."""
    found = {f"VIDSCORE_SERVER_{name.upper()}": text for name, text in settings.items()}
    return {**found, FAILPOINTS_VARIABLE: failpoints}


def started(environment: Mapping[str, str]) -> subprocess.Popen[str]:
    """A server from scratch, whose log can be read."""
    return subprocess.Popen(
        COMMAND,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )

"""Servers forked from a process that has loaded the server, which makes starting one cheap.

Loading is nearly all of the two seconds of processor time that `vidscore serve` takes to listen.
The nursery has one thread and has never used gRPC, so its children are as good as fresh processes;
each is a server like any other, with its own workers, and can be killed.
"""

from __future__ import annotations

import importlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, NoReturn, Self

from tests.support.tree import ROOT

MESSAGE_BYTES = 1 << 16
LOADED = (
    "vidscore_cli.main",
    "vidscore_server.commands.serve",
    "vidscore_server.start",
    "vidscore_server.store.sqlite",
    "vidscore_server.store.postgresql",
)
"""Modules that a server loads while it starts."""


class ForkedServer:
    """A server of the nursery, with the part of `subprocess.Popen` that tests use.

    Args:
        life: The pipe on which the nursery reports its process and how it ends.
        stderr: Its log.

    Attributes:
        pid: Its process id.
        stderr: Its log.
    """

    def __init__(self, life: socket.socket, stderr: IO[str]) -> None:
        """Wait until it has been forked."""
        self.stderr: IO[str] | None = stderr
        self._life = life
        self._code: int | None = None
        self.pid = int(life.recv(MESSAGE_BYTES))
        # Its process id may soon belong to another process.
        self._process = os.pidfd_open(self.pid)

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        try:
            signal.pidfd_send_signal(self._process, number)
        except ProcessLookupError:
            return

    def kill(self) -> None:
        """End it at once."""
        if self._code is None:
            self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to exit."""
        if self._code is None:
            self.send_signal(signal.SIGTERM)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has exited; returns its exit code.

        Raises:
            subprocess.TimeoutExpired: If it has not exited in time.
        """
        if self._code is None:
            self._life.settimeout(timeout)
            try:
                self._code = int(self._life.recv(MESSAGE_BYTES))
            except TimeoutError:
                raise subprocess.TimeoutExpired("server", timeout or 0.0) from None
            self._life.close()
            os.close(self._process)
        return self._code


class Nursery:
    """A process that has loaded the server and forks one on each request."""

    def __enter__(self) -> Self:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            code = f"from tests.crash import nursery; nursery.rear({theirs.fileno()})"
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                # Threads of a numerical library would be missing in the children.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                pass_fds=[theirs.fileno()],
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._control.close()
        assert self._process.wait() == 0

    def start(self, environment: Mapping[str, str]) -> ForkedServer:
        """Start a server.

        Args:
            environment: Variables in addition to those of this process.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        reading, writing = os.pipe()
        with theirs:
            message = json.dumps(dict(environment)).encode()
            socket.send_fds(self._control, [message], [theirs.fileno(), writing])
        os.close(writing)
        return ForkedServer(ours, os.fdopen(reading))


def rear(control_file: int) -> None:
    """Be the nursery: fork servers until there are no more requests."""
    for name in LOADED:
        importlib.import_module(name)
    control = socket.socket(fileno=control_file)
    lives: dict[int, socket.socket] = {}
    awake, waking = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(waking)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    with selectors.DefaultSelector() as ready:
        ready.register(control, selectors.EVENT_READ)
        ready.register(awake, selectors.EVENT_READ)
        while True:
            names = {key.fd for key, _ in ready.select()}
            if awake in names:
                os.read(awake, MESSAGE_BYTES)
                _bury(lives)
            if control_file not in names:
                continue
            message, files, _, _ = socket.recv_fds(control, MESSAGE_BYTES, 2)
            if not message:
                break
            assert len(list(Path("/proc/self/task").iterdir())) == 1
            life_file, log = files
            process_id = os.fork()
            if process_id == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.dup2(log, sys.stderr.fileno())
                # The text wrapper over it assumes that the file is the one it was.
                sys.stderr = os.fdopen(sys.stderr.fileno(), "w", buffering=1, closefd=False)
                ready.close()
                for inherited in (control, *lives.values()):
                    inherited.close()
                for file in (awake, waking, log, life_file):
                    os.close(file)
                _serve(json.loads(message))
            os.setpgid(process_id, process_id)
            os.close(log)
            lives[process_id] = socket.socket(fileno=life_file)
            lives[process_id].send(str(process_id).encode())
    for process_id in lives:
        os.kill(process_id, signal.SIGKILL)


def _bury(lives: dict[int, socket.socket]) -> None:
    """Report the exit code of each server that has exited, and end its remaining workers.

    The workers would end by themselves, once they have loaded their modules: a second per death.
    """
    for process_id in list(lives):
        if os.waitid(os.P_PID, process_id, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            continue
        os.killpg(process_id, signal.SIGKILL)
        _, status = os.waitpid(process_id, 0)
        with lives.pop(process_id) as life:
            life.send(str(os.waitstatus_to_exitcode(status)).encode())


def _serve(environment: Mapping[str, str]) -> NoReturn:
    """Be a server in its own process."""
    from vidscore_cli.main import main

    os.environ.update(environment)
    sys.argv = ["vidscore", "serve"]
    main()

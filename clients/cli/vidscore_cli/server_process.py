"""A server of one's own: started in another process, stopped as an operator would stop it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from types import TracebackType
from typing import IO, Self

from vidscore_cli.failures import ServerUnreachableError

HOST = "127.0.0.1"

STOP_TIMEOUT_S = 20.0
"""Seconds that the server has to end after SIGTERM before it is killed."""


class ServerProcess:
    """A `vidscore serve` on a free port of this machine.

    Args:
        options: Further options of `vidscore serve`.

    Attributes:
        address: Where it listens; known once the context is entered.
        exit_code: How it ended; None while it runs.
    """

    def __init__(self, *options: str) -> None:
        """Prepare; nothing runs yet."""
        self._options = options
        self.address = ""
        self.exit_code: int | None = None
        self._log: IO[bytes] | None = None
        self._said = ""
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        """Start it and wait until it says where it listens.

        Raises:
            ServerUnreachableError: If it ends instead; the text is what it said.
        """
        self._log = tempfile.TemporaryFile()
        command = [sys.executable, "-m", "vidscore_cli", "serve", "--listen", f"{HOST}:0"]
        self._process = subprocess.Popen(
            [*command, *self._options], stdout=subprocess.PIPE, stderr=self._log, encoding="utf-8"
        )
        stdout = self._process.stdout
        line = stdout.readline() if stdout else ""
        self.address = next((word for word in line.split() if word.startswith(f"{HOST}:")), "")
        if not self.address:
            self._stop()
            raise ServerUnreachableError(f"the server did not start: {self._said or line}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it."""
        self._stop()

    def kill(self) -> None:
        """End it at once, as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _stop(self) -> None:
        process = self._process
        if process is None:
            return
        process.terminate()
        try:
            self.exit_code = process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            self.exit_code = process.wait()
        if process.stdout:
            process.stdout.close()
        if self._log:
            with self._log:
                self._log.seek(0)
                self._said = self._log.read().decode(errors="replace").strip()

"""The demo's server in its own process, and a connection to it that can be cut."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from typing import IO, Self

import click

from vidscore_cli.failures import ServerUnreachableError
from vidscore_cli.session import ExitCode

HOST = "127.0.0.1"

STOP_TIMEOUT_S = 20.0
"""Seconds between SIGTERM and killing the server."""

CHUNK_BYTES = 1 << 16


class ServerProcess:
    """A `vidscore serve` on a free port of this machine.

    Args:
        options: Further options of `vidscore serve`.

    Attributes:
        address: The address that it listens at; known once the context is entered.
        site: Address of its site, likewise; empty without ``--web``.
        exit_code: Its exit code; None while it runs.
    """

    def __init__(self, *options: str) -> None:
        self._options = options
        self.address = ""
        self.site = ""
        self.exit_code: int | None = None
        self._log: IO[bytes] | None = None
        self._said = ""
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        """Start it, and wait for the line with its address.

        Raises:
            UsageError: If its options are wrong, or need something that is not installed.
            ServerUnreachableError: If it ends otherwise; the message is its last line of output.
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
            [*_, why] = ["", *(self._said or line).splitlines()]  # after the log
            text = f"the server did not start: {why.removeprefix('Error: ')}"
            if self.exit_code == ExitCode.USAGE:
                raise click.UsageError(text)
            raise ServerUnreachableError(text)
        if stdout and "--web" in self._options:
            self.site = stdout.readline().split()[-1]
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self._stop()

    def kill(self) -> None:
        """Kill it, like a crash."""
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


class Relay:
    """Listens at its own address, and forwards data to and from a server.

    Args:
        server: Address of the server, ``host:port``.

    Attributes:
        address: The address that it listens at; known once the context is entered.
        connections: Number of connections that clients have made.
    """

    def __init__(self, server: str) -> None:
        host, _, port = server.rpartition(":")
        self.address = ""
        self.connections = 0
        self._server = (host, int(port))
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener: socket.socket | None = None

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._listener = socket.create_server((HOST, 0))
        self.address = f"{HOST}:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and close every connection."""
        if self._listener is not None:
            _close(self._listener)
        self.cut()

    def cut(self) -> None:
        """Break every connection, in the middle of its data."""
        with self._lock:
            ends, self._open = self._open, set()
        for end in ends:
            _close(end)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):  # the listener is closed
            while True:
                client, _ = listener.accept()
                with suppress(OSError):  # the server is gone, so the client is closed
                    self._connect(client)

    def _connect(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(self._server)
        except OSError:
            _close(client)
            raise
        with self._lock:
            self.connections += 1
            self._open |= {client, server}
        for source, target in ((client, server), (server, client)):
            threading.Thread(target=_carry, args=(source, target), daemon=True).start()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):  # one of them was closed
        while data := source.recv(CHUNK_BYTES):
            target.sendall(data)
    _close(source)
    _close(target)


def _close(end: socket.socket) -> None:
    with suppress(OSError):  # it is not connected any more
        end.shutdown(socket.SHUT_RDWR)
    end.close()

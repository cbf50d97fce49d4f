"""A network cable that can be cut: carries bytes between clients and a server of this machine."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

HOST = "127.0.0.1"
CHUNK_BYTES = 1 << 16


class Relay:
    """Listens at an address of its own and carries what comes to a server, and back.

    Args:
        server: Address of the server, ``host:port``.

    Attributes:
        address: Where it listens; known once the context is entered.
        connections: How many connections clients have made.
    """

    def __init__(self, server: str) -> None:
        """Carry nothing yet."""
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, and let go of every connection."""
        if self._listener is not None:
            _close(self._listener)
        self.cut()

    def cut(self) -> None:
        """Break every connection that there is, in the middle of whatever it carries."""
        with self._lock:
            ends, self._open = self._open, set()
        for end in ends:
            _close(end)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):  # the listener is closed
            while True:
                client, _ = listener.accept()
                with suppress(OSError):  # the server is gone; so is the client, then
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

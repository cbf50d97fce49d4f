"""Ports for programs that cannot choose one by themselves."""

from __future__ import annotations

import random
import socket

HOST = "127.0.0.1"
PORTS = range(20_000, 30_000)
"""Below the ports that systems give to connections and to whoever asks for any."""

_given: set[int] = set()


def free_port(kind: socket.SocketKind = socket.SOCK_STREAM) -> int:
    """A free port that this process gives once, and that no connection takes meanwhile.

    A port of the system's own choice may be taken again before a program binds it.
    """
    while True:
        port = random.choice(PORTS)
        if port in _given:
            continue
        with socket.socket(socket.AF_INET, kind) as attempt:
            try:
                attempt.bind((HOST, port))
            except OSError:
                continue
        _given.add(port)
        return port

"""The cable that the demo cuts."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from vidscore_cli.demo.network import Relay

WAIT_S = 60.0


@pytest.fixture
def echo() -> Iterator[str]:
    """Address of a server that says what it hears."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=repeat, args=(client,), daemon=True).start()

    threading.Thread(target=answer, daemon=True).start()
    yield f"127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def repeat(client: socket.socket) -> None:
    with client:
        while data := client.recv(100):
            client.sendall(data)


def connected(relay: Relay) -> socket.socket:
    host, _, port = relay.address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=WAIT_S)


def test_what_is_said_comes_back_over_every_connection(echo: str) -> None:
    with Relay(echo) as relay:
        for count in (1, 2):
            with connected(relay) as client:
                client.sendall(b"hello")
                assert client.recv(100) == b"hello"
            assert relay.connections == count


def test_a_cut_breaks_what_there_is_and_lets_others_through(echo: str) -> None:
    with Relay(echo) as relay, connected(relay) as first:
        first.sendall(b"one")
        assert first.recv(100) == b"one"
        relay.cut()
        assert is_broken(first)
        with connected(relay) as second:
            second.sendall(b"two")
            assert second.recv(100) == b"two"


def test_a_server_that_is_gone_breaks_the_connection() -> None:
    with Relay("127.0.0.1:1") as relay, connected(relay) as client:
        assert is_broken(client)
    assert relay.connections == 0


def test_leaving_stops_listening(echo: str) -> None:
    with Relay(echo) as relay:
        pass
    deadline_s = time.monotonic() + WAIT_S
    while time.monotonic() < deadline_s:
        try:
            connected(relay).close()
        except ConnectionRefusedError:
            return
    pytest.fail("it still listens")


def is_broken(client: socket.socket) -> bool:
    """Whether the other side is gone; waits for it."""
    try:
        return client.recv(100) == b""
    except ConnectionError:
        return True

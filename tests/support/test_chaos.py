"""The proxy does what it is told to a connection, and nothing else."""

from __future__ import annotations

import asyncio
import gc
import math
import socket
import threading
import warnings
from collections.abc import Iterator

import pytest
from tests.support.chaos import RESET_ON_CLOSE, ChaosProxy, Direction
from tests.support.waiting import eventually

TIMEOUT_S = 60.0


class EchoServer:
    """Sends back and records what it receives; ends a connection when its client does."""

    def __init__(self) -> None:
        self.received = bytearray()
        self.ended = threading.Semaphore(0)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connected, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._echo, args=(connected,), daemon=True).start()

    def _echo(self, connected: socket.socket) -> None:
        with connected:
            try:
                while data := connected.recv(4096):
                    self.received += data
                    connected.sendall(data)
            except OSError:
                pass
        self.ended.release()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


@pytest.fixture
def echo() -> Iterator[EchoServer]:
    server = EchoServer()
    yield server
    server.close()


@pytest.fixture
def proxy(echo: EchoServer) -> Iterator[ChaosProxy]:
    with ChaosProxy(echo.address) as made:
        yield made


def connected(proxy: ChaosProxy) -> socket.socket:
    host, port = proxy.address.split(":")
    return socket.create_connection((host, int(port)), TIMEOUT_S)


def all_of(client: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count and (piece := client.recv(count - len(data))):
        data += piece
    return data


def test_bytes_are_forwarded_unchanged(proxy: ChaosProxy) -> None:
    data = bytes(range(256)) * 2000
    with connected(proxy) as client:
        sender = threading.Thread(target=client.sendall, args=(data,))
        sender.start()
        assert all_of(client, len(data)) == data
        sender.join()
    assert proxy.bytes_passed(Direction.TO_SERVER) == len(data)
    eventually(lambda: proxy.connections_open == 0)


def test_a_client_that_has_finished_sending_still_gets_the_answer(proxy: ChaosProxy) -> None:
    with connected(proxy) as client:
        client.sendall(b"all")
        client.shutdown(socket.SHUT_WR)
        assert all_of(client, 4) == b"all"


def test_an_endless_delay_ends_with_calm(proxy: ChaosProxy) -> None:
    proxy.delay(math.inf, Direction.TO_CLIENT)
    with connected(proxy) as client:
        client.sendall(b"late")
        eventually(lambda: proxy.bytes_passed(Direction.TO_SERVER) == 4)
        assert proxy.bytes_passed(Direction.TO_CLIENT) == 0
        proxy.calm()
        assert all_of(client, 4) == b"late"


def test_a_throttled_direction_forwards_little_at_a_time(proxy: ChaosProxy) -> None:
    proxy.throttle(200.0, Direction.TO_SERVER)
    with connected(proxy) as client:
        client.sendall(bytes(100_000))
        eventually(lambda: proxy.bytes_passed(Direction.TO_SERVER) > 0)
        assert proxy.bytes_passed(Direction.TO_SERVER) < 100_000
        proxy.calm()
        assert all_of(client, 100_000) == bytes(100_000)


@pytest.mark.parametrize("reset", [False, True])
def test_a_cut_forwards_exactly_the_given_number_of_bytes(
    proxy: ChaosProxy, echo: EchoServer, reset: bool
) -> None:
    with connected(proxy) as client:
        client.sendall(b"before")
        assert all_of(client, 6) == b"before"
        proxy.cut_after(5, Direction.TO_SERVER, reset=reset)
        client.sendall(b"message")
        assert echo.ended.acquire(timeout=TIMEOUT_S)
    assert proxy.bytes_passed(Direction.TO_SERVER) == 11
    # A reset may drop data that the server has not read.
    assert b"beforemessa".startswith(bytes(echo.received))
    assert len(echo.received) == 11 or reset
    with connected(proxy) as client:
        client.sendall(b"after")
        assert all_of(client, 5) == b"after"


def test_a_cut_counts_bytes_over_all_pieces(proxy: ChaosProxy) -> None:
    proxy.cut_after(5, Direction.TO_CLIENT)
    with connected(proxy) as client:
        for sign in (b"a", b"b", b"c", b"d"):
            client.sendall(sign)
            assert all_of(client, 1) == sign
        client.sendall(b"ef")
        assert all_of(client, 2) == b"e"


def test_a_half_closed_connection_still_works_in_the_other_direction(
    proxy: ChaosProxy, echo: EchoServer
) -> None:
    with connected(proxy) as client:
        client.sendall(b"one")
        assert all_of(client, 3) == b"one"
        proxy.half_close(Direction.TO_CLIENT)
        assert client.recv(1) == b""
        client.sendall(b"two")
        eventually(lambda: bytes(echo.received) == b"onetwo")
        assert proxy.bytes_passed(Direction.TO_CLIENT) == 3


def test_a_reset_is_received_as_a_reset(proxy: ChaosProxy) -> None:
    with connected(proxy) as client:
        client.sendall(b"one")
        assert all_of(client, 3) == b"one"
        proxy.reset()
        with pytest.raises(ConnectionResetError):
            client.recv(1)


def test_new_connections_are_refused_until_they_are_accepted_again(proxy: ChaosProxy) -> None:
    with connected(proxy) as old:
        eventually(lambda: proxy.connections_made == 1)
        proxy.refuse()
        with pytest.raises(ConnectionRefusedError):
            connected(proxy)
        old.sendall(b"old")
        assert all_of(old, 3) == b"old"
    proxy.calm()
    with connected(proxy) as client:
        client.sendall(b"new")
        assert all_of(client, 3) == b"new"


def test_a_server_that_does_not_listen_resets_the_client() -> None:
    with (
        ChaosProxy("127.0.0.1:1") as proxy,
        pytest.raises(ConnectionResetError),
        connected(proxy) as client,
    ):
        client.recv(1)


async def test_the_proxy_works_in_asyncio_tests(proxy: ChaosProxy) -> None:
    host, port = proxy.address.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"one")
    assert await reader.readexactly(3) == b"one"
    proxy.close_connections()
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()


def echoed(client: socket.socket, data: bytes) -> bytes:
    client.sendall(data)
    return all_of(client, len(data))


def test_silence_affects_the_open_connection_and_no_later_one(
    echo: EchoServer, proxy: ChaosProxy
) -> None:
    with connected(proxy) as first:
        assert echoed(first, b"one") == b"one"
        proxy.silence()
        first.sendall(b"lost")
        with connected(proxy) as second:
            assert echoed(second, b"two") == b"two"
        assert bytes(echo.received) == b"onetwo"
        eventually(lambda: proxy.connections_open == 1)


def test_a_connection_is_silenced_after_the_given_number_of_bytes(
    echo: EchoServer, proxy: ChaosProxy
) -> None:
    proxy.silence_after(6, Direction.TO_SERVER)
    with connected(proxy) as first, connected(proxy) as second:
        assert echoed(first, b"one") == b"one"
        first.sendall(b"lost")
        # Otherwise the second might arrive before the first.
        eventually(lambda: proxy.connections_broken == 1)
        assert echoed(second, b"two") == b"two"
        assert bytes(echo.received) == b"onetwo"


@pytest.mark.parametrize("closing", [False, True])
def test_nothing_stays_open_if_the_other_end_does_not_read(closing: bool) -> None:
    """Data on its way to the other end keeps a normally closed connection open."""
    with socket.create_server(("127.0.0.1", 0)) as deaf, warnings.catch_warnings():
        warnings.simplefilter("error")
        found: list[object] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.unraisablehook", lambda raised: found.append(raised.exc_value))
            with ChaosProxy(f"127.0.0.1:{deaf.getsockname()[1]}") as proxy:
                client = connected(proxy)
                client.settimeout(0.2)
                with client, pytest.raises(TimeoutError):  # Fills every buffer on the way.
                    client.sendall(bytes(1 << 26))
                if closing:
                    proxy.close_connections()
            gc.collect()
        assert not found


@pytest.mark.parametrize("reset", [False, True])
def test_new_connections_are_closed_until_calm(proxy: ChaosProxy, reset: bool) -> None:
    proxy.hang_up(reset=reset)
    try:
        with connected(proxy) as first:
            assert first.recv(1) == b""
    except ConnectionResetError:
        assert reset
    proxy.calm()
    with connected(proxy) as second:
        assert echoed(second, b"two") == b"two"


def test_a_silent_connection_does_not_show_that_the_server_died() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    host, port = listening.getsockname()
    with listening, ChaosProxy(f"{host}:{port}") as proxy, connected(proxy) as client:
        served = _greeted(listening, client)
        proxy.silence()
        served.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        served.close()
        with connected(proxy) as other:  # Once this has arrived, everything before it has too.
            _greeted(listening, other).close()
        client.setblocking(False)
        with pytest.raises(BlockingIOError):
            client.recv(1)


def _greeted(listening: socket.socket, client: socket.socket) -> socket.socket:
    """The server's side of a connection over which the client has received a greeting."""
    served, _ = listening.accept()
    served.sendall(b"hello")
    assert all_of(client, 5) == b"hello"
    return served

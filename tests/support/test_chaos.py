"""The proxy does to a connection what it is told, and nothing else."""

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
    """Sends back what it gets, and notes it; ends a connection when its client does."""

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


def test_bytes_go_through_as_they_are(proxy: ChaosProxy) -> None:
    data = bytes(range(256)) * 2000
    with connected(proxy) as client:
        sender = threading.Thread(target=client.sendall, args=(data,))
        sender.start()
        assert all_of(client, len(data)) == data
        sender.join()
    assert proxy.bytes_passed(Direction.TO_SERVER) == len(data)
    eventually(lambda: proxy.connections_open == 0)


def test_a_client_that_has_sent_everything_still_gets_the_answer(proxy: ChaosProxy) -> None:
    with connected(proxy) as client:
        client.sendall(b"all")
        client.shutdown(socket.SHUT_WR)
        assert all_of(client, 4) == b"all"


def test_what_is_delayed_without_end_goes_on_when_the_way_is_calmed(proxy: ChaosProxy) -> None:
    proxy.delay(math.inf, Direction.TO_CLIENT)
    with connected(proxy) as client:
        client.sendall(b"late")
        eventually(lambda: proxy.bytes_passed(Direction.TO_SERVER) == 4)
        assert proxy.bytes_passed(Direction.TO_CLIENT) == 0
        proxy.calm()
        assert all_of(client, 4) == b"late"


def test_a_throttled_way_lets_a_little_through_at_a_time(proxy: ChaosProxy) -> None:
    proxy.throttle(200.0, Direction.TO_SERVER)
    with connected(proxy) as client:
        client.sendall(bytes(100_000))
        eventually(lambda: proxy.bytes_passed(Direction.TO_SERVER) > 0)
        assert proxy.bytes_passed(Direction.TO_SERVER) < 100_000
        proxy.calm()
        assert all_of(client, 100_000) == bytes(100_000)


@pytest.mark.parametrize("reset", [False, True])
def test_a_cut_lets_exactly_so_many_bytes_through(
    proxy: ChaosProxy, echo: EchoServer, reset: bool
) -> None:
    with connected(proxy) as client:
        client.sendall(b"before")
        assert all_of(client, 6) == b"before"
        proxy.cut_after(5, Direction.TO_SERVER, reset=reset)
        client.sendall(b"message")
        assert echo.ended.acquire(timeout=TIMEOUT_S)
    assert proxy.bytes_passed(Direction.TO_SERVER) == 11
    # The server may lose to a reset what it has not read.
    assert b"beforemessa".startswith(bytes(echo.received))
    assert len(echo.received) == 11 or reset
    with connected(proxy) as client:
        client.sendall(b"after")
        assert all_of(client, 5) == b"after"


def test_a_cut_counts_the_pieces_together(proxy: ChaosProxy) -> None:
    proxy.cut_after(5, Direction.TO_CLIENT)
    with connected(proxy) as client:
        for sign in (b"a", b"b", b"c", b"d"):
            client.sendall(sign)
            assert all_of(client, 1) == sign
        client.sendall(b"ef")
        assert all_of(client, 2) == b"e"


def test_a_half_closed_connection_goes_on_the_other_way(
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


def test_a_reset_is_felt_as_one(proxy: ChaosProxy) -> None:
    with connected(proxy) as client:
        client.sendall(b"one")
        assert all_of(client, 3) == b"one"
        proxy.reset()
        with pytest.raises(ConnectionResetError):
            client.recv(1)


def test_a_refused_connection_finds_nobody_until_they_are_taken_again(proxy: ChaosProxy) -> None:
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


def test_a_server_that_is_not_there_resets_the_client() -> None:
    with (
        ChaosProxy("127.0.0.1:1") as proxy,
        pytest.raises(ConnectionResetError),
        connected(proxy) as client,
    ):
        client.recv(1)


async def test_it_serves_asyncio_tests_too(proxy: ChaosProxy) -> None:
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


def test_a_connection_goes_silent_and_a_later_one_does_not(
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


def test_a_connection_goes_silent_after_so_many_bytes(echo: EchoServer, proxy: ChaosProxy) -> None:
    proxy.silence_after(6, Direction.TO_SERVER)
    with connected(proxy) as first, connected(proxy) as second:
        assert echoed(first, b"one") == b"one"
        first.sendall(b"lost")
        eventually(lambda: proxy.connections_broken == 1)  # else the second may come before it
        assert echoed(second, b"two") == b"two"
        assert bytes(echo.received) == b"onetwo"


@pytest.mark.parametrize("closing", [False, True])
def test_nothing_stays_open_where_the_other_end_does_not_read(closing: bool) -> None:
    """What is on its way to it keeps a connection open that was closed in order."""
    with socket.create_server(("127.0.0.1", 0)) as deaf, warnings.catch_warnings():
        warnings.simplefilter("error")
        found: list[object] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.unraisablehook", lambda raised: found.append(raised.exc_value))
            with ChaosProxy(f"127.0.0.1:{deaf.getsockname()[1]}") as proxy:
                client = connected(proxy)
                client.settimeout(0.2)
                with client, pytest.raises(TimeoutError):  # every buffer on the way is full
                    client.sendall(bytes(1 << 26))
                if closing:
                    proxy.close_connections()
            gc.collect()
        assert not found


@pytest.mark.parametrize("reset", [False, True])
def test_new_connections_are_hung_up_until_it_is_calmed(proxy: ChaosProxy, reset: bool) -> None:
    proxy.hang_up(reset=reset)
    try:
        with connected(proxy) as first:
            assert first.recv(1) == b""
    except ConnectionResetError:
        assert reset
    proxy.calm()
    with connected(proxy) as second:
        assert echoed(second, b"two") == b"two"


def test_a_silent_connection_hears_nothing_of_a_server_that_dies() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    host, port = listening.getsockname()
    with listening, ChaosProxy(f"{host}:{port}") as proxy, connected(proxy) as client:
        served = _greeted(listening, client)
        proxy.silence()
        served.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        served.close()
        with connected(proxy) as other:  # once it is through, so is what was before
            _greeted(listening, other).close()
        client.setblocking(False)
        with pytest.raises(BlockingIOError):
            client.recv(1)


def _greeted(listening: socket.socket, client: socket.socket) -> socket.socket:
    """The server's side of a connection, over which a word has come to the client."""
    served, _ = listening.accept()
    served.sendall(b"hello")
    assert all_of(client, 5) == b"hello"
    return served

"""Sockets as sources of the bridge: the faults of one sender do not affect others."""

from __future__ import annotations

import io
import os
import socket
import threading
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.support.ports import free_port
from tests.support.waiting import eventually

from vidscore_cli.bridge import sources
from vidscore_cli.bridge.sources import (
    HEAD_BYTES,
    ByteSource,
    DatagramSource,
    Message,
    SocketSource,
    Source,
)
from vidscore_cli.bridge.spool import Spool
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.feeds.frames import MAXIMUM_MESSAGE_BYTES, Framing

SOON_S = 0.05

TCP_TABLE = Path("/proc/net/tcp")
KEEPALIVE_TIMER = "02"
"""What Linux writes there for a connection that waits for its next question."""


def taken(source: Source, most: int) -> list[bytes]:
    """The first messages of a source, as soon as they have arrived."""
    found: list[bytes] = []

    def arrived() -> bool:
        found.extend(message.data for message in source.read(SOON_S) or ())
        return len(found) >= most

    eventually(arrived)
    return found


# --- datagrams -------------------------------------------------------------------------------


@pytest.fixture
def datagrams(tmp_path: Path) -> Iterator[tuple[DatagramSource, int]]:
    """A listening source, and its port."""
    port = free_port(socket.SOCK_DGRAM)
    address = urlsplit(f"udp://127.0.0.1:{port}")
    source = DatagramSource(address, Spool(tmp_path / "spool", 1 << 20))
    source.open(None)
    yield source, port
    source.close()


def send_datagrams(port: int, datagrams: Sequence[bytes]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        for data in datagrams:
            sending.sendto(data, ("127.0.0.1", port))


def test_an_empty_datagram_is_not_an_end(datagrams: tuple[DatagramSource, int]) -> None:
    source, port = datagrams
    send_datagrams(port, [b"a", b"", b"b"])
    assert taken(source, 2) == [b"a", b"b"]


# --- connections -----------------------------------------------------------------------------


@pytest.fixture
def listening() -> Iterator[tuple[SocketSource, tuple[str, int]]]:
    """A listening source of lines, and its address."""
    address = ("127.0.0.1", free_port())
    source = SocketSource(urlsplit(f"tcp://127.0.0.1:{address[1]}"), Framing.LINES)
    source.open(None)
    yield source, address
    source.close()


def given(source: Source, most: int) -> list[Message]:
    found: list[Message] = []

    def arrived() -> bool:
        found.extend(source.read(SOON_S) or ())
        return len(found) >= most

    eventually(arrived)
    return found


def _has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6")
def test_a_source_listens_at_an_ipv6_address(tmp_path: Path) -> None:
    port = free_port()
    streams = SocketSource(urlsplit(f"tcp://[::1]:{port}"), Framing.LINES)
    streams.open(None)
    with socket.create_connection(("::1", port)) as connection:
        connection.sendall(b"a\n")
        assert taken(streams, 1) == [b"a"]
    streams.close()
    datagrams = DatagramSource(urlsplit(f"udp://[::1]:{port}"), Spool(tmp_path / "spool", 1 << 20))
    datagrams.open(None)
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sending:
        sending.sendto(b"b", ("::1", port))
    assert taken(datagrams, 1) == [b"b"]
    datagrams.close()


def test_a_unix_socket_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    source = SocketSource(urlsplit(f"unix://{tmp_path}/nowhere/a.sock"), Framing.LINES)
    with pytest.raises(FileNotFoundError) as caught:
        source.open(None)
    assert caught.value.filename == f"{tmp_path}/nowhere/a.sock"
    source.close()


def test_a_unix_socket_in_use_is_left_to_its_listener(tmp_path: Path) -> None:
    address = urlsplit(f"unix://{tmp_path}/a.sock")
    first, second = (SocketSource(address, Framing.LINES) for _ in range(2))
    first.open(None)
    with pytest.raises(OSError, match=r"Address already in use: '.*/a.sock'"):
        second.open(None)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address.path)
        connection.sendall(b"a\n")
        assert taken(first, 1) == [b"a"]
    first.close()
    third = SocketSource(address, Framing.LINES)  # Nobody listens at the socket any more.
    third.open(None)
    for source in (second, third):
        source.close()


def test_a_message_that_is_too_long_ends_only_its_own_connection(
    listening: tuple[SocketSource, tuple[str, int]],
) -> None:
    source, address = listening
    with socket.create_connection(address) as bad, socket.create_connection(address) as good:
        bad.sendall(b"first\n" + b"x" * (MAXIMUM_MESSAGE_BYTES - 100))
        [first] = given(source, 1)
        assert first.data == b"first"
        bad.sendall(b"x" * 200)
        [fault] = given(source, 1)
        assert fault.fault is not None
        assert "found a message of over" in str(fault.fault)
        assert fault.place.startswith("127.0.0.1:")
        good.sendall(b"a\nb\n")
        assert taken(source, 2) == [b"a", b"b"]
        assert bad.recv(1) == b""


def test_messages_read_from_a_connection_are_returned_at_once(
    listening: tuple[SocketSource, tuple[str, int]],
) -> None:
    """A bridge that is told to stop reads no further, and nobody else has these messages."""
    source, address = listening
    with socket.create_connection(address) as connection:
        connection.sendall(b"1\n" * 1000)
        assert len(given(source, 1)) == 1000


def test_an_end_within_a_message_is_a_fault_of_only_its_own_connection() -> None:
    port = free_port()
    source = SocketSource(urlsplit(f"tcp://127.0.0.1:{port}"), Framing.LENGTH)
    source.open(None)
    address = ("127.0.0.1", port)
    with socket.create_connection(address) as good:
        with socket.create_connection(address) as bad:
            bad.sendall(b"\0\0\0\1a\0\0\0\x50abc")
        first, fault = given(source, 2)
        assert first.data == b"a"
        assert "found an end after 7 bytes" in str(fault.fault)
        good.sendall(b"\0\0\0\1b")
        assert taken(source, 1) == [b"b"]
    source.close()


@pytest.mark.skipif(not TCP_TABLE.exists(), reason="only Linux shows the timers of connections")
def test_the_system_asks_a_silent_connection_within_a_minute_whether_it_is_still_there() -> None:
    """Otherwise those of cameras that lost power would use up the places of all others."""
    port = free_port()
    source = SocketSource(urlsplit(f"tcp://127.0.0.1:{port}"), Framing.LINES)
    source.open(None)
    with socket.create_connection(("127.0.0.1", port)) as camera:
        camera.sendall(b"1\n")
        assert taken(source, 1) == [b"1"]
        ends = f":{port:04X}", f":{camera.getsockname()[1]:04X}"
        rows = [row.split() for row in TCP_TABLE.read_text().splitlines()]
        [timer] = [row[5] for row in rows if (row[1][-5:], row[2][-5:]) == ends]
    source.close()
    kind, _, ticks = timer.partition(":")
    assert kind == KEEPALIVE_TIMER
    assert int(ticks, 16) / os.sysconf("SC_CLK_TCK") <= 60


def test_connections_over_the_limit_wait_until_one_ends(
    listening: tuple[SocketSource, tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sources, "MOST_CONNECTIONS", 2)
    source, address = listening
    connections = [socket.create_connection(address) for _ in range(6)]
    for number, connection in enumerate(connections):
        connection.sendall(b"%d\n" % number)
    assert sorted(taken(source, 2)) == [b"0", b"1"]
    assert source.read(0.0) == []
    for connection in connections:
        connection.close()
    assert sorted(taken(source, 4)) == [b"2", b"3", b"4", b"5"]
    assert capsys.readouterr().err.count("2 connections are open, further ones wait") == 1


# --- files -----------------------------------------------------------------------------------


def test_messages_before_one_that_is_too_long_are_returned_and_the_file_ends_with_an_error(
    tmp_path: Path,
) -> None:
    path = tmp_path / "found.jsonl"
    path.write_bytes(b"a\nb\n" + b"x" * 2 * MAXIMUM_MESSAGE_BYTES + b"\nc\n")
    source = ByteSource(str(path), Framing.LINES)
    source.open(None)
    first, second, fault = given(source, 3)
    assert (first.data, second.data) == (b"a", b"b")
    assert fault.fault is not None
    assert fault.offset == [4, zlib.crc32(path.read_bytes()[:4])]
    with pytest.raises(InputError, match="found a message of over"):
        source.read(SOON_S)
    source.close()


def test_a_file_that_ends_within_a_message_has_a_fault_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "found"
    path.write_bytes(b"\0\0\0\1a\0\0\0\x50abc")
    source = ByteSource(str(path), Framing.LENGTH)
    source.open(None)
    first = given(source, 1)
    assert [message.data for message in first] == [b"a"]
    [fault] = given(source, 1)
    assert fault.offset == [5, zlib.crc32(path.read_bytes()[:5])]
    assert fault.fault is not None
    assert source.read(SOON_S) is None
    source.close()


def test_a_file_shorter_than_its_stored_position_is_refused(tmp_path: Path) -> None:
    """A restarted file is not the end of the previous one, which would seal the submission."""
    path = tmp_path / "found.jsonl"
    path.write_bytes(b"a\nb\n")
    with pytest.raises(InputError, match=r"found 4 bytes, expected at least the 5 read before"):
        ByteSource(str(path), Framing.LINES).open(5)
    at_its_end = ByteSource(str(path), Framing.LINES)
    at_its_end.open(4)
    assert at_its_end.read(SOON_S) is None
    at_its_end.close()


@pytest.mark.parametrize(("width", "lines"), [(2, 2), (1024, HEAD_BYTES // 512)])
def test_a_replaced_file_is_refused_and_a_grown_one_continues(
    tmp_path: Path, width: int, lines: int
) -> None:
    """Lines of both files have the same length, so the offset follows a line of either."""
    first, grown_by, other = (text.ljust(width - 1, b"-") + b"\n" for text in (b"a", b"b", b"c"))
    path = tmp_path / "found.jsonl"
    path.write_bytes(first * lines)
    before = ByteSource(str(path), Framing.LINES)
    before.open(None)
    offset = given(before, lines)[-1].offset
    assert isinstance(offset, list)
    before.close()
    path.write_bytes(first * lines + grown_by)
    grown = ByteSource(str(path), Framing.LINES)
    grown.open(offset)
    assert taken(grown, 1) == [grown_by.rstrip()]
    grown.close()
    path.write_bytes(other * (lines + 1))
    read = width * lines
    expected = f"found other first bytes, expected the source that begins with the {read} bytes"
    with pytest.raises(InputError, match=expected):
        ByteSource(str(path), Framing.LINES).open(offset)


def test_standard_input_shorter_than_its_stored_position_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    with pytest.raises(InputError, match="found 4 bytes"):
        ByteSource("-", Framing.LINES).open(5)


@pytest.mark.parametrize(("offset", "expected"), [(None, [b"a", b"b"]), (2, [b"b"])])
def test_a_named_pipe_is_read_like_standard_input(
    tmp_path: Path, offset: int | None, expected: list[bytes]
) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writing = threading.Thread(target=path.write_bytes, args=[b"a\nb\n"])
    writing.start()
    source = ByteSource(str(path), Framing.LINES)
    source.open(offset)
    assert taken(source, len(expected)) == expected
    writing.join()
    source.close()

"""Sockets as sources of the bridge: what one of many senders does wrong is no matter of others."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.clients.cli.test_bridge import free_port
from tests.support.waiting import eventually

from vidscore_cli.bridge.sources import DatagramSource, Source
from vidscore_cli.bridge.spool import Spool

SOON_S = 0.05


def taken(source: Source, most: int) -> list[bytes]:
    """The first messages of a source, as soon as they are there."""
    found: list[bytes] = []

    def arrived() -> bool:
        found.extend(message.data for message in source.read(SOON_S) or ())
        return len(found) >= most

    eventually(arrived)
    return found


# --- datagrams -------------------------------------------------------------------------------


@pytest.fixture
def datagrams(tmp_path: Path) -> Iterator[tuple[DatagramSource, int]]:
    """A source that listens, and its port."""
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


def test_an_empty_datagram_is_no_end(datagrams: tuple[DatagramSource, int]) -> None:
    source, port = datagrams
    send_datagrams(port, [b"a", b"", b"b"])
    assert taken(source, 2) == [b"a", b"b"]

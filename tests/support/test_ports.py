"""Free ports stay free until a program binds them."""

from __future__ import annotations

import random
import socket
from pathlib import Path

import pytest
from tests.support.ports import HOST, PORTS, free_port

CHOSEN_BY_THE_SYSTEM = Path("/proc/sys/net/ipv4/ip_local_port_range")


def test_no_port_is_given_twice() -> None:
    given = [free_port() for _ in range(100)]
    assert len(set(given)) == 100


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_a_port_in_use_is_not_given(
    monkeypatch: pytest.MonkeyPatch, kind: socket.SocketKind
) -> None:
    with socket.socket(socket.AF_INET, kind) as used:
        used.bind((HOST, 0))
        taken, choose = used.getsockname()[1], random.choice
        chosen = iter([taken])
        monkeypatch.setattr(
            "tests.support.ports.random.choice", lambda ports: next(chosen, None) or choose(ports)
        )
        assert free_port(kind) != taken
        assert next(chosen, None) is None


@pytest.mark.skipif(not CHOSEN_BY_THE_SYSTEM.is_file(), reason="Linux has it")
def test_the_system_gives_none_of_these_ports_to_connections() -> None:
    least, _ = map(int, CHOSEN_BY_THE_SYSTEM.read_text().split())
    assert PORTS.stop <= least

"""Addresses at which the server listens."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple


class ListenAddress(NamedTuple):
    """Host and port; port 0 means any free port."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        """``host:port``, an IPv6 host in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> ListenAddress:
    """Parse ``host:port`` or ``[host]:port``.

    Raises:
        ValueError: With the expected form as its message.
    """
    host, _, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    bracketed = bare != host
    if not bare or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise ValueError("host:port, with a port from 0 to 65535")
    if (":" in bare) != bracketed:
        raise ValueError("an IPv6 host in brackets, such as [::1]:50051")
    try:
        bare.encode("idna")  # as Python does before it asks for the address of a name
    except UnicodeError:
        raise ValueError("host:port, with a name that a host can have") from None
    return ListenAddress(bare, int(port))

"""Which server, and how to talk to it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class ServerChoice:
    """Which server, and how to talk to it.

    Attributes:
        address: ``host:port``.
        tls: Whether to encrypt.
        tls_root: PEM file of the authorities to trust; None for the system's own.
        token: Sent with each call; None for none.
        plaintext_token: Whether the token may go unencrypted to another machine.
    """

    address: str
    tls: bool = False
    tls_root: str | None = None
    token: str | None = field(default=None, repr=False)
    plaintext_token: bool = False

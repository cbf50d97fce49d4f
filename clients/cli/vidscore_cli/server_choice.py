"""Which server, and how to talk to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vidscore_client import Tls


@dataclass(frozen=True)
class ServerChoice:
    """Which server, and how to talk to it.

    Attributes:
        address: ``host:port``.
        tls: Whether to encrypt.
        tls_root: PEM file of the authorities to trust; None for the system's own.
        tls_certificate: PEM file of this side's certificate; None for none.
        tls_key: PEM file of its private key; None for none.
        token: Sent with each call; None for none.
        plaintext_token: Whether the token may go unencrypted to another machine.
    """

    address: str
    tls: bool = False
    tls_root: str | None = None
    tls_certificate: str | None = None
    tls_key: str | None = None
    token: str | None = field(default=None, repr=False)
    plaintext_token: bool = False

    @property
    def sdk_tls(self) -> Tls | bool:
        """The same as the SDK takes it.

        Raises:
            InputError: If one of certificate and key is missing.
        """
        from vidscore_client import Tls

        if self.tls_root or self.tls_certificate or self.tls_key:
            return Tls(self.tls_root, self.tls_certificate, self.tls_key)
        return self.tls

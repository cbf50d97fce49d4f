"""Which server, and how to talk to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from vidscore_cli.sites import Site, read_sites

if TYPE_CHECKING:
    from vidscore_client import Tls

DEFAULT_ADDRESS = "127.0.0.1:50051"

TLS_FILES = ("tls_root", "tls_certificate", "tls_key")


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


def choose_server(
    typed: Mapping[str, Any], site_name: str | None, environment: Mapping[str, str | None]
) -> ServerChoice:
    """Options go before the environment, which goes before the file of sites.

    A site's token, and how its connection is encrypted, hold for its own server alone.

    Args:
        typed: What options say of ``server``, ``token`` and the connection; None for nothing.
        site_name: The site that is named; None for none.
        environment: What the environment says of ``server`` and ``token``.

    Raises:
        click.ClickException: If there is no such site, it has another server than the one that is
            typed, or the file of sites cannot be read.
    """
    sites = read_sites()
    named = None if site_name is None else sites.named(site_name)
    if named is not None and typed["server"] not in {None, named.server}:
        raise click.UsageError(
            f"--server {typed['server']} and --site {site_name}, which is {named.server}, "
            "name two servers"
        )
    default = sites.by_name.get(sites.default)
    address = (
        typed["server"]
        or (named.server if named is not None else environment["server"])
        or (default.server if default is not None else DEFAULT_ADDRESS)
    )
    kept = named or sites.of(address) or Site(address)
    of_site, of_environment = kept.token, environment["token"]
    later = (of_site, of_environment) if named is not None else (of_environment, of_site)
    return ServerChoice(
        address,
        tls=typed["tls"] or kept.tls,
        **{name: typed[name] or getattr(kept, name) or None for name in TLS_FILES},
        token=typed["token"] or later[0] or later[1] or None,
        plaintext_token=typed["plaintext_token"] or kept.plaintext_token,
    )

"""Versions of server and clients, and their compatibility."""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata
from typing import NamedTuple

from vidscore_evaluators.errors import Fault, InputError
from vidscore_server.errors import VersionError

CLIENT_KEY = "vidscore-client-version"
"""Metadata key of a call: version of the client's package; callers without it are accepted."""

SERVER_KEY = "vidscore-server-version"
"""Trailing metadata key of each call: version of the server."""

MINORS_APART = 1
"""Maximum difference of minor versions, within one major version."""

_VERSION = re.compile(r"(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})([.+\-a-z0-9]{0,40})")


class Version(NamedTuple):
    """The parts of a version that decide compatibility."""

    major: int
    minor: int

    def __str__(self) -> str:
        """Both parts."""
        return f"{self.major}.{self.minor}"


@cache
def server_version() -> str:
    """Version of this server."""
    return metadata.version("vidscore")


def parse_version(text: str) -> Version | None:
    """The first two parts of a version; None if the string is not a version."""
    match = _VERSION.fullmatch(text)
    return None if match is None else Version(int(match[1]), int(match[2]))


def supported_versions(server: str) -> tuple[Version, Version]:
    """The oldest and the newest version of clients that a server works with.

    Raises:
        ValueError: If the string is not a version.
    """
    own = parse_version(server)
    if own is None:
        raise ValueError(f"{server!r} is not a version")
    oldest = Version(own.major, max(0, own.minor - MINORS_APART))
    return oldest, Version(own.major, own.minor + MINORS_APART)


def check_client(client: str | bytes, server: str) -> None:
    """Refuse a client of an incompatible version.

    Args:
        client: Version that the client sent.
        server: Version of the server.

    Raises:
        InputError: If it is not a version.
        VersionError: If it is incompatible.
    """
    text = client if isinstance(client, str) else ""
    found = parse_version(text)
    if found is None:
        fault = Fault(repr(client)[:80], "a version such as 1.2.3", field=CLIENT_KEY)
        raise InputError([fault])
    oldest, newest = supported_versions(server)
    if not oldest <= found <= newest:
        old, new = ("client", "server") if found < oldest else ("server", "client")
        raise VersionError(
            f"the client has version {text} and the server {server}, which works with clients "
            f"{oldest} to {newest}: update the {old}, or use an older {new}",
            client_version=text,
            server_version=server,
            oldest_client=str(oldest),
            newest_client=str(newest),
        )

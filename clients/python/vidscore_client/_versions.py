"""Which versions of server and client work together: one minor version may lie between them.

The server holds its clients to the same rule; this side tells it where an older server does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from vidscore_client._version import __version__
from vidscore_client.errors import VersionError

CLIENT_KEY = "vidscore-client-version"
"""Metadata of each call: version of this package."""

SERVER_KEY = "vidscore-server-version"
"""Trailing metadata of each call: version of the server."""

MINORS_APART = 1

_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})(?:[.+\-a-z0-9]*)", re.ASCII)


def check_server(server: str, client: str = __version__) -> None:
    """Refuse a server of a version that the client does not work with.

    Args:
        server: What the server says; a text that is no version is let pass, as proxies may be.
        client: Version of this package.

    Raises:
        VersionError: If it is too far from the client's.
    """
    theirs, ours = _VERSION.fullmatch(server), _VERSION.fullmatch(client)
    if theirs is None or ours is None:
        return
    distance = int(theirs[2]) - int(ours[2])
    if theirs[1] == ours[1] and abs(distance) <= MINORS_APART:
        return
    newer = (int(theirs[1]), int(theirs[2])) > (int(ours[1]), int(ours[2]))
    advice = "update vidscore-client" if newer else "update the server, or take an older client"
    raise VersionError(
        f"the server has version {server} and the client {client}, which works with servers of "
        f"the same major version and at most {MINORS_APART} minor version away: {advice}",
        reason="VERSION_UNSUPPORTED",
        metadata={"client_version": client, "server_version": server},
    )


def check_metadata(trailing: Iterable[Any] | None) -> None:
    """Refuse a server by what it says at the end of a call.

    Raises:
        VersionError: If its version is too far from the client's.
    """
    for key, value in trailing or ():
        if key == SERVER_KEY:
            check_server(str(value))

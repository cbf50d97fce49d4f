"""The server itself, as a client sees it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from vidscore_client.hosting import Token


class Health(StrEnum):
    """Whether a server takes calls, as the standard health protocol has it."""

    UNKNOWN = "unknown"
    SERVING = "serving"
    NOT_SERVING = "not_serving"
    SERVICE_UNKNOWN = "service_unknown"


@dataclass(frozen=True)
class StoreInfo:
    """State of a server's store.

    Attributes:
        up: Whether it answers.
        kind: Kind of the database: ``sqlite`` or ``postgresql``.
        size_bytes: Bytes that it takes; None where that is not known.
        free_disk_bytes: Bytes that are free on its disk; None where it is on another machine.
    """

    up: bool
    kind: str
    size_bytes: int | None
    free_disk_bytes: int | None


@dataclass(frozen=True)
class ServerInfo:
    """A server.

    Attributes:
        version: Its version.
        oldest_client_version: Oldest version of clients that it works with.
        newest_client_version: Newest version of clients that it works with.
        time: Its time.
        hosting: Whether it hosts benchmarks.
        draining: Whether it is about to stop.
        token: The token that was sent, without its secret; None where none was.
        store: What it keeps; None for all but organisers.
    """

    version: str
    oldest_client_version: str
    newest_client_version: str
    time: datetime | None
    hosting: bool
    draining: bool
    token: Token | None
    store: StoreInfo | None

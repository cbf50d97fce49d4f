"""What all parts of a hosting server share: its store, its clock, its secret, its limits."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from vidscore_server.hosting.changes import Changes
from vidscore_server.hosting.clock import StoreClock
from vidscore_server.settings import Settings
from vidscore_server.store import Reader, SqlStore, Transaction
from vidscore_server.store.records import SubmissionKey

Result = TypeVar("Result")
Clock = Callable[[], datetime]

DIGEST_DIGITS = 32


@dataclass(frozen=True)
class Site:
    """A hosting server's common ground.

    Attributes:
        store: What must not be lost.
        settings: The server's limits.
        clock: The time; all servers of the site agree on it.
        secret: Keys digests that leave the server.
        changes: Tells who waits for it that a submission has changed.
    """

    store: SqlStore
    settings: Settings
    clock: Clock
    secret: bytes
    changes: Changes

    async def write(
        self,
        command: Callable[[Transaction], Result],
        about: Collection[SubmissionKey] | None = None,
    ) -> Result:
        """Run a command; what it wrote is durable when this returns.

        Args:
            command: The command.
            about: Submissions beyond which it touches nothing; None where it may touch anything.
        """
        return await asyncio.wrap_future(self.store.submit(command, about))

    async def read(self, query: Callable[[Reader], Result]) -> Result:
        """Run a query over one consistent state, beside the event loop."""

        def run() -> Result:
            with self.store.read() as reader:
                return query(reader)

        return await asyncio.to_thread(run)

    async def adjust_clock(self) -> None:
        """Set the clock by the store's."""
        if isinstance(self.clock, StoreClock):
            await asyncio.to_thread(self.clock.adjust)

    def keyed(self, benchmark: str, digest: str) -> str:
        """A benchmark's digest; it says nothing to whoever does not have the server's secret.

        Not even whether another benchmark has the same data, which its rules may give away.
        """
        keyed = hmac.new(self.secret, f"{benchmark}/{digest}".encode(), hashlib.sha256)
        return keyed.hexdigest()[:DIGEST_DIGITS]


def open_site(store: SqlStore, settings: Settings, clock: Clock | None = None) -> Site:
    """The common ground over an open store, whose clock counts where none is given."""
    with store.read() as reader:
        secret = reader.secret()
    return Site(store, settings, clock or StoreClock(store), secret, Changes())

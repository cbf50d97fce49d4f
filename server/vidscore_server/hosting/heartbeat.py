"""The site's heartbeat: a small write again and again, which tells two things.

- Whether the store can be written to. Reading may go on where writing does not (a full disk, a
  standby, a failing device), and a server that takes no frames must not look healthy.
- Since when the site serves without a break. Participants cannot send while no server is there, so
  quiet time counts from then on, and some grace after it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from vidscore_server.hosting.site import Site
from vidscore_server.store import Transaction
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import ServingRecord

TIMEOUT_BEATS = 2
"""A write that takes longer is as good as none."""

OUTAGE_BEATS = 4
"""Shortest pause that is an outage, and no restart or write that was slow."""

GRACE = timedelta(seconds=60)
"""Time after an outage before quiet time counts again: clients come back one by one."""

Told = Callable[[bool], Awaitable[None]]


class Heartbeat:
    """Beats while the server runs.

    Args:
        site: The server's common ground.

    Attributes:
        quiet_from: Quiet time counts from then on, or from a later activity.
        writable: Whether the last beat was written.
    """

    def __init__(self, site: Site) -> None:
        """Beat not yet; until the first beat, the site serves from now on."""
        self._site = site
        self.quiet_from = site.clock()
        self.writable = True
        self._interval_s = site.settings.heartbeat_interval_s
        self._outage = timedelta(seconds=OUTAGE_BEATS * self._interval_s)
        self._beat_at_s: float | None = None

    async def beat_on(self, told: Told) -> None:
        """Beat until cancelled; the first beat was before.

        Args:
            told: Called with whether beats are written, whenever that changes.
        """
        shown = True
        while True:
            if self.writable is not shown:
                shown = self.writable
                await told(shown)
            await asyncio.sleep(self._interval_s)
            await self.beat()

    async def beat(self) -> None:
        """Beat once."""
        try:
            async with asyncio.timeout(TIMEOUT_BEATS * self._interval_s):
                self.quiet_from = await self._site.write(self._write, about=())
        except (StoreError, TimeoutError):
            self.writable = False
        else:
            self.writable = True
            self._beat_at_s = time.monotonic()

    def _write(self, transaction: Transaction) -> datetime:
        now = self._site.clock()
        quiet_from = self.quiet_from if self._goes_on() else self._quiet_from(transaction, now)
        transaction.put_serving(ServingRecord(quiet_from, beat_time=now))
        return quiet_from

    def _goes_on(self) -> bool:
        """Whether this server has beaten a moment ago, whatever has become of the clock."""
        last_s = self._beat_at_s
        return last_s is not None and time.monotonic() - last_s < self._outage.total_seconds()

    def _quiet_from(self, transaction: Transaction, now: datetime) -> datetime:
        """When quiet time begins for a server that has just come: none was there, or others are."""
        record = transaction.serving()
        if record is None:
            return now
        return record.quiet_from if now - record.beat_time < self._outage else now + GRACE

"""Schedule: when an idle submission ends and how, and the heartbeat that notices outages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from msgspec import Struct

from vidscore_server.domain.context import Context
from vidscore_server.domain.policy import Policy
from vidscore_server.domain.quotas import DELETED
from vidscore_server.domain.states import TAKES_FRAMES, Event, is_draft
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import (
    BenchmarkRecord,
    ServingRecord,
    SubmissionRecord,
    SubmissionState,
)


class ScheduledEvent(Struct, frozen=True):
    """The next event of a submission that happens by time alone.

    Attributes:
        time: When.
        reason: The reason of the state that follows, or that of a draft's deletion.
    """

    time: datetime
    reason: str


def scheduled_event(
    record: SubmissionRecord, benchmark: BenchmarkRecord, policy: Policy, quiet_from: datetime
) -> ScheduledEvent | None:
    """The next event of a submission by time alone; None if there is none.

    Args:
        record: The submission.
        benchmark: Its benchmark.
        policy: The benchmark's policy.
        quiet_from: End of the last outage; idle time counts from then on.
    """
    if record.state is SubmissionState.WAITING_FOR_TRUTH:
        there = benchmark.truth_revision > 0
        event = Event.SCORED_WITHOUT_ALL_TRUTH if there else Event.TRUTH_NEVER_CAME
        return ScheduledEvent(
            record.state_time + timedelta(seconds=policy.truth_timeout_s), event.value
        )
    if record.state not in TAKES_FRAMES:
        return None
    quiet = max(record.activity_time, quiet_from) + timedelta(seconds=policy.quiet_timeout_s)
    time = min(quiet, benchmark.close_time or quiet)
    event = _end(policy, closing=time == benchmark.close_time)
    return ScheduledEvent(time, DELETED if is_draft(record) else event.value)


def due_event(
    record: SubmissionRecord,
    benchmark: BenchmarkRecord,
    policy: Policy,
    now: datetime,
    quiet_from: datetime,
) -> Event | None:
    """The event that is due for a submission that takes frames; None if none is.

    Args:
        record: The submission.
        benchmark: Its benchmark.
        policy: The benchmark's policy.
        now: The time.
        quiet_from: End of the last outage; idle time counts from then on.
    """
    if benchmark.close_time is not None and now >= benchmark.close_time:
        return _end(policy, closing=True)
    quiet_since = max(record.activity_time, quiet_from)
    if (now - quiet_since).total_seconds() >= policy.quiet_timeout_s:
        return _end(policy, closing=False)
    return None


def _end(policy: Policy, *, closing: bool) -> Event:
    """How a submission ends at closing, or after the idle timeout."""
    if policy.quiet_action == "seal":
        return Event.SEALED_AT_CLOSING if closing else Event.SEALED_WHEN_QUIET
    return Event.CANCELLED_AT_CLOSING if closing else Event.CANCELLED_WHEN_QUIET


# --- The heartbeat

TIMEOUT_BEATS = 2
"""Timeout of a write, in heartbeats."""

OUTAGE_BEATS = 4
"""Shortest pause that counts as an outage, rather than a restart or a slow write, in heartbeats."""

GRACE = timedelta(seconds=60)
"""Time after an outage before idle time counts again: clients reconnect one by one."""

Told = Callable[[bool], Awaitable[None]]


class Beaten(NamedTuple):
    """When the last heartbeat was written, by the monotonic clock and by the time of day."""

    monotonic_s: float
    time: datetime


class Heartbeat:
    """A small periodic write to the store, which tells two things.

    - Whether the store can be written to. Reading may work while writing does not (a full disk, a
      standby, a failing device), and a server that takes no frames must not look healthy.
    - Since when the site has served without an outage. Participants cannot send while no server
      runs, so idle time counts from then on, after some grace.

    Attributes:
        quiet_from: Earliest start of idle time, as of the last beat.
        writable: Whether the last beat was written.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self.quiet_from = context.clock()
        self.writable = True
        self._interval_s = context.settings.heartbeat_interval_s
        self._outage = timedelta(seconds=OUTAGE_BEATS * self._interval_s)
        self._beaten: Beaten | None = None

    async def beat_on(self, told: Told) -> None:
        """Beat until cancelled; the caller has made the first beat.

        Args:
            told: Called at each change, with whether beats are written.
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
                # The store may have come back with a different time.
                if not self._goes_on(self._context.clock()):
                    await self._context.adjust_clock()
                self.quiet_from = await self._context.write(self._write, about=())
        except (StoreError, TimeoutError):
            self.writable = False
        else:
            self.writable = True
            self._beaten = Beaten(self._context.monotonic(), self._context.clock())

    def quiet_from_now(self, reader: Reader, now: datetime) -> datetime:
        """Start of idle time; correct after an outage even before the first write.

        Args:
            reader: A state of the store.
            now: The time.
        """
        return self.quiet_from if self._goes_on(now) else self._quiet_from(reader, now)

    def _write(self, transaction: Transaction) -> datetime:
        now = self._context.clock()
        quiet_from = self.quiet_from_now(transaction, now)
        transaction.put_serving(ServingRecord(quiet_from, beat_time=now))
        return quiet_from

    def _goes_on(self, now: datetime) -> bool:
        """Whether this server wrote a heartbeat recently, by both of its clocks.

        The monotonic clock stops while a machine sleeps; the other jumps when the time is set.
        Nobody could send during the sleep, and the time of a jump has not passed.
        """
        last = self._beaten
        return (
            last is not None
            and self._context.monotonic() - last.monotonic_s < self._outage.total_seconds()
            and now - last.time < self._outage
        )

    def _quiet_from(self, reader: Reader, now: datetime) -> datetime:
        """Start of idle time for a server that has just started, with or without others running."""
        record = reader.serving()
        if record is None:
            return now
        return record.quiet_from if now - record.beat_time < self._outage else now + GRACE

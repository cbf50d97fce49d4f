"""Seal, cancel or delete idle submissions; purge data that nobody needs."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache, partial

from vidscore_server.domain.access import Caller
from vidscore_server.domain.benchmarks import Benchmarks
from vidscore_server.domain.context import Context, Request, audit_server
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.quotas import DELETED
from vidscore_server.domain.schedule import Heartbeat, due_event
from vidscore_server.domain.states import TAKES_FRAMES, Event, is_draft, move
from vidscore_server.domain.submissions import Submissions
from vidscore_server.errors import QuotaError
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.records import HIDDEN_ROWS, SubmissionState

RESPONSES_KEPT = timedelta(days=7)
"""Time for which a repeated request, by its `request_id`, gets the same response."""

PURGE_INTERVAL = timedelta(minutes=10)

FREED_BATCHES = 32
"""Maximum number of batches of usual size that one command deletes, so that others can write."""

FREEING_STEPS = 50
"""Number of such commands between two polls."""


class Expirer:
    """Seals or cancels idle submissions, and deletes idle drafts.

    Args:
        context: The hosting context.
        benchmarks: Its benchmarks.
        submissions: Their submissions.
        heartbeat: Tells of outages.
    """

    def __init__(
        self,
        context: Context,
        benchmarks: Benchmarks,
        submissions: Submissions,
        heartbeat: Heartbeat,
    ) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._submissions = submissions
        self._heartbeat = heartbeat
        self._purged: datetime | None = None

    async def expire(self) -> None:
        """Do everything that is due now."""
        now = self._context.clock()
        await self._purge(now)
        for name in await self._context.read(lambda reader: self._due(reader, now)):
            try:
                changed = await self._context.write(
                    lambda transaction, name=name: self._end(transaction, name, now)  # type: ignore[misc] # mypy cannot type a default of a lambda
                )
            except QuotaError:
                changed = await self._context.write(
                    lambda transaction, name=name: self._cancel(transaction, name, now)  # type: ignore[misc] # mypy cannot type a default of a lambda
                )
            if changed:
                self._context.changes.tell(name)
        await self._free()
        await self._free_remains()

    async def _free(self) -> None:
        """Free batches of cancelled submissions; their records stay."""
        for _ in range(FREEING_STEPS):
            found = await self._context.read(lambda reader: reader.cancelled_with_bytes(1))
            if not found:
                return
            await self._context.write(partial(_free_some, SubmissionName(*found[0])), about=found)

    async def _free_remains(self) -> None:
        """Free the rows of deleted benchmarks, and those of loads that were given up."""
        if not await self._context.read(lambda reader: reader.has_hidden()):
            return
        for _ in range(FREEING_STEPS):
            freeing = self._context.write(
                lambda transaction: transaction.free_remains(FREED_BATCHES), about=[HIDDEN_ROWS]
            )
            if not await freeing:
                return

    async def _purge(self, now: datetime) -> None:
        """Delete old responses from time to time, also after the clock was set back."""
        if self._purged is None:
            self._purged = now
        elif abs(now - self._purged) >= PURGE_INTERVAL:
            await self._context.write(lambda transaction: transaction.purge(now - RESPONSES_KEPT))
            self._purged = now

    def _due(self, reader: Reader, now: datetime) -> list[SubmissionName]:
        """Submissions with an event that is due."""
        due = []
        benchmark_of = cache(reader.benchmark)  # there are few of these, but many submissions
        quiet_from = self._heartbeat.quiet_from_now(reader, now)
        for record in reader.submissions_in(TAKES_FRAMES):
            benchmark = benchmark_of(record.benchmark)
            definition = None if benchmark is None else self._benchmarks.understood(benchmark)
            if benchmark is None or definition is None:
                continue
            if due_event(record, benchmark, definition.policy, now, quiet_from) is not None:
                due.append(SubmissionName(record.benchmark, record.submission))
        return due

    def _end(self, transaction: Transaction, name: SubmissionName, now: datetime) -> bool:
        record = transaction.submission(*name)
        benchmark = transaction.benchmark(name.benchmark)
        if record is None or benchmark is None or record.state not in TAKES_FRAMES:
            return False
        policy = self._benchmarks.definition(benchmark).policy
        quiet_from = self._heartbeat.quiet_from_now(transaction, now)
        event = due_event(record, benchmark, policy, now, quiet_from)
        if event is None:
            return False
        if is_draft(record):
            transaction.delete_submission(*name)
            audit_server(transaction, now, DELETED, str(name))
            return True
        changed = move(record, event, now)
        if changed.state is SubmissionState.SEALED:
            self._submissions.sealed(transaction, record, event, Request(Caller(), event, now))
        else:
            transaction.update_submission(changed)
        audit_server(transaction, now, event.value, str(name))
        return True

    def _cancel(self, transaction: Transaction, name: SubmissionName, now: datetime) -> bool:
        record = transaction.submission(*name)
        if record is None or record.state not in TAKES_FRAMES:
            return False
        transaction.update_submission(move(record, Event.CANCELLED_BY_QUOTA, now))
        audit_server(transaction, now, Event.CANCELLED_BY_QUOTA.value, str(name))
        return True


def _free_some(name: SubmissionName, transaction: Transaction) -> None:
    record = transaction.submission(*name)  # it may have been deleted, or created anew, meanwhile
    if record is not None and record.state is SubmissionState.CANCELLED:
        transaction.free_frames(*name, FREED_BATCHES)

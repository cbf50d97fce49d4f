"""Open, append to, seal and cancel submissions; every change goes through the state machine."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.errors import LimitError
from vidscore_evaluators.names import counted
from vidscore_server.domain.access import Caller
from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.context import Context, Request
from vidscore_server.domain.names import StreamName, SubmissionName, parse_string
from vidscore_server.domain.quotas import (
    refuse_closed,
    refuse_draft,
    refuse_ended,
    refuse_further_open,
    refuse_over_quota,
)
from vidscore_server.domain.schedule import Heartbeat, ScheduledEvent, scheduled_event
from vidscore_server.domain.states import (
    TAKES_FRAMES,
    Event,
    IllegalTransitionError,
    is_draft,
    move,
)
from vidscore_server.errors import (
    FrameCountError,
    NameTakenError,
    NotFailedError,
    NotFoundError,
    SubmissionEndedError,
)
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.records import (
    BenchmarkRecord,
    StreamRecord,
    SubmissionRecord,
    SubmissionState,
)

_BEGINS_ANEW = frozenset({SubmissionState.OPEN, SubmissionState.CANCELLED})
"""States in which a submission without frames gives its name to another one of its team."""

_SOON = "it continues by itself; watch it"
_ADVICE = {
    SubmissionState.OPEN: "append frames and seal it",
    SubmissionState.RECEIVING: "seal it",
    SubmissionState.SEALED: _SOON,
    SubmissionState.WAITING_FOR_TRUTH: _SOON,
    SubmissionState.SCORING: _SOON,
    SubmissionState.SCORED: "an organiser scores a whole benchmark again",
    SubmissionState.CANCELLED: "submit the detections again",
}
"""Advice to callers who retry a submission that has not failed."""


class SubmissionView(Struct, frozen=True):
    """A submission with its streams, and its next event by time alone."""

    record: SubmissionRecord
    streams: tuple[StreamRecord, ...]
    due: ScheduledEvent | None


class Submissions:
    """The submissions of a site.

    Args:
        context: The hosting context.
        benchmarks: Its benchmarks.
        heartbeat: Tells of outages.
    """

    def __init__(self, context: Context, benchmarks: Benchmarks, heartbeat: Heartbeat) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._heartbeat = heartbeat

    async def create(
        self, request: Request, benchmark: str, submission: str, title: str
    ) -> SubmissionView:
        """Open a submission of the caller's team, or find the one that the same request opened.

        It is a draft until frames come. The team may use the name of its own draft again.

        Args:
            request: The request.
            benchmark: The benchmark.
            submission: Last part of its name; empty to let the server choose.
            title: For people.

        Raises:
            NotOpenError: If the benchmark takes no submissions now.
            NameTakenError: If the name is taken.
            QuotaError: If the team's quota is used up.
        """
        parse_string(title, "title")
        chosen = submission or f"s{secrets.token_hex(8)}"

        def make(transaction: Transaction) -> str:
            parent = required_benchmark(transaction, benchmark)
            self._refuse_further(transaction, parent, request)
            _put_draft(transaction, _opened(request, SubmissionName(benchmark, chosen), title))
            request.audit(transaction, str(SubmissionName(benchmark, chosen)))
            return chosen

        def command(transaction: Transaction) -> SubmissionView:
            name = request.once(transaction, lambda: make(transaction))
            return self.view(transaction, SubmissionName(benchmark, name), request.caller)

        return await self._context.write(command)

    async def check(self, request: Request, benchmark: str) -> None:
        """Check whether a submission of the caller's team would be accepted now.

        Raises:
            NotOpenError: If the benchmark takes no submissions now.
            QuotaError: If the team's quota is used up.
        """

        def look(reader: Reader) -> None:
            parent = required_benchmark(reader, benchmark)
            self._refuse_further(reader, parent, request)

        await self._context.read(look)

    async def open_stream(self, request: Request, name: StreamName) -> StreamRecord:
        """Open an append stream under its next epoch.

        Raises:
            NotFoundError: If the caller knows no such submission.
            SubmissionEndedError: If it takes no more frames.
            LimitError: If it has too many streams.
        """

        def command(transaction: Transaction) -> StreamRecord:
            record = visible(transaction, name.of_submission, request.caller)
            refuse_ended(record)
            stream = transaction.raise_epoch(*name)
            maximum = self._context.settings.maximum_submission_streams
            if len(transaction.streams(*name.of_submission)) > maximum:
                found = "a further stream of the submission"
                raise LimitError(found, "maximum_submission_streams", maximum)
            changed = replace(record, activity_time=request.time, revision=record.revision + 1)
            transaction.update_submission(changed)
            request.audit(transaction, str(name), f"epoch {stream.epoch}")
            return stream

        stream = await self._context.write(command)
        self._context.changes.tell(name.of_submission)
        return stream

    async def seal(
        self, request: Request, name: SubmissionName, expected_frame_count: int | None
    ) -> SubmissionView:
        """Seal a submission; an already sealed one stays as it is.

        Raises:
            NotFoundError: If the caller knows no such submission.
            FrameCountError: If the number of durable frames differs.
            NoFramesError: If none was ever appended.
            SubmissionEndedError: If it was cancelled.
            QuotaError: If the team's quota is used up.
        """

        def change(transaction: Transaction, record: SubmissionRecord) -> SubmissionRecord | None:
            if record.state is SubmissionState.CANCELLED:
                refuse_ended(record)
            if expected_frame_count not in {None, record.frame_count}:
                count = record.frame_count
                raise FrameCountError(
                    f"{counted(count, 'frame is', 'frames are')} durable, "
                    f"{expected_frame_count} expected",
                    frame_count=str(count),
                )
            if record.state not in TAKES_FRAMES:
                return None
            refuse_draft(record)
            return self.sealed(transaction, record, Event.SEALED_BY_TEAM, request)

        return await self._change(request, name, change)

    async def cancel(self, request: Request, name: SubmissionName) -> SubmissionView:
        """Cancel a submission; an already cancelled one stays as it is.

        Raises:
            NotFoundError: If the caller knows no such submission.
            SubmissionEndedError: If it is too late.
        """
        organiser = request.caller.is_organiser
        event = Event.CANCELLED_BY_ORGANISER if organiser else Event.CANCELLED_BY_TEAM

        def change(_: Transaction, record: SubmissionRecord) -> SubmissionRecord | None:
            if record.state is SubmissionState.CANCELLED:
                return None
            try:
                return move(record, event, request.time)
            except IllegalTransitionError:
                raise SubmissionEndedError(
                    f"the submission is {record.state} and cannot be cancelled any more",
                    state=record.state.value,
                ) from None

        return await self._change(request, name, change)

    async def retry(self, request: Request, name: SubmissionName) -> SubmissionView:
        """Score a failed submission again, as if its scoring had never begun.

        It takes the place in its team's quota that it gave back when it failed. If another
        submission has taken that, only an organiser may retry it: a team could otherwise have any
        number scored, by letting them fail first.

        Raises:
            NotFoundError: If the caller knows no such submission.
            NotFailedError: If it has not failed.
            QuotaError: If the team's quota is used up.
        """

        def begin(transaction: Transaction) -> str:
            record = visible(transaction, name, request.caller)
            if record.state is not SubmissionState.FAILED:
                raise NotFailedError(
                    f"the submission is {record.state}; only one that has failed is scored again "
                    f"({_ADVICE[record.state]})",
                    state=record.state.value,
                )
            again = move(record, Event.SCORING_RETRIED, request.time)
            transaction.update_submission(replace(again, attempts=0))
            if not request.caller.is_organiser:
                self._refuse_over(transaction, record, request)
            request.audit(transaction, str(name), again.state_reason)
            return str(name)

        def command(transaction: Transaction) -> SubmissionView:
            request.once(transaction, lambda: begin(transaction))
            return self.view(transaction, name, request.caller)

        found = await self._context.write(command)
        self._context.changes.tell(name)
        return found

    def sealed(
        self, transaction: Transaction, record: SubmissionRecord, event: Event, request: Request
    ) -> SubmissionRecord:
        """Seal a submission within a command, and check its team's quota.

        Raises:
            QuotaError: If the team's quota is used up.
        """
        changed = move(record, event, request.time)
        transaction.update_submission(changed)
        self._refuse_over(transaction, record, request)
        return changed

    def _refuse_over(self, reader: Reader, record: SubmissionRecord, request: Request) -> None:
        """Refuse if a submission's team exceeds a quota."""
        parent = required_benchmark(reader, record.benchmark)
        definition = self._benchmarks.definition(parent)
        refuse_over_quota(reader, record.benchmark, record.team, definition, request.time)

    def _refuse_further(self, reader: Reader, parent: BenchmarkRecord, request: Request) -> None:
        """Refuse another submission of the caller's team if it may have none."""
        refuse_closed(parent, request.time)
        definition = self._benchmarks.definition(parent)
        team = request.caller.submits_for
        refuse_further_open(reader, parent.benchmark, team, self._context.settings)
        refuse_over_quota(reader, parent.benchmark, team, definition, request.time, more=1)

    def view(self, reader: Reader, name: SubmissionName, caller: Caller) -> SubmissionView:
        """A submission that the caller may see.

        Raises:
            NotFoundError: If there is none.
        """
        [found] = self.views(reader, name.benchmark, [visible(reader, name, caller)])
        return found

    def views(
        self, reader: Reader, benchmark: str, records: Sequence[SubmissionRecord]
    ) -> list[SubmissionView]:
        """Submissions of a benchmark that the caller may see, in order.

        Raises:
            NotFoundError: If there is no such benchmark.
        """
        parent = required_benchmark(reader, benchmark)
        policy, quiet_from = self._benchmarks.definition(parent).policy, self._heartbeat.quiet_from
        streams = reader.streams_of(benchmark, [record.submission for record in records])
        return [
            SubmissionView(
                record,
                tuple(streams.get(record.submission, ())),
                scheduled_event(record, parent, policy, quiet_from),
            )
            for record in records
        ]

    async def _change(
        self,
        request: Request,
        name: SubmissionName,
        change: Callable[[Transaction, SubmissionRecord], SubmissionRecord | None],
    ) -> SubmissionView:
        def command(transaction: Transaction) -> SubmissionView:
            changed = change(transaction, visible(transaction, name, request.caller))
            if changed is not None:
                transaction.update_submission(changed)
                request.audit(transaction, str(name), changed.state_reason)
            return self.view(transaction, name, request.caller)

        changed = await self._context.write(command)
        self._context.changes.tell(name)
        return changed


def team_seen(caller: Caller) -> str | None:
    """Team whose submissions a caller sees; None if it sees all."""
    return None if caller.is_organiser else caller.team


def visible(reader: Reader, name: SubmissionName, caller: Caller) -> SubmissionRecord:
    """A submission that the caller may see.

    Raises:
        NotFoundError: If there is none; the same error if another team has one.
    """
    record = reader.submission(*name)
    if record is None or team_seen(caller) not in {None, record.team}:
        raise NotFoundError(f"{name} does not exist")
    return record


def _opened(request: Request, name: SubmissionName, title: str) -> SubmissionRecord:
    return SubmissionRecord(
        benchmark=name.benchmark,
        submission=name.submission,
        team=request.caller.submits_for,
        title=title,
        state=SubmissionState.OPEN,
        state_reason="created",
        state_message="a draft, until its first frames come",
        state_time=request.time,
        create_time=request.time,
        activity_time=request.time,
    )


def _put_draft(transaction: Transaction, record: SubmissionRecord) -> None:
    """Add a submission, or restart its team's draft of that name.

    The streams of such a draft stay, so that their epochs continue and exclude its old writers.

    Raises:
        NameTakenError: If something else has that name.
    """
    before = transaction.submission(record.benchmark, record.submission)
    if before is None:
        transaction.insert_submission(record)
    elif is_draft(before) and before.team == record.team and before.state in _BEGINS_ANEW:
        transaction.update_submission(replace(record, revision=before.revision + 1))
        transaction.delete_live_clock(record.benchmark, record.submission)
    else:
        raise NameTakenError(f"a submission {record.submission} already exists")

"""Submissions: opened, appended to, sealed, cancelled; every change through the state machine."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace

from vidscore_evaluators.errors import LimitError
from vidscore_server.access.caller import ORGANISERS_TEAM, Caller
from vidscore_server.errors import (
    FrameCountError,
    NameTakenError,
    NotFoundError,
    NotOpenError,
    SubmissionEndedError,
)
from vidscore_server.hosting.benchmarks import Benchmarks, required_benchmark
from vidscore_server.hosting.names import StreamName, SubmissionName, benchmark_name
from vidscore_server.hosting.quotas import refuse_over_quota
from vidscore_server.hosting.requests import Request, checked_text
from vidscore_server.hosting.site import Site
from vidscore_server.hosting.states import TAKES_FRAMES, Event, IllegalTransitionError, move
from vidscore_server.store.contract import AlreadyExistsError, Reader, Transaction
from vidscore_server.store.records import (
    BenchmarkRecord,
    StreamRecord,
    SubmissionRecord,
    SubmissionState,
)


@dataclass(frozen=True, slots=True)
class SubmissionView:
    """A submission with its streams."""

    record: SubmissionRecord
    streams: tuple[StreamRecord, ...]


class Submissions:
    """The submissions of a site.

    Args:
        site: The server's common ground.
        benchmarks: Its benchmarks.
    """

    def __init__(self, site: Site, benchmarks: Benchmarks) -> None:
        """Know none yet."""
        self._site = site
        self._benchmarks = benchmarks

    async def create(
        self, request: Request, benchmark: str, submission: str, title: str
    ) -> SubmissionView:
        """Open a submission of the caller's team, or find what the same request has opened.

        Args:
            request: The request.
            benchmark: The benchmark.
            submission: Last part of its name; empty where the server chooses.
            title: For people.

        Raises:
            NotOpenError: If the benchmark takes no submissions now.
            NameTakenError: If the name is taken.
            QuotaError: If the team's quota is used up.
        """
        checked_text(title, "title")
        chosen = submission or f"s{secrets.token_hex(8)}"

        def make(transaction: Transaction) -> str:
            parent = required_benchmark(transaction, benchmark)
            _refuse_closed(parent, request)
            record = _opened(request, SubmissionName(benchmark, chosen), title)
            try:
                transaction.insert_submission(record)
            except AlreadyExistsError:
                raise NameTakenError(f"a submission {chosen} is there already") from None
            policy = self._benchmarks.definition(parent).policy
            refuse_over_quota(transaction, benchmark, record.team, policy, request.time)
            request.audit(transaction, str(SubmissionName(benchmark, chosen)))
            return chosen

        def command(transaction: Transaction) -> SubmissionView:
            name = request.once(transaction, lambda: make(transaction))
            return view(transaction, SubmissionName(benchmark, name), request.caller)

        return await self._site.write(command)

    async def open_stream(self, request: Request, name: StreamName) -> StreamRecord:
        """Open an append stream under its next epoch.

        Raises:
            NotFoundError: If the caller knows no such submission.
            SubmissionEndedError: If it takes no more frames.
            LimitError: If it has too many streams.
        """

        def command(transaction: Transaction) -> StreamRecord:
            record = visible(transaction, name.of_submission, request.caller)
            _refuse_ended(record)
            stream = transaction.raise_epoch(*name)
            maximum = self._site.settings.maximum_submission_streams
            if len(transaction.streams(*name.of_submission)) > maximum:
                found = "a further stream of the submission"
                raise LimitError(found, "maximum_submission_streams", maximum)
            changed = replace(record, activity_time=request.time, revision=record.revision + 1)
            transaction.update_submission(changed)
            request.audit(transaction, str(name), f"epoch {stream.epoch}")
            return stream

        stream = await self._site.write(command)
        self._site.changes.tell(name.of_submission)
        return stream

    async def seal(
        self, request: Request, name: SubmissionName, expected_frame_count: int | None
    ) -> SubmissionView:
        """Seal a submission; one that is sealed already stays as it is.

        Raises:
            NotFoundError: If the caller knows no such submission.
            FrameCountError: If another number of frames is durable.
            SubmissionEndedError: If it was cancelled.
            QuotaError: If the team's quota is used up.
        """

        def change(transaction: Transaction, record: SubmissionRecord) -> SubmissionRecord | None:
            if record.state is SubmissionState.CANCELLED:
                _refuse_ended(record)
            if expected_frame_count not in {None, record.frame_count}:
                raise FrameCountError(
                    f"{record.frame_count} frames are durable, {expected_frame_count} expected",
                    frame_count=str(record.frame_count),
                )
            if record.state not in TAKES_FRAMES:
                return None
            return self.sealed(transaction, record, Event.SEALED_BY_TEAM, request)

        return await self._change(request, name, change)

    async def cancel(self, request: Request, name: SubmissionName) -> SubmissionView:
        """Cancel a submission; one that is cancelled already stays as it is.

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

    def sealed(
        self, transaction: Transaction, record: SubmissionRecord, event: Event, request: Request
    ) -> SubmissionRecord:
        """Seal a submission within a command, and hold its team to its quota.

        Raises:
            QuotaError: If the team's quota is used up.
        """
        changed = move(record, event, request.time)
        transaction.update_submission(changed)
        parent = required_benchmark(transaction, record.benchmark)
        policy = self._benchmarks.definition(parent).policy
        refuse_over_quota(transaction, record.benchmark, record.team, policy, request.time)
        return changed

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
            return view(transaction, name, request.caller)

        changed = await self._site.write(command)
        self._site.changes.tell(name)
        return changed


def team_seen(caller: Caller) -> str | None:
    """Team whose submissions a caller sees; None for one that sees all."""
    return None if caller.is_organiser else caller.team


def visible(reader: Reader, name: SubmissionName, caller: Caller) -> SubmissionRecord:
    """A submission that the caller may see.

    Raises:
        NotFoundError: If there is none: that another team has one is not said.
    """
    record = reader.submission(*name)
    if record is None or team_seen(caller) not in {None, record.team}:
        raise NotFoundError(f"{name} does not exist")
    return record


def view(reader: Reader, name: SubmissionName, caller: Caller) -> SubmissionView:
    """A submission that the caller may see, with its streams.

    Raises:
        NotFoundError: If there is none.
    """
    return SubmissionView(visible(reader, name, caller), tuple(reader.streams(*name)))


def _opened(request: Request, name: SubmissionName, title: str) -> SubmissionRecord:
    return SubmissionRecord(
        benchmark=name.benchmark,
        submission=name.submission,
        team=request.caller.team or ORGANISERS_TEAM,
        title=title,
        state=SubmissionState.OPEN,
        state_reason="created",
        state_message="",
        state_time=request.time,
        create_time=request.time,
        activity_time=request.time,
    )


def _refuse_closed(benchmark: BenchmarkRecord, request: Request) -> None:
    name = benchmark_name(benchmark.benchmark)
    if benchmark.open_time is not None and request.time < benchmark.open_time:
        opening = benchmark.open_time.isoformat()
        raise NotOpenError(f"{name} opens at {opening}", open_time=opening)
    if benchmark.close_time is not None and request.time >= benchmark.close_time:
        closing = benchmark.close_time.isoformat()
        raise NotOpenError(f"{name} closed at {closing}", close_time=closing)


def _refuse_ended(record: SubmissionRecord) -> None:
    if record.state not in TAKES_FRAMES:
        raise SubmissionEndedError(
            f"the submission is {record.state} and takes no more frames", state=record.state.value
        )

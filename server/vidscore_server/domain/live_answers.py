"""Live submissions: start clocks, give out frames, and store answers.

Each of these is one commit of the store, and each but the start takes the clock's next event
number. A frame is sent after the commit that gives it out, and an answer acknowledged after the one
that stores it, so that the numbers prove what was durable before a frame was given out. All state
is in the store: a server that dies loses nothing, and another one continues the clock by the
store's time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import sequence_name
from vidscore_evaluators.errors import Fault, InputError
from vidscore_server.domain.append_rules import RuleCache
from vidscore_server.domain.appends import (
    FIELD,
    Admit,
    AppendTarget,
    AppendWriter,
    FirstFramesError,
    PendingAppend,
    check_appends,
    refuse_detections,
    refuse_stale,
)
from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.byte_budget import ByteBudget
from vidscore_server.domain.context import Context, Request
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.live_clock import Timeline, timeline_from_json, timeline_to_json
from vidscore_server.domain.names import StreamName, SubmissionName, benchmark_name
from vidscore_server.domain.online import OnlineRecord, online_record
from vidscore_server.domain.quotas import admit
from vidscore_server.domain.submissions import Submissions, team_seen, visible
from vidscore_server.errors import (
    FrameExistsError,
    FrameNotGivenError,
    LiveBenchmarkError,
    NotFoundError,
    NotLiveError,
)
from vidscore_server.runtime import failpoint, offload
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.errors import AlreadyExistsError
from vidscore_server.store.records import (
    LiveClockRecord,
    LiveFrameRecord,
    StreamRecord,
    SubmissionRecord,
)
from vidscore_server.workers import WorkerPool

LIVE_STREAM = "live"
"""The append stream of the answers of a submission."""


class LiveCall(Struct, frozen=True, eq=False):
    """A call that answers the frames of a submission.

    Attributes:
        target: The stream of its answers, under the call's epoch.
        timeline: The frames of the clock and their times.
        start_time: When the clock started.
    """

    target: AppendTarget
    timeline: Timeline
    start_time: datetime

    @property
    def name(self) -> SubmissionName:
        """The submission."""
        return self.target.submission

    def time_of(self, elapsed_us: int) -> datetime:
        """The time `elapsed_us` microseconds after the start."""
        return self.start_time + timedelta(microseconds=elapsed_us)


class Given(Struct, frozen=True):
    """The current frame.

    Attributes:
        position: Its position.
        is_new: Whether it was given out just now.
        is_answered: Whether its answer is stored.
        over_time: When the next frame is due, or the clock ends.
        remaining_s: Seconds until then.
    """

    position: int
    is_new: bool
    is_answered: bool
    over_time: datetime
    remaining_s: float


class Answered(Struct, frozen=True):
    """An answer that is durable.

    Attributes:
        position: Position of its frame.
        in_time: Whether it was durable before the next frame was given out.
        latency_s: Seconds from giving out the frame to storing the answer.
    """

    position: int
    in_time: bool
    latency_s: float


def refuse_live(definition: Definition, benchmark: str) -> None:
    """Refuse a call that would bring frames to a live benchmark other than by its clock.

    Raises:
        LiveBenchmarkError: If it is live.
    """
    if definition.live is not None:
        raise LiveBenchmarkError(
            f"{benchmark_name(benchmark)} is live: it takes a frame only as the answer to "
            "its clock; call AnswerFrames (client.answer_live in Python), or use vidscore live"
        )


class LiveAnswers:
    """The clocks of a site's live submissions.

    Args:
        context: The hosting context.
        benchmarks: Its benchmarks.
        rules: Rules of appends to them.
        submissions: Their submissions.
        budget: Upper bound on the bytes of answers that are received but not stored.
        workers: The worker processes, which check the rules of plug-ins.
    """

    def __init__(
        self,
        context: Context,
        benchmarks: Benchmarks,
        rules: RuleCache,
        submissions: Submissions,
        budget: ByteBudget,
        workers: WorkerPool,
    ) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._rules = rules
        self._submissions = submissions
        self._budget = budget
        self._workers = workers

    async def begin(self, request: Request, name: SubmissionName) -> LiveCall:
        """Begin a call, which replaces earlier calls; the first call starts the clock.

        Raises:
            NotFoundError: If the caller knows no such submission.
            NotLiveError: If its benchmark has no clock.
            SubmissionEndedError: If it takes no more frames.
        """

        def look(reader: Reader) -> str:
            visible(reader, name, request.caller)
            clock = reader.live_clock(*name)
            definition = self._benchmarks.definition(required_benchmark(reader, name.benchmark))
            if clock is None and definition.live is None:
                raise NotLiveError(
                    f"{benchmark_name(name.benchmark)} is not live; append the frames"
                )
            if clock is not None or definition.live is None:
                return ""
            return timeline_to_json(definition.live, definition.specification.sequences)

        text = await self._context.read(look)
        place = StreamName(*name, LIVE_STREAM)
        stream = await self._submissions.open_stream(request, place)
        rules = await self._rules.of(name.benchmark)
        team = team_seen(request.caller)
        target = AppendTarget(str(place), place, stream.epoch, team, rules)

        def start(transaction: Transaction) -> LiveClockRecord:
            _current_points(transaction, target)
            clock = transaction.live_clock(*name)
            if clock is None:
                clock = LiveClockRecord(text, self._context.clock())
                transaction.put_live_clock(*name, clock)
            return clock

        clock = await self._context.write(start, about=[name])
        timeline = await offload(len(clock.schedule), timeline_from_json, clock.schedule)
        return LiveCall(target, timeline, clock.start_time)

    async def give_out(self, call: LiveCall) -> Given | None:
        """Give out the current frame if it is new, and return it; None once the clock has ended.

        Frames whose time has passed unseen are never given out.

        Raises:
            EpochStaleError: If a newer call answers.
            SubmissionEndedError: If the submission takes no more frames.
        """

        def command(transaction: Transaction) -> Given | None:
            clock, _ = _current(transaction, call)
            now = self._context.clock()
            position = call.timeline.position_at(_elapsed_us(call, now))
            if position is None:
                if clock.end_event is None:
                    ended, number = _next_event(clock)
                    transaction.put_live_clock(*call.name, replace(ended, end_event=number))
                return None
            is_new = position > clock.last_position
            if is_new:
                begun, number = _next_event(clock)
                frame = LiveFrameRecord(position, number, now)
                transaction.put_live_frame(*call.name, frame)
                transaction.put_live_clock(*call.name, replace(begun, last_position=position))
            else:  # the same frame as before, also if the server's clock was set back
                frame = _required_frame(transaction, call, clock.last_position)
            over_time = call.time_of(call.timeline.over_at(frame.position))
            remaining_s = max(0.0, (over_time - now).total_seconds())
            is_answered = frame.answer_event is not None
            return Given(frame.position, is_new, is_answered, over_time, remaining_s)

        given = await self._context.write(command, about=[call.name])
        failpoint("after_give_out")
        return given

    async def answer(
        self, call: LiveCall, position: int, message: Any, size: int, held_bytes: int
    ) -> Answered:
        """Store the answer to a frame; a repeat of a stored answer is acknowledged again.

        Args:
            call: The call.
            position: Position of the frame.
            message: The detections, as they were received.
            size: Number of its frames and coordinates.
            held_bytes: Memory that it takes, in bytes.

        Raises:
            InputError: If it covers anything but that frame, or breaks a rule; with every fault.
            FrameNotGivenError: If the frame was not given out.
            VidscoreError: If it cannot be stored, as for any append.
        """
        arrival_time = self._context.clock()  # before it waits for anything
        target = call.target
        target.rules = await self._rules.of(target.stream.benchmark)
        await refuse_detections(self._workers, target.rules, message, size, self._context)
        reservation = await self._budget.reserve(target, target.team, held_bytes)
        try:
            stored: asyncio.Future[int] = asyncio.get_running_loop().create_future()
            append = PendingAppend(target, 0, message, size, reservation, stored, arrival_time)
            settings, codec = self._context.settings, self._context.codec
            [error] = await offload(size, check_appends, [append], settings, codec)
            if error is not None:
                raise error
            _check_frame(call, position, append)
            answered = await self._store(call, position, append)
        finally:
            self._budget.release(reservation)
        failpoint("before_acknowledge")
        self._context.changes.tell(call.name)
        return answered

    async def online(self, call: LiveCall) -> OnlineRecord:
        """The online record of a call's submission so far."""

        def look(reader: Reader) -> OnlineRecord:
            record = reader.submission(*call.name)
            clock, frames = reader.live_clock(*call.name), reader.live_frames(*call.name)
            return online_record(call.timeline, clock, frames, record.frame_count if record else 0)

        return await self._context.read(look)

    async def _store(self, call: LiveCall, position: int, append: PendingAppend) -> Answered:
        def admit_now(transaction: Transaction, record: SubmissionRecord) -> None:
            admit(transaction, self._benchmarks, record, self._context.clock())

        def command(admitting: Admit | None) -> Callable[[Transaction], Answered]:
            return lambda transaction: self._write(transaction, call, position, append, admitting)

        try:
            try:
                return await self._context.write(command(None), about=[call.name])
            except FirstFramesError:
                return await self._context.write(command(admit_now))
        except AlreadyExistsError:
            frame = _frame_text(call, position)
            raise FrameExistsError(f"{frame} is stored in another stream", frames="1") from None

    def _write(
        self,
        transaction: Transaction,
        call: LiveCall,
        position: int,
        append: PendingAppend,
        admitting: Admit | None,
    ) -> Answered:
        """Append an answer and note it as the next event, in one transaction."""
        clock, stream = _current(transaction, call)
        frame = _required_frame(transaction, call, position)
        known = frame.answer_offset
        offset = stream.next_offset if known is None else known
        append.offset, append.record = offset, replace(append.record, first_offset=offset)
        now = self._context.clock()
        settings = self._context.settings
        writer = AppendWriter(transaction, [LIVE_STREAM], settings, now, admitting)
        outcome = writer.append(append)
        if isinstance(outcome, Exception):
            raise outcome
        writer.close()
        if known is None:
            answered, number = _next_event(clock)
            frame = replace(frame, answer_event=number, answer_time=now, answer_offset=offset)
            transaction.put_live_frame(*call.name, frame)
            transaction.put_live_clock(*call.name, answered)
        return _answered(frame, _event_after(transaction, call, clock, frame))


def _current_points(
    transaction: Transaction, target: AppendTarget
) -> tuple[SubmissionRecord, StreamRecord]:
    """The submission and its stream of answers, if the call may continue."""
    points = transaction.append_points(*target.submission, [LIVE_STREAM])
    if points is None or LIVE_STREAM not in points[1]:
        raise NotFoundError(f"{target.submission} does not exist")
    submission, stream = points[0], points[1][LIVE_STREAM]
    refuse_stale(target.epoch, submission, stream)
    return submission, stream


def _current(transaction: Transaction, call: LiveCall) -> tuple[LiveClockRecord, StreamRecord]:
    """The current clock, and the stream of answers, if the call may continue."""
    _, stream = _current_points(transaction, call.target)
    clock = transaction.live_clock(*call.name)
    if clock is None or clock.start_time != call.start_time:
        raise NotLiveError(f"the clock of {call.name} was restarted; begin again")
    return clock, stream


def _next_event(clock: LiveClockRecord) -> tuple[LiveClockRecord, int]:
    """A clock after one more event, and the number of that event."""
    number = clock.event_count + 1
    return replace(clock, event_count=number), number


def _elapsed_us(call: LiveCall, now: datetime) -> int:
    return (now - call.start_time) // timedelta(microseconds=1)


def _required_frame(transaction: Transaction, call: LiveCall, position: int) -> LiveFrameRecord:
    frame = transaction.live_frame(*call.name, position)
    if frame is None:
        raise FrameNotGivenError(
            f"{_frame_text(call, position)} was not given out: answer frames as they come"
        )
    return frame


def _event_after(
    transaction: Transaction, call: LiveCall, clock: LiveClockRecord, frame: LiveFrameRecord
) -> int | None:
    """Number of the clock's next event after a frame was over; None if there is none yet."""
    following = transaction.live_frame_after(*call.name, frame.position)
    return clock.end_event if following is None else following.given_event


def _answered(frame: LiveFrameRecord, next_event: int | None) -> Answered:
    if frame.answer_event is None or frame.answer_time is None:
        raise ValueError("a frame without an answer")
    in_time = next_event is None or frame.answer_event < next_event
    return Answered(frame.position, in_time, (frame.answer_time - frame.given_time).total_seconds())


def _check_frame(call: LiveCall, position: int, append: PendingAppend) -> None:
    """Check that an answer covers its frame, and nothing else.

    Raises:
        InputError: If it covers another frame, or several.
    """
    if not 0 <= position < len(call.timeline):
        expected = f"0 to {len(call.timeline) - 1}"
        raise InputError([Fault(str(position), expected, field="position")])
    key, number = call.timeline.frame(position)
    frames = {name: list(numbers) for name, numbers in append.frames.items()}
    if frames != {(key.domain, key.sequence): [number]}:
        found = "other frames" if append.record.frame_count == 1 else "several frames"
        expected = f"{_frame_text(call, position)} alone"
        raise InputError([Fault(found, expected, source=FIELD, field="frame_numbers")])


def _frame_text(call: LiveCall, position: int) -> str:
    key, number = call.timeline.frame(position)
    return f"frame {number} of sequence {sequence_name(key)[:80]} (position {position})"

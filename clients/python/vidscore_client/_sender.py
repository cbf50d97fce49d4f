"""Opens an append stream and delivers its frames: connects, sends, and resumes after breaks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

from vidscore_client._append_state import (
    AppendState,
    Sent,
    aborted,
    cannot_send,
    flush_in_callback,
    no_answer,
    not_delivered,
    not_flushed,
    on_acknowledged_failed,
)
from vidscore_client._convert import to_dataclass
from vidscore_client._encoding import checksum, encode_frames
from vidscore_client._limits import limited
from vidscore_client._outbox import Item
from vidscore_client._retrying import ended_early
from vidscore_client._transport import Call, Home, Transport
from vidscore_client._upload import refuse_other_arity
from vidscore_client._values import check_timeout
from vidscore_client.benchmarks import AsyncBenchmarks
from vidscore_client.errors import ConflictError, InputError, NotFoundError, VidscoreError
from vidscore_client.frames import ARITIES, Frames, parse_string
from vidscore_client.hosting import StreamInfo, Submission, SubmissionState
from vidscore_client.settings import Batching, Delivery
from vidscore_client.submissions import SUBMISSIONS, AsyncSubmissions
from vidscore_protos.v1 import submission_service_pb2 as wire

NAME_TAKEN = "NAME_TAKEN"


@dataclass(frozen=True)
class AppendPlan:
    """An append stream that is open for this writer, and how to deliver frames into it.

    Attributes:
        submission: The submission.
        stream: The stream, with the epoch to write under and the offset to continue at.
        arity: Coordinates per detection.
        batching: How frames are batched.
        delivery: How they are held until they are acknowledged.
        replay: Whether the caller sends from its first frame again.
    """

    submission: Submission
    stream: StreamInfo
    arity: int
    batching: Batching
    delivery: Delivery
    replay: bool

    def check_batch(self, frames: Frames) -> None:
        """Refuse a batch that does not belong to this stream.

        Raises:
            InputError: If it is not a batch, or its objects have another shape.
        """
        if not isinstance(frames, Frames):
            raise InputError("frames", repr(frames)[:80], "Frames")
        refuse_other_arity(frames, self.arity)

    def append(self, batch: Sent) -> wire.AppendRequest:
        """The request for a batch; the same batch always gives the same bytes."""
        detections = encode_frames(batch.frames)
        return wire.AppendRequest(
            stream=f"{self.submission.name}/streams/{self.stream.stream}",
            epoch=self.stream.epoch,
            offset=batch.offset,
            detections=detections,
            detections_crc32=checksum(detections),
            source_position=batch.source_position,
        )


async def open_append(
    transport: Transport,
    benchmark: str,
    submission: str | None,
    stream: str,
    title: str,
    *,
    batching: Batching,
    delivery: Delivery,
    replay: bool,
) -> AppendPlan:
    """Find or create a submission, and open one of its append streams.

    The arguments after the connection, and the errors, are those of `Client.submit`.
    """
    hosted = await AsyncBenchmarks(transport).get(benchmark)
    geometry = hosted.detection_geometry
    if geometry is None:
        raise ConflictError(
            f"{hosted.name} takes no detections yet: their geometry follows from the truth, "
            "which has not been uploaded",
            reason="BENCHMARK_NOT_OPEN",
        )
    found = await find_or_create(AsyncSubmissions(transport), hosted.name, submission, title)
    request = wire.OpenStreamRequest(submission=found.name, stream=parse_string("stream", stream))
    response = await transport.unary(SUBMISSIONS + "OpenStream", request, wire.OpenStreamResponse)
    opened = to_dataclass(StreamInfo, response.stream)
    batching = limited(batching, response.limits)
    return AppendPlan(found, opened, ARITIES[geometry], batching, delivery, replay)


async def find_or_create(
    submissions: AsyncSubmissions, benchmark: str, submission: str | None, title: str
) -> Submission:
    """The submission of a name, created if missing; None lets the server choose a name.

    Raises:
        VidscoreError: As `Client.submit`.
    """
    if submission is None:
        return await submissions.create(benchmark, title=title)
    if not parse_string("submission", submission) or "/" in submission:
        raise InputError("submission", repr(submission)[:80], "a name like {submission}")
    name = f"{benchmark}/{submission}"
    try:
        found = await submissions.get(name)
        # Nobody has seen a draft's title, so an earlier, refused title must not stay.
        if found.state is not SubmissionState.OPEN or title in {"", found.title}:
            return found
    except NotFoundError:
        pass
    try:
        return await submissions.create(benchmark, submission, title=title)
    except ConflictError as error:
        if error.reason != NAME_TAKEN:
            raise
        taken = error
    try:
        # Another process of the same submission may just have created it.
        return await submissions.get(name)
    except NotFoundError:
        raise taken from None  # it belongs to another team


# --- Delivery

JOIN_TIMEOUT_S = 5.0
"""Timeout in seconds for joining a stream's worker, which may be in the caller's callback."""


class Sender:
    """Delivers frames in a separate worker.

    It and its workers hold no reference to the user's stream, so that a leaked stream can be
    collected.

    Args:
        transport: The connection.
        plan: The opened stream, and how to deliver frames.
    """

    def __init__(self, transport: Transport, plan: AppendPlan) -> None:
        self.plan = plan
        self.state = AppendState(plan.stream, plan.batching, plan.delivery, replay=plan.replay)
        self.left = False  # whether this side closed or aborted it
        self._transport = transport
        self._home = Home()
        self._monitor = transport.monitor()
        self._connections = transport.monitor()  # woken up when the connection changes
        self._connection = 0  # number of the current call; workers of other calls stop
        self._call: Call | None = None
        self._stall: VidscoreError | None = None  # why the current call was cancelled
        self._worker = transport.worker(self._run, "submission")
        self._worker.start()

    async def put(self, item: Item, source_position: str | None = None) -> None:
        """Queue frames; if the queue is full, follow the policy."""
        self._home.check()
        state = self.state
        with self._monitor:
            due_before_s = state.due_s
            waited = not state.admit(item, time.monotonic(), source_position)
            if waited:
                await self._wait_for_room(item, source_position)
            # The call's sender sleeps until something is due; only an earlier due time must wake
            # it. After a wait, the earlier due time is not known.
            if not waited and state.due_s == due_before_s:
                return
            self._monitor.wake()
        await self._transport.take_turns()

    async def flush(self, timeout_s: float | None) -> None:
        """Wait until every frame is durable."""
        check_timeout(timeout_s)
        self._home.check()
        self._refuse_in_callback()
        with self._monitor:
            self.state.flush()
            self._monitor.wake()
            if not await self._monitor.wait_until(lambda: self.state.drained, timeout_s):
                raise not_flushed(timeout_s)
            self.state.check_delivered()

    async def close(self, timeout_s: float) -> None:
        """Deliver every frame within a timeout, and end; do nothing if this side has ended it."""
        check_timeout(timeout_s)
        self._refuse_in_callback()
        if self.left and self.state.ended:
            return
        self._home.check()
        self.left = True
        with self._monitor:
            self.state.close()
            self._monitor.wake()
            in_time = await self._monitor.wait_until(lambda: self.state.drained, timeout_s)
        if not in_time:
            self._end(not_delivered(timeout_s, self.state.undelivered))
            self._worker.cancel()
        await self._worker.join(JOIN_TIMEOUT_S)
        self._end(None)
        self._worker.cancel()
        self.state.check_delivered()

    async def abort(self) -> None:
        """End at once; in a forked process, only forget the stream, which belongs to the parent."""
        self.left = True
        if not self._home.is_here:
            self.state.end(aborted())  # without the lock, which may never be released
            return
        self._end(aborted())
        self._worker.cancel()
        await self._worker.join(JOIN_TIMEOUT_S)

    def _refuse_in_callback(self) -> None:
        if self._worker.is_current:
            raise flush_in_callback()

    async def _wait_for_room(self, item: Item, source_position: str | None) -> None:
        def admit() -> bool:
            return self.state.admit(item, time.monotonic(), source_position)

        batching = self.plan.batching
        if batching.policy == "raise":
            raise self.state.refusal(None)
        timeout_s = batching.block_timeout_s
        if not await self._monitor.wait_until(admit, timeout_s):
            raise self.state.refusal(timeout_s)

    async def _run(self) -> None:
        error: VidscoreError | None = aborted()
        try:
            while await self._await_work():
                try:
                    await self._deliver()
                except VidscoreError as failure:
                    await self._pause(failure)
            error = None
        except VidscoreError as failure:
            error = failure
        except Exception as failure:
            error = cannot_send(failure)
            raise
        finally:
            self._end(error)

    async def _await_work(self) -> bool:
        """Wait until there is something to deliver; False if the stream has ended."""
        state = self.state
        with self._monitor:
            await self._monitor.wait_until(lambda: state.closing or not state.idle, None)
            return not state.drained

    async def _pause(self, failure: VidscoreError) -> None:
        with self._monitor:
            delay_s = self.state.delay_s(failure, time.monotonic())
            await self._monitor.wait_until(lambda: self.state.ended, delay_s)

    async def _deliver(self) -> None:
        if self.state.broken:
            await self._resume()
        if self.plan.delivery.unary:
            await self._deliver_one_by_one()
        else:
            await self._deliver_over_a_call()

    async def _resume(self) -> None:
        submission = await AsyncSubmissions(self._transport).get(self.plan.submission.name)
        with self._monitor:
            known = submission.stream(self.plan.stream.stream)
            grown = self.state.resume(known, time.monotonic())
            self._monitor.wake()
        if grown:
            await self._call_back()

    async def _deliver_one_by_one(self) -> None:
        with self._monitor:
            connection = self._connection
        while (batch := await self._next_batch(connection)) is not None:
            request = self.plan.append(batch)
            response = await self._transport.unary(
                SUBMISSIONS + "AppendBatch", request, wire.AppendResponse
            )
            await self._acknowledge(response.next_offset)

    async def _deliver_over_a_call(self) -> None:
        call = self._connect()
        watchdog = self._transport.worker(
            partial(self._watch_over, self._connection), "submission-watchdog"
        )
        watchdog.start()
        try:
            while (response := await self._read(call)) is not None:
                await self._acknowledge(response.next_offset)
        finally:
            self._drop()
            await watchdog.join(JOIN_TIMEOUT_S)
        if not self.state.drained:
            raise ended_early()

    async def _read(self, call: Call) -> wire.AppendResponse | None:
        try:
            response: wire.AppendResponse | None = await call.read()
        except VidscoreError as failure:
            raise (self._stall or failure) from failure
        return response

    def _connect(self) -> Call:
        with self._monitor:
            self._stall = None
            call = self._transport.stream(
                SUBMISSIONS + "AppendFrames",
                partial(self._next_request, self._connection),
                wire.AppendResponse,
            )
            if not self.state.ended:
                self._call = call
                return call
        call.cancel()
        return call

    async def _watch_over(self, connection: int) -> None:
        """End a call that gets no acknowledgements."""
        timeout_s = self.plan.delivery.acknowledge_timeout_s
        with self._connections:
            while self._connection == connection:
                stalled_at_s, now_s = self.state.stalled_at_s, time.monotonic()
                if stalled_at_s is not None and now_s >= stalled_at_s:
                    self._stall = no_answer(timeout_s)
                    break
                await self._connections.pause(
                    timeout_s if stalled_at_s is None else stalled_at_s - now_s
                )
        if self._connection == connection:
            self._drop()

    def _drop(self) -> None:
        """Drop the current call, if any; its workers stop."""
        with self._monitor:
            self._connection += 1
            self.state.disconnect()
            self._monitor.wake()
            call, self._call = self._call, None
        with self._connections:
            self._connections.wake()
        if call is not None:
            call.cancel()

    async def _next_request(self, connection: int) -> wire.AppendRequest | None:
        batch = await self._next_batch(connection)
        if batch is None:
            return None
        try:
            return self.plan.append(batch)
        except Exception as error:
            raise cannot_send(error) from error

    async def _next_batch(self, connection: int) -> Sent | None:
        state = self.state
        with self._monitor:
            while self._connection == connection and not self._nothing_to_send:
                now_s = time.monotonic()
                batch = state.take(now_s)
                if batch is not None:
                    self._monitor.wake()
                    return batch
                due_s = state.due_s
                await self._monitor.pause(None if due_s is None else max(0.0, due_s - now_s))
        return None

    @property
    def _nothing_to_send(self) -> bool:
        return self.state.ended or (self.state.closing and self.state.idle)

    async def _acknowledge(self, next_offset: int) -> None:
        with self._monitor:
            grown = self.state.acknowledge(next_offset, time.monotonic())
            self._monitor.wake()
        if grown:
            await self._call_back()

    async def _call_back(self) -> None:
        on_acknowledged = self.plan.delivery.on_acknowledged
        if on_acknowledged is not None:
            try:
                await self._transport.call_back(on_acknowledged, self.state.acknowledged)
            except Exception as error:
                raise on_acknowledged_failed(error) from error

    def _end(self, error: VidscoreError | None) -> None:
        with self._monitor:
            self.state.end(error)
        self._drop()

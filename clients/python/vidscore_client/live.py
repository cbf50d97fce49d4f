"""Live benchmarks: answer frames while they are current, asyncio and synchronous.

A worker reads responses, so that the newest frame is known whatever the caller does; the caller's
own thread or task processes the frames. Unacknowledged answers are sent again after a break, and
the server tells whether they were in time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from numpy.typing import ArrayLike

from vidscore_client._decoding import decode_online
from vidscore_client._encoding import checksum, encode_frames
from vidscore_client._outbox import SingleFrame, join
from vidscore_client._retrying import Retrying, ended_early
from vidscore_client._sender import find_or_create
from vidscore_client._transport import Monitor, Transport
from vidscore_client.benchmarks import AsyncBenchmarks
from vidscore_client.errors import (
    CallbackError,
    CallCancelledError,
    ConflictError,
    VidscoreError,
)
from vidscore_client.frames import ARITIES, FloatArray, Frames
from vidscore_client.hosting import OnlineRecord, Submission
from vidscore_client.masks import MaskInput
from vidscore_client.settings import Retry
from vidscore_client.submissions import SUBMISSIONS, AsyncSubmissions
from vidscore_protos.v1 import submission_service_pb2 as wire

JOIN_TIMEOUT_S = 5.0
"""Timeout in seconds for joining the worker at the end of a call."""


@dataclass(frozen=True)
class LiveFrame:
    """The current frame; `answer` sends its detections.

    Attributes:
        position: Number of frames before it on the clock.
        domain: Domain of its sequence; empty if there is only one.
        sequence: Its sequence.
        frame: Its number.
        due_s: Due time, in seconds after the start of the clock.
        remaining_s: Seconds until the next frame, at the time of giving out.
        repeated: Whether an earlier call got it already.
    """

    position: int
    domain: str
    sequence: str
    frame: int
    due_s: float
    remaining_s: float
    repeated: bool
    _answer: Callable[[Frames], None] = field(repr=False, compare=False)
    _arity: int = field(repr=False, compare=False)

    def answer(
        self,
        coordinates: ArrayLike,
        labels: Sequence[str | int] | None = None,
        confidences: ArrayLike | None = None,
        track_ids: ArrayLike | None = None,
        masks: MaskInput | None = None,
        columns: Mapping[str, FloatArray] | None = None,
    ) -> None:
        """Send the detections of the frame, which may be none; once, and without waiting.

        Args:
            coordinates: (N, arity) pixels, or an empty list for no detection.
            labels: N labels of classes.
            confidences: N finite numbers, higher is surer.
            track_ids: N identities of tracks, -1 for none.
            masks: Masks of N boxes, as columns or as COCO's objects.
            columns: Further N numbers by name.

        Raises:
            InputError: If an argument has a wrong shape or length.
            ConflictError: If the frame has an answer already.
        """
        frame = SingleFrame.of(
            self._arity,
            self.sequence,
            self.frame,
            coordinates,
            labels=labels,
            confidences=confidences,
            track_ids=track_ids,
            domain=self.domain,
            masks=masks,
        )
        frames = join([frame])
        self._answer(frames if columns is None else replace(frames, columns=columns))


@dataclass(frozen=True)
class LiveOutcome:
    """Result of a live submission.

    Attributes:
        submission: The submission.
        online: Whether it answered online, and how fast.
    """

    submission: Submission
    online: OnlineRecord


OnFrame = Callable[[LiveFrame], object]


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer that is durable.

    Attributes:
        position: Number of frames before its frame on the clock.
        in_time: Whether it was durable before the next frame was given out.
        latency_s: Seconds from giving out the frame to storing the answer.
    """

    position: int
    in_time: bool
    latency_s: float


OnStored = Callable[[StoredAnswer], object]


class _Progress:
    """Pending answers over all calls of a submission; one call at a time is open."""

    def __init__(self, monitor: Monitor, on_stored: OnStored | None) -> None:
        self.monitor = monitor
        self.on_stored = on_stored
        self.unacknowledged: dict[int, wire.AnswerFramesRequest] = {}
        self._answered: set[int] = set()
        self._queue: list[wire.AnswerFramesRequest] = []

    def begin(self, submission: str) -> list[wire.AnswerFramesRequest]:
        """Requests of a new call, beginning with the pending answers of the call before."""
        with self.monitor:
            first = wire.AnswerFramesRequest(submission=submission)
            self._queue = [first, *self.unacknowledged.values()]
            return self._queue

    def is_answered(self, position: int) -> bool:
        """Whether a frame has its answer, durable or not."""
        return position in self._answered

    def answer(self, position: int, frames: Frames) -> None:
        """Queue an answer for the open call, whichever call got its frame."""
        detections = encode_frames(frames)
        request = wire.AnswerFramesRequest(
            position=position, detections=detections, detections_crc32=checksum(detections)
        )
        with self.monitor:
            if position in self._answered:
                raise ConflictError(f"the frame at position {position} already has an answer")
            self._answered.add(position)
            self.unacknowledged[position] = request
            self._queue.append(request)
            self.monitor.wake()


class _Call:
    """One call: a worker reads, requests are queued."""

    def __init__(self, transport: Transport, submission: str, progress: _Progress) -> None:
        self._progress = progress
        self._monitor = progress.monitor
        self._queue = progress.begin(submission)
        self._frame: wire.FrameNow | None = None
        self._online: OnlineRecord | None = None
        self._error: VidscoreError | None = None
        self._outdated = False
        self._closed = False
        self.heard = False
        self._call = transport.stream(
            SUBMISSIONS + "AnswerFrames", self._next_request, wire.AnswerFramesResponse
        )
        self._reader = transport.worker(self._read, "live")
        self._reader.start()

    async def next_frame(self) -> wire.FrameNow | None:
        """The newest unprocessed frame; None once the clock has ended.

        Raises:
            VidscoreError: If the call broke.
        """
        with self._monitor:
            await self._monitor.wait_until(
                lambda: bool(self._error or self._online or self._frame), None
            )
            frame, self._frame = self._frame, None
            if frame is None and self._online is None and self._error is not None:
                raise self._error
            return frame

    async def online(self) -> OnlineRecord:
        """The online record, once every answer is acknowledged.

        Raises:
            VidscoreError: If the call broke.
        """
        with self._monitor:
            await self._monitor.wait_until(
                lambda: bool(self._error) or not self._progress.unacknowledged, None
            )
            # If the record is outdated, the next call gets a newer one.
            if self._online is None or self._progress.unacknowledged or self._outdated:
                raise self._error or ended_early()
            return self._online

    async def close(self) -> None:
        """End the call."""
        with self._monitor:
            self._closed = True
            self._monitor.wake()
        self._call.cancel()
        self._reader.cancel()
        await self._reader.join(JOIN_TIMEOUT_S)

    async def _next_request(self) -> wire.AnswerFramesRequest | None:
        with self._monitor:
            await self._monitor.wait_until(lambda: self._closed or bool(self._queue), None)
            return None if self._closed else self._queue.pop(0)

    async def _read(self) -> None:
        error: VidscoreError = CallCancelledError("the call was cancelled", code="CANCELLED")
        try:
            while (response := await self._call.read()) is not None:
                self._take(response)
            error = ended_early()
        except VidscoreError as failure:
            error = failure
        finally:
            with self._monitor:
                self._error = error
                self._monitor.wake()

    def _take(self, response: wire.AnswerFramesResponse) -> None:
        with self._monitor:
            self.heard = True
            kind = response.WhichOneof("event")
            if kind == "frame" and not self._progress.is_answered(response.frame.position):
                self._frame = response.frame
            elif kind == "stored":
                self._stored(response.stored)
            elif kind == "ended":
                self._online = decode_online(response.ended.online)
            self._monitor.wake()

    def _stored(self, stored: wire.AnswerStored) -> None:
        self._outdated = self._online is not None
        known = self._progress.unacknowledged.pop(stored.position, None)
        if known is None or self._progress.on_stored is None:
            return
        answer = StoredAnswer(stored.position, stored.in_time, stored.latency_s)
        try:
            self._progress.on_stored(answer)
        except Exception as error:
            raise CallbackError(f"on_stored raised {type(error).__name__}: {error}") from error


async def answer_live(
    transport: Transport,
    benchmark: str,
    on_frame: OnFrame,
    submission: str | None,
    title: str,
    *,
    on_stored: OnStored | None,
    seal: bool,
    retry: Retry,
) -> LiveOutcome:
    """Answer every frame of a live benchmark; see `vidscore_client.Client.answer_live`."""
    hosted = await AsyncBenchmarks(transport).get(benchmark)
    if "live" not in hosted.definition:
        raise ConflictError(f"{hosted.name} is not live; use submit", reason="NOT_LIVE")
    geometry = hosted.detection_geometry
    if geometry is None:
        raise ConflictError(
            f"{hosted.name} takes no detections yet: their geometry follows from the truth, "
            "which has not been uploaded",
            reason="BENCHMARK_NOT_OPEN",
        )
    submissions = AsyncSubmissions(transport)
    found = await find_or_create(submissions, hosted.name, submission, title)
    progress = _Progress(transport.monitor(), on_stored)
    online = await _answer_all(transport, found.name, ARITIES[geometry], on_frame, progress, retry)
    if seal and online.in_time_count + online.late_count:
        found = await submissions.seal(found.name, retry=retry)
    else:
        found = await submissions.get(found.name)
    return LiveOutcome(found, online)


async def _answer_all(
    transport: Transport,
    submission: str,
    arity: int,
    on_frame: OnFrame,
    progress: _Progress,
    retry: Retry,
) -> OnlineRecord:
    """Answer frames over as many calls as necessary, until the clock has ended."""
    tries = Retrying(retry)
    while True:
        call = _Call(transport, submission, progress)
        try:
            outcome = await _answer_over(call, transport, arity, on_frame, progress)
        finally:
            await call.close()
        if isinstance(outcome, OnlineRecord):
            return outcome
        if call.heard:
            tries.progress()
        await transport.sleep(tries.delay_s(outcome, time.monotonic()))


async def _answer_over(
    call: _Call, transport: Transport, arity: int, on_frame: OnFrame, progress: _Progress
) -> OnlineRecord | VidscoreError:
    """Answer frames over one call; return its error if it broke. `on_frame` may raise."""
    while True:
        try:
            frame = await call.next_frame()
            if frame is None:
                return await call.online()
        except VidscoreError as error:
            return error
        await transport.call_back(on_frame, _frame_of(frame, progress, arity))


def _frame_of(message: wire.FrameNow, progress: _Progress, arity: int) -> LiveFrame:
    return LiveFrame(
        position=message.position,
        domain=message.sequence.domain,
        sequence=message.sequence.sequence,
        frame=message.frame_number,
        due_s=message.due_s,
        remaining_s=message.remaining_s,
        repeated=message.repeated,
        _answer=lambda frames: progress.answer(message.position, frames),
        _arity=arity,
    )

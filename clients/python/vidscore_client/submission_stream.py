"""Streams of detections into a submission, asyncio and synchronous."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Self

from numpy.typing import ArrayLike

from vidscore_client._outbox import SingleFrame
from vidscore_client._sender import AppendPlan, Sender
from vidscore_client._transport import Transport, run_blocking
from vidscore_client.errors import ClosedError, VidscoreError
from vidscore_client.frames import Frames
from vidscore_client.hosting import Submission, SubmissionScore, SubmissionUpdate
from vidscore_client.masks import MaskInput
from vidscore_client.submissions import AsyncSubmissions

OpenPlan = Callable[[], Awaitable[AppendPlan]]
"""Opens the stream on the server."""


class AsyncSubmissionStream:
    """A stream of detections into a submission; made by `AsyncClient.submit`.

    It is opened by ``async with`` and belongs to that event loop; its methods may be called by
    any task of it. Leaving the block closes the stream, which delivers every frame; leaving
    it with an exception abortes it. See `vidscore_client.SubmissionStream`.
    """

    def __init__(
        self, transport: Transport, open_plan: OpenPlan, on_open: Callable[[Sender], None]
    ) -> None:
        """Store what to open; nothing is sent yet.

        Args:
            transport: The connection.
            open_plan: Opens the stream on the server.
            on_open: Called with the opened sender; part of the client, which outlives the stream.
        """
        self._transport = transport
        self._open_plan = open_plan
        self._on_open = on_open
        self._submissions = AsyncSubmissions(transport)
        self._opened: Sender | None = None

    @property
    def submission(self) -> str:
        """Full name of the submission."""
        return self._sender.plan.submission.name

    @property
    def next_offset(self) -> int:
        """Number of frames that were durable when the stream was opened; continue from there."""
        return self._sender.plan.stream.next_offset

    @property
    def source_position(self) -> str:
        """The source position after the frames that were durable at opening."""
        return self._sender.plan.stream.source_position

    @property
    def acknowledged_frames(self) -> int:
        """Number of frames of the stream that are known to be durable."""
        return self._sender.state.acknowledged

    @property
    def undelivered_frames(self) -> int:
        """Number of accepted frames that are not known to be durable; after the end, lost ones."""
        return self._sender.state.undelivered

    @property
    def last_break(self) -> VidscoreError | None:
        """Error of the last try to deliver; None if frames have become durable since."""
        return self._sender.state.last_break

    async def send(  # noqa: PLR0913 - one argument for each column of the wire
        self,
        sequence: str,
        frame: int,
        coordinates: ArrayLike,
        labels: Sequence[str | int] | None = None,
        confidences: ArrayLike | None = None,
        track_ids: ArrayLike | None = None,
        *,
        domain: str = "",
        time_s: float | None = None,
        masks: MaskInput | None = None,
    ) -> None:
        """Send one whole frame of detections; see `vidscore_client.SubmissionStream.send`."""
        frame_of_detections = SingleFrame.of(
            self._sender.plan.arity,
            sequence,
            frame,
            coordinates,
            labels=labels,
            confidences=confidences,
            track_ids=track_ids,
            domain=domain,
            time_s=time_s,
            masks=masks,
        )
        await self._sender.put(frame_of_detections)

    async def send_batch(self, frames: Frames, *, source_position: str | None = None) -> None:
        """Send many whole frames; see `vidscore_client.SubmissionStream.send_batch`."""
        self._sender.plan.check_batch(frames)
        if frames.frame_count:
            await self._sender.put(frames, source_position)

    async def flush(self, timeout_s: float | None = None) -> int:
        """Wait until every frame is durable; see `vidscore_client.SubmissionStream.flush`."""
        await self._sender.flush(timeout_s)
        return self.acknowledged_frames

    async def close(self, timeout_s: float | None = None) -> None:
        """Deliver accepted frames and end; see `vidscore_client.SubmissionStream.close`."""
        if self._opened is not None:
            bound_s = self._opened.plan.delivery.close_timeout_s
            await self._opened.close(bound_s if timeout_s is None else timeout_s)

    async def abort(self) -> None:
        """End the stream at once; frames that are not durable are given up."""
        if self._opened is not None:
            await self._opened.abort()

    async def seal(
        self, expected_frame_count: int | None = None, *, timeout_s: float | None = None
    ) -> Submission:
        """Seal the submission; see `vidscore_client.SubmissionStream.seal`."""
        await self.flush(timeout_s)
        await self.close()
        return await self._submissions.seal(
            self.submission, expected_frame_count, retry=self._sender.plan.delivery.retry
        )

    async def wait(
        self,
        timeout_s: float | None = None,
        on_change: Callable[[SubmissionUpdate], object] | None = None,
    ) -> Submission:
        """Wait until the submission has ended; see `vidscore_client.Submissions.wait`."""
        return await self._submissions.wait(
            self.submission, timeout_s, on_change, retry=self._sender.plan.delivery.retry
        )

    async def scores(self) -> list[SubmissionScore]:
        """The visible scores of the submission, newest first."""
        return await self._submissions.scores(self.submission)

    async def __aenter__(self) -> Self:
        """Open the stream.

        Raises:
            VidscoreError: As `vidscore_client.Client.submit`.
        """
        if self._opened is not None:
            raise ClosedError("a stream can be opened only once")
        self._opened = Sender(self._transport, await self._open_plan())
        self._on_open(self._opened)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                await self.close()
        finally:
            await self.abort()

    def __del__(self, warn: Any = warnings.warn) -> None:
        if self._opened is not None and not (self._opened.left or self._opened.state.ended):
            warn(f"a stream into {self.submission} was never closed", ResourceWarning, source=self)

    @property
    def _sender(self) -> Sender:
        if self._opened is None:
            raise ClosedError("the stream is not open: use `async with`")
        return self._opened


class SubmissionStream:
    """A stream of detections into a submission; made by `vidscore_client.Client.submit`.

    Frames are sent again automatically after any break of the connection, from the first one that
    the server lacks. Every method may be called from any thread; frames of one thread are sent in
    its order.

    As a context manager: leaving the block closes the stream, which delivers every frame; leaving
    it with an exception abortes it. Either way the submission stays open until it is sealed.
    """

    def __init__(self, stream: AsyncSubmissionStream) -> None:
        """Open the stream, and begin to deliver frames.

        Args:
            stream: The stream, over a `ThreadTransport`.
        """
        self._stream = stream
        run_blocking(stream.__aenter__())

    @property
    def submission(self) -> str:
        """Full name of the submission."""
        return self._stream.submission

    @property
    def next_offset(self) -> int:
        """Number of frames that were durable when the stream was opened; continue from there."""
        return self._stream.next_offset

    @property
    def source_position(self) -> str:
        """The source position after the frames that were durable at opening."""
        return self._stream.source_position

    @property
    def acknowledged_frames(self) -> int:
        """Number of frames of the stream that are known to be durable."""
        return self._stream.acknowledged_frames

    @property
    def undelivered_frames(self) -> int:
        """Number of accepted frames that are not known to be durable; after the end, lost ones."""
        return self._stream.undelivered_frames

    @property
    def last_break(self) -> VidscoreError | None:
        """Error of the last try to deliver; None if frames have become durable since."""
        return self._stream.last_break

    def send(  # noqa: PLR0913 - one argument for each column of the wire
        self,
        sequence: str,
        frame: int,
        coordinates: ArrayLike,
        labels: Sequence[str | int] | None = None,
        confidences: ArrayLike | None = None,
        track_ids: ArrayLike | None = None,
        *,
        domain: str = "",
        time_s: float | None = None,
        masks: MaskInput | None = None,
    ) -> None:
        """Send one whole frame of detections; returns as soon as it is queued.

        Args:
            sequence: Name of the video.
            frame: Number of the frame; each is sent once, over all streams of the submission.
            coordinates: (N, 2 | 4 | 8) pixels, or an empty list for no objects.
            labels: N class labels, strings or integers; None if there are no classes.
            confidences: N finite numbers, higher is surer; None for all 1.
            track_ids: N identities of tracks, -1 for none; None for all -1.
            domain: Domain of the video, if there are several.
            time_s: When the frame was captured, in seconds on any one clock; None if unknown.
            masks: Masks of N boxes, as columns or as COCO's objects; None if there are none.

        Raises:
            InputError: If an argument has the wrong shape or length.
            BackPressureError: If the queue is full, as the policy says.
            SupersededError: If a newer writer has opened the stream.
            VidscoreError: The error with which the stream failed.
        """
        run_blocking(
            self._stream.send(
                sequence,
                frame,
                coordinates,
                labels,
                confidences,
                track_ids,
                domain=domain,
                time_s=time_s,
                masks=masks,
            )
        )

    def send_batch(self, frames: Frames, *, source_position: str | None = None) -> None:
        """Send many whole frames, which do not wait for others.

        Args:
            frames: The frames; their arrays must not change before they are acknowledged.
            source_position: The caller's position in its own source after these frames, in its own
                form. It becomes durable with the last of them, in one commit, and is the stream's
                `source_position` when it is opened again. At most 16,384 bytes.

        Raises:
            InputError: If the shape of their objects differs from the benchmark's detections.
            BackPressureError: If the queue is full, as the policy says.
            VidscoreError: The error with which the stream failed.
        """
        run_blocking(self._stream.send_batch(frames, source_position=source_position))

    def flush(self, timeout_s: float | None = None) -> int:
        """Wait until every sent frame is durable.

        Args:
            timeout_s: Seconds to wait; None for the limit of `Delivery.retry`.

        Returns:
            Number of durable frames of the stream.

        Raises:
            DeadlineError: If they are not durable in time; the stream continues.
            VidscoreError: The error with which the stream failed.
        """
        return run_blocking(self._stream.flush(timeout_s))

    def close(self, timeout_s: float | None = None) -> None:
        """Deliver all accepted frames and end the stream; the submission stays open.

        It may be called again; after `abort` it does nothing.

        Args:
            timeout_s: Seconds to wait; None for `Delivery.close_timeout_s`.

        Raises:
            DeadlineError: If frames are not durable in time; they are given up, and the text and
                `undelivered_frames` give their number.
            VidscoreError: The error of the stream, if it had frames that are not durable.
        """
        run_blocking(self._stream.close(timeout_s))

    def abort(self) -> None:
        """End the stream at once; frames that are not durable are given up."""
        run_blocking(self._stream.abort())

    def seal(
        self, expected_frame_count: int | None = None, *, timeout_s: float | None = None
    ) -> Submission:
        """Wait until every frame is durable, end the stream and seal the submission.

        Args:
            expected_frame_count: Frames that must be durable in all streams together; None for any
                number.
            timeout_s: Seconds to wait for the frames; None for no limit.

        Raises:
            DeadlineError: If they are not durable in time; the stream continues.
            ConflictError: If the number of durable frames differs, with reason
                ``FRAME_COUNT_DIFFERS``; nothing is sealed.
            VidscoreError: If it cannot be sealed for another reason.
        """
        return run_blocking(self._stream.seal(expected_frame_count, timeout_s=timeout_s))

    def wait(
        self,
        timeout_s: float | None = None,
        on_change: Callable[[SubmissionUpdate], object] | None = None,
    ) -> Submission:
        """Wait until the submission has ended; see `Submissions.wait`."""
        return run_blocking(self._stream.wait(timeout_s, on_change))

    def scores(self) -> list[SubmissionScore]:
        """The visible scores of the submission, newest first."""
        return run_blocking(self._stream.scores())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        run_blocking(self._stream.__aexit__(kind, error, traceback))

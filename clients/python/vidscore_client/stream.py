"""Streams that are scored while they are sent, asyncio and synchronous."""

from __future__ import annotations

import warnings
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

from numpy.typing import ArrayLike

from vidscore_client._exchange import Exchange, StreamPlan
from vidscore_client._outbox import SingleFrame
from vidscore_client._transport import Transport, iterate_blocking, run_blocking
from vidscore_client.errors import ClosedError
from vidscore_client.frames import Frames, Side
from vidscore_client.masks import MaskInput
from vidscore_client.reports import LiveReport, Report


class AsyncScoreStream:
    """A stream to score; made by `AsyncClient.score_stream`.

    It is opened by ``async with`` and belongs to that event loop; its methods may be called by
    any task of it. Leaving the block without having awaited `finish`, with an exception or not,
    cancels the stream, and raises nothing else.
    """

    def __init__(
        self, transport: Transport, plan: StreamPlan, on_open: Callable[[Exchange], None]
    ) -> None:
        """Store what to open; nothing is sent yet.

        Args:
            transport: The connection.
            plan: The plan of the stream.
            on_open: Called with the opened exchange; part of the client, which outlives the stream.
        """
        self._transport = transport
        self._plan = plan
        self._on_open = on_open
        self._opened: Exchange | None = None

    @property
    def server_version(self) -> str:
        """Version of the server."""
        started = self._exchange.state.started
        return started.server_version if started else ""

    @property
    def limits(self) -> Mapping[str, int]:
        """Limits that hold for this stream, by the names of the server's settings."""
        started = self._exchange.state.started
        return MappingProxyType(started.limits if started else {})

    @property
    def latest(self) -> LiveReport | None:
        """The newest live report; None before the first."""
        return self._exchange.state.latest

    async def send_truth(  # noqa: PLR0913 - one argument for each column of the wire
        self,
        sequence: str,
        frame: int,
        coordinates: ArrayLike,
        labels: Sequence[str | int] | None = None,
        confidences: ArrayLike | None = None,
        track_ids: ArrayLike | None = None,
        flags: ArrayLike | None = None,
        *,
        domain: str = "",
        dont_care: bool = False,
        time_s: float | None = None,
        masks: MaskInput | None = None,
    ) -> None:
        """Send one whole frame of the truth; see `vidscore_client.ScoreStream.send_truth`."""
        frame_of_truth = SingleFrame.of(
            self._plan.arities["truth"],
            sequence,
            frame,
            coordinates,
            labels=labels,
            confidences=confidences,
            track_ids=track_ids,
            flags=flags,
            domain=domain,
            dont_care=dont_care,
            time_s=time_s,
            masks=masks,
        )
        await self._exchange.put("truth", frame_of_truth)

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
        """Send one whole frame of detections; see `vidscore_client.ScoreStream.send`."""
        detections = SingleFrame.of(
            self._plan.arities["detections"],
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
        await self._exchange.put("detections", detections)

    async def send_batch(self, side: Side, frames: Frames) -> None:
        """Send many whole frames; see `vidscore_client.ScoreStream.send_batch`."""
        self._plan.check_batch(side, frames)
        if frames.frame_count:
            await self._exchange.put(side, frames)

    async def live_reports(self) -> AsyncGenerator[LiveReport, None]:
        """Live reports as they come, until the stream ends; each goes to one reader.

        Raises:
            VidscoreError: The error with which the stream failed.
        """
        while (report := await self._exchange.next_report()) is not None:
            yield report

    async def finish(self, timeout_s: float | None = None) -> list[Report]:
        """Send queued frames and wait; see `vidscore_client.ScoreStream.finish`."""
        return await self._exchange.finish(timeout_s)

    async def cancel(self) -> None:
        """End the stream at once, without a report; does nothing if it has ended."""
        if self._opened is not None:
            await self._opened.cancel()

    async def __aenter__(self) -> Self:
        """Open the stream and wait for the server to accept it.

        Raises:
            VidscoreError: As `vidscore_client.Client.score_stream`.
        """
        if self._opened is not None:
            raise ClosedError("a stream can be opened only once")
        self._opened = Exchange(self._transport, self._plan)
        self._on_open(self._opened)
        try:
            await self._opened.await_start(self._transport.timeout_s)
        except BaseException:
            await self._opened.cancel()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cancel()

    def __del__(self, warn: Any = warnings.warn) -> None:
        if self._opened is not None and not self._opened.state.ended:
            warn("a scoring stream was never closed", ResourceWarning, source=self)

    @property
    def _exchange(self) -> Exchange:
        if self._opened is None:
            raise ClosedError("the stream is not open: use `async with`")
        return self._opened


class ScoreStream:
    """A stream to score; made by `vidscore_client.Client.score_stream`.

    Every method may be called from any thread; frames of one thread are sent in its order.
    `on_report` is called on the stream's own reading thread and should be quick.

    As a context manager: leaving the block without having called `finish`, with an exception or
    not, cancels the stream, and raises nothing else.
    """

    def __init__(self, stream: AsyncScoreStream) -> None:
        """Open the stream and wait for the server to accept it.

        Args:
            stream: The stream, over a `ThreadTransport`.
        """
        self._stream = stream
        run_blocking(stream.__aenter__())

    @property
    def server_version(self) -> str:
        """Version of the server."""
        return self._stream.server_version

    @property
    def limits(self) -> Mapping[str, int]:
        """Limits that hold for this stream, by the names of the server's settings."""
        return self._stream.limits

    @property
    def latest(self) -> LiveReport | None:
        """The newest live report; None before the first."""
        return self._stream.latest

    def send_truth(  # noqa: PLR0913 - one argument for each column of the wire
        self,
        sequence: str,
        frame: int,
        coordinates: ArrayLike,
        labels: Sequence[str | int] | None = None,
        confidences: ArrayLike | None = None,
        track_ids: ArrayLike | None = None,
        flags: ArrayLike | None = None,
        *,
        domain: str = "",
        dont_care: bool = False,
        time_s: float | None = None,
        masks: MaskInput | None = None,
    ) -> None:
        """Send one whole frame of the truth; returns as soon as it is queued.

        Args:
            sequence: Name of the video.
            frame: Number of the frame; each is sent once, in any order.
            coordinates: (N, 2 | 4 | 8) pixels, or an empty list for no objects.
            labels: N class labels, strings or integers; None if there are no classes.
            confidences: N finite numbers, higher is surer; None for all 1.
            track_ids: N identities of tracks, -1 for none; None for all -1.
            flags: N bits of `ObjectFlag`; None for all 0.
            domain: Domain of the video, if there are several.
            dont_care: Whether the frame is left out of every count.
            time_s: When the frame was captured, in seconds on any one clock; None if unknown.
            masks: Masks of N boxes, as columns or as COCO's objects; None if there are none.

        Raises:
            InputError: If an argument has the wrong shape or length.
            BackPressureError: If the queue is full, as the policy says.
            VidscoreError: The error with which the stream failed.
        """
        run_blocking(
            self._stream.send_truth(
                sequence,
                frame,
                coordinates,
                labels,
                confidences,
                track_ids,
                flags,
                domain=domain,
                dont_care=dont_care,
                time_s=time_s,
                masks=masks,
            )
        )

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

        The arguments and errors are those of `send_truth`.
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

    def send_batch(self, side: Side, frames: Frames) -> None:
        """Send many whole frames, which do not wait for others.

        Args:
            side: ``truth`` or ``detections``.
            frames: The frames; their arrays must not change before the stream has ended.

        Raises:
            InputError: If the shape of their objects differs from the stream's.
            BackPressureError: If the queue is full, as the policy says.
            VidscoreError: The error with which the stream failed.
        """
        run_blocking(self._stream.send_batch(side, frames))

    def live_reports(self) -> Iterator[LiveReport]:
        """Live reports as they come, until the stream ends; each goes to one reader.

        Raises:
            VidscoreError: The error with which the stream failed.
        """
        return iterate_blocking(self._stream.live_reports())

    def finish(self, timeout_s: float | None = None) -> list[Report]:
        """Send all queued frames, end the input, and wait for the final reports.

        Args:
            timeout_s: Seconds to wait; None for the stream's own limit.

        Returns:
            A report for each evaluator, in the order of the request.

        Raises:
            DeadlineError: If they do not arrive in time; `finish` may be called again.
            VidscoreError: The error with which the stream failed.
        """
        return run_blocking(self._stream.finish(timeout_s))

    def cancel(self) -> None:
        """End the stream at once, without a report; does nothing if it has ended."""
        run_blocking(self._stream.cancel())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()

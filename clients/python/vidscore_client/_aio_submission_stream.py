"""The asyncio stream of detections into a submission; `vidscore_client.aio` makes it public.

One task serves a stream: it connects, reads acknowledgements and goes on after breaks. While it is
connected a second one sends, and a third sees to it that a dead connection is noticed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self

from numpy.typing import ArrayLike

from vidscore_client._aio_courier import AsyncCourier, OpenCall
from vidscore_client._aio_submissions import AsyncSubmissions, Run
from vidscore_client._append_plan import AppendPlan
from vidscore_client._single_frame import SingleFrame
from vidscore_client.errors import ClosedError
from vidscore_client.frames import Frames
from vidscore_client.hosting import Submission, SubmissionScore, SubmissionUpdate

OpenPlan = Callable[[], Awaitable[AppendPlan]]
"""Opens the stream on the server."""


class AsyncSubmissionStream:
    """A stream of detections into a submission; made by `AsyncClient.submit`.

    It is opened by ``async with`` and belongs to that event loop; its methods may be called by
    any task of it. Leaving the block closes the stream, which delivers every frame; leaving
    it with an exception detaches it. See `vidscore_client.SubmissionStream`.
    """

    def __init__(
        self, open_plan: OpenPlan, open_call: OpenCall, run: Run, submissions: AsyncSubmissions
    ) -> None:
        """Note what to open; nothing is sent yet.

        Args:
            open_plan: Opens the stream on the server.
            open_call: Starts a call of AppendFrames.
            run: Makes unary calls.
            submissions: The submissions of the client.
        """
        self._open_plan = open_plan
        self._open_call = open_call
        self._run = run
        self._submissions = submissions
        self._opened: AsyncCourier | None = None

    @property
    def submission(self) -> str:
        """Full name of the submission."""
        return self._courier.plan.opened.submission.name

    @property
    def next_offset(self) -> int:
        """Frames of the stream that were durable when it was opened; where to go on from."""
        return self._courier.plan.opened.stream.next_offset

    @property
    def acknowledged_frames(self) -> int:
        """Frames of the stream that are known to be durable."""
        return self._courier.state.acknowledged

    @property
    def undelivered_frames(self) -> int:
        """Frames that were taken and are not known to be durable; after the end, given up."""
        return self._courier.state.undelivered

    async def send(
        self,
        sequence: str,
        frame: int,
        coordinates: ArrayLike,
        labels: Sequence[str | int] | None = None,
        confidences: ArrayLike | None = None,
        track_ids: ArrayLike | None = None,
        *,
        domain: str = "",
    ) -> None:
        """Send one whole frame of detections; see `vidscore_client.SubmissionStream.send`."""
        frame_of_detections = SingleFrame.of(
            self._courier.plan.opened.arity,
            sequence,
            frame,
            coordinates,
            labels=labels,
            confidences=confidences,
            track_ids=track_ids,
            domain=domain,
        )
        await self._courier.put(frame_of_detections)

    async def send_batch(self, frames: Frames) -> None:
        """Send many whole frames; see `vidscore_client.SubmissionStream.send_batch`."""
        self._courier.plan.check_batch(frames)
        if frames.frame_count:
            await self._courier.put(frames)

    async def flush(self, timeout_s: float | None = None) -> int:
        """Wait until every frame is durable; see `vidscore_client.SubmissionStream.flush`."""
        await self._courier.flush(timeout_s)
        return self.acknowledged_frames

    async def close(self, timeout_s: float | None = None) -> None:
        """Deliver what was taken and end; see `vidscore_client.SubmissionStream.close`."""
        if self._opened is not None:
            bound_s = self._opened.plan.delivery.close_timeout_s
            await self._opened.close(bound_s if timeout_s is None else timeout_s)

    async def detach(self) -> None:
        """End the stream at once; frames that are not durable are given up."""
        if self._opened is not None:
            await self._opened.detach()

    async def seal(
        self, expected_frame_count: int | None = None, *, timeout_s: float | None = None
    ) -> Submission:
        """Seal the submission; see `vidscore_client.SubmissionStream.seal`."""
        await self.flush(timeout_s)
        await self.close()
        return await self._submissions.seal(
            self.submission, expected_frame_count, retry=self._courier.plan.delivery.retry
        )

    async def wait(
        self,
        timeout_s: float | None = None,
        on_change: Callable[[SubmissionUpdate], object] | None = None,
    ) -> Submission:
        """Wait until the submission has ended; see `vidscore_client.Submissions.wait`."""
        return await self._submissions.wait(
            self.submission, timeout_s, on_change, retry=self._courier.plan.delivery.retry
        )

    async def scores(self) -> list[SubmissionScore]:
        """What may be seen of the submission's scores, newest first."""
        return await self._submissions.scores(self.submission)

    async def __aenter__(self) -> Self:
        """Open the stream.

        Raises:
            VidscoreError: As `vidscore_client.Client.submit`.
        """
        if self._opened is not None:
            raise ClosedError("a stream is opened once")
        self._opened = AsyncCourier(await self._open_plan(), self._open_call, self._run)
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
            await self.detach()

    @property
    def _courier(self) -> AsyncCourier:
        if self._opened is None:
            raise ClosedError("the stream is not open: use `async with`")
        return self._opened

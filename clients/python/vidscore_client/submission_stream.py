"""The synchronous stream of detections into a submission.

Two daemon threads serve a stream: one of its own, which connects, reads acknowledgements and goes
on after breaks, and, while it is connected, grpc's, which asks for the next message and sends it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from numpy.typing import ArrayLike

from vidscore_client._append_plan import AppendPlan
from vidscore_client._courier import Courier, OpenCall
from vidscore_client._forgotten import Ending
from vidscore_client._single_frame import SingleFrame
from vidscore_client.frames import Frames
from vidscore_client.hosting import Submission, SubmissionScore, SubmissionUpdate
from vidscore_client.submissions import Run, Submissions


class SubmissionStream:
    """A stream of detections into a submission; made by `vidscore_client.Client.submit`.

    Frames are sent again by themselves after any break of the connection, from the first one that
    the server does not have. Every method may be called from any thread; frames of one thread are
    sent in its order.

    As a context manager: leaving the block closes the stream, which delivers every frame; leaving
    it with an exception detaches it. Either way the submission stays as it is until it is sealed.
    """

    def __init__(
        self, plan: AppendPlan, open_call: OpenCall, run: Run, submissions: Submissions
    ) -> None:
        """Begin to deliver what is sent.

        Args:
            plan: The opened stream and how frames are to be delivered.
            open_call: Starts a call of AppendFrames.
            run: Makes unary calls.
            submissions: The submissions of the client.
        """
        self._plan = plan
        self._submissions = submissions
        self._courier = Courier(plan, open_call, run)
        # A stream that is forgotten, or still open when the interpreter ends, delivers no more.
        Ending(self, self._courier.detach)

    @property
    def submission(self) -> str:
        """Full name of the submission."""
        return self._plan.opened.submission.name

    @property
    def next_offset(self) -> int:
        """Frames of the stream that were durable when it was opened; where to go on from."""
        return self._plan.opened.stream.next_offset

    @property
    def acknowledged_frames(self) -> int:
        """Frames of the stream that are known to be durable."""
        return self._courier.state.acknowledged

    @property
    def undelivered_frames(self) -> int:
        """Frames that were taken and are not known to be durable; after the end, given up."""
        return self._courier.state.undelivered

    def send(
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
        """Send one whole frame of detections; returns as soon as it is queued.

        Args:
            sequence: Name of the video.
            frame: Number of the frame; each is sent once, over all streams of the submission.
            coordinates: (N, 2 | 4 | 8) pixels, or an empty list for no objects.
            labels: N class labels, texts or whole numbers; None where there are no classes.
            confidences: N finite numbers, the greater the surer; None for all 1.
            track_ids: N identities of tracks, -1 for none; None for all -1.
            domain: Domain of the video, where there is more than one.

        Raises:
            InputError: If an argument has the wrong shape or length.
            BackPressureError: If the queue is full, as the policy says.
            SupersededError: If a younger writer has opened the stream.
            VidscoreError: What the stream failed with.
        """
        self._courier.put(
            SingleFrame.of(
                self._plan.opened.arity,
                sequence,
                frame,
                coordinates,
                labels=labels,
                confidences=confidences,
                track_ids=track_ids,
                domain=domain,
            )
        )

    def send_batch(self, frames: Frames) -> None:
        """Send many whole frames; they do not wait for others.

        Args:
            frames: The frames; their arrays must not change before they are acknowledged.

        Raises:
            InputError: If their objects have another shape than the benchmark's detections.
            BackPressureError: If the queue is full, as the policy says.
            VidscoreError: What the stream failed with.
        """
        self._plan.check_batch(frames)
        if frames.frame_count:
            self._courier.put(frames)

    def flush(self, timeout_s: float | None = None) -> int:
        """Wait until every frame that was sent is durable.

        Args:
            timeout_s: Seconds to wait; None for no limit but that of `Delivery.retry`.

        Returns:
            Frames of the stream that are durable.

        Raises:
            DeadlineError: If they are not in time; the stream goes on.
            VidscoreError: What the stream failed with.
        """
        self._courier.flush(timeout_s)
        return self.acknowledged_frames

    def close(self, timeout_s: float | None = None) -> None:
        """Deliver what was taken and end the stream; the submission stays open.

        It may be called again; after `detach` it does nothing.

        Args:
            timeout_s: Seconds to wait; None for `Delivery.close_timeout_s`.

        Raises:
            DeadlineError: If frames are not durable in time; they are given up, and the text and
                `undelivered_frames` say how many.
            VidscoreError: What the stream failed with, if it had frames that are not durable.
        """
        bound_s = self._plan.delivery.close_timeout_s if timeout_s is None else timeout_s
        self._courier.close(bound_s)

    def detach(self) -> None:
        """End the stream at once; frames that are not durable are given up."""
        self._courier.detach()

    def seal(
        self, expected_frame_count: int | None = None, *, timeout_s: float | None = None
    ) -> Submission:
        """Wait until every frame is durable, end the stream and seal the submission.

        Args:
            expected_frame_count: Frames that must be durable in all streams together; None for
                whatever is there.
            timeout_s: Seconds to wait for the frames; None for no limit.

        Raises:
            DeadlineError: If they are not durable in time; the stream goes on.
            ConflictError: If another number of frames is durable, with reason
                ``FRAME_COUNT_DIFFERS``; nothing is sealed.
            VidscoreError: If it cannot be sealed for another reason.
        """
        self.flush(timeout_s)
        self.close()
        return self._submissions.seal(
            self.submission, expected_frame_count, retry=self._plan.delivery.retry
        )

    def wait(
        self,
        timeout_s: float | None = None,
        on_change: Callable[[SubmissionUpdate], object] | None = None,
    ) -> Submission:
        """Wait until the submission has ended; see `Submissions.wait`."""
        return self._submissions.wait(
            self.submission, timeout_s, on_change, retry=self._plan.delivery.retry
        )

    def scores(self) -> list[SubmissionScore]:
        """What may be seen of the submission's scores, newest first."""
        return self._submissions.scores(self.submission)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self.close()
        finally:
            self.detach()

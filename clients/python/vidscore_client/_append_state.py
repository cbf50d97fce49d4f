"""The state of an append stream, without any I/O: the sender drives it.

Frames go from the outbox into the window when they are sent, and stay there until the server has
acknowledged them. After a break the window is sent again from the server's next offset on, under
the epoch of the first opening: an older writer that returns never excludes a newer one.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from vidscore_client._outbox import AT_ONCE, Item, Outbox, SingleFrame, item_size
from vidscore_client._retrying import Retrying, is_break
from vidscore_client._values import counted
from vidscore_client.errors import (
    BackPressureError,
    CallbackError,
    ClosedError,
    ConflictError,
    DeadlineError,
    InternalError,
    SupersededError,
    UnavailableError,
    VidscoreError,
)
from vidscore_client.frames import Frames
from vidscore_client.hosting import StreamInfo
from vidscore_client.settings import Batching, Delivery


class Sent(NamedTuple):
    """A batch of frames, the offset of its first frame, and the source position after it."""

    offset: int
    frames: Frames
    source_position: str | None = None

    @property
    def end(self) -> int:
        """Offset of the frame after the last one."""
        return self.offset + self.frames.frame_count


class AppendState:
    """The state of one append stream.

    Args:
        opened: The stream as the server opened it.
        batching: Sizes and times of batches.
        delivery: How frames are held until they are acknowledged.
        replay: Whether the caller sends from its first frame again, so that frames that were
            durable at opening must be left out.
    """

    def __init__(
        self, opened: StreamInfo, batching: Batching, delivery: Delivery, *, replay: bool
    ) -> None:
        self.acknowledged = opened.next_offset
        self.closing = False
        self.ended = False
        self.broken = False
        self.last_break: VidscoreError | None = None
        self.outbox = Outbox(batching)
        self._opened = opened
        self._batching = batching
        self._delivery = delivery
        self._retrying = Retrying(delivery.retry)
        self._to_skip = opened.next_offset if replay else 0
        self._window: deque[Sent] = deque()
        self._window_frames = 0
        self._window_bytes = 0
        self._too_large = False  # whether the server takes smaller batches than the window has
        self._sent = 0  # number of batches of the window that were sent over the current connection
        self._taken = opened.next_offset  # offset after the last frame that entered the window
        self._idle_since_s = 0.0
        self._error: VidscoreError | None = None

    @property
    def drained(self) -> bool:
        """Whether every frame is durable, or the stream has failed."""
        return self.ended or self.idle

    @property
    def idle(self) -> bool:
        """Whether there is nothing to deliver, so that no connection is needed."""
        return not (self._window or self.outbox.frames)

    @property
    def undelivered(self) -> int:
        """Number of accepted frames that are not known to be durable."""
        return self._window_frames + self.outbox.frames

    @property
    def stalled_at_s(self) -> float | None:
        """Time at which the connection counts as broken; None if no answer is due."""
        if not self._sent:
            return None
        return self._idle_since_s + self._delivery.acknowledge_timeout_s

    @property
    def due_s(self) -> float | None:
        """Time at which `take` has a batch; None if nothing waits or the window is full."""
        if self._sent < len(self._window):
            return AT_ONCE
        return self.outbox.due_s if self._has_room else None

    def admit(self, item: Item, now_s: float, source_position: str | None = None) -> bool:
        """Accept frames if there is room.

        Args:
            item: The frames.
            now_s: The time.
            source_position: Source position after a batch.

        Returns:
            Whether they were accepted, or are durable already.

        Raises:
            VidscoreError: The error with which the stream failed.
            ClosedError: If it has been closed.
        """
        self.raise_error()
        if self.closing or self.ended:
            raise ClosedError("the stream is closed and takes no more frames")
        count = item.frame_count if isinstance(item, Frames) else 1
        if count <= self._to_skip:
            self._to_skip -= count
            return True
        # A single frame is skipped or not; a batch is cut.
        rest = item if isinstance(item, SingleFrame) else item.part(self._to_skip, count)
        if not self.outbox.offer("detections", rest, now_s, source_position):
            return False
        self._to_skip = 0
        return True

    def refusal(self, waited_s: float | None) -> BackPressureError:
        """The error for frames that were not accepted.

        Args:
            waited_s: How long the caller has waited for room; None if it did not.
        """
        waited = "" if waited_s is None else f" for {waited_s:g} s"
        return BackPressureError(
            f"the queue was full{waited}: {counted(self.outbox.frames, 'frame')} to be sent "
            f"and {self._window_frames} to be acknowledged, "
            f"queue_frames is {self._batching.queue_frames}, "
            f"window_frames is {self._delivery.window_frames}"
        )

    def take(self, now_s: float) -> Sent | None:
        """The next batch to send; None if none is due or the window is full."""
        if self.ended:
            return None
        if self._sent == len(self._window) and not self._fill(now_s):
            return None
        if not self._sent:
            self._idle_since_s = now_s
        self._sent += 1
        return self._window[self._sent - 1]

    def acknowledge(self, next_offset: int, now_s: float) -> bool:
        """Drop the frames before an offset, which are durable.

        Returns:
            Whether any of them were not known to be durable.

        Raises:
            InternalError: If the server acknowledges frames that were never sent.
        """
        if next_offset > self._taken:
            raise InternalError(
                f"the server acknowledged {counted(next_offset, 'frame')}, "
                f"but only {self._taken} had been sent"
            )
        self._idle_since_s = now_s
        if next_offset <= self.acknowledged:
            return False
        self._retrying.progress()
        self.last_break = None
        self.acknowledged = next_offset
        while self._window and self._window[0].end <= next_offset:
            self._release()
        if self._window and self._window[0].offset < next_offset:
            self._cut(next_offset)
        return True

    def resume(self, known: StreamInfo | None, now_s: float) -> bool:
        """Resume over a new connection.

        Args:
            known: The server's state of the stream; None if it has none.
            now_s: The time.

        Returns:
            Whether more frames are durable than before.

        Raises:
            SupersededError: If a newer writer has opened the stream.
            ConflictError: If the server has lost frames that it had acknowledged.
        """
        if known is not None and known.epoch != self._opened.epoch:
            raise SupersededError(
                f"another writer has opened stream {known.stream!r} with epoch {known.epoch}; "
                f"this writer has epoch {self._opened.epoch} and must stop",
                code="ABORTED",
                reason="EPOCH_STALE",
            )
        found = 0 if known is None else known.next_offset
        if found < self.acknowledged:
            raise ConflictError(
                f"the server has {counted(found, 'frame')} of the stream but had acknowledged "
                f"{self.acknowledged}: it has lost frames",
                reason="STREAM_SET_BACK",
            )
        grown = self.acknowledge(found, now_s)
        self._sent = 0
        if self._too_large:
            self._put_back()
        self.broken = False
        return grown

    def disconnect(self) -> None:
        """Record that the connection is gone."""
        self._sent = 0

    def delay_s(self, error: VidscoreError, now_s: float) -> float:
        """Record a break.

        Returns:
            Seconds to wait before the next try.

        Raises:
            VidscoreError: If a retry is useless.
        """
        self.broken = True
        self._sent = 0
        if self.idle and is_break(error):
            return 0.0  # without frames, there is nothing to retry
        self.last_break = error
        largest = max((batch.frames.frame_count for batch in self._window), default=0)
        is_smaller = self.outbox.cut_smaller(error, largest)
        self._too_large |= is_smaller
        return self._retrying.delay_s(error, now_s, is_mended=is_smaller)

    def flush(self) -> None:
        """Make all frames due now."""
        self.outbox.flush()

    def close(self) -> None:
        """Accept no more frames."""
        self.closing = True
        self.flush()

    def end(self, error: VidscoreError | None = None) -> None:
        """Record the end of delivery; the first reason counts."""
        if not self.ended:
            self.ended = self.closing = True
            self._error = error

    def raise_error(self) -> None:
        """Raise the error of the stream, if it failed."""
        if self._error is not None:
            raise self._error.with_traceback(None)

    def check_delivered(self) -> None:
        """Raise the error of the stream, if it has undelivered frames."""
        if not self.idle:
            self.raise_error()

    @property
    def _has_room(self) -> bool:
        return not self._window or (
            self._window_frames < self._delivery.window_frames
            and self._window_bytes < self._delivery.window_bytes
        )

    def _fill(self, now_s: float) -> bool:
        """Move the due batch, if any, into the window."""
        batch = self.outbox.take(now_s) if self._has_room else None
        if batch is None:
            return False
        self._window.append(Sent(self._taken, batch.frames, batch.source_position))
        self._taken = self._window[-1].end
        self._window_frames += batch.frames.frame_count
        self._window_bytes += item_size(batch.frames)
        return True

    def _release(self) -> None:
        frames = self._window.popleft().frames
        self._window_frames -= frames.frame_count
        self._window_bytes -= item_size(frames)
        self._sent = max(0, self._sent - 1)

    def _put_back(self) -> None:
        """Return unacknowledged frames to the outbox, to be cut again."""
        self._taken = self._window[0].offset if self._window else self._taken
        while self._window:
            batch = self._window.pop()
            self.outbox.put_back("detections", batch.frames, batch.source_position)
        self._window_frames = self._window_bytes = 0
        self._too_large = False

    def _cut(self, offset: int) -> None:
        """Cut the oldest batch to its part from an offset on."""
        oldest, sent = self._window[0], self._sent
        self._release()
        rest = oldest.frames.part(offset - oldest.offset, oldest.frames.frame_count)
        self._window.appendleft(Sent(offset, rest, oldest.source_position))
        self._window_frames += rest.frame_count
        self._window_bytes += item_size(rest)
        self._sent = sent


def no_answer(timeout_s: float) -> UnavailableError:
    """The error of a connection without acknowledgements."""
    return UnavailableError(
        f"the server has acknowledged nothing for {timeout_s:g} s", code="UNAVAILABLE"
    )


def cannot_send(error: Exception) -> InternalError:
    """The error of a stream that fails because of a bug in this package."""
    return InternalError(f"frames could not be sent: {error!r}")


def not_delivered(timeout_s: float, frames: int) -> DeadlineError:
    """The error of frames that are given up after the timeout of delivery."""
    return DeadlineError(
        f"{counted(frames, 'frame')} dropped: not durable within {timeout_s:g} s",
        code="DEADLINE_EXCEEDED",
    )


def aborted() -> ClosedError:
    """The error of a stream that this side aborted."""
    return ClosedError("the stream was aborted")


def flush_in_callback() -> CallbackError:
    """The error of an `on_acknowledged` that waits for acknowledgements, that is, for itself."""
    return CallbackError(
        "flush, close and seal cannot be called in on_acknowledged: they would wait for themselves"
    )


def not_flushed(timeout_s: float | None) -> DeadlineError:
    """The error of frames that are not durable in time."""
    return DeadlineError(
        f"not every frame was durable within {timeout_s:g} s; the stream continues",
        code="DEADLINE_EXCEEDED",
    )


def on_acknowledged_failed(error: Exception) -> CallbackError:
    """The error of a stream whose `on_acknowledged` raised."""
    return CallbackError(f"on_acknowledged raised {type(error).__name__}: {error}")

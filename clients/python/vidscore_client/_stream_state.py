"""The state of a scoring stream, without any I/O: the exchange drives it.

Its caller holds a lock, sends the batches from `take`, passes in the server's responses, and wakes
all waiters after a change.
"""

from __future__ import annotations

from collections import deque

from vidscore_client._decoding import Event, Final, Started
from vidscore_client._endpoint import check_server
from vidscore_client._outbox import Batch, Item, Outbox
from vidscore_client._values import counted
from vidscore_client.errors import (
    BackPressureError,
    CallbackError,
    CallCancelledError,
    ClosedError,
    DeadlineError,
    InternalError,
    VidscoreError,
)
from vidscore_client.frames import Side
from vidscore_client.reports import LiveReport, Report
from vidscore_client.settings import Batching, Live


class StreamState:
    """The state of one stream.

    Args:
        batching: Sizes and times of batches.
        live: The wanted live reports; None for none.
    """

    def __init__(self, batching: Batching, live: Live | None) -> None:
        self._batching = batching
        self.outbox = Outbox(batching)
        self.started: Started | None = None
        self.latest: LiveReport | None = None
        self._unread: deque[LiveReport] = deque(maxlen=live.keep_reports if live else 1)
        self._final: Final | None = None
        self._error: VidscoreError | None = None
        self._closing = False
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the call is over, with or without an error."""
        return self._ended

    @property
    def nothing_to_send(self) -> bool:
        """Whether this side of the stream may be closed."""
        return self._ended or (self._closing and self.outbox.frames == 0)

    @property
    def readable(self) -> bool:
        """Whether `next_report` need not wait."""
        return bool(self._unread) or self._ended

    def admit(self, side: Side, item: Item, now_s: float) -> bool:
        """Accept frames if there is room.

        Returns:
            Whether they were accepted.

        Raises:
            VidscoreError: The error with which the stream failed.
            ClosedError: If it has been finished.
        """
        self.raise_error()
        if self._closing or self._ended:
            raise ClosedError("the stream is finished and takes no more frames")
        return self.outbox.offer(side, item, now_s)

    def refusal(self, waited_s: float | None) -> BackPressureError:
        """The error for frames that were not accepted.

        Args:
            waited_s: How long the caller has waited for room; None if it did not.
        """
        waited = "" if waited_s is None else f" for {waited_s:g} s"
        return BackPressureError(
            f"the queue was full{waited}: {counted(self.outbox.frames, 'frame')} to be sent, "
            f"queue_frames is {self._batching.queue_frames}, "
            f"queue_bytes is {self._batching.queue_bytes}"
        )

    def take(self, now_s: float) -> Batch | None:
        """The next batch to send; None if none is due."""
        return None if self._ended else self.outbox.take(now_s)

    def close(self) -> None:
        """Accept no more frames, and send the rest without delay."""
        self._closing = True
        self.outbox.flush()

    def receive(self, event: Event) -> None:
        """Record a response."""
        if isinstance(event, Started):
            check_server(event.server_version)
            self.started = event
            self.outbox.limit(event.limits)
        elif isinstance(event, Final):
            self._final = event
        else:
            self.latest = event
            self._unread.append(event)

    def end(self, error: VidscoreError | None = None) -> None:
        """Record the end of the call; the first reason counts.

        Args:
            error: Its error; None if the server has ended it without one.
        """
        if self._ended:
            return
        self._ended = self._closing = True
        if error is None and self._final is None:
            error = InternalError("the server ended the stream without a final report")
        self._error = error

    def raise_error(self) -> None:
        """Raise the error of the stream, if it failed."""
        if self._error is not None:
            raise self._error.with_traceback(None)

    def next_report(self) -> LiveReport | None:
        """The oldest unread live report; None if the stream has ended and there is none.

        Raises:
            VidscoreError: What the stream failed with, once all reports are read.
        """
        if self._unread:
            return self._unread.popleft()
        self.raise_error()
        return None

    def final_reports(self) -> list[Report]:
        """The final reports of a stream that has ended.

        Raises:
            VidscoreError: The error with which the stream failed.
        """
        self.raise_error()
        return [] if self._final is None else list(self._final.reports)


def cancelled() -> CallCancelledError:
    """The error of a stream that this side cancelled."""
    return CallCancelledError("the stream was cancelled by this client", code="CANCELLED")


def cannot_read(error: Exception) -> InternalError:
    """The error of a stream that fails because of a bug in reading responses."""
    return InternalError(f"the server's answer cannot be read: {error!r}")


def cannot_send(error: Exception) -> InternalError:
    """The error of a stream that fails because of a bug in encoding a batch."""
    return InternalError(f"a batch could not be sent: {error!r}")


def callback_failed(error: Exception) -> CallbackError:
    """The error of a stream whose `on_report` raised."""
    return CallbackError(f"on_report raised {type(error).__name__}: {error}")


def finish_in_callback() -> CallbackError:
    """The error of an `on_report` that waits for the end of the stream, that is, for itself."""
    return CallbackError("finish cannot be called in on_report: it would wait for itself")


def not_started(timeout_s: float) -> DeadlineError:
    """The error of a stream that the server did not accept in time."""
    return DeadlineError(
        f"the server has not accepted the stream within {timeout_s:g} s", code="DEADLINE_EXCEEDED"
    )


def not_finished(timeout_s: float | None) -> DeadlineError:
    """The error of a `finish` that did not get its report in time."""
    return DeadlineError(
        f"no final report within {timeout_s:g} s; the stream continues: "
        "call finish again to wait longer, or cancel it",
        code="DEADLINE_EXCEEDED",
    )

"""The synchronous scoring stream.

Two daemon threads serve a stream: grpc's own, which asks for the next message and sends it, and
one that reads what the server says and calls `on_report`. Both end with the stream.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Any, Self

import grpc
from numpy.typing import ArrayLike

from vidscore_client._decoding import Event, decode_response
from vidscore_client._encoding import encode_batch
from vidscore_client._forgotten import Ending
from vidscore_client._outbox import Batch, Item
from vidscore_client._single_frame import SingleFrame
from vidscore_client._status import error_from_failure
from vidscore_client._stream_plan import StreamPlan
from vidscore_client._stream_state import (
    StreamState,
    callback_failed,
    cancelled,
    cannot_read,
    finish_in_callback,
    not_finished,
    not_started,
)
from vidscore_client.errors import VidscoreError
from vidscore_client.frames import Frames, Side
from vidscore_client.reports import LiveReport, Report
from vidscore_protos.v1 import scoring_service_pb2

JOIN_TIMEOUT_S = 5.0
"""How long leaving a stream waits for its reader, which may be in the caller's `on_report`."""

OpenCall = Callable[[Iterator[scoring_service_pb2.ScoreRequest], float | None], Any]
"""Starts the call: takes the requests and the seconds it may take, gives grpc's call object."""


class ScoreStream:
    """A stream that is being scored; made by `vidscore_client.Client.score_stream`.

    Every method may be called from any thread; frames of one thread are sent in its order.
    `on_report` is called on the stream's own reading thread and should be quick.

    As a context manager: leaving the block without having called `finish`, with an exception or
    not, cancels the stream, and raises nothing of its own.
    """

    def __init__(
        self, plan: StreamPlan, open_call: OpenCall, open_timeout_s: float, owner: object
    ) -> None:
        """Open the stream and wait for the server to accept it.

        Args:
            plan: What is to be scored and how.
            open_call: Starts the call.
            open_timeout_s: Seconds to wait for the server's first message.
            owner: The client, kept alive as long as the stream is.
        """
        self._plan = plan
        self._owner = owner
        self._exchange = _Exchange(plan, open_call)
        # A stream that is forgotten, or still open when the interpreter ends, is cancelled.
        Ending(self, self._exchange.cancel)
        self._exchange.await_start(open_timeout_s)

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
    ) -> None:
        """Send one whole frame of the truth; returns as soon as it is queued.

        Args:
            sequence: Name of the video.
            frame: Number of the frame; each is sent once, in any order.
            coordinates: (N, 2 | 4 | 8) pixels, or an empty list for no objects.
            labels: N class labels, texts or whole numbers; None where there are no classes.
            confidences: N finite numbers, the greater the surer; None for all 1.
            track_ids: N identities of tracks, -1 for none; None for all -1.
            flags: N bits of `ObjectFlag`; None for all 0.
            domain: Domain of the video, where there is more than one.
            dont_care: Whether the frame is left out of every count.

        Raises:
            InputError: If an argument has the wrong shape or length.
            BackPressureError: If the queue is full, as the policy says.
            VidscoreError: What the stream failed with.
        """
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
        )
        self._exchange.put("truth", frame_of_truth)

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

        The arguments and errors are those of `send_truth`.
        """
        detections = SingleFrame.of(
            self._plan.arities["detections"],
            sequence,
            frame,
            coordinates,
            labels=labels,
            confidences=confidences,
            track_ids=track_ids,
            domain=domain,
        )
        self._exchange.put("detections", detections)

    def send_batch(self, side: Side, frames: Frames) -> None:
        """Send many whole frames; they do not wait for others.

        Args:
            side: ``truth`` or ``detections``.
            frames: The frames; their arrays must not change before the stream has ended.

        Raises:
            InputError: If their objects have another shape than the stream was opened for.
            BackPressureError: If the queue is full, as the policy says.
            VidscoreError: What the stream failed with.
        """
        self._plan.check_batch(side, frames)
        if frames.frame_count:
            self._exchange.put(side, frames)

    def live_reports(self) -> Iterator[LiveReport]:
        """Live reports as they come, until the stream ends; each goes to one reader.

        Raises:
            VidscoreError: What the stream failed with.
        """
        while (report := self._exchange.next_report()) is not None:
            yield report

    def finish(self, timeout_s: float | None = None) -> list[Report]:
        """Send what is queued, say that nothing more comes, and wait for the final reports.

        Args:
            timeout_s: Seconds to wait; None for no limit but the stream's own.

        Returns:
            A report for each evaluator, in the order in which they were asked for.

        Raises:
            DeadlineError: If they have not come in time; `finish` may be called again.
            VidscoreError: What the stream failed with.
        """
        return self._exchange.finish(timeout_s)

    def cancel(self) -> None:
        """End the stream at once, without a report; does nothing where it has ended."""
        self._exchange.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.cancel()


class _Exchange:
    """The call itself.

    It and its threads know nothing of the `ScoreStream`, so that a stream that nobody holds any
    more can be collected.
    """

    def __init__(self, plan: StreamPlan, open_call: OpenCall) -> None:
        self.state = StreamState(plan.batching, plan.live)
        self._plan = plan
        self._condition = threading.Condition()
        self._call = open_call(self._requests(), plan.timeout_s)
        self._reader = threading.Thread(target=self._read, name="vidscore-stream", daemon=True)
        self._reader.start()

    def await_start(self, timeout_s: float) -> None:
        state = self.state
        with self._condition:
            self._condition.wait_for(lambda: state.started or state.ended, timeout_s)
            if state.started:
                return  # what comes later is told by later calls
            state.raise_error()
        self.cancel()
        raise not_started(timeout_s)

    def put(self, side: Side, item: Item) -> None:
        with self._condition:
            due_before_s = self.state.outbox.due_s
            waited = not self._admit(side, item)
            if waited:
                self._wait_for_room(side, item)
            # The sender sleeps until something is due; only an earlier time concerns it. Since when
            # it sleeps is not known to a caller that has waited.
            if waited or self.state.outbox.due_s != due_before_s:
                self._condition.notify_all()

    def next_report(self) -> LiveReport | None:
        with self._condition:
            self._condition.wait_for(lambda: self.state.readable)
            return self.state.next_report()

    def finish(self, timeout_s: float | None) -> list[Report]:
        if threading.current_thread() is self._reader:
            raise finish_in_callback()
        with self._condition:
            self.state.close()
            self._condition.notify_all()
            if not self._condition.wait_for(lambda: self.state.ended, timeout_s):
                raise not_finished(timeout_s)
        self._join()
        return self.state.final_reports()

    def cancel(self) -> None:
        self._end(cancelled())
        self._call.cancel()
        self._join()

    def _admit(self, side: Side, item: Item) -> bool:
        return self.state.admit(side, item, time.monotonic())

    def _wait_for_room(self, side: Side, item: Item) -> None:
        batching = self._plan.batching
        if batching.policy == "raise":
            raise self.state.refusal(None)
        timeout_s = batching.block_timeout_s
        if not self._condition.wait_for(lambda: self._admit(side, item), timeout_s):
            raise self.state.refusal(timeout_s)

    def _requests(self) -> Iterator[scoring_service_pb2.ScoreRequest]:
        """What grpc's thread sends; it must end with the call, or that thread never would."""
        yield self._plan.first_request
        while (batch := self._next_batch()) is not None:
            yield encode_batch(batch)

    def _next_batch(self) -> Batch | None:
        with self._condition:
            while not self.state.nothing_to_send:
                now_s = time.monotonic()
                batch = self.state.take(now_s)
                if batch is not None:
                    self._condition.notify_all()
                    return batch
                due_s = self.state.outbox.due_s
                self._condition.wait(None if due_s is None else max(0.0, due_s - now_s))
        return None

    def _read(self) -> None:
        error = None
        try:
            for response in self._call:
                self._handle(decode_response(response))
        except grpc.RpcError as failure:
            error = error_from_failure(failure)
        except VidscoreError as failure:
            error = failure
        except Exception as failure:
            error = cannot_read(failure)
            raise
        finally:
            self._end(error)
            if error is not None:
                self._call.cancel()

    def _handle(self, event: Event) -> None:
        with self._condition:
            self.state.receive(event)
            self._condition.notify_all()
        live = self._plan.live
        if isinstance(event, LiveReport) and live is not None and live.on_report is not None:
            try:
                live.on_report(event)
            except Exception as error:
                raise callback_failed(error) from error

    def _end(self, error: VidscoreError | None) -> None:
        with self._condition:
            self.state.end(error)
            self._condition.notify_all()

    def _join(self) -> None:
        if threading.current_thread() is not self._reader:
            self._reader.join(JOIN_TIMEOUT_S)

"""The call of a scoring stream: its plan, and its two sides.

grpc, or a task, sends; a worker reads responses and calls `on_report`. Both end with the stream.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from vidscore_client._decoding import Event, decode_response
from vidscore_client._encoding import encode_batch, encode_configuration
from vidscore_client._outbox import Batch, Item
from vidscore_client._specification import Specification
from vidscore_client._stream_state import (
    StreamState,
    callback_failed,
    cancelled,
    cannot_read,
    cannot_send,
    finish_in_callback,
    not_finished,
    not_started,
)
from vidscore_client._transport import Home, Transport
from vidscore_client._values import check_number, check_timeout
from vidscore_client.errors import InputError, VidscoreError
from vidscore_client.evaluators import EvaluatorChoice
from vidscore_client.frames import ARITIES, Frames, Geometry, Side
from vidscore_client.reports import LiveReport, Report
from vidscore_client.settings import Batching, Live
from vidscore_protos.v1 import scoring_service_pb2

SCORE = "/vidscore.v1.ScoringService/Score"

JOIN_TIMEOUT_S = 5.0
"""Timeout in seconds for joining a stream's reader, which may be in the caller's `on_report`."""


@dataclass(frozen=True)
class StreamPlan:
    """A stream before it is opened.

    Attributes:
        first_request: The message that opens it.
        arities: Coordinates per object, by side.
        batching: How frames are batched.
        live: Which live reports are wanted.
        timeout_s: Seconds that the whole stream may take; None for no limit.
    """

    first_request: scoring_service_pb2.ScoreRequest
    arities: Mapping[Side, int]
    batching: Batching
    live: Live | None
    timeout_s: float | None

    def check_batch(self, side: Side, frames: Frames) -> None:
        """Refuse a batch that does not belong to this stream.

        Raises:
            InputError: If there is no such side, or its objects have another shape.
        """
        if side not in self.arities:
            raise InputError("side", repr(side)[:80], "'truth' or 'detections'")
        if not isinstance(frames, Frames):
            raise InputError("frames", repr(frames)[:80], "Frames")
        if frames.arity != self.arities[side]:
            found = f"{frames.arity} coordinates per object"
            raise InputError(
                "frames", found, f"{self.arities[side]}, as declared when the stream was opened"
            )


def plan_stream(
    evaluators: Sequence[EvaluatorChoice],
    specification: Specification | None,
    geometries: tuple[Geometry, Geometry],
    live: Live | None,
    batching: Batching,
    timeout_s: float | None,
) -> StreamPlan:
    """Check the arguments of `score_stream`; nothing is sent yet.

    Args:
        evaluators: The evaluators.
        specification: The benchmark's specification.
        geometries: Shape of the truth's objects and of the detections.
        live: Which live reports are wanted.
        batching: How frames are batched.
        timeout_s: Seconds that the whole stream may take.

    Raises:
        InputError: If an argument has the wrong type or value.
    """
    truth_geometry, detection_geometry = geometries
    configuration = encode_configuration(
        evaluators, specification, truth_geometry, detection_geometry, live
    )
    if timeout_s is not None:
        check_number("timeout_s", timeout_s, lambda value: value > 0, "more than 0, or None")
    return StreamPlan(
        first_request=scoring_service_pb2.ScoreRequest(configuration=configuration),
        arities=MappingProxyType(
            {"truth": ARITIES[truth_geometry], "detections": ARITIES[detection_geometry]}
        ),
        batching=batching,
        live=live,
        timeout_s=timeout_s,
    )


class Exchange:
    """The call itself.

    It and its workers hold no reference to the user's stream, so that a leaked stream can be
    collected.

    Args:
        transport: The connection.
        plan: What to score, and how.
    """

    def __init__(self, transport: Transport, plan: StreamPlan) -> None:
        self.state = StreamState(plan.batching, plan.live)
        self._plan = plan
        self._transport = transport
        self._home = Home()
        self._monitor = transport.monitor()
        self._configured = False
        self._call = transport.stream(
            SCORE, self._next_request, scoring_service_pb2.ScoreResponse, plan.timeout_s
        )
        self._reader = transport.worker(self._read, "stream")
        self._reader.start()

    async def await_start(self, timeout_s: float) -> None:
        """Wait until the server accepts the stream; later errors are raised by later calls."""
        state = self.state
        with self._monitor:
            await self._monitor.wait_until(lambda: bool(state.started) or state.ended, timeout_s)
            if not state.started:
                state.raise_error()
                raise not_started(timeout_s)

    async def put(self, side: Side, item: Item) -> None:
        """Queue frames; if the queue is full, follow the policy."""
        self._home.check()
        outbox = self.state.outbox
        with self._monitor:
            due_before_s = outbox.due_s
            waited = not self.state.admit(side, item, time.monotonic())
            if waited:
                await self._wait_for_room(side, item)
            # The call's sender sleeps until something is due; only an earlier due time must wake
            # it. After a wait, the earlier due time is not known.
            if not waited and outbox.due_s == due_before_s:
                return
            self._monitor.wake()
        await self._transport.take_turns()

    async def next_report(self) -> LiveReport | None:
        """The next live report; None at the end of the stream."""
        self._home.check()
        with self._monitor:
            await self._monitor.wait_until(lambda: self.state.readable, None)
            return self.state.next_report()

    async def finish(self, timeout_s: float | None) -> list[Report]:
        """Send what is queued and wait for the final reports."""
        check_timeout(timeout_s)
        self._home.check()
        if self._reader.is_current:
            raise finish_in_callback()
        with self._monitor:
            self.state.close()
            self._monitor.wake()
            if not await self._monitor.wait_until(lambda: self.state.ended, timeout_s):
                raise not_finished(timeout_s)
        await self._reader.join(JOIN_TIMEOUT_S)
        return self.state.final_reports()

    async def cancel(self) -> None:
        """End the call at once; does nothing if it has ended, or in a forked process."""
        if not self._home.is_here:
            return
        self._end(cancelled())
        self._call.cancel()
        self._reader.cancel()
        await self._reader.join(JOIN_TIMEOUT_S)

    def _admit(self, side: Side, item: Item) -> bool:
        return self.state.admit(side, item, time.monotonic())

    async def _wait_for_room(self, side: Side, item: Item) -> None:
        batching = self._plan.batching
        if batching.policy == "raise":
            raise self.state.refusal(None)
        timeout_s = batching.block_timeout_s
        if not await self._monitor.wait_until(lambda: self._admit(side, item), timeout_s):
            raise self.state.refusal(timeout_s)

    async def _next_request(self) -> scoring_service_pb2.ScoreRequest | None:
        if not self._configured:
            self._configured = True
            return self._plan.first_request
        batch = await self._next_batch()
        try:
            return None if batch is None else encode_batch(batch)
        except Exception as error:
            raise cannot_send(error) from error

    async def _next_batch(self) -> Batch | None:
        state = self.state
        with self._monitor:
            while not state.nothing_to_send:
                now_s = time.monotonic()
                batch = state.take(now_s)
                if batch is not None:
                    self._monitor.wake()
                    return batch
                due_s = state.outbox.due_s
                await self._monitor.pause(None if due_s is None else max(0.0, due_s - now_s))
        return None

    async def _read(self) -> None:
        error: VidscoreError | None = cancelled()
        try:
            while (response := await self._call.read()) is not None:
                await self._handle(decode_response(response))
            error = None
        except VidscoreError as failure:
            error = failure
        except Exception as failure:
            error = cannot_read(failure)
            raise
        finally:
            self._end(error)
            self._call.cancel()

    async def _handle(self, event: Event) -> None:
        with self._monitor:
            self.state.receive(event)
            self._monitor.wake()
        live = self._plan.live
        if isinstance(event, LiveReport) and live is not None and live.on_report is not None:
            try:
                await self._transport.call_back(live.on_report, event)
            except Exception as error:
                raise callback_failed(error) from error

    def _end(self, error: VidscoreError | None) -> None:
        with self._monitor:
            self.state.end(error)
            self._monitor.wake()

"""The asyncio scoring stream; `vidscore_client.aio` is where it is made public.

Two tasks serve a stream: one sends, one reads and calls `on_report`. Both end with the stream.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Any, Self

import grpc
from numpy.typing import ArrayLike

from vidscore_client._aio_status import StatusWatch
from vidscore_client._decoding import Event, decode_response
from vidscore_client._encoding import encode_batch
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
from vidscore_client.errors import ClosedError, InternalError, VidscoreError
from vidscore_client.frames import Frames, Side
from vidscore_client.reports import LiveReport, Report

OpenCall = Callable[[float | None], Any]
"""Starts the call: takes the seconds it may take, gives grpc's call object."""


class AsyncScoreStream:
    """A stream that is being scored; made by `AsyncClient.score_stream`.

    It is opened by ``async with`` and belongs to that event loop; its methods may be called by
    any task of it. Leaving the block without having awaited `finish`, with an exception or not,
    cancels the stream, and raises nothing of its own.
    """

    def __init__(self, plan: StreamPlan, open_call: OpenCall, open_timeout_s: float) -> None:
        """Note what to open; nothing is sent yet.

        Args:
            plan: What is to be scored and how.
            open_call: Starts the call.
            open_timeout_s: Seconds to wait for the server's first message.
        """
        self._plan = plan
        self._open_call = open_call
        self._open_timeout_s = open_timeout_s
        self._opened: _Exchange | None = None

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
        )
        await self._exchange.put("truth", frame_of_truth)

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
        )
        await self._exchange.put("detections", detections)

    async def send_batch(self, side: Side, frames: Frames) -> None:
        """Send many whole frames; see `vidscore_client.ScoreStream.send_batch`."""
        self._plan.check_batch(side, frames)
        if frames.frame_count:
            await self._exchange.put(side, frames)

    async def live_reports(self) -> AsyncIterator[LiveReport]:
        """Live reports as they come, until the stream ends; each goes to one reader.

        Raises:
            VidscoreError: What the stream failed with.
        """
        while (report := await self._exchange.next_report()) is not None:
            yield report

    async def finish(self, timeout_s: float | None = None) -> list[Report]:
        """Send what is queued and wait; see `vidscore_client.ScoreStream.finish`."""
        return await self._exchange.finish(timeout_s)

    async def cancel(self) -> None:
        """End the stream at once, without a report; does nothing where it has ended."""
        if self._opened is not None:
            await self._opened.cancel()

    async def __aenter__(self) -> Self:
        """Open the stream and wait for the server to accept it.

        Raises:
            VidscoreError: As `vidscore_client.Client.score_stream`.
        """
        if self._opened is not None:
            raise ClosedError("a stream is opened once")
        self._opened = _Exchange(self._plan, self._open_call)
        try:
            await self._opened.await_start(self._open_timeout_s)
        except BaseException:
            await self._opened.cancel()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.cancel()

    @property
    def _exchange(self) -> _Exchange:
        if self._opened is None:
            raise ClosedError("the stream is not open: use `async with`")
        return self._opened


class _Exchange:
    """The call itself and its two tasks."""

    def __init__(self, plan: StreamPlan, open_call: OpenCall) -> None:
        self.state = StreamState(plan.batching, plan.live)
        self._plan = plan
        self._condition = asyncio.Condition()
        self._call = open_call(plan.timeout_s)
        self._status = StatusWatch(self._call)
        self._sender = asyncio.create_task(self._send())
        self._reader = asyncio.create_task(self._read())

    async def await_start(self, timeout_s: float) -> None:
        state = self.state
        await self._wait_for(lambda: bool(state.started) or state.ended, timeout_s)
        if not state.started:
            state.raise_error()
            raise not_started(timeout_s)

    async def put(self, side: Side, item: Item) -> None:
        async with self._condition:
            due_before_s = self.state.outbox.due_s
            admitted = self._admit(side, item)
            if not admitted and self._plan.batching.policy == "raise":
                raise self.state.refusal(None)
        if not admitted:
            await self._wait_for_room(side, item)
        # The sender sleeps until something is due; only an earlier time concerns it. Since when
        # it sleeps is not known to a caller that has waited.
        if not admitted or self.state.outbox.due_s != due_before_s:
            await self._notify()
            # A caller that never waits for anything would otherwise leave the sender no turn.
            await asyncio.sleep(0)

    async def next_report(self) -> LiveReport | None:
        await self._wait_for(lambda: self.state.readable, None)
        return self.state.next_report()

    async def finish(self, timeout_s: float | None) -> list[Report]:
        if asyncio.current_task() is self._reader:
            raise finish_in_callback()
        self.state.close()
        await self._notify()
        if not await self._wait_for(lambda: self.state.ended, timeout_s):
            raise not_finished(timeout_s)
        return self.state.final_reports()

    async def cancel(self) -> None:
        self.state.end(cancelled())
        self._call.cancel()
        await self._notify()
        if asyncio.current_task() is self._reader:
            return
        self._sender.cancel()
        self._reader.cancel()
        await asyncio.gather(self._sender, self._reader, return_exceptions=True)

    def _admit(self, side: Side, item: Item) -> bool:
        return self.state.admit(side, item, time.monotonic())

    async def _wait_for_room(self, side: Side, item: Item) -> None:
        timeout_s = self._plan.batching.block_timeout_s
        if not await self._wait_for(lambda: self._admit(side, item), timeout_s):
            raise self.state.refusal(timeout_s)

    async def _wait_for(self, predicate: Callable[[], bool], timeout_s: float | None) -> bool:
        try:
            async with asyncio.timeout(timeout_s), self._condition:
                await self._condition.wait_for(predicate)
        except TimeoutError:
            return False
        return True

    async def _notify(self) -> None:
        async with self._condition:
            self._condition.notify_all()

    async def _send(self) -> None:
        try:
            await self._call.write(self._plan.first_request)
            while (batch := await self._next_batch()) is not None:
                await self._call.write(encode_batch(batch))
            await self._call.done_writing()
        except (grpc.RpcError, asyncio.InvalidStateError):
            return  # the call is over, and the reader is told why
        except Exception as error:
            self.state.end(InternalError(f"a batch could not be sent: {error!r}"))
            self._call.cancel()
            raise

    async def _next_batch(self) -> Batch | None:
        while not self.state.nothing_to_send:
            now_s = time.monotonic()
            batch = self.state.take(now_s)
            if batch is not None:
                await self._notify()
                return batch
            due_s = self.state.outbox.due_s
            await self._sleep_until_changed(None if due_s is None else max(0.0, due_s - now_s))
        return None

    async def _sleep_until_changed(self, timeout_s: float | None) -> None:
        before = self.state.outbox.due_s
        await self._wait_for(
            lambda: self.state.nothing_to_send or self.state.outbox.due_s != before, timeout_s
        )

    async def _read(self) -> None:
        error: VidscoreError | None = cancelled()
        try:
            async for response in self._call:
                await self._handle(decode_response(response))
            error = None
        except grpc.RpcError as failure:
            meant = await self._status.settle(failure)
            error = None if meant is None else error_from_failure(meant)
        except VidscoreError as failure:
            error = failure
        except Exception as failure:
            error = cannot_read(failure)
            raise
        finally:
            self.state.end(error)
            self._call.cancel()
            await self._notify()

    async def _handle(self, event: Event) -> None:
        self.state.receive(event)
        await self._notify()
        live = self._plan.live
        if isinstance(event, LiveReport) and live is not None and live.on_report is not None:
            try:
                outcome = live.on_report(event)
                if inspect.isawaitable(outcome):
                    await outcome
            except Exception as error:
                raise callback_failed(error) from error

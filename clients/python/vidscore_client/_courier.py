"""Delivers the frames of a synchronous append stream: connects, sends, and goes on after breaks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc

from vidscore.v1 import submission_service_pb2
from vidscore_client._append_plan import AppendPlan
from vidscore_client._append_state import (
    Sent,
    cannot_send,
    detached,
    flush_in_callback,
    no_answer,
    not_delivered,
    not_flushed,
    on_acknowledged_failed,
)
from vidscore_client._outbox import Item
from vidscore_client._retrying import ended_early
from vidscore_client._status import error_from_failure
from vidscore_client._submission_operations import append_batch, get_submission
from vidscore_client.errors import VidscoreError
from vidscore_client.stream import JOIN_TIMEOUT_S
from vidscore_client.submissions import Run

Requests = Iterator[submission_service_pb2.AppendRequest]
OpenCall = Callable[[Requests], Any]
"""Starts a call of AppendFrames: takes the requests, gives grpc's call object."""


class Courier:
    """Delivers frames from its own thread.

    It and its threads know nothing of the `SubmissionStream`, so that a stream that nobody holds
    any more can be collected.

    Args:
        plan: The opened stream and how frames are to be delivered.
        open_call: Starts a call of AppendFrames.
        run: Makes unary calls.
    """

    def __init__(self, plan: AppendPlan, open_call: OpenCall, run: Run) -> None:
        """Begin."""
        self.state = plan.new_state()
        self._plan = plan
        self._open_call = open_call
        self._run_unary = run
        self._condition = threading.Condition()
        self._call: Any = None
        self._connection = 0  # number of the present call; a sender of another one stops
        self._stall: VidscoreError | None = None
        self._left = False  # whether it was closed or detached by this side
        self._thread = threading.Thread(target=self._run, name="vidscore-submission", daemon=True)
        self._thread.start()

    def put(self, item: Item) -> None:
        """Queue frames, as the policy says where the queue is full."""
        with self._condition:
            due_before_s = self.state.due_s
            waited = not self._admit(item)
            if waited:
                self._wait_for_room(item)
            self._drop_if_stalled(time.monotonic())
            # The sender sleeps until something is due; only an earlier time concerns it. Since when
            # it sleeps is not known to a caller that has waited.
            if waited or self.state.due_s != due_before_s:
                self._condition.notify_all()

    def flush(self, timeout_s: float | None) -> None:
        """Wait until every frame is durable."""
        if threading.current_thread() is self._thread:
            raise flush_in_callback()
        with self._condition:
            self.state.flush()
            self._condition.notify_all()
            if not self._wait_for(lambda: self.state.settled, timeout_s):
                raise not_flushed(timeout_s)
            self.state.check_delivered()

    def close(self, timeout_s: float) -> None:
        """Deliver every frame, in a time, and end; where this side has ended it, do nothing."""
        if threading.current_thread() is self._thread:
            raise flush_in_callback()
        if self._left:
            return
        self._left = True
        with self._condition:
            self.state.close()
            self._condition.notify_all()
            if not self._wait_for(lambda: self.state.settled, timeout_s):
                self._end(not_delivered(timeout_s, self.state.undelivered))
        self._thread.join(JOIN_TIMEOUT_S)
        self._end(None)
        self.state.check_delivered()

    def detach(self) -> None:
        """End at once."""
        self._left = True
        self._end(detached())
        if threading.current_thread() is not self._thread:
            self._thread.join(JOIN_TIMEOUT_S)

    def _admit(self, item: Item) -> bool:
        return self.state.admit(item, time.monotonic())

    def _wait_for_room(self, item: Item) -> None:
        batching = self._plan.batching
        if batching.policy == "raise":
            raise self.state.refusal(None)
        timeout_s = batching.block_timeout_s
        if not self._wait_for(lambda: self._admit(item), timeout_s):
            raise self.state.refusal(timeout_s)

    def _wait_for(self, predicate: Callable[[], bool], timeout_s: float | None) -> bool:
        """Wait under the lock, and see meanwhile to it that a dead connection is noticed."""
        limit_s = None if timeout_s is None else time.monotonic() + timeout_s
        while not predicate():
            if limit_s is not None and time.monotonic() >= limit_s:
                return False
            self._sleep_until(limit_s)
        return True

    def _sleep_until(self, limit_s: float | None) -> None:
        """Sleep until something changes, a time, or the time of a missing answer."""
        now_s = time.monotonic()
        self._drop_if_stalled(now_s)
        times_s = [at_s for at_s in (limit_s, self.state.stalled_at_s) if at_s is not None]
        self._condition.wait(max(0.0, min(times_s) - now_s) if times_s else None)

    def _drop_if_stalled(self, now_s: float) -> None:
        stalled_at_s = self.state.stalled_at_s
        if stalled_at_s is not None and now_s >= stalled_at_s:
            self._stall = no_answer(self._plan.delivery.acknowledge_timeout_s)
            self._drop()

    def _drop(self) -> None:
        """Let go of the present call, if there is one; its sender and its reader end."""
        with self._condition:
            self._connection += 1
            self.state.disconnect()
            self._condition.notify_all()
            call, self._call = self._call, None
        if call is not None:
            call.cancel()

    def _run(self) -> None:
        error: VidscoreError | None = None
        try:
            while self._await_work():
                try:
                    self._deliver()
                except VidscoreError as failure:
                    self._pause(failure)
        except VidscoreError as failure:
            error = failure
        except Exception as failure:
            error = cannot_send(failure)
            raise
        finally:
            self._end(error)

    def _await_work(self) -> bool:
        """Wait until there is something to deliver; whether there is, or the stream has ended."""
        with self._condition:
            self._condition.wait_for(lambda: self.state.closing or not self.state.idle)
            return not self.state.settled

    def _pause(self, failure: VidscoreError) -> None:
        with self._condition:
            delay_s = self.state.delay_s(failure, time.monotonic())
            self._condition.wait_for(lambda: self.state.ended, delay_s)

    def _deliver(self) -> None:
        if self.state.broken:
            self._resume()
        if self._plan.delivery.unary:
            self._deliver_one_by_one()
        else:
            self._deliver_over_a_call()

    def _resume(self) -> None:
        submission = self._run_unary(get_submission(self._plan.opened.submission.name))
        with self._condition:
            grown = self.state.resume(self._plan.find_stream(submission), time.monotonic())
            self._condition.notify_all()
        if grown:
            self._tell()

    def _deliver_one_by_one(self) -> None:
        with self._condition:
            connection = self._connection
        while (batch := self._next_batch(connection)) is not None:
            self._acknowledge(self._run_unary(append_batch(self._plan.opened, batch)))

    def _deliver_over_a_call(self) -> None:
        call = self._connect()
        try:
            for response in call:
                self._acknowledge(response.next_offset)
        except grpc.RpcError as failure:
            raise (self._stall or error_from_failure(failure)) from failure
        finally:
            self._drop()
        if not self.state.settled:
            raise ended_early()

    def _connect(self) -> Any:
        with self._condition:
            self._stall = None
            call = self._open_call(self._requests(self._connection))
            if not self.state.ended:
                self._call = call
                return call
        call.cancel()
        return call

    def _requests(self, connection: int) -> Requests:
        """What grpc's thread sends; it must end with the call, or that thread never would."""
        try:
            while (batch := self._next_batch(connection)) is not None:
                yield self._plan.opened.request(batch)
        except Exception as error:
            self._end(cannot_send(error))
            raise

    def _next_batch(self, connection: int) -> Sent | None:
        with self._condition:
            while self._connection == connection and not self._nothing_to_send:
                batch = self.state.take(time.monotonic())
                if batch is not None:
                    self._condition.notify_all()
                    return batch
                self._sleep_until(self.state.due_s)
        return None

    @property
    def _nothing_to_send(self) -> bool:
        return self.state.ended or (self.state.closing and self.state.idle)

    def _acknowledge(self, next_offset: int) -> None:
        with self._condition:
            grown = self.state.acknowledge(next_offset, time.monotonic())
            self._condition.notify_all()
        if grown:
            self._tell()

    def _tell(self) -> None:
        on_acknowledged = self._plan.delivery.on_acknowledged
        if on_acknowledged is not None:
            try:
                on_acknowledged(self.state.acknowledged)
            except Exception as error:
                raise on_acknowledged_failed(error) from error

    def _end(self, error: VidscoreError | None) -> None:
        with self._condition:
            self.state.end(error)
        self._drop()

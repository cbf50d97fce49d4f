"""Delivers the frames of an asyncio append stream: connects, sends, and goes on after breaks."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import grpc

from vidscore_client._aio_status import StatusWatch
from vidscore_client._aio_submissions import Run
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

JOIN_TIMEOUT_S = 5.0
"""How long closing a stream waits for the server to end the call."""

OpenCall = Callable[[], Any]
"""Starts a call of AppendFrames; gives grpc's call object."""


class AsyncCourier:
    """Delivers frames from its own task.

    Args:
        plan: The opened stream and how frames are to be delivered.
        open_call: Starts a call of AppendFrames.
        run: Makes unary calls.
    """

    def __init__(self, plan: AppendPlan, open_call: OpenCall, run: Run) -> None:
        """Begin."""
        self.plan = plan
        self.state = plan.new_state()
        self._open_call = open_call
        self._run_unary = run
        self._condition = asyncio.Condition()
        self._given_up: VidscoreError | None = None  # why the present call was cancelled
        self._left = False  # whether it was closed or detached by this side
        self._task = asyncio.create_task(self._deliver_all())

    async def put(self, item: Item) -> None:
        """Queue frames, as the policy says where the queue is full."""
        due_before_s = self.state.due_s
        waited = not self._admit(item)
        if waited:
            await self._wait_for_room(item)
        # The sender sleeps until something is due; only an earlier time concerns it. Since when
        # it sleeps is not known to a caller that has waited.
        if waited or self.state.due_s != due_before_s:
            await self._notify()
            # A caller that never waits for anything would otherwise leave the sender no turn.
            await asyncio.sleep(0)

    async def flush(self, timeout_s: float | None) -> None:
        """Wait until every frame is durable."""
        if asyncio.current_task() is self._task:
            raise flush_in_callback()
        self.state.flush()
        await self._notify()
        if not await self._wait_for(lambda: self.state.settled, timeout_s):
            raise not_flushed(timeout_s)
        self.state.check_delivered()

    async def close(self, timeout_s: float) -> None:
        """Deliver every frame, in a time, and end; where this side has ended it, do nothing."""
        if asyncio.current_task() is self._task:
            raise flush_in_callback()
        if self._left:
            return
        self._left = True
        self.state.close()
        await self._notify()
        if await self._wait_for(lambda: self.state.settled, timeout_s):
            await asyncio.wait([self._task], timeout=JOIN_TIMEOUT_S)
            await self._stop(None)
        else:
            await self._stop(not_delivered(timeout_s, self.state.undelivered))
        self.state.check_delivered()

    async def detach(self) -> None:
        """End at once."""
        self._left = True
        await self._stop(detached())

    async def _stop(self, error: VidscoreError | None) -> None:
        self.state.end(error)
        await self._notify()
        if asyncio.current_task() is not self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _admit(self, item: Item) -> bool:
        return self.state.admit(item, time.monotonic())

    async def _wait_for_room(self, item: Item) -> None:
        batching = self.plan.batching
        if batching.policy == "raise":
            raise self.state.refusal(None)
        timeout_s = batching.block_timeout_s
        if not await self._wait_for(lambda: self._admit(item), timeout_s):
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

    async def _deliver_all(self) -> None:
        error: VidscoreError | None = detached()
        try:
            while await self._await_work():
                try:
                    await self._deliver()
                except VidscoreError as failure:
                    delay_s = self.state.delay_s(failure, time.monotonic())
                    await self._wait_for(lambda: self.state.ended, delay_s)
            error = None
        except VidscoreError as failure:
            error = failure
        except Exception as failure:
            error = cannot_send(failure)
            raise
        finally:
            self.state.end(error)
            await self._notify()

    async def _await_work(self) -> bool:
        """Wait until there is something to deliver; whether there is, or the stream has ended."""
        await self._wait_for(lambda: self.state.closing or not self.state.idle, None)
        return not self.state.settled

    async def _deliver(self) -> None:
        if self.state.broken:
            await self._resume()
        if self.plan.delivery.unary:
            await self._deliver_one_by_one()
        else:
            await self._deliver_over_a_call()

    async def _resume(self) -> None:
        submission = await self._run_unary(get_submission(self.plan.opened.submission.name))
        grown = self.state.resume(self.plan.find_stream(submission), time.monotonic())
        await self._told(grown)

    async def _deliver_one_by_one(self) -> None:
        while (batch := await self._next_batch()) is not None:
            await self._acknowledge(await self._run_unary(append_batch(self.plan.opened, batch)))

    async def _deliver_over_a_call(self) -> None:
        self._given_up = None
        call = self._open_call()
        status = StatusWatch(call)
        try:
            async with _helpers(self._send(call), self._watch_over(call)):
                async for response in call:
                    await self._acknowledge(response.next_offset)
        except grpc.RpcError as failure:
            meant = await status.settle(failure)
            if meant is not None:
                raise error_from_failure(meant) from failure
        except asyncio.CancelledError:
            # So does a call end that this side has cancelled, and so does this very task.
            if self._given_up is None:
                raise
            raise self._given_up from None
        finally:
            self.state.disconnect()
            call.cancel()
        if not self.state.settled:
            raise ended_early()

    async def _send(self, call: Any) -> None:
        try:
            while (batch := await self._next_batch()) is not None:
                await call.write(self.plan.opened.request(batch))
            await call.done_writing()
        except (grpc.RpcError, asyncio.InvalidStateError):
            return  # the call is over, and the reader is told why
        except Exception as error:
            self._given_up = cannot_send(error)
            call.cancel()
            raise

    async def _watch_over(self, call: Any) -> None:
        """End a call over which no acknowledgement comes."""
        while True:
            stalled_at_s, now_s = self.state.stalled_at_s, time.monotonic()
            if stalled_at_s is not None and now_s >= stalled_at_s:
                self._given_up = no_answer(self.plan.delivery.acknowledge_timeout_s)
                call.cancel()
                return
            sleep_s = self.plan.delivery.acknowledge_timeout_s
            await asyncio.sleep(sleep_s if stalled_at_s is None else stalled_at_s - now_s)

    async def _next_batch(self) -> Sent | None:
        while not self._nothing_to_send():
            now_s = time.monotonic()
            batch = self.state.take(now_s)
            if batch is not None:
                await self._notify()
                return batch
            due_s = self.state.due_s
            await self._sleep_until_changed(due_s, None if due_s is None else due_s - now_s)
        return None

    async def _sleep_until_changed(self, due_before_s: float | None, delay_s: float | None) -> None:
        await self._wait_for(
            lambda: self._nothing_to_send() or self.state.due_s != due_before_s, delay_s
        )

    def _nothing_to_send(self) -> bool:
        return self.state.ended or (self.state.closing and self.state.idle)

    async def _acknowledge(self, next_offset: int) -> None:
        await self._told(self.state.acknowledge(next_offset, time.monotonic()))

    async def _told(self, grown: bool) -> None:
        await self._notify()
        on_acknowledged = self.plan.delivery.on_acknowledged
        if not grown or on_acknowledged is None:
            return
        try:
            outcome = on_acknowledged(self.state.acknowledged)
            if inspect.isawaitable(outcome):
                await outcome
        except Exception as error:
            raise on_acknowledged_failed(error) from error


@asynccontextmanager
async def _helpers(*coroutines: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Tasks that run as long as the block does."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

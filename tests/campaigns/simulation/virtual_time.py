"""An event loop with simulated time, which jumps to the next event once no call is due.

A world mostly waits, so the speed of this loop decides that of the world. Future calls are kept in
tuples, which compare without Python code, and its handles lack the debugging of asyncio's.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import Context, copy_context
from heapq import heappop, heappush
from typing import Any

RESOLUTION_S = 1e-6
"""Calls whose times differ by less than this are due together."""


class StuckError(Exception):
    """Everything waits, and no call is left."""


class _Handle:
    """A scheduled call."""

    __slots__ = ("args", "callback", "context", "ended")

    def __init__(
        self, callback: Callable[..., Any], args: tuple[Any, ...], context: Context | None
    ) -> None:
        self.callback = callback
        self.args = args
        self.context = copy_context() if context is None else context
        self.ended = False

    def cancel(self) -> None:
        """Cancel it."""
        self.ended = True

    def cancelled(self) -> bool:
        """Whether it is cancelled."""
        return self.ended


class VirtualLoop(asyncio.BaseEventLoop):
    """The event loop of a world; work for threads is done in the loop, after a delay.

    Args:
        read_delay: Returns the delay of the next work for a thread, in seconds.
    """

    def __init__(self, read_delay: Callable[[], float]) -> None:
        super().__init__()
        self._read_delay = read_delay
        self._now_s = 0.0
        self._due: deque[_Handle] = deque()
        self._waiting: list[tuple[float, int, _Handle]] = []
        self._count = 0

    def time(self) -> float:
        """Seconds since the world began."""
        return self._now_s

    def call_soon(  # type: ignore[override] # the handle has what is asked of handles here
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> _Handle:
        """Call a function next, after those that are due already."""
        handle = _Handle(callback, args, context)
        self._due.append(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment] # there is one thread

    def call_at(  # type: ignore[override] # as above
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> _Handle:
        """Call a function at a time; calls of the same time run in the order of scheduling."""
        handle = _Handle(callback, args, context)
        self._count += 1
        heappush(self._waiting, (when, self._count, handle))
        return handle

    def call_later(  # type: ignore[override] # as above
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> _Handle:
        """Call a function after a delay."""
        return self.call_at(self._now_s + delay, callback, *args, context=context)

    def run_in_executor(  # type: ignore[override] # of the real one's kinds of work there is one
        self, _: object, function: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Call a function after a delay, in the loop."""
        done: asyncio.Future[Any] = self.create_future()

        def run() -> None:
            if done.cancelled():
                return
            try:
                done.set_result(function(*args))
            except Exception as error:  # noqa: BLE001 - whoever waits gets it
                done.set_exception(error)

        self.call_later(self._read_delay(), run)
        return done

    def _run_once(self) -> None:
        """Run the calls that are due, after advancing the time to the next one.

        Raises:
            StuckError: If no call is left.
        """
        due, waiting = self._due, self._waiting
        if not due:
            self._pass()
        while waiting and waiting[0][0] < self._now_s + RESOLUTION_S:
            due.append(heappop(waiting)[2])
        for _ in range(len(due)):
            handle = due.popleft()
            if handle.ended:
                continue
            try:
                handle.context.run(handle.callback, *handle.args)
            except Exception as error:  # noqa: BLE001 - as asyncio does
                self.call_exception_handler({"message": "a callback failed", "exception": error})

    def _pass(self) -> None:
        """Advance the time to the next call that is not cancelled."""
        waiting = self._waiting
        while waiting and waiting[0][2].ended:
            heappop(waiting)
        if not waiting:
            raise StuckError("everything waits, and nothing will ever happen")
        self._now_s = max(self._now_s, waiting[0][0])

"""An event loop whose time passes only when nothing is left to do, and then at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

RESOLUTION_S = 1e-6


class StuckError(Exception):
    """Everything waits, and nothing will ever happen."""


class VirtualLoop(asyncio.BaseEventLoop):
    """The event loop of a world; what others do in threads is done in it, after a while.

    Args:
        read_delay: Gives how long the next work beside the loop takes, in seconds.
    """

    def __init__(self, read_delay: Callable[[], float]) -> None:
        super().__init__()
        self._read_delay = read_delay
        self._now_s = 0.0
        self._selector = self  # asks how long to wait, which is when time passes
        self._clock_resolution = RESOLUTION_S

    def time(self) -> float:
        """Seconds since the world began."""
        return self._now_s

    def select(self, timeout_s: float | None) -> list[Any]:
        """Let the time pass until something is due.

        Raises:
            StuckError: If nothing will ever be.
        """
        if timeout_s is None:
            raise StuckError("everything waits, and nothing will ever happen")
        self._now_s += max(0.0, timeout_s)
        return []

    def run_in_executor(  # type: ignore[override] # of the real one's kinds of work there is one
        self, _: object, function: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Call a function after a while, in the loop."""
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

    def _process_events(self, _: object) -> None:
        """There are none: nothing comes from outside."""

    def _write_to_self(self) -> None:
        """Nobody waits in another thread."""

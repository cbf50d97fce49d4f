"""Wait for the effects of other threads, tasks and processes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

TIMEOUT_S = 120.0
"""Time until a waiting test fails; a busy machine needs much of it."""

PAUSE_S = 0.01


def eventually(condition: Callable[[], bool]) -> None:
    """Wait in this thread until a condition holds; fail if it never does."""
    give_up_s = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < give_up_s, "it did not come to that"
        time.sleep(PAUSE_S)


async def until(condition: Callable[[], bool]) -> None:
    """Wait in this task until a condition holds; fail if it never does."""
    async with asyncio.timeout(TIMEOUT_S):
        while not condition():  # noqa: ASYNC110 - what is waited for may be in another process
            await asyncio.sleep(PAUSE_S)


def returns_before(go_on: threading.Event, action: Callable[[], object]) -> bool:
    """Whether an action in a new thread returns before an event that is set afterwards."""
    acting = threading.Thread(target=action, daemon=True)
    acting.start()
    acting.join(TIMEOUT_S)
    has_returned = not acting.is_alive()
    go_on.set()
    return has_returned

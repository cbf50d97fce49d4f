"""A load in parts that pauses half-way until a test has checked what others see."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from tests.support.waiting import PAUSE_S, TIMEOUT_S

from vidscore_server.domain.context import Context

Item = TypeVar("Item")
Result = TypeVar("Result")


class HalfWay:
    """Yields the loaded items; if it is to wait, it pauses once after a fraction of them.

    Attributes:
        share: Fraction that is loaded before the pause.
        waits: Whether the next load pauses.
    """

    def __init__(self, *, waits: bool) -> None:
        self.share = 0.5
        self.waits = waits
        self._reached, self._goes_on = threading.Event(), threading.Event()

    def load(self, items: Sequence[Item]) -> Iterator[Item]:
        """Yield all items."""
        loaded = int(self.share * len(items))
        yield from items[:loaded]
        if self.waits:
            self.waits = False
            self._reached.set()
            assert self._goes_on.wait(TIMEOUT_S)
        yield from items[loaded:]

    @asynccontextmanager
    async def calling(
        self, call: Coroutine[Any, Any, Result]
    ) -> AsyncIterator[asyncio.Task[Result]]:
        """A call whose load pauses half-way, and continues at the end of the block."""
        task = asyncio.create_task(call)
        try:
            assert await asyncio.to_thread(self._reached.wait, TIMEOUT_S)
            yield task
        finally:
            self._goes_on.set()
            await asyncio.wait([task])


async def until_prolonged(site: Context) -> None:
    """Wait until the only lease of a site is renewed: its load may take longer than a lease."""
    [first] = await site.read(lambda reader: reader.leases())
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            [now] = await site.read(lambda reader: reader.leases())
            if now.end_time > first.end_time:
                return
            await asyncio.sleep(PAUSE_S)

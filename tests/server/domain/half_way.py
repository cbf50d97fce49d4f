"""Loading in parts that stands half-way, until a test has looked at what others see."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from tests.support.waiting import TIMEOUT_S

Item = TypeVar("Item")
Result = TypeVar("Result")


class HalfWay:
    """Yields what is loaded; if it is to wait, it waits once after a share of it.

    Attributes:
        share: Share that is loaded before.
        waits: Whether the next one waits.
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
        """A call whose loading stands half-way, and goes on at the end."""
        task = asyncio.create_task(call)
        try:
            assert await asyncio.to_thread(self._reached.wait, TIMEOUT_S)
            yield task
        finally:
            self._goes_on.set()
            await asyncio.wait([task])

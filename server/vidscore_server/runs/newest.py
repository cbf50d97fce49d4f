"""A place for one value, where a newer one takes the place of an older one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Newest(Generic[Item]):
    """Hands out the newest value: a slow taker skips values instead of making them pile up."""

    def __init__(self) -> None:
        """Start empty."""
        self._item: Item | None = None
        self._closed = False
        self._changed = asyncio.Event()

    def put(self, item: Item) -> None:
        """Replace what nobody has taken yet."""
        self._item = item
        self._changed.set()

    def close(self) -> None:
        """End the iteration; what nobody has taken is dropped."""
        self._closed = True
        self._changed.set()

    async def __aiter__(self) -> AsyncIterator[Item]:
        """Values as they come, until it is closed."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._closed:
                return
            item, self._item = self._item, None
            if item is not None:
                yield item

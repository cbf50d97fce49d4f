"""Tell those who wait that a submission has changed, here or at another server."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress

from vidscore_server.hosting.names import SubmissionName
from vidscore_server.store.errors import StoreError

FOLLOW_INTERVAL_S = 0.5
"""Longest time after which a change at another server is known here."""

Look = Callable[[Collection[SubmissionName]], Awaitable[dict[SubmissionName, int]]]


class Changes:
    """Wakes waiters by name; a waiter looks for itself what has changed."""

    def __init__(self) -> None:
        """Nobody waits yet."""
        self._waiting: defaultdict[SubmissionName, set[asyncio.Future[None]]] = defaultdict(set)

    @property
    def waited_for(self) -> tuple[SubmissionName, ...]:
        """Submissions that somebody waits for."""
        return tuple(self._waiting)

    def tell(self, name: SubmissionName) -> None:
        """Wake whoever waits for a submission; call it on the event loop."""
        for future in self._waiting.pop(name, ()):
            if not future.done():
                future.set_result(None)

    def waiter(self, name: SubmissionName) -> asyncio.Future[None]:
        """A future of the next change from now on; take it before looking, so that none is missed.

        Whoever takes one gives it back with `forget`.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[name].add(future)
        return future

    def forget(self, name: SubmissionName, future: asyncio.Future[None]) -> None:
        """Give a waiter back."""
        future.cancel()
        with suppress(KeyError):
            self._waiting[name].remove(future)
        if not self._waiting[name]:
            del self._waiting[name]


class Follower:
    """Tells of what other servers over the same store have changed.

    Args:
        changes: Who is told.
        look: Gives the revisions that submissions have now.
    """

    def __init__(self, changes: Changes, look: Look) -> None:
        """Know no revision yet."""
        self._changes = changes
        self._look = look
        self._known: dict[SubmissionName, int] = {}

    async def follow(self) -> None:
        """Look at what is waited for, again and again."""
        while True:
            with suppress(StoreError):  # whoever waits looks for himself, and is told then
                await self.look()
            await asyncio.sleep(FOLLOW_INTERVAL_S)

    async def look(self) -> None:
        """Tell of what has moved since the last look; at the first one, of everything."""
        names = self._changes.waited_for
        found = await self._look(names) if names else {}
        before, self._known = self._known, found
        for name in names:
            if found.get(name) != before.get(name):
                self._changes.tell(name)

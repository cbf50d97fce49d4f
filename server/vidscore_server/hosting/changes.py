"""Tell those who wait that a submission has changed."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import suppress

from vidscore_server.hosting.names import SubmissionName


class Changes:
    """Wakes waiters by name; a waiter looks for itself what has changed."""

    def __init__(self) -> None:
        """Nobody waits yet."""
        self._waiting: defaultdict[SubmissionName, set[asyncio.Future[None]]] = defaultdict(set)

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

"""The calls that run under tokens: they end with them, whatever they do and wherever it happened.

A token ends when it is revoked, here or at another server of the site, and when its time is over.
One look again and again over all tokens that are in use finds both.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager

from vidscore_server.access.caller import Caller
from vidscore_server.concurrency import RunningCall
from vidscore_server.errors import UnauthenticatedError
from vidscore_server.logs import log, places_of

LOOK_INTERVAL_S = 0.4
"""Time between two looks: with the time that one takes, no call outlives its token by a second."""

FindEnded = Callable[[Collection[str]], Awaitable[Collection[str]]]


class RunningTokens:
    """Knows the running calls of each token.

    Args:
        find_ended: Gives those of some tokens that hold no longer.
    """

    def __init__(self, find_ended: FindEnded) -> None:
        """Know none yet."""
        self._find_ended = find_ended
        self._calls: defaultdict[str, set[RunningCall]] = defaultdict(set)

    @contextmanager
    def using(self, caller: Caller, call: RunningCall) -> Iterator[None]:
        """Let a call end with its caller's token, if there is one."""
        if not caller.token:
            yield
            return
        self._calls[caller.token].add(call)
        try:
            yield
        finally:
            self._calls[caller.token].discard(call)
            if not self._calls[caller.token]:
                del self._calls[caller.token]

    def end(self, token: str) -> None:
        """End the calls of a token."""
        for call in self._calls.get(token, ()):
            call.end(UnauthenticatedError("the token has ended"))

    async def look(self) -> None:
        """End the calls of all tokens that hold no longer."""
        if self._calls:
            for token in await self._find_ended(tuple(self._calls)):
                self.end(token)

    async def keep_looking(self) -> None:
        """Look again and again until cancelled."""
        while True:
            await asyncio.sleep(LOOK_INTERVAL_S)
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001 - it must go on, whatever it is
                log(logging.ERROR, "tokens not looked at", places=places_of(error))

"""A call that runs, and that others may end: its token has ended, or its place is needed."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from types import TracebackType
from typing import Self

from vidscore_evaluators.errors import VidscoreError


class RunningCall:
    """What a call runs in: a context that others can end with an error, which it raises then.

    What runs in it is cancelled, as by a timeout; what it has begun to send is sent.
    """

    def __init__(self) -> None:
        """Run nothing yet."""
        self._loop = asyncio.get_running_loop()
        self._scope = asyncio.timeout(None)
        self._error: VidscoreError | None = None
        self._runs = False

    def end(self, error: VidscoreError) -> None:
        """End the call, if it still runs; the first who does is right."""
        if self._runs and self._error is None:
            self._error = error
            self._scope.reschedule(self._loop.time())

    async def __aenter__(self) -> Self:
        """Begin, in the present task."""
        await self._scope.__aenter__()
        self._runs = True
        _current.set(self)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End, with what others have ended it with."""
        self._runs = False
        try:
            await self._scope.__aexit__(kind, error, traceback)
        finally:
            if self._scope.expired() and self._error is not None:
                raise self._error from error


_current: ContextVar[RunningCall | None] = ContextVar("running_call", default=None)


def current_running_call() -> RunningCall | None:
    """The call that runs here; None outside of calls."""
    return _current.get()

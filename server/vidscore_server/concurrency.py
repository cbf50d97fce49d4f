"""Threads for large work beside the event loop, and calls that others may end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from vidscore_evaluators.errors import VidscoreError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

LARGE = 10_000
"""Frames, objects or rows from which on work is offloaded: a few milliseconds of it.

Smaller work would wait longer for the GIL in its thread than it takes.
"""


async def offload(
    size: int,
    function: Callable[Arguments, Result],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Result:
    """Call a function, in a thread if its work is large.

    Args:
        size: Number of rows that the function processes.
        function: The function.
        args: Its arguments.
        kwargs: Its arguments by name.
    """
    if size < LARGE:
        return function(*args, **kwargs)
    return await asyncio.to_thread(function, *args, **kwargs)


class RunningCall:
    """The context of a call that others can end: its token was revoked, or its slot is needed.

    The block is cancelled, as by a timeout, and the context raises the error. Messages that are
    already being sent are sent.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._scope = asyncio.timeout(None)
        self._error: VidscoreError | None = None
        self._runs = False

    def end(self, error: VidscoreError) -> None:
        """End the call with an error, if it still runs; only the first error counts."""
        if self._runs and self._error is None:
            self._error = error
            self._scope.reschedule(self._loop.time())

    async def __aenter__(self) -> Self:
        """Enter the context, in the present task."""
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
        """Leave the context.

        Raises:
            VidscoreError: The error that another has ended the call with.
        """
        self._runs = False
        try:
            await self._scope.__aexit__(kind, error, traceback)
        finally:
            if self._scope.expired() and self._error is not None:
                raise self._error from error


_current: ContextVar[RunningCall | None] = ContextVar("running_call", default=None)


def current_running_call() -> RunningCall | None:
    """The present call; None outside of calls."""
    return _current.get()

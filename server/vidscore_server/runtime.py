"""Services of the process for all parts: threads, calls, caches, failpoints, time.

Tests may break the process at its failpoints, and shift its clock.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar

from vidscore_evaluators.errors import VidscoreError

# --- Large work and calls

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

LARGE = 10_000
"""Number of frames, objects or rows above which work is offloaded: a few milliseconds.

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


def retrieve(future: asyncio.Future[Any]) -> None:
    """Retrieve a result that nobody awaits, so that asyncio does not report it as lost."""
    if not future.cancelled():
        future.exception()


class RunningCall:
    """A call that other tasks can end, because its token was revoked or its slot is needed.

    The block is cancelled, as by a timeout, and the context raises the error. Messages that are
    already being sent still arrive.
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
        """Enter the context, in the current task."""
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
            VidscoreError: The error with which another task has ended the call.
        """
        self._runs = False
        try:
            await self._scope.__aexit__(kind, error, traceback)
        finally:
            if self._scope.expired() and self._error is not None:
                raise self._error from error


_current: ContextVar[RunningCall | None] = ContextVar("running_call", default=None)


def current_running_call() -> RunningCall | None:
    """The current call; None outside of calls."""
    return _current.get()


# --- Output


def print_nothing() -> None:
    """Drop what this process prints from now on: a plug-in may print hidden data."""
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        for descriptor in (STDOUT, STDERR):
            os.dup2(nothing.fileno(), descriptor)


STDOUT, STDERR = 1, 2
"""Descriptors of the standard streams, which child processes inherit."""


# --- Memory


def end_first(badness: int) -> None:
    """Let Linux end this process before the server, from which it inherits, if memory runs out.

    It counts as larger than it is by `badness` thousandths of all memory.
    """
    with suppress(OSError):  # another system
        file = Path("/proc/self/oom_score_adj")
        inherited = int(file.read_text(encoding="ascii"))
        file.write_text(str(min(inherited + badness, 1000)), encoding="ascii")


# --- Caches

Held = TypeVar("Held")


class Kept(Generic[Held]):
    """A least-recently-used cache, bounded by size.

    Args:
        most: Maximum sum of sizes; a larger value is not cached.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._found: OrderedDict[Hashable, tuple[Held, int]] = OrderedDict()

    def get(self, key: Hashable) -> Held | None:
        """The value of a key; None if it is not cached."""
        if key not in self._found:
            return None
        self._found.move_to_end(key)
        return self._found[key][0]

    def put(self, key: Hashable, value: Held, size: int) -> None:
        """Cache a value, which replaces the former value of its key."""
        self.drop(key)
        self._found[key] = value, size
        self._size += size
        while self._size > self._most:
            self.drop(next(iter(self._found)))

    def drop(self, key: Hashable) -> None:
        """Drop the value of a key."""
        _, size = self._found.pop(key, (None, 0))
        self._size -= size


# --- Failpoints: named points at which a test may kill, delay or break the server
#
# Off unless the environment says otherwise: ``VIDSCORE_FAILPOINTS="before_commit=kill@3"`` kills
# the process with SIGKILL the third time it gets there; ``=sleep:50`` waits 50 ms each time,
# ``=raise`` raises `OSError` (no space left); ``clock=shift:60`` sets the clock a minute ahead.

FAILPOINTS_VARIABLE = "VIDSCORE_FAILPOINTS"

FAILPOINTS = (
    "before_commit",
    "after_commit",
    "before_acknowledge",
    "before_scoring",
    "before_score_commit",
    "after_give_out",
)

CLOCK = "clock"

_passed: Counter[str] = Counter()
_lock = threading.Lock()


def failpoint(name: str) -> None:
    """Do what the environment says for this point, if anything.

    Raises:
        OSError: For ``raise``.
    """
    configured = _configured()
    if name not in configured:
        return
    action, _, wanted = configured[name].partition("@")
    with _lock:
        _passed[name] += 1
        if wanted and _passed[name] != int(wanted):
            return
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "raise":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    elif action.startswith("sleep:"):
        time.sleep(float(action.removeprefix("sleep:")) / 1000.0)


@cache
def _configured() -> dict[str, str]:
    entries = filter(None, os.environ.get(FAILPOINTS_VARIABLE, "").split(","))
    configured = dict(entry.split("=", 1) for entry in entries)
    unknown = set(configured) - {*FAILPOINTS, CLOCK}
    if unknown:
        known = ", ".join((*FAILPOINTS, CLOCK))
        raise ValueError(f"{FAILPOINTS_VARIABLE} names {sorted(unknown)}; there are {known}")
    return configured


# --- Time


def utc_now() -> datetime:
    """The time by this process's clock, in UTC; tests may shift it."""
    shift_s = float(_configured().get(CLOCK, "shift:0").removeprefix("shift:"))
    return datetime.now(UTC) + timedelta(seconds=shift_s)

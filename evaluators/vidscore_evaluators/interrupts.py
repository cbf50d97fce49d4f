"""Start processes that a Ctrl-C does not reach.

A terminal sends Ctrl-C to every process in front of it, workers included. Only the process that
started them should act on it, and end them; a worker that is hit while it still imports would
write a traceback that means nothing to anybody.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Processes that are started in this block ignore Ctrl-C for good; this one acts on it after.

    Does nothing on systems without POSIX signals.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # What is blocked stays blocked in the processes that start here.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with _deferred():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _deferred() -> Iterator[None]:
    """Let an interrupt that another thread takes in wait, so that it breaks nothing in two."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler or signal.SIG_DFL)
        if came:
            signal.raise_signal(signal.SIGINT)

"""What a stream into a submission waits for, where that takes long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vidscore_cli.output import counted

if TYPE_CHECKING:
    from vidscore_client import SubmissionStream

TELL_S = 5.0
"""After which it is said that the server is waited for, which may be away or have no room."""

LOOK_S = 0.5


@contextmanager
def told_while_waiting(stream: SubmissionStream, tell: Callable[[str], object]) -> Iterator[None]:
    """Say, while the block lasts, where frames wait and none becomes durable.

    Args:
        stream: The stream.
        tell: Called with a sentence, in a thread of its own.
    """
    done = threading.Event()
    watching = threading.Thread(
        target=_watch, args=(stream, tell, done), name="told-while-waiting", daemon=True
    )
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()


def _watch(stream: SubmissionStream, tell: Callable[[str], object], done: threading.Event) -> None:
    told: set[str] = set()
    durable, since_s = -1, 0.0
    while not done.wait(LOOK_S):
        if durable != stream.acknowledged_frames or not stream.undelivered_frames:
            durable, since_s = stream.acknowledged_frames, time.monotonic()
            if told:
                tell("the server takes frames again")
                told.clear()
        elif time.monotonic() - since_s >= TELL_S:
            why = stream.last_break
            reason = f"no answer for {TELL_S:g} s" if why is None else why.message
            if reason not in told:
                told.add(reason)
                waiting = counted(stream.undelivered_frames, "frame")
                tell(f"waiting for the server, {waiting} not durable yet: {reason}")

"""Messages about a server that is away, if the wait is long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vidscore_cli.remote import without_grpc_talk
from vidscore_evaluators.names import counted

if TYPE_CHECKING:
    from vidscore_client import Client, Retry, Submission, SubmissionStream, VidscoreError

TELL_S = 5.0
"""Wait after which the user is told; the server may be away or have no room."""

APART_S = 60.0
"""Breaks further apart than this had an answer between them; retries are closer."""

LOOK_S = 0.5


class Breaks:
    """Says, once for each reason, that something waits for a server that is away.

    Args:
        tell: Called with a sentence.
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self, tell: Callable[[str], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell, self._clock = tell, clock
        self._told: set[str] = set()
        self._first_s: float | None = None
        self._last_s = 0.0

    def retry(self) -> Retry:
        """The SDK's retry settings, which report breaks here."""
        from vidscore_client import Retry

        return Retry(on_break=self.broke)

    def broke(self, error: VidscoreError) -> None:
        """Note a break."""
        now_s = self._clock()
        if self._first_s is None or now_s - self._last_s > APART_S:
            self._first_s = now_s
            self._told.clear()
        self._last_s = now_s
        reason = without_grpc_talk(error.message)
        if now_s - self._first_s >= TELL_S and reason not in self._told:
            self._told.add(reason)
            self._tell(f"waiting for the server: {reason}")

    def over(self) -> None:
        """Note that the server has answered."""
        self._first_s = None
        if self._told:
            self._told.clear()
            self._tell("the server answers again")


def seal(client: Client, stream: SubmissionStream, tell: Callable[[str], object]) -> Submission:
    """Seal the submission of a stream that has sent everything; say so if the server is away.

    Raises:
        VidscoreError: As `SubmissionStream.seal`.
    """
    stream.flush()
    stream.close()
    return client.submissions.seal(stream.submission, retry=Breaks(tell).retry())


@contextmanager
def told_while_waiting(stream: SubmissionStream, tell: Callable[[str], object]) -> Iterator[None]:
    """Tell the user, within the block, if frames wait and none becomes durable.

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
            message = f"no answer for {TELL_S:g} s" if why is None else why.message
            reason = without_grpc_talk(message)
            if reason not in told:
                told.add(reason)
                waiting = counted(stream.undelivered_frames, "frame")
                tell(f"waiting for the server, {waiting} not durable yet: {reason}")

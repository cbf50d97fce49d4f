"""Who appends to which stream over a call: there is one call at a time, the newest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from vidscore_server.concurrency import RunningCall, current_running_call
from vidscore_server.errors import EpochStaleError
from vidscore_server.hosting.names import StreamName

TakeOver = Callable[[StreamName], None]
"""Makes the present call the one that appends to a stream."""


class Writers:
    """Knows the call that appends to each stream.

    A client that comes back over another connection often does so before the server has noticed
    that the one before is dead: that call, with its place, would be kept for nobody.
    """

    def __init__(self) -> None:
        """Know none yet."""
        self._calls: dict[StreamName, RunningCall] = {}

    @contextmanager
    def writing(self) -> Iterator[TakeOver]:
        """Let the present call take a stream over, and let go of it when it ends."""
        call = current_running_call()
        taken: list[StreamName] = []

        def take_over(stream: StreamName) -> None:
            older = self._calls.get(stream)
            if older is not None and older is not call:
                older.end(EpochStaleError("a newer call appends to the stream, and this one ends"))
            if call is not None:
                self._calls[stream] = call
                taken.append(stream)

        try:
            yield take_over
        finally:
            for stream in taken:
                if self._calls.get(stream) is call:
                    del self._calls[stream]

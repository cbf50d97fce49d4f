"""The runs that are open: how many there may be, and how they end when the server stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from vidscore_server.domain.access import current_caller
from vidscore_server.domain.capacity import Place, Places, Use
from vidscore_server.domain.names import StreamName
from vidscore_server.errors import DrainingError, EpochStaleError
from vidscore_server.running_call import RunningCall, current_running_call

EXPIRY_TIMEOUT_S = 5.0
"""Time that streams have to send their status once they have been ended."""


class Sessions:
    """Counts open runs, and ends them.

    Args:
        maximum: Runs that may be open at once.
        shared: Whether there are teams that share them.
    """

    def __init__(self, maximum: int, *, shared: bool = False) -> None:
        """Start with none."""
        self._places = Places(maximum, shared=shared)
        self._draining = False
        self._stopping = asyncio.Event()
        self._expired = asyncio.Event()
        self._none_open = asyncio.Event()
        self._none_open.set()

    @property
    def open_count(self) -> int:
        """Runs that are open."""
        return self._places.held_count

    @property
    def draining(self) -> bool:
        """Whether the server is about to stop."""
        return self._draining

    def refuse_while_draining(self) -> None:
        """Let nothing new begin while the server drains.

        Raises:
            DrainingError: If it does.
        """
        if self._draining:
            raise DrainingError("the server is about to stop; try again, here or elsewhere")

    @contextmanager
    def open(self, use: Use) -> Iterator[None]:
        """Hold a place for the present call.

        Args:
            use: What it is for.

        Raises:
            DrainingError: If the server drains.
            LimitError: If there is no place.
        """
        self.refuse_while_draining()
        caller, call = current_caller(), current_running_call()
        end = None if call is None else call.end
        place = Place(caller.shares_as, use, caller.is_organiser, end)
        self._places.take(place)
        self._none_open.clear()
        try:
            yield
        finally:
            self._places.give_back(place)
            if self.open_count == 0:
                self._none_open.set()

    async def until_expired(self) -> None:
        """Wait for the end of the time that runs have when the server stops.

        Raises:
            DrainingError: When it has come.
        """
        await self._expired.wait()
        raise DrainingError("the server stopped before the stream ended; begin it again")

    async def until_draining(self) -> None:
        """Wait until the server begins to stop: for streams that can be resumed.

        Raises:
            DrainingError: When it does.
        """
        await self._stopping.wait()
        raise DrainingError("the server is about to stop; resume, here or elsewhere")

    @asynccontextmanager
    async def resumable(self) -> AsyncIterator[None]:
        """Hold a place for a call that can begin again: it ends at once when the server drains.

        Raises:
            DrainingError: If the server drains.
            LimitError: If there is no place.
        """
        with self.open(Use.HOSTED):
            async with asyncio.TaskGroup() as tasks:
                expiry = tasks.create_task(self.until_draining())
                yield
                expiry.cancel()

    async def drain(self, timeout_s: float) -> None:
        """Let nothing new begin, wait for what is open, and end what takes too long."""
        self._draining = True
        self._stopping.set()
        if not await self._end_within(timeout_s):
            self.expire()
            await self._end_within(EXPIRY_TIMEOUT_S)

    def expire(self) -> None:
        """End all runs now."""
        self._draining = True
        self._stopping.set()
        self._expired.set()

    async def _end_within(self, timeout_s: float) -> bool:
        try:
            async with asyncio.timeout(timeout_s):
                await self._none_open.wait()
        except TimeoutError:
            return False
        return True


# --- Writers: one call at a time appends to a stream, the newest

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

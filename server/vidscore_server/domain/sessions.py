"""Open streams and calls: their places, their end when the server stops, and writers."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from enum import StrEnum

from msgspec import Struct

from vidscore_evaluators.errors import LimitError
from vidscore_evaluators.names import counted
from vidscore_server.domain.access import current_caller
from vidscore_server.domain.names import StreamName
from vidscore_server.errors import DrainingError, EpochStaleError, IdleError, NoPlaceError
from vidscore_server.runtime import RunningCall, current_running_call

# --- Places for streams
#
# 1. A tenth of the places, at least one, is for organisers only.
# 2. Streams of stateless scoring take at most half of the places. A team gets another one of these
# while it holds fewer than are free, so that it leaves as many to others as it has.
# 3. All other streams of teams can be resumed by another call. While a place is free, any team gets
# it. If none is, a team that holds at least two fewer than the team with the most gets a place
# from that team, whose youngest such stream ends and is resumed later.
#
# So no team can shut others out, and none holds more than its share while others ask for theirs. A
# token without a team counts as a team here, and all callers without a token count as one team.
# On a server without tokens, all callers are equal and share all places.

LIMIT = "maximum_streams"

KEPT_FOR_ORGANISERS = 10
"""One in this many places is for organisers only."""


class Use(StrEnum):
    """The use of a stream."""

    SCORING = "scoring"
    """Stateless scoring: if it is ended, its work is lost."""
    HOSTED = "hosted"
    """Of a hosted benchmark: if it is ended, another call resumes it."""


class Place(Struct, frozen=True, eq=False):
    """A place that a stream holds or requests.

    Attributes:
        team: Team whose share it counts towards.
        use: Its use.
        is_organiser: Whether an organiser holds it; then it is never taken away.
        end: Ends the stream with an error; None if it cannot be ended.
    """

    team: str
    use: Use
    is_organiser: bool = False
    end: Callable[[NoPlaceError], None] | None = None

    @property
    def can_be_taken(self) -> bool:
        """Whether it can be given to another team."""
        return self.use is Use.HOSTED and not self.is_organiser and self.end is not None


class Places:
    """Hands out places.

    Args:
        maximum: Number of places.
        shared: Whether teams share them.
    """

    def __init__(self, maximum: int, *, shared: bool) -> None:
        self._maximum = maximum
        self._shared = shared
        self._for_teams = max(1, maximum - max(1, maximum // KEPT_FOR_ORGANISERS))
        self._for_scoring = max(1, maximum // 2)
        self._held: dict[Place, None] = {}  # oldest first

    @property
    def held_count(self) -> int:
        """Number of held places."""
        return len(self._held)

    def take(self, place: Place) -> None:
        """Take a place.

        Raises:
            LimitError: If there is none for this team now; a `NoPlaceError` if a retry makes sense,
                because the stream has been started and can be resumed.
        """
        if not self._is_free(place):
            self._take_from_another(place)
        self._held[place] = None

    def give_back(self, place: Place) -> None:
        """Give a place back; does nothing if it was taken away."""
        self._held.pop(place, None)

    def count(self, team: str, use: Use) -> int:
        """Number of places that a team holds for a use."""
        return sum(place.team == team and place.use is use for place in self._held)

    def _is_free(self, place: Place) -> bool:
        free = self._maximum - len(self._held)
        if place.is_organiser or not self._shared:
            return free > 0
        of_teams = [held for held in self._held if not held.is_organiser]
        free = min(free, self._for_teams - len(of_teams))
        if place.use is Use.HOSTED:
            return free > 0
        scoring = sum(held.use is Use.SCORING for held in of_teams)
        return min(free, self._for_scoring - scoring) > self.count(place.team, Use.SCORING)

    def _take_from_another(self, place: Place) -> None:
        """Take a place from the team with the most, if that makes shares more equal."""
        others = [held for held in self._held if held.can_be_taken and held.team != place.team]
        may_take = place.use is Use.HOSTED or place.is_organiser
        if may_take and others:
            [(richest, most)] = Counter(held.team for held in others).most_common(1)
            if most >= self.count(place.team, place.use) + 2:
                youngest = [held for held in others if held.team == richest][-1]
                self.give_back(youngest)
                if youngest.end is not None:
                    youngest.end(NoPlaceError("others need their share", LIMIT, self._maximum))
                return
        count = len(self._held)
        found = f"{counted(count, 'stream is', 'streams are')} open"
        if place.use is Use.HOSTED:
            raise NoPlaceError(found, LIMIT, self._maximum)
        raise LimitError(found, LIMIT, self._maximum)


# --- Unary calls


class PlainCalls:
    """Counts the open calls of each team; all callers without a token count as one team.

    Args:
        maximum: Maximum number of open calls per team.
    """

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._open: Counter[str] = Counter()

    def begin(self, team: str) -> None:
        """Count the call of the current task until the task ends.

        Its message may never come, so that only the end of the task tells that the call is over.

        Raises:
            NoPlaceError: If the team has too many.
        """
        if (count := self._open[team]) >= self._maximum:
            of_one = ("call of one team is", "calls of one team are")
            found = f"{counted(count, *of_one)} open"
            raise NoPlaceError(found, "maximum_calls", self._maximum)
        task = asyncio.current_task()
        if task is not None:
            self._open[team] += 1
            task.add_done_callback(lambda _: self._end(team))

    def _end(self, team: str) -> None:
        self._open[team] -= 1
        if not self._open[team]:
            del self._open[team]


LATE_S = 1.0
"""Time after which the message of a call is late."""

LATE_SHARE = 8
"""The message of one in this many calls of a team may be late."""


class LateCalls:
    """Bounds the calls whose only message has not arrived: gRPC holds each partial message.

    Args:
        maximum: Maximum number of open calls per team.
        idle_timeout_s: Longest wait for a message.
    """

    def __init__(self, maximum: int, idle_timeout_s: int) -> None:
        self._maximum = maximum
        self._idle_timeout_s = idle_timeout_s
        # Each call with the timer that ends it, oldest first.
        self._late: defaultdict[str, dict[RunningCall, asyncio.TimerHandle]] = defaultdict(dict)

    @contextmanager
    def waiting(self, team: str, call: RunningCall) -> Iterator[None]:
        """Wait for the message of a call; if too many are late, the oldest call is ended."""
        timer = asyncio.get_running_loop().call_later(LATE_S, self._add, team, call)
        try:
            yield
        finally:
            timer.cancel()
            if team in self._late:
                if (ending := self._late[team].pop(call, None)) is not None:
                    ending.cancel()
                if not self._late[team]:
                    del self._late[team]

    def _add(self, team: str, call: RunningCall) -> None:
        late = self._late[team]
        timeout_s = self._idle_timeout_s
        idle = IdleError(f"no message has arrived for {timeout_s} s", "idle_timeout_s", timeout_s)
        late[call] = asyncio.get_running_loop().call_later(timeout_s - LATE_S, call.end, idle)
        if len(late) > max(1, self._maximum // LATE_SHARE):
            oldest = next(iter(late))
            late.pop(oldest).cancel()
            found = f"the messages of {len(late) + 1} calls of one team are late"
            oldest.end(NoPlaceError(found, "maximum_calls", self._maximum))


# --- Sessions

EXPIRY_TIMEOUT_S = 5.0
"""Time for streams to send their status after they were ended."""


WAIT_FOR_PLACE_S = 1.0
"""Time that a short run waits for a place: longer than most other short runs take."""


def _place_of_call(use: Use) -> Place:
    caller, call = current_caller(), current_running_call()
    end = None if call is None else call.end
    return Place(caller.shares_as, use, caller.is_organiser, end)


class Sessions:
    """Counts open runs, and ends them.

    Args:
        maximum: Maximum number of open runs.
        shared: Whether teams share them.
    """

    def __init__(self, maximum: int, *, shared: bool = False) -> None:
        self._places = Places(maximum, shared=shared)
        self._stopping = asyncio.Event()
        self._expired = asyncio.Event()
        self._given_back = asyncio.Event()
        self._none_open = asyncio.Event()
        self._none_open.set()

    @property
    def open_count(self) -> int:
        """Number of open runs."""
        return self._places.held_count

    @property
    def draining(self) -> bool:
        """Whether the server is about to stop."""
        return self._stopping.is_set()

    def refuse_while_draining(self) -> None:
        """Refuse new runs while the server drains.

        Raises:
            DrainingError: If it does.
        """
        if self.draining:
            raise DrainingError("the server is about to stop; try again, here or elsewhere")

    @contextmanager
    def open(self, use: Use) -> Iterator[None]:
        """Hold a place for the current call.

        Raises:
            DrainingError: If the server drains.
            LimitError: If there is no place.
        """
        self.refuse_while_draining()
        place = _place_of_call(use)
        self._places.take(place)
        with self._held(place):
            yield

    @asynccontextmanager
    async def open_soon(self, use: Use) -> AsyncIterator[None]:
        """Hold a place for the current call; wait briefly if there is none.

        Args:
            use: Its use, which must end by itself, so that places become free.

        Raises:
            DrainingError: If the server drains.
            LimitError: If there is no place for longer than that.
        """
        place = _place_of_call(use)
        loop = asyncio.get_running_loop()
        last_s = loop.time() + WAIT_FOR_PLACE_S
        while True:
            self.refuse_while_draining()
            try:
                self._places.take(place)
                break
            except LimitError:
                if loop.time() >= last_s:
                    raise
            self._given_back.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(last_s):
                    await self._given_back.wait()
        with self._held(place):
            yield

    @contextmanager
    def _held(self, place: Place) -> Iterator[None]:
        """Give a taken place back at the end."""
        self._none_open.clear()
        try:
            yield
        finally:
            self._places.give_back(place)
            self._given_back.set()
            if self.open_count == 0:
                self._none_open.set()

    async def until_expired(self) -> None:
        """Wait until the time that runs have when the server stops is over.

        Raises:
            DrainingError: When it is over.
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
        """Hold a place for a call that can be resumed: it ends at once when the server drains.

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
        """Refuse new streams, wait for the open ones, and end those that take too long."""
        self._stopping.set()
        if not await self._end_within(timeout_s):
            self.expire()
            await self._end_within(EXPIRY_TIMEOUT_S)

    def expire(self) -> None:
        """End all runs now."""
        self._stopping.set()
        self._expired.set()

    async def _end_within(self, timeout_s: float) -> bool:
        try:
            async with asyncio.timeout(timeout_s):
                await self._none_open.wait()
        except TimeoutError:
            return False
        return True


# --- Writers: only the newest call appends to a stream

TakeOver = Callable[[StreamName], None]
"""Makes the current call the writer of a stream."""


class Writers:
    """Tracks the call that appends to each stream.

    A client that reconnects often does so before the server notices that its former connection is
    dead: the former call would hold its place for nobody.
    """

    def __init__(self) -> None:
        self._calls: dict[StreamName, RunningCall] = {}

    @contextmanager
    def writing(self) -> Iterator[TakeOver]:
        """Let the current call take over a stream, and release it when the call ends."""
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

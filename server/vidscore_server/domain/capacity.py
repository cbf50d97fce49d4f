"""Places for streams: how many there are, and how callers share them; pure.

1. Of the places a tenth, at least one, is for organisers alone.
2. Streams that score and keep nothing take at most half of the places. A team takes a further one
   of these while it holds fewer than are free: it leaves as many to others as it has.
3. All other streams of teams can go on over another call. As long as a place is free, any team gets
   it. When none is, a team that holds at least two fewer than the one with the most gets a place
   from that one, whose youngest such stream ends and comes back later.

So no team can shut others out, and none holds more than its share while others ask for theirs. A
team is here also a token without a team, and all who have no token together. Where all callers are
alike, because there are no tokens, there is nobody to share with, and every place is free.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import StrEnum

from vidscore_evaluators.errors import LimitError
from vidscore_server.errors import NoPlaceError
from vidscore_server.settings import Settings

LIMIT = "maximum_streams"

KEPT_FOR_ORGANISERS = 10
"""One of so many places is for organisers alone."""


class Use(StrEnum):
    """What a stream is for."""

    SCORING = "scoring"
    """It scores and keeps nothing: ended, its work is lost."""
    HOSTED = "hosted"
    """It is about a hosted benchmark: ended, it goes on over another call."""


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """A place that a stream holds, or wants.

    Attributes:
        team: Whose share it counts towards.
        use: What it is for.
        is_organiser: Whether an organiser holds it: it is never taken away.
        end: Ends the stream with an error; None where it cannot be ended.
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
        maximum: How many there are.
        shared: Whether there are teams that share them.
    """

    def __init__(self, maximum: int, *, shared: bool) -> None:
        """Start with all of them free."""
        self._maximum = maximum
        self._shared = shared
        self._for_teams = max(1, maximum - max(1, maximum // KEPT_FOR_ORGANISERS))
        self._for_scoring = max(1, maximum // 2)
        self._held: dict[Place, None] = {}  # the oldest first

    @property
    def held_count(self) -> int:
        """Places that are held."""
        return len(self._held)

    def take(self, place: Place) -> None:
        """Take a place.

        Raises:
            LimitError: If there is none for this team now; a `NoPlaceError` where it is worth
                asking again, because the stream was begun already and goes on.
        """
        if not self._is_free(place):
            self._take_from_another(place)
        self._held[place] = None

    def give_back(self, place: Place) -> None:
        """Give a place back; one that was taken away is not held any more."""
        self._held.pop(place, None)

    def count(self, team: str, use: Use) -> int:
        """Places that a team holds for a use."""
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
        """Take a place from the team with the most, where that makes shares more even."""
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
        found = f"{len(self._held)} streams are open"
        if place.use is Use.HOSTED:
            raise NoPlaceError(found, LIMIT, self._maximum)
        raise LimitError(found, LIMIT, self._maximum)


# --- Unary calls


class PlainCalls:
    """Counts the open calls of each team; all without a token together are one more.

    Args:
        maximum: Calls that one of them may have open at once.
    """

    def __init__(self, maximum: int) -> None:
        """Begin with none."""
        self._maximum = maximum
        self._open: Counter[str] = Counter()

    def begin(self, team: str) -> None:
        """Count the call that the present task makes, until the task ends.

        Its message may never come: nothing else would tell that it is over.

        Raises:
            NoPlaceError: If the team has too many.
        """
        if self._open[team] >= self._maximum:
            found = f"{self._open[team]} calls of one team are open"
            raise NoPlaceError(found, "maximum_calls", self._maximum)
        task = asyncio.current_task()
        if task is not None:
            self._open[team] += 1
            task.add_done_callback(lambda _: self._end(team))

    def _end(self, team: str) -> None:
        self._open[team] -= 1
        if not self._open[team]:
            del self._open[team]


# --- Bytes that are received and not stored yet: of each call, of each team, and in all

LIMITS = ("maximum_unstored_call_bytes", "maximum_unstored_team_bytes", "maximum_unstored_bytes")
"""Settings that bound the room of a call, of a team, and of all together."""

EVERYBODY = "everybody"


@dataclass(frozen=True, eq=False, slots=True)
class Reservation:
    """Room that somebody has.

    Attributes:
        owners: A call, its team, and everybody, as the limits have them.
        size: Bytes.
    """

    owners: tuple[Hashable, ...]
    size: int


class ByteBudget:
    """Bounds the bytes that are taken in and not stored yet.

    Args:
        settings: The server's limits.
    """

    def __init__(self, settings: Settings) -> None:
        """All of it is free."""
        self._limits = [(name, int(getattr(settings, name))) for name in LIMITS]
        self._held: Counter[Hashable] = Counter()
        self._waiting: dict[Reservation, asyncio.Future[None]] = {}

    @property
    def held_bytes(self) -> int:
        """Bytes that are taken."""
        return self._held[EVERYBODY]

    @property
    def waiting_count(self) -> int:
        """How many wait."""
        return len(self._waiting)

    async def take(self, call: Hashable, team: str | None, size: int) -> Reservation:
        """Wait until there is room, and take it.

        Args:
            call: What stands for the call.
            team: The caller's team; None for those who see all, who are one team here.
            size: Bytes.

        Raises:
            LimitError: If there can never be so much.
        """
        for name, maximum in self._limits:
            if size > maximum:
                raise LimitError(f"a message of {size} bytes in memory", name, maximum)
        place = Reservation((call, ("team", team), EVERYBODY), size)
        if not self._waiting and self._lacking(place) is None:
            self._fill(place)
            return place
        admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[place] = admitted
        self._admit()
        try:
            await admitted
        except asyncio.CancelledError:
            if self._waiting.pop(place, None) is None:
                self.leave(place)
            else:
                self._admit()
            raise
        return place

    def leave(self, place: Reservation) -> None:
        """Give room back; whoever fits in now goes on."""
        for owner in place.owners:
            self._held[owner] -= place.size
            if not self._held[owner]:
                del self._held[owner]
        if self._waiting:
            self._admit()

    def _fill(self, place: Reservation) -> None:
        for owner in place.owners:
            self._held[owner] += place.size

    def _admit(self) -> None:
        """Let in who fits, but nobody past one who waits for the same room."""
        wanted: set[Hashable] = set()
        for place, admitted in list(self._waiting.items()):
            if admitted.cancelled():
                continue  # who waited has given up, and takes itself away
            if wanted.isdisjoint(place.owners):
                lacking = self._lacking(place)
                if lacking is None:
                    self._fill(place)
                    del self._waiting[place]
                    admitted.set_result(None)
                    continue
                wanted.add(lacking)
            if EVERYBODY in wanted:
                return

    def _lacking(self, place: Reservation) -> Hashable | None:
        """The first owner whose room is too full for a place; None where it fits."""
        for owner, (_, maximum) in zip(place.owners, self._limits, strict=True):
            if self._held[owner] + place.size > maximum:
                return owner
        return None

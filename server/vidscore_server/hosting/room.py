"""Room for what is taken in and not stored yet: bytes of each call, of each team, and in all.

Who finds no room waits, and reads nothing meanwhile, so that HTTP/2 holds its client back. All
three are taken at once or not at all: nobody waits with a part in hand. So whatever has room comes
to be stored and leaves it, and those who wait go on, in the order in which they came.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

from vidscore_evaluators.errors import LimitError
from vidscore_server.settings import Settings

LIMITS = ("maximum_unstored_call_bytes", "maximum_unstored_team_bytes", "maximum_unstored_bytes")
"""Settings that bound the room of a call, of a team, and of all together."""

EVERYBODY = "everybody"


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """Room that somebody has.

    Attributes:
        owners: A call, its team, and everybody, as the limits have them.
        size: Bytes.
    """

    owners: tuple[Hashable, ...]
    size: int


class Room:
    """Hands out room.

    Args:
        settings: The server's limits.
    """

    def __init__(self, settings: Settings) -> None:
        """All of it is free."""
        self._limits = [(name, int(getattr(settings, name))) for name in LIMITS]
        self._held: Counter[Hashable] = Counter()
        self._waiting: dict[Place, asyncio.Future[None]] = {}

    @property
    def held_bytes(self) -> int:
        """Bytes that are taken."""
        return self._held[EVERYBODY]

    @property
    def waiting_count(self) -> int:
        """How many wait."""
        return len(self._waiting)

    async def take(self, call: Hashable, team: str | None, size: int) -> Place:
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
        place = Place((call, ("team", team), EVERYBODY), size)
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

    def leave(self, place: Place) -> None:
        """Give room back; whoever fits in now goes on."""
        for owner in place.owners:
            self._held[owner] -= place.size
            if not self._held[owner]:
                del self._held[owner]
        if self._waiting:
            self._admit()

    def _fill(self, place: Place) -> None:
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

    def _lacking(self, place: Place) -> Hashable | None:
        """The first owner whose room is too full for a place; None where it fits."""
        for owner, (_, maximum) in zip(place.owners, self._limits, strict=True):
            if self._held[owner] + place.size > maximum:
                return owner
        return None

"""Memory: bytes of calls that are taken in, and not stored or worked on to the end yet.

A call without room waits, and reads nothing meanwhile, so that HTTP/2 holds its client back. The
shares of the call, its team and the server are taken at once or not at all: nobody waits while
holding a part. So whatever has room is stored and releases it, and those who wait go on, in the
order in which they came.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Hashable

from msgspec import Struct

from vidscore_evaluators.errors import LimitError
from vidscore_server.settings import Settings

LIMITS = ("maximum_unstored_call_bytes", "maximum_unstored_team_bytes", "maximum_unstored_bytes")
"""Settings that bound the room of a call, of a team, and of all together."""

EVERYBODY = "everybody"


class Reservation(Struct, frozen=True, eq=False):
    """Reserved bytes.

    Attributes:
        owners: A call, its team, and everybody, as the limits have them.
        size: Bytes.
    """

    owners: tuple[Hashable, ...]
    size: int


class ByteBudget:
    """Bounds the bytes that are taken in and not stored, or not worked on to the end.

    Args:
        settings: The server's limits.
    """

    def __init__(self, settings: Settings) -> None:
        self._limits = [(name, int(getattr(settings, name))) for name in LIMITS]
        self._held: Counter[Hashable] = Counter()
        self._waiting: dict[Reservation, asyncio.Future[None]] = {}

    @property
    def most_bytes(self) -> int:
        """Bytes that one call may take."""
        return min(maximum for _, maximum in self._limits)

    @property
    def held_bytes(self) -> int:
        """Bytes that are taken."""
        return self._held[EVERYBODY]

    @property
    def waiting_count(self) -> int:
        """How many wait."""
        return len(self._waiting)

    async def reserve(self, call: Hashable, team: str | None, size: int) -> Reservation:
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
        reservation = Reservation((call, ("team", team), EVERYBODY), size)
        if not self._waiting and self._lacking(reservation) is None:
            self._fill(reservation)
            return reservation
        admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[reservation] = admitted
        self._admit()
        try:
            await admitted
        except asyncio.CancelledError:
            if self._waiting.pop(reservation, None) is None:
                self.release(reservation)
            else:
                self._admit()
            raise
        return reservation

    def release(self, reservation: Reservation) -> None:
        """Release bytes; calls that fit now go on."""
        for owner in reservation.owners:
            self._held[owner] -= reservation.size
            if not self._held[owner]:
                del self._held[owner]
        if self._waiting:
            self._admit()

    def _fill(self, reservation: Reservation) -> None:
        for owner in reservation.owners:
            self._held[owner] += reservation.size

    def _admit(self) -> None:
        """Admit calls that fit, none past an earlier one that waits for the same owner."""
        wanted: set[Hashable] = set()
        for reservation, admitted in list(self._waiting.items()):
            if admitted.cancelled():
                continue  # who waited has given up, and takes itself away
            if wanted.isdisjoint(reservation.owners):
                lacking = self._lacking(reservation)
                if lacking is None:
                    self._fill(reservation)
                    del self._waiting[reservation]
                    admitted.set_result(None)
                    continue
                wanted.add(lacking)
            if EVERYBODY in wanted:
                return

    def _lacking(self, reservation: Reservation) -> Hashable | None:
        """The first owner whose room is too full for a reservation; None if it fits."""
        for owner, (_, maximum) in zip(reservation.owners, self._limits, strict=True):
            if self._held[owner] + reservation.size > maximum:
                return owner
        return None

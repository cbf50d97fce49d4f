"""Memory of calls: bound the bytes that are received and not yet stored or processed.

A call without room waits, and reads nothing meanwhile, so that HTTP/2 holds its client back. The
shares of the call, its team and the server are reserved together or not at all: nobody waits while
holding a part. So every reservation is released in the end, and waiting calls are admitted in the
order of their arrival.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Hashable

from msgspec import Struct

from vidscore_evaluators.errors import LimitError
from vidscore_server.settings import Settings

LIMITS = ("maximum_unstored_call_bytes", "maximum_unstored_team_bytes", "maximum_unstored_bytes")
"""Settings that bound the bytes of a call, of a team, and of the server."""

EVERYBODY = "everybody"


class Reservation(Struct, frozen=True, eq=False):
    """Reserved bytes.

    Attributes:
        owners: A call, its team, and everybody, in the order of `LIMITS`.
        size: Bytes.
    """

    owners: tuple[Hashable, ...]
    size: int


class ByteBudget:
    """Bounds the bytes that are received and not yet stored or processed.

    Args:
        settings: The server's limits.
    """

    def __init__(self, settings: Settings) -> None:
        self._limits = [(name, int(getattr(settings, name))) for name in LIMITS]
        self._held: Counter[Hashable] = Counter()
        self._waiting: dict[Reservation, asyncio.Future[None]] = {}

    @property
    def most_bytes(self) -> int:
        """Maximum bytes of one call."""
        return min(maximum for _, maximum in self._limits)

    @property
    def held_bytes(self) -> int:
        """Reserved bytes."""
        return self._held[EVERYBODY]

    @property
    def waiting_count(self) -> int:
        """Number of waiting reservations."""
        return len(self._waiting)

    async def reserve(self, call: Hashable, team: str | None, size: int) -> Reservation:
        """Wait until there is room, and reserve it.

        Args:
            call: Key of the call.
            team: The caller's team; None for callers who see all, who count as one team.
            size: Bytes.

        Raises:
            LimitError: If the limits can never allow it.
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
        """Release bytes, and admit calls that now fit."""
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
        """Admit calls that fit; none overtakes an earlier call that waits for the same owner."""
        wanted: set[Hashable] = set()
        for reservation, admitted in list(self._waiting.items()):
            if admitted.cancelled():
                continue  # the waiter has given up, and removes itself
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
        """The first owner without room for a reservation; None if it fits."""
        for owner, (_, maximum) in zip(reservation.owners, self._limits, strict=True):
            if self._held[owner] + reservation.size > maximum:
                return owner
        return None

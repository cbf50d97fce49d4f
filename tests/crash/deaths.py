"""When servers die, and the check that they have all acknowledged data when they live again."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from random import Random

import grpc
from tests.crash.checking import check_positions
from tests.crash.organiser import Organiser
from tests.crash.servers import TIMEOUT_S, KilledServer
from tests.crash.writers import Position

from vidscore_server.runtime import FAILPOINTS

AT_RANDOM = "at random"
STARTING = "while starting"
OUTAGE = "outage"
LIVE = {"after_give_out"}
"""What only live benchmarks reach; tests/server/domain/test_live_killed.py kills there."""
POINTS = [point for point in FAILPOINTS if point not in LIVE]
LATEST_PASS = {"before_scoring": 2, "before_score_commit": 2}
REACH_TIMEOUT_S = 20.0

EVERY_OUTAGE = 12
"""One of this many deaths is followed by an outage."""
OUTAGE_S = 12.0
"""Longer than every timeout that does not restart with an answer."""
OUTAGE_SHIFT_S = 3 * 3600
"""How far the clock of a file store leaps in an outage, as if it had lasted hours."""

LONGEST_LIFE_S = 1.0
LONGEST_START_S = 0.5
EVERY_STARTING = 6
"""One of this many deaths happens while the server starts."""


def schedule(count: int) -> Iterator[str]:
    """The moments of all deaths: mostly random, and at the failpoints in turn."""
    for number in range(count):
        if number % EVERY_OUTAGE == EVERY_OUTAGE - 1:
            yield OUTAGE
        elif number % EVERY_STARTING == EVERY_STARTING - 2:
            yield STARTING
        else:
            yield POINTS[number // 2 % len(POINTS)] if number % 2 else AT_RANDOM


def killed(died: Counter[str]) -> dict[str, int]:
    """The number of SIGKILLs by kind, for the record."""
    starting, outages = died[STARTING], died[OUTAGE]
    return {
        "SIGKILLs of a server": died.total() - starting,
        "SIGKILLs of a server that starts": starting,
        "outages longer than every timeout": outages,
    }


class Dying(threading.Thread):
    """Lets one server die repeatedly, while others work and die as well.

    Args:
        server: The server, which has an address; it runs at the end.
        moments: The moment of each death.
        known: Returns the known durable positions of streams.
        chance: The source of all random choices.
        clock_shift_s: How far its clock is ahead.
        own_clock: Whether its clock is that of the store; then it leaps in an outage.

    Attributes:
        died: Number of deaths at each moment.
    """

    def __init__(
        self,
        server: KilledServer,
        moments: Iterable[str],
        known: Callable[[], list[Position]],
        chance: Random,
        *,
        clock_shift_s: float = 0.0,
        own_clock: bool = True,
    ) -> None:
        """Prepare; nothing dies before ``start``."""
        super().__init__(name=f"deaths of {server.address}", daemon=True)
        self.died: Counter[str] = Counter()
        self._server = server
        self._moments = moments
        self._known = known
        self._chance = chance
        self._clock_shift_s = clock_shift_s
        self._own_clock = own_clock
        self._failure: BaseException | None = None

    def finish(self) -> None:
        """Wait until it has died as often as planned."""
        self.join()
        if self._failure is not None:
            raise self._failure

    def run(self) -> None:
        """Die and live again."""
        known: list[Position] = []
        try:
            self._server.kill()
            for moment in self._moments:
                self.died[self._die(moment, known)] += 1
                known = self._known()
            self._live(known)
        except BaseException as failure:  # noqa: BLE001 - told by `finish`
            self._failure = failure

    def _die(self, moment: str, known: list[Position]) -> str:
        """Start with all data, and die; returns the moment of death."""
        if moment == STARTING:
            self._server.begin(self._failpoints())
            time.sleep(LONGEST_START_S * self._chance.random())
        elif moment in POINTS:
            passes = self._chance.randint(1, LATEST_PASS.get(moment, 30))
            self._live(known, f"{moment}=kill@{passes}")
            if not self._server.dies_within(REACH_TIMEOUT_S):
                moment = f"{moment} not reached"
        else:
            self._live(known)
            time.sleep(LONGEST_LIFE_S * self._chance.random())
        self._server.kill()
        if moment == OUTAGE:
            time.sleep(OUTAGE_S)
            self._clock_shift_s += OUTAGE_SHIFT_S if self._own_clock else 0
        return moment

    def _live(self, known: list[Position], *failpoints: str) -> None:
        """Start with all data.

        With a failpoint it may die before it listens or answers: then the next life is checked.
        """
        listening = self._server.begin(self._failpoints(*failpoints)).get(timeout=TIMEOUT_S)
        if failpoints:
            return
        assert listening is not None, self._server.said()
        with grpc.insecure_channel(self._server.address) as channel:
            check_positions(Organiser(channel, self._server.secret), known)

    def _failpoints(self, *failpoints: str) -> str:
        return ",".join((f"clock=shift:{self._clock_shift_s:g}", *failpoints))

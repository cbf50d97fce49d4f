"""A network with random faults, and a server that is killed and restarted meanwhile."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from random import Random

from tests.crash.servers import KilledServer
from tests.support.chaos import ChaosProxy, Direction

LONGEST_FAULT_S = 0.5
BEGINS_AFTER_BYTES = (1, 8_000)
"""Bytes to the server before the first fault: while a stream is opened, or in mid-stream."""

PAUSE_S = 0.02
LONGEST_LIFE_OF_SERVER_S = 6.0
BOTH_WAYS = tuple(Direction)

Fault = Callable[[ChaosProxy, Random], None]


def _torn_message(proxy: ChaosProxy, chance: Random) -> None:
    proxy.cut_after(chance.randint(1, 3_000), Direction.TO_SERVER, reset=_either(chance))


def _torn_acknowledgement(proxy: ChaosProxy, chance: Random) -> None:
    proxy.cut_after(chance.randint(1, 120), Direction.TO_CLIENT, reset=_either(chance))


def _half_closed(proxy: ChaosProxy, chance: Random) -> None:
    proxy.half_close(chance.choice(BOTH_WAYS))


def _ended(proxy: ChaosProxy, chance: Random) -> None:
    if _either(chance):
        proxy.reset()
    else:
        proxy.close_connections()


def _hung_up(proxy: ChaosProxy, chance: Random) -> None:
    proxy.hang_up(reset=_either(chance))
    proxy.reset()


def _refused(proxy: ChaosProxy, _chance: Random) -> None:
    proxy.refuse()
    proxy.close_connections()


def _slow(proxy: ChaosProxy, chance: Random) -> None:
    proxy.delay(chance.uniform(0.01, 0.3), chance.choice(BOTH_WAYS))


def _narrow(proxy: ChaosProxy, chance: Random) -> None:
    proxy.throttle(chance.choice((2_000.0, 20_000.0)), chance.choice(BOTH_WAYS))


def _silent(proxy: ChaosProxy, _chance: Random) -> None:
    proxy.silence()


SLOWING = (_slow, _narrow)
FAULTS = (_torn_message, _torn_acknowledgement, _half_closed, _ended, _hung_up, _refused, *SLOWING)
"""The faults that the network repeats; not `_silent`, which takes long to notice."""


def _gone_silent(proxy: ChaosProxy, _chance: Random) -> None:
    proxy.refuse()
    proxy.silence()


GONE: Mapping[str, Fault] = {"hung up": _hung_up, "refused": _refused, "silent": _gone_silent}
"""The ways in which the network fails for good."""


class Weather:
    """Disturbs a network by one fault after the other, then stops.

    Args:
        proxy: The network.
        chance: Decides the faults and their times.
        count: The number of faults.
        silence: Whether one of them is a silence.

    Attributes:
        slowed: How often the network was slow or narrow; `ChaosProxy` counts what it broke.
    """

    def __init__(self, proxy: ChaosProxy, chance: Random, count: int, *, silence: bool) -> None:
        """Choose the faults; the network stays undisturbed."""
        self.slowed = 0
        self._proxy = proxy
        self._chance = chance
        self._over = threading.Event()
        self._begins_after_bytes = chance.choice(BEGINS_AFTER_BYTES)
        self._plan: list[Fault] = chance.choices(FAULTS, k=count)
        if silence:
            self._plan.insert(chance.randint(1, count), _silent)

    @contextmanager
    def lasting(self) -> Iterator[None]:
        """Disturb the network beside the block, at most for this long."""
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(self._run)
            try:
                yield
            finally:
                self._over.set()
            running.result()

    def _run(self) -> None:
        try:
            while self._proxy.bytes_passed(Direction.TO_SERVER) < self._begins_after_bytes:
                if self._over.wait(PAUSE_S):
                    return
            for fault in self._plan:
                fault(self._proxy, self._chance)
                self.slowed += fault in SLOWING
                self._over.wait(self._chance.uniform(0.05, LONGEST_FAULT_S))
                if self._over.is_set():
                    return
                if self._chance.random() < 0.7:
                    self._proxy.calm()
        finally:
            self._proxy.calm()


@contextmanager
def troubled(server: KilledServer, chance: Random) -> Iterator[Counter[str]]:
    """Kill and restart a server repeatedly beside the block; gives what was done to it."""
    over = threading.Event()
    tried: Counter[str] = Counter()

    def trouble() -> None:
        start_s = 0.0
        # A start takes long on a loaded machine; the server lives longer than that.
        while not over.wait(2 * start_s + chance.uniform(2.0, LONGEST_LIFE_OF_SERVER_S)):
            if _either(chance):
                tried["SIGKILLs of the server"] += 1
                server.kill()
            else:
                tried["restarts of the server"] += 1
                assert server.stop() == 0, server.said()
            began_s = time.monotonic()
            server.start()
            start_s = time.monotonic() - began_s

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(trouble)
        try:
            yield tried
        finally:
            over.set()
        running.result()


def _either(chance: Random) -> bool:
    return chance.random() < 0.5

"""A world: servers sharing one store, teams, organisers and faults, all from one seed."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

from tests.campaigns.simulation import acts
from tests.campaigns.simulation.actors import Network
from tests.campaigns.simulation.laws import SETTLED, Laws
from tests.campaigns.simulation.mirror import Mirror
from tests.campaigns.simulation.rules import Rules
from tests.campaigns.simulation.scoring import Luck
from tests.campaigns.simulation.servers import Server
from tests.campaigns.simulation.stores import SharedStore
from tests.campaigns.simulation.virtual_time import StuckError, VirtualLoop

from vidscore_server.logs import LOGGER_NAME
from vidscore_server.store.records import HIDDEN

LONGEST_S = 4 * 3600.0
"""Time limit for all work to end once the acts are over."""

LOOK_S = 30.0
READ_S = (0.0, 0.02)
ENDINGS = 4


@dataclass(frozen=True)
class Outcome:
    """The result of a world.

    Attributes:
        seed: Its seed.
        acts: The numbers of the acts that were played.
        broken: Laws that did not hold.
        counts: How often each kind of act happened, and the number of commits.
        ended: How its submissions ended, by the reason of their last state.
        history: Digest of all commits, the same at every replay.
    """

    seed: int
    acts: tuple[int, ...]
    broken: tuple[str, ...]
    counts: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    history: int = 0


class World:
    """A running world.

    Args:
        seed: The seed of all randomness.
        loop: Its event loop.
        mirror: Compares its store with the real one; None to skip that.
    """

    def __init__(self, seed: int, loop: VirtualLoop, mirror: Mirror | None = None) -> None:
        self.seed = seed
        self.loop = loop
        self.chance = Random(seed)
        self.rules = Rules.drawn(self.chance)
        self.acts = acts.drawn(self.chance)
        self.laws = Laws()
        self.store = SharedStore(loop, Random(self.chance.random()), self.laws, mirror)
        self.laws.begin(self.store.time, loop.time, self.rules)
        self.network = Network(self)
        self.luck = Luck(Random(self.chance.random()))
        self.servers: list[Server] = []
        self.counts: Counter[str] = Counter()
        self._lives: Counter[int] = Counter()
        self._actors: set[asyncio.Task[None]] = set()

    @property
    def time_s(self) -> float:
        """Seconds since the world began."""
        return self.loop.time()

    def a_server(self, chance: Random) -> Server | None:
        """A random server that serves."""
        found = [server for server in self.servers if server.serves]
        return chance.choice(found) if found else None

    def replace_server(self, number: int) -> None:
        """Start a server in place of one that has ended."""
        self._lives[number] += 1
        name = f"server {number}, life {self._lives[number]}"
        self.servers[number] = Server(
            self.store, self.rules.settings, self.luck, name, self.laws.found
        )
        self.servers[number].start()

    async def play(self, wanted: Collection[int]) -> None:
        """Play the selected acts, then wait until all work has ended."""
        self.rules.prepare(self.store)
        for number in range(self.rules.server_count):
            self.servers.append(
                Server(self.store, self.rules.settings, self.luck, "", self.laws.found)
            )
            self.replace_server(number)
        for number, act in enumerate(self.acts):
            if number not in wanted:
                continue
            await asyncio.sleep(max(0.0, act.at_s - self.time_s))
            if act.kind in acts.FAULTS:
                self.counts[act.kind] += 1
            actor = asyncio.create_task(act.play(self, Random(f"{self.seed}/{number}")))
            self._actors.add(actor)
        await asyncio.sleep(max(0.0, acts.END_S - self.time_s))
        await self._rest()
        self.laws.at_the_end(self.store.state)

    async def _rest(self) -> None:
        """Stop all faults, and wait until all work has ended."""
        self.network.bad_until_s = self.luck.bad_until_s = 0.0
        self.store.down_until_s = self.store.breaking_until_s = 0.0
        for number, server in enumerate(self.servers):
            server.store.slow_until_s = 0.0
            if server.store.dead:
                self.replace_server(number)
        end_s = self.time_s + LONGEST_S
        while self.time_s < end_s:
            await asyncio.sleep(LOOK_S)
            busy = [actor for actor in self._actors if not actor.done()]
            if not busy and self._is_at_rest():
                break
        for actor in self._actors:
            if actor.done() and actor.exception() is not None:
                self.laws.found(f"an actor failed with {actor.exception()!r}")

    def _is_at_rest(self) -> bool:
        state = self.store.state
        return (
            all(record.state in SETTLED for record in state.submissions.values())
            and all(record.done for record in state.operations.values())
            and not any(name >= HIDDEN for name in state.benchmarks)
            and self.laws.release.is_at_rest(state)
        )


def play(seed: int, wanted: Collection[int] | None = None, mirror: Mirror | None = None) -> Outcome:
    """Play a world.

    Args:
        seed: Its seed.
        wanted: Numbers of the acts to play; None for all.
        mirror: Compares its store with the real one; None to skip that.
    """
    delays = Random(f"{seed}/reads")
    loop = VirtualLoop(lambda: delays.uniform(*READ_S))
    world = World(seed, loop, mirror)
    chosen = range(len(world.acts)) if wanted is None else wanted
    with _silence():
        playing = loop.create_task(world.play(chosen))
        try:
            loop.run_until_complete(playing)
        except StuckError as error:
            world.laws.found(str(error))
        finally:
            _close(loop)
    world.counts["calls that were lost, late or came twice"] += world.network.broken
    world.counts["commands that broke"] += world.store.broken
    world.counts["jobs that went wrong"] += world.luck.wrong
    world.counts["commits"] += world.laws.commits
    laws, records = world.laws, world.store.state.submissions.values()
    ended = Counter(record.state_reason for record in records)
    return Outcome(seed, tuple(chosen), tuple(laws.broken), world.counts, ended, laws.history)


def _close(loop: VirtualLoop) -> None:
    """End all running tasks; a task that waits for a dead server must be cancelled twice."""
    for _ in range(ENDINGS):
        if left := asyncio.all_tasks(loop):
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.wait(left, timeout=1.0))
    loop.close()


@contextmanager
def _silence() -> Iterator[None]:
    """Suppress the log of servers about the simulated faults."""
    loggers = [logging.getLogger(name) for name in (LOGGER_NAME, "asyncio")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)

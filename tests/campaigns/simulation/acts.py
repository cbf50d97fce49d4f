"""The events of a world: acts, each with its own time and randomness, so any can be left out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from tests.campaigns.simulation.actors import ORGANISER, Writer, some_submission, team, tried
from tests.campaigns.simulation.batches import Batch
from tests.campaigns.simulation.servers import UnavailableError

from vidscore_evaluators.errors import VidscoreError
from vidscore_server.store.records import SubmissionState

if TYPE_CHECKING:
    from tests.campaigns.simulation.world import World

END_S = 400.0
"""Upper bound on the time at which acts begin."""

COUNTS = (6, 24)
"""Lower and upper bound on the number of acts of a world."""

TEAMS = ("red", "blue")
Play = Callable[["World", Random], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Act:
    """An event in a world.

    Attributes:
        at_s: When it begins.
        kind: Its kind.
    """

    at_s: float
    kind: str

    async def play(self, world: World, chance: Random) -> None:
        """Perform it."""
        await KINDS[self.kind][1](world, chance)


def drawn(chance: Random) -> list[Act]:
    """Random acts, sorted by time; the first ones create something to score."""
    weights = [weight for weight, _ in KINDS.values()]
    kinds = chance.choices(list(KINDS), weights, k=chance.randint(*COUNTS))
    times = sorted(chance.uniform(0.0, END_S) for _ in kinds)
    first = chance.choice(("truth", "truth", "submission"))
    return [Act(0.1, first), Act(1.0, "submission"), *map(Act, times, kinds)]


# --- those who use it


async def _submit(world: World, chance: Random) -> None:
    caller = team(chance.choice(TEAMS))
    name = f"{caller.team}-{len(world.store.state.submissions)}-{chance.randrange(1000)}"
    plan = _plan(chance)
    writer = Writer(world, chance, caller, name, plan)
    working = [writer.submit(chance.choice(("seal", "seal", "seal", "cancel", "leave", "leave")))]
    if chance.random() < 0.3:
        working.append(_compete(world, Random(chance.random()), writer, plan))
    await asyncio.gather(*working)


def _plan(chance: Random) -> Mapping[str, list[Batch]]:
    """Batches of one or two streams, all frames different."""
    numbers = list(range(chance.randint(1, 14)))
    plan: dict[str, list[Batch]] = {}
    streams = chance.choice((("default",), ("default",), ("default", "second")))
    while numbers:
        size = chance.randint(1, 3)
        cut, numbers = numbers[:size], numbers[size:]
        plan.setdefault(chance.choice(streams), []).append(Batch(tuple(cut)))
    return plan


async def _compete(
    world: World, chance: Random, writer: Writer, plan: Mapping[str, list[Batch]]
) -> None:
    """Another writer takes over the streams."""
    await asyncio.sleep(chance.uniform(0.0, 20.0))
    other = Writer(world, chance, writer.caller, writer.name.submission, plan)
    try:
        await other.send()
    except (UnavailableError, VidscoreError):
        return


async def _upload(world: World, chance: Random) -> None:
    complete, request = chance.random() < 0.8, f"upload {chance.random()}"
    await _done(world, chance, lambda server: server.upload(ORGANISER, request, complete=complete))


async def _rescore(world: World, chance: Random) -> None:
    request = f"rescore {chance.random()}"
    await _done(world, chance, lambda server: server.rescore(ORGANISER, request))


async def _publish(world: World, chance: Random) -> None:
    await _done(world, chance, lambda server: server.publish(ORGANISER))


async def _look(world: World, chance: Random) -> None:
    """A team reads the board several times."""
    for _ in range(4):
        begun = world.store.time()
        try:
            seen = await tried(world, chance, lambda server: server.board(team("red")))
        except (UnavailableError, VidscoreError):
            return
        world.laws.release.looked_at(seen, begun)
        await asyncio.sleep(chance.uniform(1.0, 60.0))


async def _cancel(world: World, chance: Random) -> None:
    name = some_submission(world, chance, frozenset(SubmissionState))
    if name is not None:
        await _done(world, chance, lambda server: server.cancel(ORGANISER, name))


async def _retry(world: World, chance: Random) -> None:
    name = some_submission(world, chance, frozenset({SubmissionState.FAILED}))
    if name is not None:
        request = f"retry {chance.random()}"
        await _done(world, chance, lambda server: server.retry(ORGANISER, name, request))


async def _done(
    world: World, chance: Random, make: Callable[[Any], Coroutine[Any, Any, Any]]
) -> None:
    try:
        await tried(world, chance, make)
    except (UnavailableError, VidscoreError):
        return


# --- what goes wrong


async def _kill(world: World, chance: Random) -> None:
    number = chance.randrange(len(world.servers))
    world.servers[number].die()
    await asyncio.sleep(chance.choice((0.5, 5.0, 40.0, 400.0)))
    if world.servers[number].store.dead:
        world.replace_server(number)


async def _stop(world: World, chance: Random) -> None:
    number = chance.randrange(len(world.servers))
    server = world.servers[number]
    if not server.store.dead:
        await server.stop()
        if world.servers[number] is server:
            world.replace_server(number)


async def _outage(world: World, chance: Random) -> None:
    world.store.down_until_s = world.time_s + chance.choice((2.0, 20.0, 90.0, 400.0))


async def _breaks(world: World, chance: Random) -> None:
    world.store.breaking_until_s = world.time_s + chance.uniform(10.0, 120.0)


async def _bad_network(world: World, chance: Random) -> None:
    world.network.bad_until_s = world.time_s + chance.uniform(10.0, 120.0)


async def _slow(world: World, chance: Random) -> None:
    server = chance.choice(world.servers)
    server.store.slow_until_s = world.time_s + chance.uniform(20.0, 120.0)


async def _bad_jobs(world: World, chance: Random) -> None:
    world.luck.bad_until_s = world.time_s + chance.uniform(20.0, 200.0)


async def _leap(world: World, chance: Random) -> None:
    world.store.leap(chance.choice((5.0, 45.0, 3600.0, 86_400.0)))


KINDS: Mapping[str, tuple[float, Play]] = {
    "submission": (8.0, _submit),
    "truth": (3.0, _upload),
    "rescoring": (1.0, _rescore),
    "publication": (1.0, _publish),
    "look at the board": (1.0, _look),
    "cancellation": (1.0, _cancel),
    "retry": (2.0, _retry),
    "deaths of a server": (3.0, _kill),
    "stops of a server": (1.0, _stop),
    "outages of the store": (1.0, _outage),
    "times of breaking connections": (1.5, _breaks),
    "times of a bad network": (1.5, _bad_network),
    "times of a slow server": (1.5, _slow),
    "times of failing jobs": (1.5, _bad_jobs),
    "leaps of the clock": (0.7, _leap),
}
"""The kinds of acts, each with its weight and its action."""

USES = frozenset(
    {
        "submission",
        "truth",
        "rescoring",
        "publication",
        "look at the board",
        "cancellation",
        "retry",
    }
)
FAULTS = frozenset(KINDS) - USES
"""The kinds of acts that are faults; the others are normal use."""

"""Users of a world's servers: writers, which never give up, and organisers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from tests.campaigns.simulation.batches import Batch
from tests.campaigns.simulation.laws import Acknowledged
from tests.campaigns.simulation.servers import BENCHMARK, Server, UnavailableError

from vidscore_evaluators.errors import VidscoreError
from vidscore_server.domain.access import Caller
from vidscore_server.domain.names import StreamName, SubmissionName
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import Role, SubmissionState

if TYPE_CHECKING:
    from tests.campaigns.simulation.world import World

ORGANISER = Caller(role=Role.ORGANISER)
TRIES = 12
"""How often a writer retries a call without an answer."""

PAUSE_S = (0.5, 8.0)
TIMEOUT_S = 40.0
"""Timeout of a client's call."""


def team(name: str) -> Caller:
    """A caller of a team."""
    return Caller(role=Role.PARTICIPANT, team=name)


class Network:
    """The network between clients and servers.

    Args:
        world: The world.

    Attributes:
        bad_until_s: Until then messages are lost, duplicated and delayed.
        broken: The number of such messages.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.bad_until_s = 0.0
        self.broken = 0

    async def call(self, chance: Random, make: Callable[[Server], Coroutine[Any, Any, Any]]) -> Any:
        """Call one of the servers that serve.

        Raises:
            UnavailableError: If there is no answer.
            VidscoreError: As the server raises it.
        """
        server = await self._sent(chance)
        working = server.spawn(make(server))
        if self._goes_wrong(chance):  # A duplicated message.
            again = self._world.a_server(chance)
            if again is not None:
                _forget(again.spawn(make(again)))
        await asyncio.wait((working,), timeout=TIMEOUT_S)
        if not working.done() or working.cancelled():
            _forget(working)
            raise UnavailableError
        await asyncio.sleep(self._way_s(chance))
        if self._goes_wrong(chance):
            _forget(working)
            raise UnavailableError
        if isinstance(working.exception(), StoreError):
            raise UnavailableError
        return working.result()

    async def _sent(self, chance: Random) -> Server:
        await asyncio.sleep(self._way_s(chance))
        server = self._world.a_server(chance)
        if server is None or self._goes_wrong(chance):
            await asyncio.sleep(1.0)
            raise UnavailableError
        return server

    def _goes_wrong(self, chance: Random) -> bool:
        found = self._world.time_s < self.bad_until_s and chance.random() < 0.2
        self.broken += found
        return found

    def _way_s(self, chance: Random) -> float:
        return chance.uniform(10.0, 60.0) if self._goes_wrong(chance) else chance.uniform(0.0, 0.2)


class Writer:
    """Sends a submission, and continues after every break.

    Args:
        world: The world.
        chance: Its source of randomness.
        caller: The caller that owns the submission.
        name: Name of the submission.
        plan: The batches of each stream, in order.
    """

    def __init__(
        self,
        world: World,
        chance: Random,
        caller: Caller,
        name: str,
        plan: Mapping[str, Sequence[Batch]],
    ) -> None:
        self._world = world
        self._chance = chance
        self.caller = caller
        self.name = SubmissionName(BENCHMARK, name)
        self._plan = plan

    async def submit(self, end: str) -> None:
        """Create the submission, send all of it, and end it.

        Args:
            end: `seal`, `cancel`, or anything else to leave it open.
        """
        try:
            request = f"create {self.name.submission}"
            await self._tried(
                lambda server: server.create(self.caller, self.name.submission, request)
            )
            await self.send()
            if end == "seal":
                await self._seal()
            elif end == "cancel":
                await self._tried(lambda server: server.cancel(self.caller, self.name))
        except (UnavailableError, VidscoreError):
            return  # An open submission is ended later by its quiet time.

    async def send(self) -> None:
        """Send all streams concurrently.

        Raises:
            UnavailableError: If there was no answer for too long.
            VidscoreError: As a server raises it.
        """
        await asyncio.gather(*(self._stream(*entry) for entry in self._plan.items()))

    async def _seal(self) -> None:
        count = sum(len(batch.numbers) for plan in self._plan.values() for batch in plan)
        found = await self._tried(lambda server: server.seal(self.caller, self.name, count))
        self._world.laws.sealed(self.name, count, found)

    async def _stream(self, stream: str, plan: Sequence[Batch]) -> None:
        ends = [0]
        for batch in plan:
            ends.append(ends[-1] + len(batch.numbers))
        place = StreamName(*self.name, stream)
        told = 0
        for _ in range(TRIES):
            try:
                opened = await self._tried(lambda server: server.open(self.caller, place))
                if opened.next_offset < told:
                    self._world.laws.found(
                        f"{place} ends at {opened.next_offset}, and {told} was acknowledged"
                    )
                if opened.next_offset not in ends:
                    return  # Another writer cuts the batches differently.
                first = ends.index(opened.next_offset)
                while first < len(plan):
                    several = self._chance.randint(1, 4)
                    part = list(zip(ends[first:], plan[first : first + several], strict=False))
                    told = await self._append(place, opened.epoch, part)
                    first += len(part)
            except UnavailableError:
                await asyncio.sleep(self._chance.uniform(*PAUSE_S))
            else:
                return
        raise UnavailableError

    async def _append(
        self, place: StreamName, epoch: int, batches: Sequence[tuple[int, Batch]]
    ) -> int:
        def begin(server: Server) -> Coroutine[Any, Any, None]:
            left = list(batches)

            def acknowledge(end: int) -> None:
                offset, batch = left.pop(0)
                if end < offset + len(batch.numbers):
                    self._world.laws.found(f"{place} acknowledged {batch} up to {end}")
                told = Acknowledged(place.of_submission, place.stream, offset, batch)
                self._world.laws.acknowledged.append(told)

            return server.append(self.caller, place, epoch, batches, acknowledge)

        await self._world.network.call(self._chance, begin)
        offset, last = batches[-1]
        return offset + len(last.numbers)

    async def _tried(self, make: Callable[[Server], Coroutine[Any, Any, Any]]) -> Any:
        return await tried(self._world, self._chance, make)


async def tried(
    world: World, chance: Random, make: Callable[[Server], Coroutine[Any, Any, Any]]
) -> Any:
    """Retry a call until there is an answer.

    Raises:
        UnavailableError: If there was none for too long.
        VidscoreError: As a server raises it.
    """
    for _ in range(TRIES):
        try:
            return await world.network.call(chance, make)
        except UnavailableError:
            await asyncio.sleep(chance.uniform(*PAUSE_S))
    raise UnavailableError


def some_submission(
    world: World, chance: Random, states: frozenset[SubmissionState]
) -> SubmissionName | None:
    """A random submission that is in one of the states now; None if there is none."""
    found = sorted(
        key for key, record in world.store.state.submissions.items() if record.state in states
    )
    return SubmissionName(*chance.choice(found)) if found else None


def _forget(task: asyncio.Task[Any]) -> None:
    task.add_done_callback(lambda done: done.cancelled() or done.exception())

"""The store that the servers of a world share, and the way of each of them to it.

A command runs at one moment, as if alone, and the answer comes later, or never: on its way the
server may die, the connection may break before or after the commit, or everything may take so long
that others have given the server up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Protocol

from tests.campaigns.simulation.memory import MemoryReader, State
from tests.campaigns.simulation.memory_writer import MemoryTransaction
from tests.campaigns.simulation.mirror import Mirror
from tests.campaigns.simulation.virtual_time import VirtualLoop

from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import SubmissionKey

BEGIN = datetime(2026, 5, 1, 12, tzinfo=UTC)
"""The time of the store when a world begins."""

QUICK_S = (0.001, 0.02)
"""How long a command takes on its way there, and its answer on its way back."""

SLOW_S = (5.0, 60.0)
"""The same at a server that hardly gets on: others take over its work meanwhile."""


class Observer(Protocol):
    """Sees every commit."""

    def committed(
        self,
        owner: str,
        before: State,
        after: State,
        about: Collection[SubmissionKey] | None,
    ) -> None:
        """Look at a commit.

        Args:
            owner: The server.
            before: What was stored.
            after: What is stored.
            about: The only submissions that it may have touched; None for any.
        """


class SharedStore:
    """What all servers share.

    Args:
        loop: The time of the world.
        chance: All chance of it.
        observer: Sees every commit.
        mirror: Holds all answers to those of the real store; None to go without.

    Attributes:
        state: What is stored.
        down_until_s: Nothing answers before.
        breaking_until_s: Connections break before now and then.
        broken: Answers that were lost, and commands that failed.
        unanswered: What dead servers wait for still; who waits there is kept until the end.
    """

    def __init__(
        self,
        loop: VirtualLoop,
        chance: Random,
        observer: Observer,
        mirror: Mirror | None = None,
    ) -> None:
        self.mirror = mirror
        self.state = State()
        self.loop = loop
        self.chance = chance
        self.down_until_s = 0.0
        self.breaking_until_s = 0.0
        self.broken = 0
        self.unanswered: list[Future[Any]] = []
        self._leapt = timedelta()
        self._observer = observer

    def time(self) -> datetime:
        """The time by the store's clock."""
        return BEGIN + self._leapt + timedelta(seconds=self.loop.time())

    def leap(self, seconds: float) -> None:
        """Set the store's clock."""
        self._leapt += timedelta(seconds=seconds)

    @property
    def is_down(self) -> bool:
        """Whether it answers nobody."""
        return self.loop.time() < self.down_until_s

    def breaks(self) -> bool:
        """Whether a connection breaks now."""
        return self.loop.time() < self.breaking_until_s and self.chance.random() < 0.25

    def run(
        self,
        owner: str,
        command: Callable[[Any], Any],
        about: Collection[SubmissionKey] | None = None,
    ) -> Any:
        """Run a command; what it raises leaves nothing behind."""
        before, after = self.state, self.state.copy()
        if self.mirror is None:
            result = command(MemoryTransaction(after, self.time))
        else:
            with self.mirror.command():
                result = command(self.mirror.transaction(after, self.time))
        self.state = after
        self._observer.committed(owner, before, after, about)
        return result

    def reader(self) -> MemoryReader:
        """The present state."""
        if self.mirror is not None:
            found: MemoryReader = self.mirror.transaction(self.state, self.time)
            return found
        return MemoryReader(self.state, self.time)


class ServersStore:
    """The store, as a server has it.

    Args:
        shared: What it shares with the others.
        owner: The server's name.

    Attributes:
        dead: Whether the server is: whatever it still had to say is not heard.
        slow_until_s: It hardly gets on before.
    """

    shared = True

    def __init__(self, shared: SharedStore, owner: str) -> None:
        self.dead = False
        self.slow_until_s = 0.0
        self._store = shared
        self._owner = owner
        self._free_at_s = 0.0

    def submit(
        self, command: Callable[[Any], Any], about: Collection[SubmissionKey] | None = None
    ) -> Future[Any]:
        """Queue a command, behind those before."""
        future: Future[Any] = Future()
        loop = self._store.loop
        self._free_at_s = max(self._free_at_s, loop.time()) + self.delay_s()
        loop.call_at(self._free_at_s, self._run, command, about, future)
        return future

    def read(self) -> AbstractContextManager[MemoryReader]:
        """Open a consistent state for reading.

        Raises:
            StoreError: If nothing answers.
        """
        if self.dead or self._store.is_down or self._store.breaks():
            raise StoreError("the store does not answer")
        return nullcontext(self._store.reader())

    def delay_s(self) -> float:
        """How long the next way takes."""
        slow = self._store.loop.time() < self.slow_until_s
        return self._store.chance.uniform(*(SLOW_S if slow else QUICK_S))

    def _run(
        self,
        command: Callable[[Any], Any],
        about: Collection[SubmissionKey] | None,
        future: Future[Any],
    ) -> None:
        store = self._store
        if self.dead:
            store.unanswered.append(future)
            return
        if not future.set_running_or_notify_cancel():
            return
        if store.is_down or store.breaks():
            store.broken += 1
            self._answer(future, None, StoreError("the connection broke before the commit"))
            return
        try:
            result = store.run(self._owner, command, about)
        except Exception as error:  # noqa: BLE001 - the future carries it
            self._answer(future, None, error)
            return
        if store.breaks():
            store.broken += 1
            self._answer(future, None, StoreError("the connection broke after the commit"))
            return
        self._answer(future, result, None)

    def _answer(self, future: Future[Any], result: Any, error: Exception | None) -> None:
        def answer() -> None:
            if self.dead:
                self._store.unanswered.append(future)
                return
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

        self._store.loop.call_later(self.delay_s(), answer)

"""The store that the servers of a world share, and the connection of each server to it.

A command takes effect at one moment, in isolation. Its answer comes later or never: meanwhile the
server may die, the connection may break before or after the commit, or everything may take so long
that other servers take over.
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
"""The store's time when a world begins."""

QUICK_S = (0.001, 0.02)
"""Bounds on the time of a command to the store, and of its answer."""

SLOW_S = (5.0, 60.0)
"""The same for a very slow server, whose work others take over meanwhile."""


class Observer(Protocol):
    """Is notified of every commit."""

    def committed(
        self,
        owner: str,
        before: State,
        after: State,
        about: Collection[SubmissionKey] | None,
    ) -> None:
        """Check a commit.

        Args:
            owner: The server.
            before: The state before it.
            after: The state after it.
            about: The only submissions that it may change; None for any.
        """


class SharedStore:
    """The store of all servers.

    Args:
        loop: The event loop of the world.
        chance: The source of randomness.
        observer: Is notified of every commit.
        mirror: Compares all answers with those of the real store; None to skip that.

    Attributes:
        state: The present content.
        down_until_s: No command is answered before this time.
        breaking_until_s: Connections break at random before this time.
        broken: Lost answers and failed commands.
        unanswered: What tasks of dead servers wait for; kept until the end.
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
        """Set the store's clock, forwards or backwards."""
        self._leapt += timedelta(seconds=seconds)

    @property
    def is_down(self) -> bool:
        """Whether it answers no command."""
        return self.loop.time() < self.down_until_s

    def breaks(self) -> bool:
        """Decide whether a connection breaks now."""
        return self.loop.time() < self.breaking_until_s and self.chance.random() < 0.25

    def run(
        self,
        owner: str,
        command: Callable[[Any], Any],
        about: Collection[SubmissionKey] | None = None,
    ) -> Any:
        """Run a command; one that raises changes nothing."""
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
    """The store as one server sees it.

    Args:
        shared: The store of all servers.
        owner: The server's name.

    Attributes:
        dead: Whether the server is dead: its later commands are ignored.
        slow_until_s: It is very slow before this time.
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
        """Queue a command behind the earlier ones."""
        future: Future[Any] = Future()
        loop = self._store.loop
        self._free_at_s = max(self._free_at_s, loop.time()) + self.delay_s()
        loop.call_at(self._free_at_s, self._run, command, about, future)
        return future

    def read(self) -> AbstractContextManager[MemoryReader]:
        """Open a consistent state for reading.

        Raises:
            StoreError: If there is no answer.
        """
        if self.dead or self._store.is_down or self._store.breaks():
            raise StoreError("the store does not answer")
        return nullcontext(self._store.reader())

    def delay_s(self) -> float:
        """The random delay of the next message."""
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

"""The clock of a site, and how its servers learn of changes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from vidscore_server.domain.context import ChangePoller, Changes, StoreClock
from vidscore_server.domain.names import SubmissionName
from vidscore_server.store import SqlStore

# --- A site uses its store's clock, not that of the machine


START = datetime(2031, 1, 1, tzinfo=UTC)


class PlayedStore:
    """A store whose clock and delay are set by a test."""

    def __init__(self) -> None:
        self.now = START
        self.took_s = 0.0
        self.machine_s = 1000.0

    @contextmanager
    def read(self) -> Iterator[Any]:
        yield self

    def time(self) -> datetime:
        self.machine_s += self.took_s
        return self.now

    def monotonic(self) -> float:
        return self.machine_s


def played() -> tuple[PlayedStore, StoreClock]:
    store = PlayedStore()
    return store, StoreClock(cast(SqlStore, store), store.monotonic)


def test_between_two_readings_the_clock_runs_on_by_itself() -> None:
    store, site_clock = played()
    store.machine_s += 5
    assert site_clock() == START + timedelta(seconds=5)


def test_a_reading_sets_the_clock_to_the_store_at_the_middle_of_the_reading() -> None:
    store, site_clock = played()
    store.now, store.took_s = START - timedelta(hours=1), 0.25
    site_clock.adjust()
    assert site_clock() == START - timedelta(hours=1) + timedelta(seconds=0.125)


def test_a_reading_that_took_too_long_is_ignored() -> None:
    store, site_clock = played()
    store.now, store.took_s = START + timedelta(days=1), 3.0
    site_clock.adjust()
    assert site_clock() == START + timedelta(seconds=3)


def test_a_wait_for_a_time_follows_the_stores_clock(monkeypatch: Any) -> None:
    """The wait is for two seconds; after its first part the store's clock turns out to be ahead."""
    store, site_clock = played()
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        store.machine_s += seconds
        if len(waits) == 1:
            store.now = START + timedelta(seconds=1.75)
            site_clock.adjust()

    monkeypatch.setattr("vidscore_server.domain.context.asyncio.sleep", sleep)
    waiting = site_clock.until(START + timedelta(seconds=2))
    with suppress(StopIteration):
        waiting.send(None)
    assert waits == [0.5, 0.25]


# --- A caller that waits for a submission is notified of changes by any server


ONE, TWO = SubmissionName("b", "one"), SubmissionName("b", "two")


async def test_a_waiter_is_notified_of_its_own_submission_only() -> None:
    changes = Changes()
    one, two = changes.waiter(ONE), changes.waiter(TWO)
    changes.tell(ONE)
    assert one.done()
    assert not two.done()


async def test_a_change_by_another_server_is_notified_when_the_revision_has_moved() -> None:
    changes = Changes()
    revisions = {ONE: 1, TWO: 1}
    asked: list[tuple[SubmissionName, ...]] = []

    async def look(names: Collection[SubmissionName]) -> dict[SubmissionName, int]:
        asked.append(tuple(names))
        return {name: revisions[name] for name in names}

    poller = ChangePoller(changes, look)
    await poller.look()
    assert asked == []
    first = changes.waiter(ONE)
    await poller.look()
    assert first.done()
    one, two = changes.waiter(ONE), changes.waiter(TWO)
    revisions[TWO] = 2
    await poller.look()
    assert two.done()
    assert not one.done()
    revisions[ONE] = 5
    await poller.look()
    assert one.done()
    assert set(asked[-1]) == {ONE}


async def test_a_released_waiter_is_not_polled_for() -> None:
    changes = Changes()
    changes.forget(ONE, changes.waiter(ONE))
    assert changes.waited_for == ()

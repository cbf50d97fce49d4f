"""Work continues only while its lease is held, and results after that are refused."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import pytest_asyncio
from msgspec.structs import replace
from sqlalchemy import text
from tests.server.store import records as r
from tests.server.store.commands import put
from tests.server.store.records import later
from tests.support.postgresql import Cluster

from vidscore_server.api import batches
from vidscore_server.domain.context import Context, open_context
from vidscore_server.domain.leases import (
    MOST_EXAMINED,
    ChangedBenchmarks,
    LeasedOperations,
    LeaseLostError,
    Leases,
)
from vidscore_server.settings import Settings
from vidscore_server.store import Reader, Transaction, open_store
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import OperationRecord
from vidscore_server.store.sqlite import open_sqlite_store

TIMEOUT_S = 60
WORK = "work"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Context]:
    with closing(open_sqlite_store(tmp_path / "store.db")) as store:
        yield open_context(store, Settings(lease_timeout_s=1), batches)


@pytest_asyncio.fixture
async def two(site: Context) -> AsyncIterator[tuple[Leases, Leases]]:
    """Two servers, as far as leases are concerned."""
    yield Leases(site), Leases(site)


async def test_work_leased_by_another_server_is_not_available(
    site: Context, two: tuple[Leases, Leases]
) -> None:
    mine, other = two
    assert await mine.take_now(WORK)
    assert not await other.take_now(WORK)
    assert await site.read(other.elsewhere) == {WORK}
    assert await site.read(mine.elsewhere) == set()
    await mine.release([WORK])
    assert await other.take_now(WORK)


@pytest.mark.slow
async def test_a_lease_is_renewed_while_the_work_continues(tmp_path: Path) -> None:
    with closing(open_sqlite_store(tmp_path / "store.db")) as store:
        site = open_context(store, Settings(lease_timeout_s=6), batches)
        mine = Leases(site)
        await mine.take_now(WORK)
        [first] = await site.read(lambda reader: reader.leases())

        async def until_prolonged() -> str:
            while True:
                [now] = await site.read(lambda reader: reader.leases())
                if now.end_time > first.end_time:
                    return now.owner
                await asyncio.sleep(0.05)

        async with asyncio.timeout(TIMEOUT_S):
            assert await mine.run(WORK, until_prolonged()) == mine.owner


async def _endless(given_up: asyncio.Event) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        given_up.set()


async def test_work_whose_lease_is_lost_is_abandoned(
    site: Context, two: tuple[Leases, Leases]
) -> None:
    mine, other = two
    await mine.take_now(WORK)
    await site.write(lambda transaction: transaction.end_lease(WORK, mine.owner))
    await other.take_now(WORK)
    given_up = asyncio.Event()
    async with asyncio.timeout(TIMEOUT_S):
        with pytest.raises(LeaseLostError):
            await mine.run(WORK, _endless(given_up))
    assert given_up.is_set()
    assert await site.read(mine.elsewhere) == {WORK}


async def test_an_error_of_the_work_is_raised_unchanged(two: tuple[Leases, Leases]) -> None:
    mine, _ = two
    await mine.take_now(WORK)

    async def broken() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await mine.run(WORK, broken())


async def test_a_result_is_stored_only_by_the_holder_of_the_lease(
    site: Context, two: tuple[Leases, Leases]
) -> None:
    mine, other = two
    await mine.take_now(WORK)
    for call in (other.require, other.end):
        with pytest.raises(LeaseLostError):
            await site.write(lambda transaction, call=call: call(transaction, WORK))  # type: ignore[misc]
    await site.write(lambda transaction: mine.require(transaction, WORK))
    await site.write(lambda transaction: mine.end(transaction, WORK))
    with pytest.raises(LeaseLostError):
        await site.write(lambda transaction: mine.end(transaction, WORK))


@pytest.mark.slow
async def test_a_result_waits_for_a_store_that_is_away(two: tuple[Leases, Leases]) -> None:
    mine, _ = two
    tries: list[int] = []

    def keep(_: Transaction) -> str:
        tries.append(1)
        if len(tries) < 2:
            raise StoreError("away")
        return "kept"

    async with asyncio.timeout(TIMEOUT_S):
        assert await mine.write(keep) == "kept"
    assert len(tries) == 2


async def test_a_lost_lease_is_not_taken_again(site: Context, two: tuple[Leases, Leases]) -> None:
    """Another server may have done the work meanwhile, and have ended its lease."""
    mine, _ = two
    await mine.take_now(WORK)
    await site.write(lambda transaction: transaction.end_lease(WORK, mine.owner))
    async with asyncio.timeout(TIMEOUT_S):
        with pytest.raises(LeaseLostError):
            await mine.run(WORK, asyncio.Event().wait())
    assert await site.read(lambda reader: list(reader.leases())) == []


# --- operations


@pytest_asyncio.fixture
async def servers(site: Context, two: tuple[Leases, Leases]) -> tuple[LeasedOperations, ...]:
    """The operations of a kind at two servers; two are pending, and one of another kind."""
    kinds = {"first": "kind", "second": "kind", "other": "another", "over": "kind"}
    for row, (name, kind) in enumerate(kinds.items()):
        record = OperationRecord(name, kind, "", later(row), done=name == "over")
        await site.write(lambda transaction, record=record: transaction.insert_operation(record))  # type: ignore[misc] # mypy cannot type a default of a lambda
    return tuple(LeasedOperations(leases, ("kind",)) for leases in two)


async def _waiting(site: Context, operations: LeasedOperations) -> list[str]:
    return [record.operation for record in await site.read(operations.waiting)]


async def test_an_operation_runs_at_one_server_and_its_lease_is_free_at_its_end(
    site: Context, servers: tuple[LeasedOperations, ...]
) -> None:
    mine, other = servers
    assert await _waiting(site, mine) == ["first", "second"]
    gate, done = asyncio.Event(), []

    async def work() -> None:
        await gate.wait()
        await site.write(lambda transaction: mine.require(transaction, "first"))
        done.append("first")

    async def nothing() -> None:
        raise AssertionError("another server has begun it")

    await mine.begin("first", work)
    await other.begin("first", nothing)
    assert (mine.count, other.count) == (1, 0)
    for one in servers:
        assert await _waiting(site, one) == ["second"]
        assert await site.read(lambda reader, one=one: one.free(reader, ["first", "x"])) == ["x"]  # type: ignore[misc] # mypy cannot type a default of a lambda
    gate.set()
    async with asyncio.timeout(TIMEOUT_S):
        await mine.finish()
    assert (done, mine.count) == (["first"], 0)
    assert await _waiting(site, other) == ["first", "second"]


async def test_the_lease_of_a_server_that_stops_is_free_at_once(
    site: Context, servers: tuple[LeasedOperations, ...]
) -> None:
    mine, other = servers
    given_up = asyncio.Event()
    await mine.begin("first", lambda: _endless(given_up))
    await asyncio.sleep(0)
    async with asyncio.timeout(TIMEOUT_S):
        await mine.stop()
    assert given_up.is_set()
    assert mine.count == 0
    assert await _waiting(site, other) == ["first", "second"]
    with pytest.raises(LeaseLostError):
        await site.write(lambda transaction: mine.require(transaction, "first"))


def test_each_look_for_work_examines_few_of_many_benchmarks_and_finds_all_of_it() -> None:
    names = [f"b{number}" for number in range(3 * MOST_EXAMINED)]
    done: set[str] = set()
    examined: list[str] = []

    def has_work(_: object, name: str) -> bool:
        examined.append(name)
        return name not in done

    work: Any = SimpleNamespace(free=lambda _, works: works)
    reader: Any = SimpleNamespace(benchmark_revisions=lambda: dict.fromkeys(names, 1))
    changed = ChangedBenchmarks(work, str, has_work)
    for name in names:
        assert changed.due(reader, most=1) == [name]
        done.add(name)
    assert changed.due(reader, most=1) == []
    assert examined == [name for name in names for _ in ("has work", "has none")]

    quiet = ChangedBenchmarks(work, str, has_work)
    counts = []
    for _ in range(4):
        examined.clear()
        assert quiet.due(reader, most=1) == []
        counts.append(len(examined))
    assert counts == [MOST_EXAMINED, MOST_EXAMINED, MOST_EXAMINED, 0]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["terminate", "cancel"])
def test_a_benchmark_is_examined_again_if_the_database_failed_meanwhile(
    cluster: Cluster, database: str, how: str
) -> None:
    names = ["b", "c"]
    breaking = [f"SELECT pg_{how}_backend(pid) FROM pg_stat_activity WHERE pid = %s"]

    def has_work(reader: Reader, _: str) -> bool:
        if breaking:
            [(pid,)] = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction'"
            )
            threading.Timer(0.1, connection.execute, (breaking.pop(), (pid,))).start()
            reader._connection.execute(text("SELECT pg_sleep(60)"))
        return bool(reader.time())

    work: Any = SimpleNamespace(free=lambda _, works: works)
    with (
        closing(open_store(database)) as store,
        cluster.connect(database.partition("@/")[2].partition("?")[0]) as connection,
    ):
        put(store, *(partial(_insert, name) for name in names))
        changed = ChangedBenchmarks(work, str, has_work)
        with suppress(StoreError), store.read() as reader:
            assert changed.due(reader, most=2) == []
        with store.read() as reader:
            assert sorted(changed.due(reader, most=2)) == names


def _insert(name: str, transaction: Transaction) -> None:
    transaction.insert_benchmark(replace(r.benchmark(), benchmark=name))

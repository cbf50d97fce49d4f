"""The rules of a benchmark are looked up once for all who wait, and never outlive a change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from vidscore_server.domain.append_rules import KEEP_S, AppendRules, RuleCache
from vidscore_server.domain.benchmarks import Benchmarks
from vidscore_server.domain.context import Context
from vidscore_server.domain.truth import TruthStore

BENCHMARK = "night"


class _Store:
    """Reads of it end when the test lets them; each sees what there was when it began.

    Attributes:
        state: What a read that begins now finds.
        reads: Reads that have begun.
        now_s: The time.
    """

    def __init__(self) -> None:
        self.state: object = object()
        self.reads = 0
        self.now_s = 0.0
        self._may_end = asyncio.Event()

    def monotonic(self) -> float:
        return self.now_s

    async def read(self, query: Callable[[Any], Any]) -> Any:
        self.reads += 1
        seen = self.state
        await self._may_end.wait()
        if isinstance(seen, Exception):
            raise seen
        return query(seen)

    def end_reads(self) -> None:
        self._may_end.set()


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> _Store:
    monkeypatch.setattr(RuleCache, "_look_up", lambda _, reader, __: (reader, reader))
    return _Store()


@pytest.fixture
def rules(store: _Store) -> RuleCache:
    unused = object()
    return RuleCache(cast("Context", store), cast("Benchmarks", unused), cast("TruthStore", unused))


def _ask(rules: RuleCache) -> asyncio.Task[AppendRules]:
    return asyncio.ensure_future(rules.of(BENCHMARK))


async def _begin(*waiting: asyncio.Task[AppendRules]) -> None:
    await asyncio.wait(waiting, timeout=0)
    await asyncio.sleep(0)


async def test_all_who_ask_at_once_wait_for_one_look(store: _Store, rules: RuleCache) -> None:
    waiting = [_ask(rules) for _ in range(8)]
    await _begin(*waiting)
    store.end_reads()
    assert await asyncio.gather(*waiting) == [store.state] * 8
    assert store.reads == 1


async def test_they_are_looked_up_again_after_a_while(store: _Store, rules: RuleCache) -> None:
    store.end_reads()
    await rules.of(BENCHMARK)
    store.now_s = KEEP_S / 2
    await rules.of(BENCHMARK)
    assert store.reads == 1
    store.now_s, store.state = KEEP_S, object()
    assert await rules.of(BENCHMARK) is store.state
    assert store.reads == 2


async def test_one_who_gives_up_leaves_the_others_waiting(store: _Store, rules: RuleCache) -> None:
    first, second = _ask(rules), _ask(rules)
    await _begin(first, second)
    first.cancel()
    await _begin(second)
    store.end_reads()
    assert await second is store.state
    assert store.reads == 1


async def test_what_was_read_before_a_change_is_not_kept(store: _Store, rules: RuleCache) -> None:
    early = _ask(rules)
    await _begin(early)
    before, store.state = store.state, object()
    rules.forget(BENCHMARK)
    late = _ask(rules)
    await _begin(late)
    store.end_reads()
    assert await early is before
    assert await late is store.state
    assert await rules.of(BENCHMARK) is store.state
    assert store.reads == 2


async def test_an_error_is_told_to_all_and_the_next_one_looks_again(
    store: _Store, rules: RuleCache
) -> None:
    store.state = LookupError("no such benchmark")
    waiting = [_ask(rules) for _ in range(2)]
    await _begin(*waiting)
    store.end_reads()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert found == [store.state] * 2
    store.state = object()
    assert await rules.of(BENCHMARK) is store.state
    assert store.reads == 2

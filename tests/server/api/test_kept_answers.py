"""Answers to reads are cached until a commit or a time changes them, separately per caller."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from tests.server.domain.hosted import PlayedClock
from tests.server.store import records as r
from tests.server.store.commands import put

from vidscore_protos.v1 import benchmark_service_pb2 as pb
from vidscore_server.api import batches
from vidscore_server.api.kept_answers import (
    MAXIMUM_ANSWER_BYTES,
    OVERHEAD_BYTES,
    KeptAnswers,
    next_change,
)
from vidscore_server.domain.access import ANONYMOUS, Caller, set_caller
from vidscore_server.domain.context import Context, open_context
from vidscore_server.settings import load_settings
from vidscore_server.store.records import Role
from vidscore_server.store.sqlite import open_sqlite_store

Make = Callable[[], Awaitable[tuple[pb.GetBenchmarkResponse, datetime | None]]]

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Maker:
    """Makes answers that state how many were made before."""

    def __init__(self, until: datetime | None = None, size: int = 0) -> None:
        self.count = 0
        self._until = until
        self._size = size

    async def __call__(self) -> tuple[pb.GetBenchmarkResponse, datetime | None]:
        response = pb.GetBenchmarkResponse()
        response.benchmark.name = f"{self.count}" + "x" * self._size
        self.count += 1
        return response, self._until


@pytest.fixture
def clock() -> PlayedClock:
    return PlayedClock(NOON)


@pytest.fixture
def context(tmp_path: Path, clock: PlayedClock) -> Iterator[Context]:
    store = open_sqlite_store(tmp_path / "store.db")
    yield open_context(store, load_settings(), batches, clock)
    store.close()


@pytest.fixture(autouse=True)
def nobody() -> Iterator[None]:
    yield
    set_caller(ANONYMOUS)


async def asked(answers: KeptAnswers, make: Make, name: str = "b", *also: object) -> str:
    request = pb.GetBenchmarkRequest(name=name)
    answer = await answers.answer(request, make, *also)
    assert answer.data == answer.message.SerializeToString()
    return cast("pb.GetBenchmarkResponse", answer.message).benchmark.name


async def test_an_answer_is_made_once_until_the_next_commit(context: Context) -> None:
    answers, make = KeptAnswers(context), Maker()
    assert [await asked(answers, make) for _ in range(3)] == ["0", "0", "0"]


async def test_any_commit_invalidates_an_answer(context: Context) -> None:
    answers, make = KeptAnswers(context), Maker()
    found = [await asked(answers, make)]
    put(context.store, lambda transaction: transaction.insert_token(r.token("other")))
    found += [await asked(answers, make), await asked(answers, make)]
    assert found == ["0", "1", "1"]


async def test_an_answer_is_not_cached_if_a_commit_happened_meanwhile(context: Context) -> None:
    answers, made = KeptAnswers(context), Maker()

    async def overtaken() -> tuple[pb.GetBenchmarkResponse, datetime | None]:
        answer = await made()
        put(context.store, lambda transaction: transaction.insert_token(r.token("other")))
        return answer

    assert await asked(answers, overtaken) == "0"
    assert await asked(answers, made) == "1"


async def test_answers_are_cached_separately_by_request_caller_and_circumstances(
    context: Context,
) -> None:
    answers, make = KeptAnswers(context), Maker()
    found = [await asked(answers, make), await asked(answers, make, "c")]
    found.append(await asked(answers, make, "b", NOON))
    for team in ("red", "blue"):
        set_caller(Caller("token", Role.PARTICIPANT, team))
        found.append(await asked(answers, make))
    assert found == ["0", "1", "2", "3", "4"]


async def test_an_answer_is_cached_until_its_time_of_change(
    context: Context, clock: PlayedClock
) -> None:
    answers, make = KeptAnswers(context), Maker(NOON + timedelta(seconds=10))
    found = [await asked(answers, make)]
    clock.pass_by(seconds=9.999)
    found.append(await asked(answers, make))
    clock.pass_by(seconds=0.001)
    found.append(await asked(answers, make))
    assert found == ["0", "0", "1"]


async def test_a_store_without_state_numbers_is_asked_each_time(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context.store, "state_number", lambda: None)
    answers, make = KeptAnswers(context), Maker()
    assert [await asked(answers, make) for _ in range(2)] == ["0", "1"]


async def test_the_least_recently_used_answer_is_evicted(context: Context) -> None:
    answers, make = KeptAnswers(context, maximum_bytes=2 * OVERHEAD_BYTES + 100), Maker()
    found = [await asked(answers, make, name) for name in ("a", "b", "a", "c", "a", "b")]
    assert found == ["0", "1", "0", "2", "0", "3"]


async def test_a_large_answer_is_not_cached(context: Context) -> None:
    answers, make = KeptAnswers(context), Maker(size=MAXIMUM_ANSWER_BYTES)
    await asked(answers, make)
    await asked(answers, make)
    assert make.count == 2


def test_the_next_change_is_the_earliest_future_time() -> None:
    hour = timedelta(hours=1)
    assert next_change(NOON, None, NOON - hour, NOON + 2 * hour, NOON + hour) == NOON + hour
    assert next_change(NOON, None, NOON) is None

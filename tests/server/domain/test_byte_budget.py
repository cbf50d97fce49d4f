"""Received data that is not stored yet is bounded in bytes; without room, callers wait."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.server.domain.hosted import BENCHMARK, Client, Hosted, append, dots, hosting, refusal
from tests.server.scene import points
from tests.support.waiting import until

from vidscore_evaluators.errors import LimitError
from vidscore_protos.v1 import annotations_pb2, benchmark_pb2, specification_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.batches import held_bytes
from vidscore_server.domain.byte_budget import ByteBudget
from vidscore_server.settings import Settings, load_settings

CALL, TEAM, ALL = 100_000, 150_000, 200_000
BOUNDS: dict[str, Any] = {
    "maximum_unstored_call_bytes": CALL,
    "maximum_unstored_team_bytes": TEAM,
    "maximum_unstored_bytes": ALL,
}
TIMEOUT_S = 60.0


def _settings() -> Settings:
    return load_settings(flags=dict(BOUNDS))


def _plane() -> benchmark_pb2.Benchmark:
    """A benchmark of points with any number per frame."""
    benchmark = dots()
    del benchmark.specification.evaluators[:]
    base = specification_pb2.Parameter(name="base", text="euclidean")
    benchmark.specification.evaluators.add(name="f1", parameters=[base])
    return benchmark


def _batch(sequence: str, objects: int = 1_000) -> annotations_pb2.AnnotationBatch:
    """A frame of 16 bytes per object."""
    return points({1: [(float(row), 0.0) for row in range(objects)]}, sequence)


async def test_nobody_exceeds_the_bounds_and_everybody_gets_room() -> None:
    budget, chance = ByteBudget(_settings()), random.Random(5)
    held: dict[object, int] = {}

    async def call(name: str, team: str | None) -> None:
        for _ in range(20):
            size = chance.randrange(1, CALL + 1)
            place = await budget.reserve(name, team, size)
            for owner, maximum in ((name, CALL), (("team", team), TEAM), ("all", ALL)):
                held[owner] = held.get(owner, 0) + size
                assert held[owner] <= maximum
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            for owner in (name, ("team", team), "all"):
                held[owner] -= size
            budget.release(place)

    teams = ["red", "blue", None]
    async with asyncio.timeout(TIMEOUT_S):
        await asyncio.gather(*(call(f"call {row}", teams[row % 3]) for row in range(40)))
    assert (budget.held_bytes, budget.waiting_count) == (0, 0)


async def test_small_messages_do_not_starve_a_large_one() -> None:
    budget = ByteBudget(_settings())
    first = await budget.reserve("a", "red", TEAM - CALL + 1)
    large = asyncio.create_task(budget.reserve("b", "red", CALL))
    await until(lambda: budget.waiting_count == 1)
    small = asyncio.create_task(budget.reserve("c", "red", 1))
    await until(lambda: budget.waiting_count == 2)
    other = await budget.reserve("d", "blue", 1)
    budget.release(first)
    assert (await large).size == CALL
    assert (await small).size == 1
    budget.release(other)


async def test_a_caller_that_gives_up_lets_those_behind_it_continue() -> None:
    budget = ByteBudget(_settings())
    held = await budget.reserve("a", "red", CALL)
    waits = asyncio.create_task(budget.reserve("b", "red", CALL))
    await until(lambda: budget.waiting_count == 1)
    behind = asyncio.create_task(budget.reserve("c", "red", TEAM - CALL))
    await until(lambda: budget.waiting_count == 2)
    waits.cancel()
    assert (await behind).size == TEAM - CALL
    budget.release(held)
    budget.release(behind.result())
    assert budget.held_bytes == 0


@pytest.mark.parametrize(
    ("size", "name"), [(CALL + 1, "maximum_unstored_call_bytes"), (ALL + 1, "maximum_unstored")]
)
async def test_a_message_that_can_never_fit_is_refused_at_once(size: int, name: str) -> None:
    with pytest.raises(LimitError) as caught:
        await ByteBudget(_settings()).reserve("a", "red", size)
    assert caught.value.limit.startswith(name)


def test_a_batch_counts_with_the_size_of_its_columns_in_memory() -> None:
    """8 bytes per coordinate and track, whatever they take on the wire."""
    batch = _batch("s")
    batch.track_ids.extend([1] * 1_000)
    assert 21_000 <= held_bytes(batch) < 26_000


@pytest.fixture
async def hosted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hosted]:
    """A server whose calls may send as much as one that began long ago."""
    monkeypatch.setattr("vidscore_server.api.appends.BATCHES_AT_FIRST", 256)
    async with hosting(tmp_path, **BOUNDS) as hosted:
        await hosted.organiser.create(_plane())
        yield hosted


@contextmanager
def _held_store(hosted: Hosted) -> Iterator[None]:
    """Nothing is stored meanwhile."""
    release = threading.Event()
    site = hosted.hosting.context
    site.store.submit(lambda _: release.wait(TIMEOUT_S), [])
    try:
        yield
    finally:
        release.set()


def _room(hosted: Hosted) -> ByteBudget:
    return hosted.hosting.budget


async def test_a_client_that_does_not_wait_is_throttled_and_all_its_data_is_stored(
    hosted: Hosted,
) -> None:
    stream = await hosted.red.submission()
    batches = [append(stream, row, _batch(f"s{row}")) for row in range(40)]
    with _held_store(hosted):
        sending = asyncio.create_task(hosted.red.stream(batches))
        await until(lambda: _room(hosted).waiting_count == 1)
        held = _room(hosted).held_bytes
        assert CALL - held_bytes(batches[0].detections) < held <= CALL
    assert await asyncio.wait_for(sending, TIMEOUT_S) == list(range(1, 41))
    assert _room(hosted).held_bytes == 0


async def test_many_calls_of_all_kinds_that_wait_for_room_all_continue(hosted: Hosted) -> None:
    for client, name in ((hosted.red, "red"), (hosted.blue, "blue")):
        await client.submission(name)
        for row in range(6):
            await client.open(f"{BENCHMARK}/submissions/{name}", f"s{row}")

    cells = [(row, number) for row in range(6) for number in range(5)]

    def stream(name: str, row: int) -> str:
        return f"{BENCHMARK}/submissions/{name}/streams/s{row}"

    async def unary(client_name: str, row: int) -> list[int]:
        client: Client = getattr(hosted, client_name)
        batches = [_batch(f"{row}-{number}") for number in range(5)]
        return [
            await client.append(stream(client_name, row), offset, batch)
            for offset, batch in enumerate(batches)
        ]

    async def streamed(client_name: str, row: int) -> list[int]:
        client: Client = getattr(hosted, client_name)
        return await client.stream(
            append(stream(client_name, row), number, _batch(f"{row}-{number}"))
            for number in range(5)
        )

    with _held_store(hosted):
        calls = [
            asyncio.create_task(kind(name, row))
            for name in ("red", "blue")
            for kind, rows in ((streamed, range(3)), (unary, range(3, 6)))
            for row in rows
        ]
        await until(lambda: _room(hosted).waiting_count >= 6)
        assert _room(hosted).held_bytes <= ALL
        truth = asyncio.create_task(
            hosted.organiser.upload(*(_batch(f"{row}-{number}") for row, number in cells))
        )
    async with asyncio.timeout(TIMEOUT_S):
        assert await asyncio.gather(*calls) == [[1, 2, 3, 4, 5]] * 12
        assert (await truth).frame_count == len(cells)
    assert (_room(hosted).held_bytes, _room(hosted).waiting_count) == (0, 0)


async def test_calls_that_end_while_they_wait_release_their_room(hosted: Hosted) -> None:
    stream = await hosted.red.submission()
    with _held_store(hosted):
        requests = (append(stream, row, _batch(f"s{row}")) for row in range(40))
        call = hosted.red.submissions.AppendFrames(requests, metadata=hosted.red.metadata)
        await until(lambda: _room(hosted).waiting_count == 1)
        call.cancel()
        await until(lambda: _room(hosted).waiting_count == 0)
    await until(lambda: _room(hosted).held_bytes == 0)


async def test_a_message_larger_than_all_room_is_refused_with_the_setting(hosted: Hosted) -> None:
    stream = await hosted.red.submission()
    batch = _batch("s", 1)
    batch.labels.append("x" * CALL)
    found = await refusal(hosted.red.append(stream, 0, batch))
    assert found.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert found.metadata["limit"] == "maximum_unstored_call_bytes"
    upload = refusal(hosted.organiser.upload(batch))
    assert (await upload).metadata["limit"] == "maximum_unstored_call_bytes"
    assert _room(hosted).held_bytes == 0


async def test_truth_that_waits_in_a_file_is_stored_as_uploaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vidscore_server.domain.truth_upload.SPOOLED_BYTES", 1)
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create(_plane())
        batches = [_batch(f"s{row}", 100) for row in range(4)]
        await hosted.organiser.upload(*batches[:2])
        merged = await hosted.organiser.upload(*batches[2:], merge=True)
        await hosted.organiser.submit(_batch("s0", 100))
        ended = await hosted.organiser.ended()
    assert merged.frame_count == 4
    assert ended.submission.state == pb.SUBMISSION_STATE_SCORED

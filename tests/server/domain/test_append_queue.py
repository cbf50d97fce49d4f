"""Batches that wait together are stored together, and each gets the outcome it would get alone."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from tests.server.domain.hosted import BENCHMARK, Hosted, append
from tests.server.scene import HERE, points

from vidscore_protos.v1 import submission_service_pb2 as pb

pytestmark = pytest.mark.usefixtures("streams")

SUBMISSION = f"{BENCHMARK}/submissions/one"
OTHERS = ("a", "b", "c", "d", "e")


def _frame(sequence: str) -> pb.AppendRequest:
    return append(f"{SUBMISSION}/streams/{sequence}", 0, points({1: HERE}, sequence))


async def _outcome(hosted: Hosted, message: pb.AppendRequest) -> int | str:
    """The next offset, or the reason of a refusal."""
    try:
        return await hosted.red.append(message.stream, message.offset, message.detections)
    except grpc.aio.AioRpcError as error:
        return str(error.code().name)


@pytest.fixture
async def streams(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.red.submission()
    for name in OTHERS:
        await hosted.red.open(SUBMISSION, name)


@pytest.mark.parametrize("wrong", range(len(OTHERS)))
async def test_an_invalid_batch_does_not_affect_those_queued_with_it(
    hosted: Hosted, wrong: int
) -> None:
    batches = [_frame(name) for name in OTHERS]
    batches[wrong].detections.coordinates[0] = float("nan")
    found = await asyncio.gather(*(_outcome(hosted, batch) for batch in batches))
    expected = [1 if row != wrong else "INVALID_ARGUMENT" for row in range(len(OTHERS))]
    assert found == expected
    assert (await hosted.red.get()).frame_count == len(OTHERS) - 1


@pytest.mark.parametrize("wrong", range(len(OTHERS)))
async def test_a_duplicate_frame_does_not_affect_the_batches_queued_with_it(
    hosted: Hosted, wrong: int
) -> None:
    stored = append(f"{SUBMISSION}/streams/default", 0, points({1: HERE}, OTHERS[wrong]))
    assert await _outcome(hosted, stored) == 1
    batches = [_frame(name) for name in OTHERS]
    found = await asyncio.gather(*(_outcome(hosted, batch) for batch in batches))
    assert found == [1 if row != wrong else "ALREADY_EXISTS" for row in range(len(OTHERS))]
    assert (await hosted.red.get()).frame_count == len(OTHERS)


async def test_if_two_streams_send_one_frame_at_once_one_is_refused(hosted: Hosted) -> None:
    batches = [
        append(f"{SUBMISSION}/streams/{name}", 0, points({1: HERE}, "s")) for name in OTHERS[:2]
    ]
    found = await asyncio.gather(*(_outcome(hosted, batch) for batch in batches))
    assert sorted(map(str, found)) == ["1", "ALREADY_EXISTS"]
    assert (await hosted.red.get()).frame_count == 1


async def test_nothing_after_a_refused_batch_of_a_call_is_stored(hosted: Hosted) -> None:
    """The second batch would fit at the offset where the first one was refused."""
    name = f"{SUBMISSION}/streams/a"
    wrong, right = (append(name, 0, points({number: HERE}, "a")) for number in (1, 2))
    wrong.detections.coordinates[0] = float("nan")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await hosted.red.stream([wrong, right])
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert (await hosted.red.get()).frame_count == 0


async def test_a_batch_sent_twice_at_once_is_acknowledged_twice_and_stored_once(
    hosted: Hosted,
) -> None:
    again = [_outcome(hosted, _frame("a")) for _ in range(3)]
    assert await asyncio.gather(*again) == [1, 1, 1]
    assert (await hosted.red.get()).frame_count == 1

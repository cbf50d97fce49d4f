"""Outcomes are sent in batches whose sizes reveal nothing; reading can continue after any row."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.domain.hosted import Hosted, hosting
from tests.server.domain.traced import ALL, DETECTIONS, TRUTH, frames, made, rows, scored
from tests.support.varieties import mostly_nightly

from vidscore_protos.v1 import specification_pb2
from vidscore_server.api import requests
from vidscore_server.domain import outcomes as domain

pytestmark = pytest.mark.usefixtures("tracer", "moody")


@pytest.mark.slow
@pytest.mark.parametrize("size", mostly_nightly([2, 100, 1, 3], gate=2))
async def test_rows_are_sent_in_batches_and_reading_continues_after_any_row(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(domain, "ROWS_PER_BATCH", size)
    monkeypatch.setattr(domain, "OBJECTS_PER_PART", 2)
    await hosted.organiser.create(made())
    more = [frames({1: [("car", 1.0 * row, 2.0)], 2: []}, f"{row}") for row in range(5, 9)]
    await hosted.organiser.upload(TRUTH, *more)
    stream = await hosted.red.begin(DETECTIONS)
    await hosted.red.append(stream, 3, frames({1: [("car", 7.0, 2.0)]}, "7"))
    await hosted.red.seal()
    await hosted.red.ended()
    for client, count in ((hosted.organiser, 13), (hosted.red, 6)):
        responses = await client.outcomes()
        whole = rows(responses)
        assert len(whole) == count
        assert all(len(response.outcomes.outcomes) <= size for response in responses)
        ends = [response.next_offset for response in responses]
        assert ends == sorted(ends)
        for offset in range(count + 1):
            assert rows(await client.outcomes(offset=offset)) == whole[offset:]


@pytest.mark.slow
@pytest.mark.parametrize("whole_sequences", [True, False])
async def test_a_submission_read_in_parts_has_the_same_rows(
    tmp_path: Path, whole_sequences: bool
) -> None:
    found = []
    for bytes_at_once in (1_000, 1_000_000):
        folder = tmp_path / f"{bytes_at_once}"
        folder.mkdir()
        async with hosting(folder, maximum_scoring_bytes=bytes_at_once) as hosted:
            message = made()
            message.specification.evaluators[0].parameters.append(
                specification_pb2.Parameter(name="whole_sequences", boolean=whole_sequences)
            )
            await hosted.organiser.create(message)
            lonely = frames({1: [("car", 1.0, 2.0)]}, "9")
            await hosted.organiser.upload(TRUTH, frames({1: []}, "2"), lonely)
            many = frames({4 + row: [("car", 1.0 * row, 2.0)] for row in range(50)})
            stream = await hosted.red.begin(DETECTIONS)
            await hosted.red.append(stream, 3, many)
            await hosted.red.append(stream, 53, frames({1: [("car", 7.0, 2.0)]}, "2"))
            await hosted.red.seal()
            await hosted.red.ended()
            everything = rows(await hosted.organiser.outcomes())
            own = rows(await hosted.red.outcomes())
            assert everything[:8] == ALL
            assert ("TRUTH", "9", 1, 0, "car", "false_negative") in everything
            assert sorted(own) == sorted(
                (*row[:-1], row[-1] if row[-1] == "true_positive" else "false_positive")
                for row in everything
                if row[0] == "DETECTIONS"
            )
            found.append((sorted(everything), own))
    assert found[0] == found[1]


async def test_the_sizes_of_batches_reveal_nothing_of_the_truth(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts depend on both sides; what a team gets is divided by its own rows alone."""
    monkeypatch.setattr(domain, "ROWS_PER_BATCH", 2)
    monkeypatch.setattr(domain, "OBJECTS_PER_PART", 1)
    await scored(hosted)
    sizes = [len(response.outcomes.outcomes) for response in await hosted.red.outcomes()]
    assert sizes == [2, 2, 1]


async def test_a_message_stays_small_whatever_the_names(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MAXIMUM_RESPONSE_BYTES", 150)
    await scored(hosted)
    responses = await hosted.organiser.outcomes()
    assert len(responses) > 2
    assert rows(responses) == ALL
    assert all(
        response.outcomes.ByteSize() <= 150 or len(response.outcomes.outcomes) == 1
        for response in responses
    )


async def test_a_submission_without_detections_gets_one_empty_response(hosted: Hosted) -> None:
    await hosted.organiser.create(made())
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(frames({1: []}))
    await hosted.red.ended()
    [response] = await hosted.red.outcomes()
    assert rows([response]) == []
    assert response.next_offset == 0

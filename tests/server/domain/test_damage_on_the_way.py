"""Data that changed between client and server is not stored, and is sent again."""

from __future__ import annotations

import asyncio
import struct
import zlib
from typing import Any

import grpc
import pytest
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, append, end_of, refusal
from tests.server.scene import HERE, points

from vidscore_client import Batching, Delivery, Retry, aio, connect
from vidscore_protos.v1 import organiser_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_protos.v1.annotations_pb2 import AnnotationBatch
from vidscore_server.api.stream import request_reader
from vidscore_server.domain.batches import unpacked
from vidscore_server.settings import Settings

HERE_X = (123.456789, 20.0)
X = struct.pack("<d", HERE_X[0])
FRAMES = 20


def _checked(stream: str, number: int, wrong: int = 0) -> pb.AppendRequest:
    message = append(stream, number - 1, points({number: HERE}))
    message.detections_crc32 = zlib.crc32(message.detections.SerializeToString()) ^ wrong
    return message


async def test_a_batch_damaged_in_transit_is_refused_before_anything_is_stored(
    hosted: Hosted, stream: str
) -> None:
    request = _checked(stream, 1, wrong=1)
    call = hosted.red.submissions.AppendBatch(request, metadata=hosted.red.metadata)
    found = await refusal(call)
    assert (found.code, found.reason) == (grpc.StatusCode.UNAVAILABLE, "CONTENT_DAMAGED")
    assert (await hosted.red.get()).frame_count == 0
    request.CopyFrom(_checked(stream, 1))
    await hosted.red.submissions.AppendBatch(request, metadata=hosted.red.metadata)
    assert (await hosted.red.get()).frame_count == 1


async def test_the_batches_before_a_damaged_one_are_acknowledged(
    hosted: Hosted, stream: str
) -> None:
    requests = [_checked(stream, number, wrong=number == 3) for number in (1, 2, 3, 4)]
    call: Any = hosted.red.submissions.AppendFrames(iter(requests), metadata=hosted.red.metadata)
    acknowledged = [(await call.read()).next_offset for _ in range(2)]
    found = await refusal(call.read())
    assert (found.code, found.reason) == (grpc.StatusCode.UNAVAILABLE, "CONTENT_DAMAGED")
    assert acknowledged == [1, 2]
    assert (await hosted.red.get()).frame_count == 2


async def test_truth_damaged_in_transit_creates_no_revision(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    header = organiser_pb2.UploadTruthHeader(benchmark=BENCHMARK, complete=True)
    crc32 = zlib.crc32(TRUTH.SerializeToString()) ^ 1
    requests = [
        organiser_pb2.UploadTruthRequest(header=header),
        organiser_pb2.UploadTruthRequest(truth=TRUTH, truth_crc32=crc32),
        organiser_pb2.UploadTruthRequest(end=end_of(TRUTH)),
    ]
    upload = hosted.organiser.benchmarks.UploadTruth(
        iter(requests), metadata=hosted.organiser.metadata
    )
    assert (await refusal(upload)).reason == "CONTENT_DAMAGED"
    request = organiser_pb2.ListTruthRevisionsRequest(benchmark=BENCHMARK)
    listed = await hosted.organiser.benchmarks.ListTruthRevisions(
        request, metadata=hosted.organiser.metadata
    )
    assert not listed.revisions


@pytest.fixture
def damaged(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Flips a bit of every third batch when the server receives it."""
    found: list[bytes] = []
    came = 0
    make_reader = request_reader

    def reader(method: str, read: Any, settings: Settings) -> Any:
        take_in = make_reader(method, read, settings)

        def flip(data: bytes) -> Any:
            nonlocal came
            place = data.find(X)
            came += place >= 0
            if place >= 0 and came % 3 == 1:
                data = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
                found.append(data)
            return take_in(data)

        return flip

    monkeypatch.setattr("vidscore_server.api.guard.request_reader", reader)
    return found


RETRY = Retry(initial_s=0.01, maximum_s=0.01)
ONE_BY_ONE = Batching(batch_frames=1, batch_interval_s=0.0)


def _submit(address: str, token: str) -> None:
    with (
        connect(address, token=token) as client,
        client.submit("dots", batching=ONE_BY_ONE, delivery=Delivery(retry=RETRY)) as stream,
    ):
        for number in range(FRAMES):
            stream.send(f"s{number}", 1, [HERE_X])
        stream.seal()


async def _submit_async(address: str, token: str) -> None:
    async with (
        aio.connect(address, token=token) as client,
        client.submit("dots", batching=ONE_BY_ONE, delivery=Delivery(retry=RETRY)) as stream,
    ):
        for number in range(FRAMES):
            await stream.send(f"s{number}", 1, [HERE_X])
        await stream.seal()


@pytest.mark.slow
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_client_resends_damaged_batches_and_all_are_stored_as_sent(
    hosted: Hosted, damaged: list[bytes], *, is_async: bool
) -> None:
    await hosted.organiser.create_benchmark()
    if is_async:
        await _submit_async(hosted.address, hosted.red.secret)
    else:
        await asyncio.to_thread(_submit, hosted.address, hosted.red.secret)
    [name] = await hosted.red.listed()
    site = hosted.hosting.context
    payloads = await site.read(lambda reader: list(reader.detection_payloads("dots", name)))
    stored = [AnnotationBatch.FromString(data) for data in unpacked(payloads)]
    assert [list(batch.coordinates) for batch in stored] == [list(HERE_X)] * FRAMES
    assert len(damaged) >= FRAMES // 3

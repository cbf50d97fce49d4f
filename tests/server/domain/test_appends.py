"""The offset protocol, over a channel."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import grpc
import pytest
from tests.server.domain.hosted import BENCHMARK, Hosted, append, dots, hosting, refusal
from tests.server.scene import HERE, points

from vidscore_protos.v1 import annotations_pb2, organiser_pb2, submission_service_pb2
from vidscore_server.api.appends import Window
from vidscore_server.domain.append_queue import AppendQueue

SUBMISSION = f"{BENCHMARK}/submissions/one"


def frame(*numbers: int, at: float = 10.0) -> annotations_pb2.AnnotationBatch:
    return points({number: [(at, 20.0)] for number in numbers})


async def test_each_batch_is_acknowledged_with_the_next_offset(hosted: Hosted, stream: str) -> None:
    batches = {0: frame(1, 2), 2: frame(3), 3: frame(4)}
    appends = [append(stream, offset, batch) for offset, batch in batches.items()]
    assert await hosted.red.stream(appends) == [2, 3, 4]
    found = await hosted.red.get()
    assert found.frame_count == 4
    assert found.state == submission_service_pb2.SUBMISSION_STATE_RECEIVING
    assert [entry.next_offset for entry in found.streams] == [4]


async def test_the_unary_call_does_the_same(hosted: Hosted, stream: str) -> None:
    assert await hosted.red.append(stream, 0, frame(1, 2)) == 2
    assert await hosted.red.stream([append(stream, 2, frame(3))]) == [3]


async def test_a_resent_batch_is_acknowledged_again_and_counted_once(
    hosted: Hosted, stream: str
) -> None:
    await hosted.red.append(stream, 0, frame(1))
    await hosted.red.append(stream, 1, frame(2))
    assert await hosted.red.append(stream, 0, frame(1)) == 2
    assert (await hosted.red.get()).frame_count == 2


@pytest.mark.parametrize(
    ("offset", "batch", "code", "reason"),
    [
        (1, frame(2, at=11.0), "ALREADY_EXISTS", "CONTENT_DIFFERS"),
        (0, frame(2), "ALREADY_EXISTS", "CONTENT_DIFFERS"),
        (1, frame(2, 3), "OUT_OF_RANGE", "OFFSET_STRADDLES"),
        (3, frame(4), "OUT_OF_RANGE", "OFFSET_GAP"),
    ],
)
async def test_a_wrong_offset_is_refused_with_the_next_one(
    hosted: Hosted,
    stream: str,
    offset: int,
    batch: annotations_pb2.AnnotationBatch,
    code: str,
    reason: str,
) -> None:
    await hosted.red.append(stream, 0, frame(1))
    await hosted.red.append(stream, 1, frame(2))
    found = await refusal(hosted.red.append(stream, offset, batch))
    assert (found.code, found.reason) == (getattr(grpc.StatusCode, code), reason)
    assert found.metadata["next_offset"] == "2"
    assert (await hosted.red.get()).frame_count == 2


async def test_a_frame_of_another_stream_is_refused(hosted: Hosted, stream: str) -> None:
    await hosted.red.append(stream, 0, frame(1))
    await hosted.red.open(SUBMISSION, "second")
    found = await refusal(hosted.red.append(f"{SUBMISSION}/streams/second", 0, frame(2, 1)))
    assert (found.code, found.reason) == (grpc.StatusCode.ALREADY_EXISTS, "FRAME_EXISTS")
    assert "frame 1 of sequence 1" in found.message
    assert await hosted.red.append(f"{SUBMISSION}/streams/second", 0, frame(2)) == 1


async def test_an_older_writer_is_fenced_off(hosted: Hosted, stream: str) -> None:
    await hosted.red.append(stream, 0, frame(1))
    opened = await hosted.red.open(SUBMISSION)
    assert (opened.epoch, opened.next_offset) == (2, 1)
    found = await refusal(hosted.red.append(stream, 1, frame(2)))
    assert (found.code, found.reason) == (grpc.StatusCode.ABORTED, "EPOCH_STALE")
    assert await hosted.red.append(stream, 1, frame(2), epoch=2) == 2


async def test_a_sealed_submission_takes_no_frames(hosted: Hosted, stream: str) -> None:
    await hosted.red.append(stream, 0, frame(1))
    await hosted.red.seal(frames=1)
    for call in (hosted.red.append(stream, 1, frame(2)), hosted.red.open(SUBMISSION)):
        found = await refusal(call)
        assert (found.code, found.reason) == (
            grpc.StatusCode.FAILED_PRECONDITION,
            "SUBMISSION_ENDED",
        )


@pytest.mark.parametrize("acknowledged_count", range(4))
async def test_appends_that_race_with_a_cancel_get_the_reason_of_the_state_they_meet(
    hosted: Hosted, stream: str, acknowledged_count: int
) -> None:
    """One caller appends and reads, another one cancels after some of the frames."""
    seen: list[tuple[int, str]] = []
    reached = asyncio.Event()

    async def append_until_refused() -> None:
        try:
            for offset in itertools.count():
                if offset == acknowledged_count:
                    reached.set()
                await hosted.red.append(stream, offset, frame(offset + 1))
                found = await hosted.red.get()
                seen.append((found.state, found.state_reason))
        finally:
            reached.set()  # Whatever went wrong, nobody may wait for it.

    async def cancel() -> None:
        await reached.wait()
        request = submission_service_pb2.CancelSubmissionRequest(name=SUBMISSION)
        answer = await hosted.organiser.submissions.CancelSubmission(
            request, metadata=hosted.organiser.metadata
        )
        seen.append((answer.submission.state, answer.submission.state_reason))

    refused, _ = await asyncio.gather(refusal(append_until_refused()), cancel())
    assert refused.reason == "SUBMISSION_ENDED"
    last = await hosted.red.get()
    receiving = (submission_service_pb2.SUBMISSION_STATE_RECEIVING, "frames_received")
    cancelled = (submission_service_pb2.SUBMISSION_STATE_CANCELLED, "cancelled_by_organiser")
    assert set(seen) <= {receiving, cancelled}
    assert (last.state, last.state_reason) == cancelled
    assert last.frame_count == last.streams[0].next_offset >= acknowledged_count


async def test_sealing_checks_the_number_of_frames_that_arrived(
    hosted: Hosted, stream: str
) -> None:
    await hosted.red.append(stream, 0, frame(1))
    found = await refusal(hosted.red.seal(frames=2))
    assert (found.reason, found.metadata["frame_count"]) == ("FRAME_COUNT_DIFFERS", "1")
    assert found.message.startswith("1 frame is durable, ")


async def test_batches_before_an_invalid_one_are_acknowledged_and_stored(
    hosted: Hosted, stream: str
) -> None:
    requests = [append(stream, offset, frame(1 + row)) for row, offset in enumerate((0, 1, 9))]
    call = hosted.red.submissions.AppendFrames(
        iter(requests),
        metadata=hosted.red.metadata,
    )
    responses = aiter(call)
    assert [(await anext(responses)).next_offset for _ in range(2)] == [1, 2]
    assert (await refusal(anext(responses))).reason == "OFFSET_GAP"
    assert (await hosted.red.get()).frame_count == 2


@pytest.mark.parametrize(
    ("batch", "field"),
    [
        (points({}), "detections"),
        (points({1: [(float("nan"), 0.0)]}), "detections.coordinates[0]"),
        (points({1: [(1.0, 1.0)] * 31}), "detections.frame_object_counts[0]"),
        (points({1: [(1.0, 1.0)] * 2, 2: [(-9.0, 1.0)]}), "detections.frame_numbers[1]"),
        (points({9: HERE}), "detections.frame_numbers[0]"),
    ],
)
async def test_an_invalid_batch_is_refused_with_the_place(
    hosted: Hosted, stream: str, batch: annotations_pb2.AnnotationBatch, field: str
) -> None:
    found = await refusal(hosted.red.append(stream, 0, batch))
    assert found.code is grpc.StatusCode.INVALID_ARGUMENT
    assert field in found.violations


async def test_all_requests_of_a_call_must_name_one_stream(hosted: Hosted, stream: str) -> None:
    await hosted.red.open(SUBMISSION, "second")
    other = f"{SUBMISSION}/streams/second"
    found = await refusal(
        hosted.red.stream([append(stream, 0, frame(1)), append(other, 0, frame(2))])
    )
    assert "stream" in found.violations


async def test_the_settings_limit_the_frames_and_streams_of_a_submission(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("site")
    async with hosting(folder, maximum_frames=2, maximum_submission_streams=2) as hosted:
        await hosted.organiser.create_benchmark()
        stream = await hosted.red.submission()
        found = await refusal(hosted.red.append(stream, 0, frame(1, 2, 3)))
        assert found.metadata["limit"] == "maximum_frames"
        await hosted.red.open(SUBMISSION, "second")
        found = await refusal(hosted.red.open(SUBMISSION, "third"))
        assert found.metadata["limit"] == "maximum_submission_streams"


async def test_more_batches_than_may_wait_are_all_stored(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("site")
    async with hosting(folder, maximum_unacknowledged_batches=2) as hosted:
        await hosted.organiser.create_benchmark()
        stream = await hosted.red.submission()
        batches = [
            append(stream, row, points({1 + row % 5: HERE}, sequence=str(row // 5)))
            for row in range(50)
        ]
        assert await hosted.red.stream(batches) == list(range(1, 51))


async def test_the_number_of_batches_in_flight_may_double_each_time() -> None:
    window, entered = Window(6), 0

    async def enter() -> None:
        nonlocal entered
        while True:
            await window.enter()
            entered += 1

    entering = asyncio.create_task(enter())
    sizes = []
    for _ in range(5):
        await asyncio.sleep(0)
        sizes.append(entered)
        for _ in range(sizes[-1]):
            window.leave()
        entered = 0
    entering.cancel()
    assert sizes == [1, 2, 4, 6, 6]


async def test_no_more_batches_are_in_flight_than_were_stored_before_plus_one(
    hosted: Hosted, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_as_ever, futures = AppendQueue.append, list[asyncio.Future[int]]()
    seen: list[tuple[int, int]] = []

    async def noted(self: AppendQueue, *batch: Any) -> asyncio.Future[int]:
        futures.append(await append_as_ever(self, *batch))
        stored = sum(future.done() for future in futures)
        seen.append((len(futures) - stored, stored))
        return futures[-1]

    monkeypatch.setattr(AppendQueue, "append", noted)
    places = itertools.product(("1", "2"), range(1, 6))
    batches = [
        append(stream, offset, points({number: HERE}, sequence=sequence))
        for offset, (sequence, number) in enumerate(places)
    ]
    assert await hosted.red.stream(batches) == list(range(1, 11))
    assert len(seen) == 10
    assert all(waiting <= stored + 1 for waiting, stored in seen)


@pytest.mark.parametrize(("name", "offset"), [("neovision2", None), ("clear", 1)])
async def test_a_benchmark_refuses_confidences_that_its_evaluators_cannot_use(
    hosted: Hosted, name: str, offset: int | None
) -> None:
    """At the append, with the frame; if only the order counts, any confidence is accepted."""
    benchmark = dots()
    benchmark.specification.evaluators[0].name = name
    benchmark.truth_geometry = benchmark.detection_geometry = annotations_pb2.GEOMETRY_BOX
    request = organiser_pb2.CreateBenchmarkRequest(benchmark_id="dots", benchmark=benchmark)
    organiser = hosted.organiser
    await organiser.benchmarks.CreateBenchmark(request, metadata=organiser.metadata)
    stream = await hosted.red.submission()
    batch = points({3: [(0.0, 0.0), (9.0, 9.0)]})
    batch.geometry = annotations_pb2.GEOMETRY_BOX
    batch.frame_object_counts[:] = [1]
    batch.confidences.append(7.25)
    batch.track_ids.append(1)
    if offset is not None:
        assert await hosted.red.append(stream, 0, batch) == offset
        return
    found = await refusal(hosted.red.append(stream, 0, batch))
    assert found.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "the confidence 7.25 in frame 3" in found.message
    assert (await hosted.red.get()).frame_count == 0

"""What a live benchmark refuses, and what it shows of its clock."""

from __future__ import annotations

from datetime import timedelta

import grpc
import pytest
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, append, refusal
from tests.server.domain.live_scene import (
    FRAMES,
    PERIOD_S,
    SUBMISSION,
    TOLD,
    Answering,
    created,
    delete_benchmark,
    live_dots,
    prepare,
    scored,
)
from tests.server.scene import HERE, points

from vidscore_protos.v1 import annotations_pb2, benchmark_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb

# --- refusals --------------------------------------------------------------------------------


async def test_a_benchmark_without_a_clock_cannot_be_answered(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await created(hosted.red)
    call = Answering(hosted.red)
    await call.call.write(pb.AnswerFramesRequest(submission=SUBMISSION))
    assert await call.call.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "benchmarks/dots is not live" in await call.call.details()


async def test_a_live_benchmark_accepts_frames_only_as_answers(hosted: Hosted) -> None:
    await prepare(hosted)
    await hosted.red.open(SUBMISSION)
    found = await refusal(hosted.red.append(f"{SUBMISSION}/streams/default", 0, points({1: HERE})))
    assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "LIVE_BENCHMARK")
    await hosted.red.open(SUBMISSION, "live")
    found = await refusal(
        hosted.red.stream([append(f"{SUBMISSION}/streams/live", 0, points({1: HERE}))])
    )
    assert found.reason == "LIVE_BENCHMARK"
    check = pb.CheckDetectionsRequest(benchmark=BENCHMARK, detections=points({1: HERE}))
    red = hosted.red
    found = await refusal(red.submissions.CheckDetections(check, metadata=red.metadata))
    assert found.reason == "LIVE_BENCHMARK"
    # Without detections the check is about the submission alone, and one for the clock is valid.
    check.ClearField("detections")
    await red.submissions.CheckDetections(check, metadata=red.metadata)


@pytest.mark.parametrize(
    ("position", "batch", "told"),
    [
        (0, points({2: HERE}), "frame 1 of sequence 1 (position 0) alone"),
        (0, points({1: HERE, 2: HERE}), "several frames"),
        (0, points({1: HERE}, "2"), "a sequence of the benchmark"),
        (9, points({1: HERE}), "0 to 4"),
    ],
)
async def test_an_answer_contains_only_its_own_frame(
    hosted: Hosted, position: int, batch: annotations_pb2.AnnotationBatch, told: str
) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
        await call.call.write(pb.AnswerFramesRequest(position=position, detections=batch))
        assert await call.call.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert told in await call.call.details()
    assert (await hosted.red.get()).frame_count == 0


async def test_a_future_frame_cannot_be_answered(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
        await call.call.write(pb.AnswerFramesRequest(position=1, detections=points({2: HERE})))
        assert await call.call.code() is grpc.StatusCode.FAILED_PRECONDITION


async def test_sealing_a_submission_ends_its_call(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
        await call.answer(0)
        await hosted.red.seal()
        hosted.clock.pass_by(seconds=PERIOD_S)
        assert await call.call.code() is grpc.StatusCode.FAILED_PRECONDITION


async def test_a_recreated_draft_has_a_new_clock(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
    hosted.clock.pass_by(seconds=2 * PERIOD_S)
    await created(hosted.red)
    async with Answering(hosted.red) as call:
        assert (await call.frame()).position == 0


# --- what is shown ---------------------------------------------------------------------------


async def test_frames_sent_before_the_benchmark_was_live_are_reported(hosted: Hosted) -> None:
    benchmark = live_dots()
    benchmark.ClearField("live")
    await hosted.organiser.create(benchmark, public=TOLD)
    await hosted.organiser.upload(TRUTH)
    await hosted.red.begin(points({1: HERE, 2: HERE}))
    benchmark = live_dots()
    benchmark.name = BENCHMARK
    await hosted.organiser.update(benchmark, "live")
    online = await scored(hosted)
    assert not online.certified
    assert online.message == (
        "5 of 5 frames without an answer, 5 of them never given out "
        "(no call was open, or the server was behind); "
        "2 frames of the submission sent outside the clock"
    )
    assert not online.HasField("latency_50_s")


async def test_a_benchmark_that_is_not_live_shows_no_clock(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(points({1: HERE}))
    await hosted.red.ended()
    [score] = await hosted.red.scores()
    assert not score.HasField("online")


async def test_every_caller_sees_the_clock_of_a_benchmark(hosted: Hosted) -> None:
    await hosted.organiser.create(live_dots(), public=TOLD)
    for client in (hosted.organiser, hosted.red, hosted.viewer):
        assert (await client.benchmark()).benchmark.live == benchmark_pb2.LiveClock(
            frame_rate=1 / PERIOD_S, frames="FRAME_SOURCE_PARTICIPANT"
        )


async def test_the_clock_reveals_nothing_of_the_truth(hosted: Hosted) -> None:
    """The same call under two truths gets the same responses, to the byte."""
    seen = []
    for truth in (points({1: HERE}), points({5: [(1.5, 2.5)] * 3})):
        await prepare(hosted)
        await hosted.organiser.upload(truth)
        received = []
        async with Answering(hosted.red) as call:
            for position in range(FRAMES):
                received.append((await call.next("frame")).SerializeToString())
                received.append((await call.answer(position, HERE)).SerializeToString())
                hosted.clock.pass_by(seconds=PERIOD_S)
            received.append((await call.next("ended")).SerializeToString())
        seen.append(received)
        await delete_benchmark(hosted)
    assert seen[0] == seen[1]


async def test_latency_is_from_giving_out_to_storing(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
        hosted.clock.now += timedelta(milliseconds=123)
        assert (await call.answer(0)).latency_s == pytest.approx(0.123)

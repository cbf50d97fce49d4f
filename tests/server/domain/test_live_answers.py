"""A live benchmark hands out its clock, and what is in time follows from the order of commits."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import grpc
import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, append, hosting, refusal
from tests.server.domain.live_scene import (
    FRAMES,
    PERIOD_S,
    SUBMISSION,
    TOLD,
    Answering,
    created,
    live_dots,
    prepare,
)
from tests.server.scene import HERE, points

from vidscore_protos.v1 import (
    annotations_pb2,
    benchmark_pb2,
    benchmark_service_pb2,
    organiser_pb2,
)
from vidscore_protos.v1 import submission_service_pb2 as pb


async def scored(hosted: Hosted) -> pb.OnlineRecord:
    """Seal red's submission; gives what its score says of the clock."""
    await hosted.red.seal()
    await hosted.red.ended()
    [score] = await hosted.red.scores()
    return score.online


# --- the clock -------------------------------------------------------------------------------


async def test_each_frame_is_given_out_when_it_is_due(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        for position in range(FRAMES):
            now = await call.frame()
            assert (now.position, now.frame_number) == (position, position + 1)
            assert (now.sequence.domain, now.sequence.sequence) == ("", "1")
            assert (now.due_s, now.remaining_s) == (PERIOD_S * position, PERIOD_S)
            assert not now.repeated
            hosted.clock.pass_by(seconds=PERIOD_S)
        assert (await call.ended()).missing_count == FRAMES


async def test_frames_go_by_their_own_times(hosted: Hosted) -> None:
    benchmark = live_dots()
    benchmark.live.ClearField("frame_rate")
    benchmark.live.sequences.add(name="1", frame_times_s=[0.0, 0.1, 0.4, 0.5, 0.75])
    await hosted.organiser.create(benchmark, public=TOLD)
    await created(hosted.red)
    async with Answering(hosted.red) as call:
        remaining = []
        for _ in range(FRAMES):
            remaining.append((await call.frame()).remaining_s)
            hosted.clock.pass_by(seconds=remaining[-1])
        assert remaining == [0.1, 0.3, 0.1, 0.25, 0.25]  # the last lasts as long as the one before
        await call.ended()


async def test_frames_that_passed_at_once_are_not_given_out(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        assert (await call.frame()).position == 0
        hosted.clock.pass_by(seconds=3.2 * PERIOD_S)
        now = await call.frame()
        assert now.position == 3
        assert now.remaining_s == pytest.approx(0.8 * PERIOD_S)


async def test_the_clock_goes_by_what_it_was_started_with(hosted: Hosted) -> None:
    """A benchmark that is changed moves no clock that runs."""
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
    benchmark = live_dots(frame_rate=100.0)
    benchmark.name = BENCHMARK
    await _update(hosted, benchmark, "live")
    hosted.clock.pass_by(seconds=PERIOD_S)
    async with Answering(hosted.red) as call:
        assert (await call.frame()).position == 1


# --- in time, late, missing ------------------------------------------------------------------


async def test_a_system_that_answers_each_frame_before_the_next_is_certified(
    hosted: Hosted,
) -> None:
    """Latencies of 10, 20, 30, 40 and 50 ms: the half is at most 30, all others at most 50."""
    await prepare(hosted)
    await hosted.organiser.upload(TRUTH)
    async with Answering(hosted.red) as call:
        for position in range(FRAMES):
            assert (await call.frame()).position == position
            hosted.clock.pass_by(milliseconds=10 * (position + 1))
            stored = await call.answer(position, HERE)
            assert (stored.position, stored.in_time) == (position, True)
            assert stored.latency_s == pytest.approx(0.01 * (position + 1))
            hosted.clock.pass_by(milliseconds=500 - 10 * (position + 1))
        at_end = await call.ended()
    online = await scored(hosted)
    assert online == at_end
    assert online == pb.OnlineRecord(
        certified=True,
        frames="FRAME_SOURCE_PARTICIPANT",
        frame_count=FRAMES,
        in_time_count=FRAMES,
        latency_50_s=0.03,
        latency_90_s=0.05,
        latency_99_s=0.05,
        latency_worst_s=0.05,
        delay_worst_s=0.0,
    )


async def test_a_system_that_answers_late_is_not_certified(hosted: Hosted) -> None:
    """Frames 1 and 3 in time, 2 after 3 is given out, 4 not at all, 5 after the end."""
    await prepare(hosted)
    await hosted.organiser.upload(TRUTH)
    async with Answering(hosted.red) as call:
        await call.frame()
        assert (await call.answer(0)).in_time
        hosted.clock.pass_by(seconds=PERIOD_S)
        await call.frame()
        hosted.clock.pass_by(seconds=PERIOD_S)
        await call.frame()
        assert not (await call.answer(1, HERE)).in_time
        assert (await call.answer(2)).in_time
        hosted.clock.pass_by(seconds=PERIOD_S)
        await call.frame()
        hosted.clock.pass_by(seconds=PERIOD_S)
        await call.frame()
        hosted.clock.pass_by(seconds=PERIOD_S)
        await call.ended()
        assert not (await call.answer(4)).in_time
    online = await scored(hosted)
    assert not online.certified
    assert online.message == (
        "2 of 5 frames answered after the next one was given out; 1 of 5 frames without an answer"
    )
    assert (online.in_time_count, online.late_count, online.missing_count) == (2, 2, 1)
    assert online.passed_count == 0
    # Latencies: 0, 0, 0.5 and 0.5 s.
    assert [online.latency_50_s, online.latency_90_s, online.latency_worst_s] == [0.0, 0.5, 0.5]


async def test_late_answers_are_scored_like_any_other(hosted: Hosted) -> None:
    await prepare(hosted)
    await hosted.organiser.upload(TRUTH)
    async with Answering(hosted.red) as call:
        await call.frame()
        hosted.clock.pass_by(seconds=PERIOD_S)
        await call.frame()
        assert not (await call.answer(0, [(10.0, 20.0), (300.0, 200.0)])).in_time
    assert (await hosted.red.get()).frame_count == 1
    await scored(hosted)
    [score] = await hosted.organiser.scores()
    f1 = {row.measure: row.value.number for row in score.report.scores}["f1"]
    assert f1 == pytest.approx(0.8)  # two of three objects, and no other detection


async def test_a_system_that_reads_nothing_does_not_hold_the_clock_back(hosted: Hosted) -> None:
    await prepare(hosted)
    await hosted.organiser.upload(TRUTH)
    async with Answering(hosted.red) as call:
        await call.frame()
        hosted.clock.pass_by(seconds=PERIOD_S)
        await call.frame()  # it is given out: nothing of it need be read
        assert not (await call.answer(0)).in_time


# --- breaks ----------------------------------------------------------------------------------


async def test_frames_that_pass_during_a_break_stay_unanswered(hosted: Hosted) -> None:
    await prepare(hosted)
    await hosted.organiser.upload(TRUTH)
    async with Answering(hosted.red) as call:
        await call.frame()
        assert (await call.answer(0)).in_time
    hosted.clock.pass_by(seconds=3 * PERIOD_S)
    async with Answering(hosted.red) as call:
        assert (await call.frame()).position == 3
        await call.call.write(pb.AnswerFramesRequest(position=2, detections=points({3: HERE})))
        assert await call.call.code() is grpc.StatusCode.FAILED_PRECONDITION
        assert "frame 3 of sequence 1 (position 2) was not given out" in await call.call.details()
    online = await scored(hosted)
    assert (online.in_time_count, online.missing_count, online.passed_count) == (1, 4, 3)
    assert online.message == (
        "4 of 5 frames without an answer, 3 of them never given out: no call was open"
    )


async def test_an_answer_that_comes_after_a_break_is_late(hosted: Hosted) -> None:
    """What is now is given out before an answer of the new call is taken."""
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
    hosted.clock.pass_by(seconds=3 * PERIOD_S)
    async with Answering(hosted.red) as call:
        await call.frame()
        assert not (await call.answer(0)).in_time


async def test_a_frame_is_given_out_as_new_once(hosted: Hosted) -> None:
    """A call that begins again within a frame is told of it as repeated, unless it is answered."""
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        assert not (await call.frame()).repeated
    async with Answering(hosted.red) as call:
        now = await call.frame()
        assert (now.position, now.repeated) == (0, True)
        assert (await call.answer(0)).in_time
    async with Answering(hosted.red) as call:
        hosted.clock.pass_by(seconds=PERIOD_S)
        now = await call.frame()
        assert (now.position, now.repeated) == (1, False)


async def test_an_answer_that_comes_again_is_acknowledged_as_before(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
        hosted.clock.pass_by(milliseconds=100)
        first = await call.answer(0, HERE)
        hosted.clock.pass_by(milliseconds=400)
        await call.frame()
        assert await call.answer(0, HERE) == first
        assert first.in_time
    assert (await hosted.red.get()).frame_count == 1


async def test_another_answer_to_the_same_frame_is_refused(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
        await call.answer(0, HERE)
        await call.call.write(pb.AnswerFramesRequest(position=0, detections=points({1: []})))
        assert await call.call.code() is grpc.StatusCode.ALREADY_EXISTS


async def test_a_newer_call_ends_the_one_before(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as older:
        await older.frame()
        async with Answering(hosted.red) as newer:
            await newer.frame()
            assert await older.call.code() is grpc.StatusCode.ABORTED
            assert (await newer.answer(0)).in_time


async def test_a_clock_that_has_ended_while_nobody_was_there_is_told_at_once(
    hosted: Hosted,
) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
    hosted.clock.pass_by(hours=0.9)
    async with Answering(hosted.red) as call:
        online = await call.ended()
        assert (online.missing_count, online.passed_count) == (5, 4)
        assert not (await call.answer(0)).in_time


async def test_another_server_goes_on_with_the_clock(tmp_path: Path) -> None:
    async with hosting(tmp_path) as first:
        await prepare(first)
        async with Answering(first.red) as call:
            await call.frame()
            assert (await call.answer(0)).in_time
        clock = first.clock
    clock.pass_by(seconds=2 * PERIOD_S)
    async with hosting(tmp_path, clock) as second, Answering(second.organiser) as call:
        assert (await call.frame()).position == 2


# --- refusals --------------------------------------------------------------------------------


async def test_a_benchmark_without_a_clock_has_none_to_answer(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await created(hosted.red)
    call = Answering(hosted.red)
    await call.call.write(pb.AnswerFramesRequest(submission=SUBMISSION))
    assert await call.call.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "benchmarks/dots is not live" in await call.call.details()


async def test_a_live_benchmark_takes_frames_by_its_clock_alone(hosted: Hosted) -> None:
    await prepare(hosted)
    await hosted.red.open(SUBMISSION)
    found = await refusal(hosted.red.append(f"{SUBMISSION}/streams/default", 0, points({1: HERE})))
    assert (found.code, found.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "LIVE_BENCHMARK")
    await hosted.red.open(SUBMISSION, "live")
    found = await refusal(
        hosted.red.stream([append(f"{SUBMISSION}/streams/live", 0, points({1: HERE}))])
    )
    assert found.reason == "LIVE_BENCHMARK"


@pytest.mark.parametrize(
    ("position", "batch", "told"),
    [
        (0, points({2: HERE}), "frame 1 of sequence 1 (position 0) alone"),
        (0, points({1: HERE, 2: HERE}), "several frames"),
        (0, points({1: HERE}, "2"), "a sequence of the benchmark"),
        (9, points({1: HERE}), "0 to 4"),
    ],
)
async def test_an_answer_is_about_its_frame_alone(
    hosted: Hosted, position: int, batch: annotations_pb2.AnnotationBatch, told: str
) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
        await call.call.write(pb.AnswerFramesRequest(position=position, detections=batch))
        assert await call.call.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert told in await call.call.details()
    assert (await hosted.red.get()).frame_count == 0


async def test_a_frame_that_is_not_yet_now_cannot_be_answered(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
        await call.call.write(pb.AnswerFramesRequest(position=1, detections=points({2: HERE})))
        assert await call.call.code() is grpc.StatusCode.FAILED_PRECONDITION


async def test_a_submission_that_was_sealed_ends_its_call(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
        await call.answer(0)
        await hosted.red.seal()
        hosted.clock.pass_by(seconds=PERIOD_S)
        assert await call.call.code() is grpc.StatusCode.FAILED_PRECONDITION


async def test_a_draft_that_is_begun_anew_has_a_new_clock(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
    hosted.clock.pass_by(seconds=2 * PERIOD_S)
    await created(hosted.red)
    async with Answering(hosted.red) as call:
        assert (await call.frame()).position == 0


# --- what is shown ---------------------------------------------------------------------------


async def test_frames_that_came_before_the_benchmark_was_live_are_told(hosted: Hosted) -> None:
    benchmark = live_dots()
    benchmark.ClearField("live")
    await hosted.organiser.create(benchmark, public=TOLD)
    await hosted.organiser.upload(TRUTH)
    await hosted.red.begin(points({1: HERE, 2: HERE}))
    benchmark = live_dots()
    benchmark.name = BENCHMARK
    await _update(hosted, benchmark, "live")
    online = await scored(hosted)
    assert not online.certified
    assert online.message == (
        "5 of 5 frames without an answer, 5 of them never given out: no call was open; "
        "2 frames of the submission sent outside the clock"
    )
    assert not online.HasField("latency_50_s")


async def test_a_benchmark_that_is_not_live_says_nothing_of_a_clock(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(points({1: HERE}))
    await hosted.red.ended()
    [score] = await hosted.red.scores()
    assert not score.HasField("online")


async def test_every_caller_sees_the_clock_of_a_benchmark(hosted: Hosted) -> None:
    await hosted.organiser.create(live_dots(), public=TOLD)
    for client in (hosted.organiser, hosted.red, hosted.viewer):
        request = benchmark_service_pb2.GetBenchmarkRequest(name=BENCHMARK)
        answer = await client.benchmarks.GetBenchmark(request, metadata=client.metadata)
        assert answer.benchmark.live == benchmark_pb2.LiveClock(
            frame_rate=1 / PERIOD_S, frames="FRAME_SOURCE_PARTICIPANT"
        )


async def test_what_the_clock_says_tells_nothing_of_the_truth(hosted: Hosted) -> None:
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
        await _delete(hosted)
    assert seen[0] == seen[1]


async def test_latency_is_from_giving_out_to_storing(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
        hosted.clock.now += timedelta(milliseconds=123)
        assert (await call.answer(0)).latency_s == pytest.approx(0.123)


async def _update(hosted: Hosted, benchmark: benchmark_pb2.Benchmark, path: str) -> None:
    request = organiser_pb2.UpdateBenchmarkRequest(
        benchmark=benchmark, update_mask=FieldMask(paths=[path])
    )
    await hosted.organiser.benchmarks.UpdateBenchmark(request, metadata=hosted.organiser.metadata)


async def _delete(hosted: Hosted) -> None:
    request = organiser_pb2.DeleteBenchmarkRequest(name=BENCHMARK, force=True)
    await hosted.organiser.benchmarks.DeleteBenchmark(request, metadata=hosted.organiser.metadata)

"""The clock of a live submission continues over broken calls, lost servers and backups."""

from __future__ import annotations

from pathlib import Path

import grpc
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, hosting
from tests.server.domain.live_scene import PERIOD_S, Answering, delete_benchmark, prepare, scored
from tests.server.domain.test_backups import export, import_, restored
from tests.server.scene import HERE, points

from vidscore_protos.v1 import submission_service_pb2 as pb


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
        "4 of 5 frames without an answer, 3 of them never given out "
        "(no call was open, or the server was behind)"
    )


async def test_an_answer_after_a_break_is_late(hosted: Hosted) -> None:
    """The current frame is given out before an answer of the new call is taken."""
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
    hosted.clock.pass_by(seconds=3 * PERIOD_S)
    async with Answering(hosted.red) as call:
        await call.frame()
        assert not (await call.answer(0)).in_time


async def test_a_frame_is_given_out_as_new_once(hosted: Hosted) -> None:
    """A new call within a frame gets it as repeated, unless it has been answered."""
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


async def test_a_resent_answer_is_acknowledged_as_before(hosted: Hosted) -> None:
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


async def test_a_different_answer_to_the_same_frame_is_refused(hosted: Hosted) -> None:
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


async def test_a_clock_that_ended_without_a_call_is_reported_at_once(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
    hosted.clock.pass_by(hours=0.9)
    async with Answering(hosted.red) as call:
        online = await call.ended()
        assert (online.missing_count, online.passed_count) == (5, 4)
        assert not (await call.answer(0)).in_time


async def test_another_server_continues_the_clock(tmp_path: Path) -> None:
    async with hosting(tmp_path) as first:
        await prepare(first)
        async with Answering(first.red) as call:
            await call.frame()
            assert (await call.answer(0)).in_time
        clock = first.clock
    clock.pass_by(seconds=2 * PERIOD_S)
    async with hosting(tmp_path, clock) as second, Answering(second.organiser) as call:
        assert (await call.frame()).position == 2


async def test_a_backup_of_the_site_contains_the_clock(hosted: Hosted, tmp_path: Path) -> None:
    await prepare(hosted)
    await hosted.organiser.upload(TRUTH)
    async with Answering(hosted.red) as call:
        await call.frame()
        hosted.clock.pass_by(milliseconds=100)
        await call.answer(0, HERE)
    before = await scored(hosted)
    async with restored(tmp_path / "new", await export(hosted.organiser)) as new:
        [score] = await new.client(hosted.red.secret).scores()
        assert score.online == before
        assert score.online.latency_worst_s == 0.1


async def test_a_backup_of_a_benchmark_contains_the_clock(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
        await call.answer(0, HERE)
    data = await export(hosted.organiser, BENCHMARK)
    await delete_benchmark(hosted)
    await import_(hosted.organiser, data)
    hosted.clock.pass_by(seconds=PERIOD_S)
    async with Answering(hosted.red) as call:
        now = await call.frame()
        assert (now.position, now.repeated) == (1, False)

"""A live benchmark gives out frames; the order of commits decides which answers are in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted
from tests.server.domain.live_scene import (
    FRAMES,
    PERIOD_S,
    SUBMISSION,
    TOLD,
    Answering,
    created,
    live_dots,
    prepare,
    scored,
)
from tests.server.scene import HERE
from tests.support.waiting import until

from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.live_answers import LiveAnswering
from vidscore_server.domain.access import Caller, set_caller
from vidscore_server.store.records import Role

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


async def test_frames_follow_their_own_times(hosted: Hosted) -> None:
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
        # The last one lasts as long as the one before.
        assert remaining == [0.1, 0.3, 0.1, 0.25, 0.25]
        await call.ended()


async def test_frames_that_have_already_passed_are_not_given_out(hosted: Hosted) -> None:
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        assert (await call.frame()).position == 0
        hosted.clock.pass_by(seconds=3.2 * PERIOD_S)
        now = await call.frame()
        assert now.position == 3
        assert now.remaining_s == pytest.approx(0.8 * PERIOD_S)


async def test_a_clock_keeps_the_definition_with_which_it_was_started(hosted: Hosted) -> None:
    """A change of the benchmark does not affect a running clock."""
    await prepare(hosted)
    async with Answering(hosted.red) as call:
        await call.frame()
    benchmark = live_dots(frame_rate=100.0)
    benchmark.name = BENCHMARK
    await hosted.organiser.update(benchmark, "live")
    hosted.clock.pass_by(seconds=PERIOD_S)
    async with Answering(hosted.red) as call:
        assert (await call.frame()).position == 1


# --- in time, late, missing ------------------------------------------------------------------


async def test_a_system_that_answers_each_frame_before_the_next_is_certified(
    hosted: Hosted,
) -> None:
    """Latencies of 10, 20, 30, 40 and 50 ms: half are at most 30 ms, and all at most 50 ms."""
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
    assert f1 == pytest.approx(0.8)  # Two of three objects, and no other detection.


async def test_a_client_that_reads_nothing_does_not_delay_the_clock(hosted: Hosted) -> None:
    """Its responses are never sent, but every frame is given out when it is due."""
    await prepare(hosted)
    hosting_parts = hosted.hosting
    store = hosting_parts.context.store
    responses = StuckResponses()
    set_caller(Caller("", Role.ORGANISER, ""))
    answering = LiveAnswering(hosting_parts, lambda _: None)
    running = asyncio.create_task(answering.run(_one_request(), responses))  # type: ignore[arg-type]

    def given() -> list[int]:
        with store.read() as reader:
            return [frame.position for frame in reader.live_frames("dots", "one")]

    for position in range(3):
        await until(lambda: len(given()) > position)  # noqa: B023 - it is called at once
        hosted.clock.pass_by(seconds=PERIOD_S)
    assert given()[:3] == [0, 1, 2]
    assert responses.sent == 1
    running.cancel()
    await asyncio.wait([running])


class StuckResponses:
    """Takes a response, and never finishes sending it."""

    sent = 0

    async def send(self, _: pb.AnswerFramesResponse) -> None:
        self.sent += 1
        await asyncio.Event().wait()


async def _one_request() -> AsyncIterator[pb.AnswerFramesRequest]:
    """The request that begins a call, and no others."""
    yield pb.AnswerFramesRequest(submission=SUBMISSION)
    await asyncio.Event().wait()

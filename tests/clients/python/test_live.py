"""Both clients answer a live benchmark, whose clock the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.server.domain.hosted import TRUTH, Hosted, hosting
from tests.server.domain.live_scene import FRAMES, PERIOD_S, TOLD, live_dots, until_stored
from tests.support.waiting import until

from vidscore_client import (
    CallbackError,
    ConflictError,
    InputError,
    LiveFrame,
    LiveOutcome,
    Retry,
    StoredAnswer,
    SubmissionState,
    aio,
    connect,
    live,
)
from vidscore_protos.v1 import submission_service_pb2

Run = Callable[..., Awaitable[LiveOutcome]]
QUICK = Retry(initial_s=0.01, maximum_s=0.01)


def _with_threads(hosted: Hosted) -> Run:
    def run(*arguments: object, **options: object) -> LiveOutcome:
        with connect(hosted.address, token=hosted.red.secret) as client:
            return client.answer_live(*arguments, retry=QUICK, **options)  # type: ignore[arg-type]

    return lambda *arguments, **options: asyncio.to_thread(run, *arguments, **options)


def _with_tasks(hosted: Hosted) -> Run:
    async def run(*arguments: object, **options: object) -> LiveOutcome:
        async with aio.connect(hosted.address, token=hosted.red.secret) as client:
            return await client.answer_live(*arguments, retry=QUICK, **options)  # type: ignore[arg-type]

    return run


@pytest.fixture(params=[_with_threads, _with_tasks], ids=["threads", "asyncio"])
def kind(request: pytest.FixtureRequest) -> Callable[[Hosted], Run]:
    made: Callable[[Hosted], Run] = request.param
    return made


@pytest.mark.slow
async def test_a_system_that_answers_every_frame_is_certified(
    tmp_path: Path, kind: Callable[[Hosted], Run]
) -> None:
    seen: list[LiveFrame] = []

    def on_frame(frame: LiveFrame) -> None:
        seen.append(frame)
        frame.answer([[10.0, 20.0]] if frame.frame == 1 else [], confidences=None)

    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create(live_dots(), public=TOLD)
        await hosted.organiser.upload(TRUTH)
        answering = asyncio.ensure_future(kind(hosted)("dots", on_frame, "one", title="First"))
        for count in range(1, FRAMES + 1):
            await until_stored(hosted, count)
            hosted.clock.pass_by(seconds=PERIOD_S)
        outcome = await answering
        assert [frame.position for frame in seen] == list(range(FRAMES))
        assert [(frame.domain, frame.sequence, frame.frame) for frame in seen[:2]] == [
            ("", "1", 1),
            ("", "1", 2),
        ]
        assert outcome.online.certified
        assert outcome.online.message == ""
        assert outcome.online.frames == "held by the participant"
        assert (outcome.online.latency_50_s, outcome.online.latency_worst_s) == (0.0, 0.0)
        assert outcome.submission.title == "First"
        await hosted.red.ended()
        with connect(hosted.address, token=hosted.red.secret) as client:
            scores = await asyncio.to_thread(client.submissions.scores, "dots/one")
            benchmark = await asyncio.to_thread(client.benchmarks.get, "dots")
        assert [score.online for score in scores] == [outcome.online]
        assert benchmark.definition["live"] == {
            "frame_rate": 2.0,
            "frames": "held by the participant",
        }


async def test_an_error_of_on_stored_ends_the_answering(
    tmp_path: Path, kind: Callable[[Hosted], Run]
) -> None:
    def on_stored(_answer: StoredAnswer) -> None:
        raise ZeroDivisionError("on purpose")

    expected = pytest.raises(CallbackError, match="on_stored raised ZeroDivisionError: on purpose")
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create(live_dots(), public=TOLD)
        answering = kind(hosted)("dots", lambda frame: frame.answer([]), "one", on_stored=on_stored)
        with expected as caught:
            await answering
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


async def test_frames_that_pass_while_one_is_processed_are_skipped(
    tmp_path: Path, kind: Callable[[Hosted], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first frame takes until the fourth is current; the second and third are skipped."""
    loop = asyncio.get_running_loop()
    seen: list[int] = []
    read: list[int] = []
    take = live._Call._take

    def noted(call: live._Call, response: submission_service_pb2.AnswerFramesResponse) -> None:
        take(call, response)
        read.append(response.frame.position)

    monkeypatch.setattr(live._Call, "_take", noted)
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create(live_dots(), public=TOLD)

        async def let_pass() -> None:
            await until_stored(hosted, 1)
            for position in (1, 2, 3):
                hosted.clock.pass_by(seconds=PERIOD_S)
                await until(lambda: position in read)  # noqa: B023 - it is called at once

        def on_frame(frame: LiveFrame) -> object:
            seen.append(frame.position)
            frame.answer([])
            if frame.position:
                return None
            if asyncio._get_running_loop() is loop:
                return let_pass()
            return asyncio.run_coroutine_threadsafe(let_pass(), loop).result(60)

        answering = asyncio.ensure_future(kind(hosted)("dots", on_frame, "one", seal=False))
        await until_stored(hosted, 2)
        hosted.clock.pass_by(seconds=2 * PERIOD_S)
        outcome = await answering
    assert seen == [0, 3]
    assert outcome.online.in_time_count == 2
    assert outcome.online.missing_count == 3
    assert not outcome.online.certified


async def test_a_frame_given_out_by_a_broken_call_may_be_answered_over_the_next_one(
    tmp_path: Path, kind: Callable[[Hosted], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call breaks during the first frame, which is answered when it is given out again."""
    calls: list[live._Call] = []
    seen: list[LiveFrame] = []
    stored: list[StoredAnswer] = []
    begin = live._Call.__init__

    def noted(call: live._Call, *arguments: Any) -> None:
        begin(call, *arguments)
        calls.append(call)

    def on_frame(frame: LiveFrame) -> None:
        seen.append(frame)
        if len(seen) == 1:
            calls[0]._call.cancel()
        elif len(seen) == 2:
            seen[0].answer([])

    monkeypatch.setattr(live._Call, "__init__", noted)
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create(live_dots(), public=TOLD)
        answering = kind(hosted)("dots", on_frame, "one", seal=False, on_stored=stored.append)
        answered = asyncio.ensure_future(answering)
        await until_stored(hosted, 1)
        hosted.clock.pass_by(seconds=FRAMES * PERIOD_S)
        outcome = await answered
    assert [(frame.position, frame.repeated) for frame in seen] == [(0, False), (0, True)]
    assert stored == [StoredAnswer(0, in_time=True, latency_s=0.0)]
    assert outcome.online.in_time_count == 1


async def test_an_answer_after_the_end_of_the_clock_is_counted_and_sealed(
    tmp_path: Path, kind: Callable[[Hosted], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    ended: list[bool] = []
    take = live._Call._take

    def noted(call: live._Call, response: submission_service_pb2.AnswerFramesResponse) -> None:
        take(call, response)
        if response.WhichOneof("event") == "ended":
            ended.append(True)

    monkeypatch.setattr(live._Call, "_take", noted)
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create(live_dots(), public=TOLD)

        async def pass_and_answer(frame: LiveFrame) -> None:
            hosted.clock.pass_by(seconds=FRAMES * PERIOD_S)
            await until(lambda: bool(ended))
            frame.answer([])

        def on_frame(frame: LiveFrame) -> object:
            passing = pass_and_answer(frame)
            if asyncio._get_running_loop() is loop:
                return passing
            return asyncio.run_coroutine_threadsafe(passing, loop).result(60)

        outcome = await kind(hosted)("dots", on_frame, "one")
    assert (outcome.online.late_count, outcome.online.missing_count) == (1, FRAMES - 1)
    assert outcome.submission.state is not SubmissionState.RECEIVING


async def test_an_error_of_the_callback_ends_the_answering(
    tmp_path: Path, kind: Callable[[Hosted], Run]
) -> None:
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create(live_dots(), public=TOLD)
        with pytest.raises(InputError, match="coordinates"):
            await kind(hosted)("dots", lambda frame: frame.answer([[1.0, 2.0, 3.0]]), "one")


async def test_a_frame_can_be_answered_only_once(
    tmp_path: Path, kind: Callable[[Hosted], Run]
) -> None:
    def twice(frame: LiveFrame) -> None:
        frame.answer([])
        frame.answer([])

    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create(live_dots(), public=TOLD)
        with pytest.raises(ConflictError, match="already has an answer"):
            await kind(hosted)("dots", twice, "one")


async def test_a_benchmark_that_is_not_live_cannot_be_answered(
    tmp_path: Path, kind: Callable[[Hosted], Run]
) -> None:
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create_benchmark()
        with pytest.raises(ConflictError, match="not live"):
            await kind(hosted)("dots", lambda frame: frame.answer([]), "one")


async def test_a_clock_is_written_and_read_by_the_client(tmp_path: Path) -> None:
    definition = {
        "evaluators": [{"name": "spotgeo"}],
        "sequences": [
            {"name": "a", "frame_count": 3, "first_frame": 1},
            {"domain": "night", "name": "b", "frame_count": 2},
        ],
        "public_names": ["sequences", "labels", "frame_counts"],
        "live": {
            "frame_rate": 12.5,
            "frames": "sent by the organiser",
            "sequences": [
                {"domain": "night", "name": "b", "frame_times_s": [0.0, 0.25]},
            ],
        },
    }
    async with hosting(tmp_path) as hosted:
        client = aio.connect(hosted.address, token=hosted.organiser.secret)
        async with client:
            made = await client.benchmarks.create("clock", definition)
            assert made.definition["live"] == definition["live"]
            slower = {"live": {"frame_rate": 1.0}, "title": "Slow"}
            changed = await client.benchmarks.update("clock", slower)
            assert changed.definition["live"] == {
                "frame_rate": 1.0,
                "frames": "held by the participant",
            }
            without = {key: value for key, value in definition.items() if key != "live"}
            removed = await client.benchmarks.update("clock", without, replace=True)
            assert "live" not in removed.definition
            with pytest.raises(InputError, match=r"live.frames.*'held by the participant' or"):
                await client.benchmarks.update("clock", {"live": {"frames": "ours"}})

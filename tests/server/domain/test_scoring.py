"""From sealed to scored: the library's exact report, waiting, failing, interruption."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from tests.server.domain.hosted import (
    BENCHMARK,
    TRUTH,
    Hosted,
    PlayedClock,
    append,
    hosting,
    refusal,
    values,
)
from tests.server.scene import HERE, points, report_bytes
from tests.support.waiting import PAUSE_S, TIMEOUT_S, until

from vidscore_evaluators import jobs
from vidscore_evaluators.jobs import Job
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import score_annotations
from vidscore_protos.v1 import (
    access_service_pb2,
    annotations_pb2,
    benchmark_pb2,
    submission_service_pb2,
)
from vidscore_server.api.batches import read_batch
from vidscore_server.api.convert import write_report
from vidscore_server.domain.batches import BatchRules
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.scoring import Scheduler
from vidscore_server.errors import WorkerLostError
from vidscore_server.settings import Settings
from vidscore_server.store import Reader
from vidscore_server.store.records import SubmissionRecord

pb = submission_service_pb2
LIVE = benchmark_pb2.VISIBILITY_LIVE
FINAL = benchmark_pb2.VISIBILITY_FINAL

DETECTIONS = points({1: [(11.0, 20.0)], 2: [(1.0, 1.0)], 3: [(50.0, 60.0)], 4: [], 5: []})


def library_report(
    truth: annotations_pb2.AnnotationBatch, detections: annotations_pb2.AnnotationBatch
) -> bytes:
    rules = BatchRules(2, Settings())
    sides = (read_batch(truth, "", rules), read_batch(detections, "", rules))
    [report] = score_annotations([create_evaluator("spotgeo")], *sides)
    return report_bytes(write_report(report))


@pytest.mark.parametrize("least_cut", [jobs.OBJECTS_PER_CUT, 0], ids=["one job", "job a frame"])
async def test_the_report_is_the_librarys_bit_for_bit_in_any_order_of_frames(
    least_cut: int, hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether one worker has the whole sequence, or several have frames of it."""
    monkeypatch.setattr(jobs, "OBJECTS_PER_CUT", least_cut)
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(points({3: [(50.5, 60.5)], 1: TRUTH_OF_1}), points({5: []}))
    await hosted.organiser.upload(points({2: [], 4: []}), merge=True)
    stream = await hosted.red.submission()
    second = await hosted.red.open(f"{BENCHMARK}/submissions/one", "second")
    assert second.epoch == 1
    await hosted.red.append(stream, 0, points({5: [], 3: [(50.0, 60.0)]}))
    other = f"{BENCHMARK}/submissions/one/streams/second"
    await hosted.red.append(other, 0, points({4: [], 2: [(1.0, 1.0)]}))
    await hosted.red.append(stream, 2, points({1: [(11.0, 20.0)]}))
    await hosted.red.seal(frames=5)
    ended = await hosted.red.ended()
    assert ended.submission.state == pb.SUBMISSION_STATE_SCORED
    [score] = await hosted.organiser.scores()
    assert report_bytes(score.report) == library_report(TRUTH, DETECTIONS)
    assert score.truth_revision == 2
    assert score.current
    assert not score.partial


TRUTH_OF_1 = [(10.0, 20.0), (300.0, 200.0)]


async def test_frames_without_detections_are_scored_as_all_missed(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, points({1: []}))
    await hosted.red.seal(frames=1)
    await hosted.red.ended()
    [score] = await hosted.organiser.scores()
    assert values(score.report)["false_negatives"] == 3.0


async def test_detections_of_an_unknown_sequence_are_left_out_of_the_score(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark(public=[])
    await hosted.organiser.upload(TRUTH)
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, DETECTIONS)
    await hosted.red.append(stream, 5, points({1: HERE}, sequence="unknown"))
    await hosted.red.seal()
    await hosted.red.ended()
    [score] = await hosted.organiser.scores()
    assert report_bytes(score.report) == library_report(TRUTH, DETECTIONS)


async def test_submissions_that_waited_are_scored_when_the_truth_arrives(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.red.submit(DETECTIONS)
    await _stands(hosted, pb.SUBMISSION_STATE_WAITING_FOR_TRUTH)
    await hosted.organiser.upload(points({1: TRUTH_OF_1}), complete=False)
    await _stands(hosted, pb.SUBMISSION_STATE_WAITING_FOR_TRUTH)
    await hosted.organiser.upload(TRUTH)
    ended = await hosted.red.ended()
    assert ended.submission.state == pb.SUBMISSION_STATE_SCORED
    [score] = await hosted.organiser.scores()
    assert score.truth_revision == 2


async def test_with_live_scores_a_submission_waits_only_for_truth_of_its_own_frames(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create_benchmark(visibility=LIVE)
    await hosted.organiser.upload(points({1: TRUTH_OF_1, 2: []}), complete=False)
    await hosted.red.submit(points({1: [(11.0, 20.0)]}), "one")
    await hosted.red.submit(points({3: [(11.0, 20.0)]}), "two")
    ended = await hosted.red.ended("one")
    assert ended.submission.state_reason == "scored_without_all_truth"
    assert ended.scores[0].partial
    await _stands(hosted, pb.SUBMISSION_STATE_WAITING_FOR_TRUTH, "two")


async def test_waiting_for_truth_ends_at_the_timeout_of_the_policy(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(points({1: TRUTH_OF_1}), complete=False)
    await hosted.red.submit(DETECTIONS)
    await _stands(hosted, pb.SUBMISSION_STATE_WAITING_FOR_TRUTH)
    hosted.clock.pass_by(days=7)
    ended = await hosted.red.ended()
    assert ended.submission.state_reason == "scored_without_all_truth"
    [score] = await hosted.organiser.scores()
    assert score.partial
    found = values(score.report)
    counted = [found[name] for name in ("true_positives", "false_negatives", "false_positives")]
    assert counted == [1, 1, 0]


async def test_a_submission_fails_if_truth_never_arrives(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.red.submit(DETECTIONS)
    await _stands(hosted, pb.SUBMISSION_STATE_WAITING_FOR_TRUTH)
    hosted.clock.pass_by(days=7)
    ended = await hosted.red.ended()
    assert ended.submission.state_reason == "truth_never_came"


async def test_an_idle_submission_is_sealed_and_scored(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, DETECTIONS)
    hosted.clock.pass_by(hours=1)
    ended = await hosted.red.ended()
    assert ended.submission.state == pb.SUBMISSION_STATE_SCORED
    actions = await _actions(hosted)
    assert "sealed_when_quiet" in actions


async def test_broken_scoring_ends_in_failed_and_shows_the_team_no_details(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_: object) -> bytes:
        raise RuntimeError("object at 300, 200")

    monkeypatch.setattr(hosted.workers, "run", broken)
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(DETECTIONS)
    ended = await hosted.red.ended()
    assert ended.submission.state_reason == "scoring_failed"
    assert "300" not in str(ended)


async def test_a_score_that_cannot_be_stored_ends_in_failed(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would be computed again and again, alone, while all others wait."""

    def broken(*_: object) -> None:
        raise RuntimeError("the best release is odd")

    monkeypatch.setattr("vidscore_server.domain.scoring.keep_result", broken)
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(DETECTIONS)
    ended = await hosted.red.ended()
    assert ended.submission.state_reason == "scoring_failed"


@pytest.mark.slow
async def test_scoring_over_the_time_limit_ends_in_failed(tmp_path: Path) -> None:
    async with hosting(tmp_path, held=True, scoring_timeout_s=1) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.organiser.upload(TRUTH)
        await hosted.red.submit(DETECTIONS)
        ended = await hosted.red.ended()
        assert ended.submission.state_reason == "scoring_timed_out"


async def test_teams_take_turns_however_much_one_submits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = list[str]()
    score = Scheduler._score

    async def scored(scheduler: Scheduler, name: SubmissionName, revision: int) -> None:
        began.append(name.submission)
        await score(scheduler, name, revision)

    monkeypatch.setattr(Scheduler, "_score", scored)
    async with hosting(tmp_path, held=True, maximum_scorings=1) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.organiser.upload(TRUTH)
        for name in ("red-1", "red-2", "red-3"):
            await hosted.red.submit(DETECTIONS, name)
        for name in ("blue-1", "blue-2"):
            await hosted.blue.submit(DETECTIONS, name)
        await until(lambda: began == ["red-1"])
        hosted.workers.gate.set()
        for client, name in ((hosted.blue, "blue-2"), (hosted.red, "red-3")):
            await client.ended(name)
    assert began == ["red-1", "blue-1", "red-2", "blue-2", "red-3"]


@pytest.mark.slow
async def test_a_submission_whose_scoring_kills_its_server_six_times_is_scored_at_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Scheduler, "_release", lambda *_: None)  # As if the server had been killed.
    clock = PlayedClock()
    for _ in range(6):
        async with hosting(tmp_path, clock, held=True) as hosted:
            if await _is_new(hosted):
                await hosted.organiser.submit(DETECTIONS)
            await _while_time_passes(clock, lambda: bool(hosted.workers.jobs))
    async with hosting(tmp_path, clock) as hosted:
        await hosted.hosting.scheduler.advance()
        found = await hosted.organiser.get()
        assert "6 times" in found.state_message
        assert found.state == pb.SUBMISSION_STATE_SEALED
        clock.pass_by(seconds=30)
        assert (await hosted.organiser.ended()).submission.state_reason == "scored"


@pytest.mark.slow
async def test_after_two_deaths_a_submission_pauses_and_is_scored_after_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Scheduler, "_release", lambda *_: None)
    clock = PlayedClock()
    await _die_twice(tmp_path, clock)
    async with hosting(tmp_path, clock, held=True) as hosted:
        scheduler = hosted.hosting.scheduler
        await scheduler.advance()
        await hosted.organiser.submit(DETECTIONS, "two")
        await until(lambda: bool(hosted.workers.jobs))
        clock.pass_by(seconds=30)
        await scheduler.advance()
        states = [(await hosted.organiser.get(name)).state for name in ("one", "two")]
        assert states == [pb.SUBMISSION_STATE_SEALED, pb.SUBMISSION_STATE_SCORING]
        hosted.workers.gate.set()
        assert (await hosted.organiser.ended("one")).submission.state_reason == "scored"


async def test_a_clock_that_is_set_back_does_not_lengthen_the_pause_after_two_deaths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Scheduler, "_release", lambda *_: None)
    clock = PlayedClock()
    await _die_twice(tmp_path, clock)
    async with hosting(tmp_path, clock) as hosted:
        await hosted.hosting.scheduler.advance()
        clock.pass_by(days=-1)
        await hosted.hosting.scheduler.advance()
        assert (await hosted.organiser.ended("one")).submission.state_reason == "scored"


async def test_a_clock_that_is_slightly_behind_does_not_end_the_pause_after_two_deaths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of another server than the one that died."""
    monkeypatch.setattr(Scheduler, "_release", lambda *_: None)
    clock = PlayedClock()
    await _die_twice(tmp_path, clock)
    async with hosting(tmp_path, clock, held=True) as hosted:
        await hosted.hosting.scheduler.advance()
        clock.pass_by(seconds=-0.1)
        await hosted.hosting.scheduler.advance()
        assert (await hosted.organiser.get("one")).state == pb.SUBMISSION_STATE_SEALED


async def test_after_two_deaths_an_outdated_read_does_not_shorten_the_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Scheduler, "_release", lambda *_: None)
    clock = PlayedClock()
    await _die_twice(tmp_path, clock)
    look, seen = Scheduler._unfinished, list[list[SubmissionRecord]]()

    def look_once(scheduler: Scheduler, reader: Reader) -> list[SubmissionRecord]:
        seen.append(seen[0] if seen else look(scheduler, reader))
        return seen[0]

    monkeypatch.setattr(Scheduler, "_unfinished", look_once)
    async with hosting(tmp_path, clock, held=True) as hosted:
        for _ in range(2):
            await hosted.hosting.scheduler.advance()
        assert (await hosted.organiser.get("one")).state == pb.SUBMISSION_STATE_SEALED


@pytest.mark.slow
@pytest.mark.parametrize("lost", [WorkerLostError("the worker died"), MemoryError()])
async def test_a_lost_worker_or_a_server_without_memory_is_not_a_failure_of_the_submission(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch, lost: Exception
) -> None:
    run, deaths = hosted.workers.run, 4

    async def dying(job: Job) -> bytes:
        nonlocal deaths
        if deaths:
            deaths -= 1
            raise lost
        return await run(job)

    monkeypatch.setattr(hosted.workers, "run", dying)
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(DETECTIONS)
    await _while_time_passes(hosted.clock, lambda: not deaths)
    hosted.clock.pass_by(seconds=30)
    assert (await hosted.red.ended()).submission.state_reason == "scored"


async def _while_time_passes(clock: PlayedClock, condition: Callable[[], bool]) -> None:
    """Wait until a condition holds; each poll advances the clock by a second."""

    def holds() -> bool:
        clock.pass_by(seconds=1)
        return condition()

    await until(holds)


async def _die_twice(folder: Path, clock: PlayedClock) -> None:
    """A submission that was being scored when its server died, and again when the next one did."""
    for _ in range(2):
        async with hosting(folder, clock, held=True) as hosted:
            if await _is_new(hosted):
                await hosted.organiser.submit(DETECTIONS)
            await until(lambda: bool(hosted.workers.jobs))


async def _is_new(hosted: Hosted) -> bool:
    """Whether the benchmark had to be created, with its truth."""
    try:
        await hosted.organiser.create_benchmark()
    except grpc.aio.AioRpcError:
        return False
    await hosted.organiser.upload(TRUTH)
    return True


@pytest.mark.slow
async def test_an_orderly_restart_costs_no_attempt(tmp_path: Path) -> None:
    clock = PlayedClock()
    for restart in range(3):
        async with hosting(tmp_path, clock, held=True, scoring_attempts=1) as hosted:
            if restart == 0:
                await hosted.organiser.create_benchmark()
                await hosted.organiser.upload(TRUTH)
                await hosted.organiser.submit(DETECTIONS)
            await until(lambda: bool(hosted.workers.jobs))
            if restart == 2:
                hosted.workers.gate.set()
                ended = await hosted.organiser.ended()
                assert ended.submission.state_reason == "scored"


async def test_a_restart_during_scoring_gives_the_same_score(tmp_path: Path) -> None:
    async with hosting(tmp_path, held=True) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.organiser.upload(TRUTH)
        await hosted.organiser.submit(DETECTIONS)
        await until(lambda: bool(hosted.workers.jobs))
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.ended()
        [score] = await hosted.organiser.scores()
        assert report_bytes(score.report) == library_report(TRUTH, DETECTIONS)


async def test_a_restart_during_scoring_does_not_wait_for_truth_again(tmp_path: Path) -> None:
    """It has waited for seven days, and is scored with the existing truth."""
    clock = PlayedClock()
    async with hosting(tmp_path, clock, held=True) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.organiser.upload(TRUTH, complete=False)
        await hosted.red.submit(DETECTIONS)
        await _stands(hosted, pb.SUBMISSION_STATE_WAITING_FOR_TRUTH)
        clock.pass_by(days=7, seconds=1)
        await until(lambda: bool(hosted.workers.jobs))
    async with hosting(tmp_path, clock) as hosted:
        ended = await hosted.organiser.ended()
        assert ended.submission.state_reason == "scored_without_all_truth"


async def test_a_submission_cancelled_during_scoring_gets_no_score(hosted: Hosted) -> None:
    hosted.workers.gate.clear()
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(DETECTIONS)
    await until(lambda: bool(hosted.workers.jobs))
    cancel = pb.CancelSubmissionRequest(name=f"{BENCHMARK}/submissions/one")
    late = await refusal(
        hosted.red.submissions.CancelSubmission(cancel, metadata=hosted.red.metadata)
    )
    assert late.reason == "SUBMISSION_ENDED"
    await hosted.organiser.submissions.CancelSubmission(cancel, metadata=hosted.organiser.metadata)
    hosted.workers.gate.set()
    await hosted.hosting.scheduler.finish()
    assert await hosted.organiser.scores() == []
    assert (await hosted.red.get()).state == pb.SUBMISSION_STATE_CANCELLED


async def test_a_submission_from_before_a_restart_continues_after_it(tmp_path: Path) -> None:
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.organiser.upload(TRUTH)
        stream = await hosted.organiser.submission()
        await hosted.organiser.stream([append(stream, 0, points({1: [(11.0, 20.0)]}))])
    async with hosting(tmp_path) as hosted:
        opened = await hosted.organiser.open(f"{BENCHMARK}/submissions/one")
        assert (opened.epoch, opened.next_offset) == (2, 1)
        await hosted.organiser.append(stream, 1, points({2: [(1.0, 1.0)]}), epoch=2)


async def _stands(hosted: Hosted, state: pb.SubmissionState, name: str = "one") -> None:
    """Wait until a submission is in a state, and then check that it stays there."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            if (await hosted.red.get(name)).state == state:
                break
            await asyncio.sleep(PAUSE_S)
    await hosted.hosting.work()
    await hosted.hosting.scheduler.finish()
    assert (await hosted.red.get(name)).state == state


async def _actions(hosted: Hosted) -> list[str]:
    answer = await hosted.organiser.access.ListAuditRecords(
        access_service_pb2.ListAuditRecordsRequest(), metadata=hosted.organiser.metadata
    )
    return [record.action for record in answer.records]

"""The functions of a plug-in run in workers only, where one that never returns can be ended."""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections import Counter
from collections.abc import Awaitable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any

import pytest
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, dots, refusal
from tests.server.domain.test_live import LIVE
from tests.server.domain.test_windows import watched
from tests.server.running import PlayedWorkers
from tests.server.scene import HERE, configuration, parameter, points
from tests.server.web.site.browsing import Browsing
from tests.support.waiting import TIMEOUT_S, until

from vidscore_evaluators import plug_ins as contained_plug_ins
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.jobs import make_job
from vidscore_evaluators.registry import create_evaluator
from vidscore_protos.v1 import benchmark_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.batches import batch_size, read_batch
from vidscore_server.api.scoring import read_configuration
from vidscore_server.domain import plug_ins
from vidscore_server.domain.batches import BatchRules
from vidscore_server.domain.plug_ins import refuse_by_own_rules, report_of
from vidscore_server.domain.scoring_session import ScoringSession
from vidscore_server.errors import WorkFailedError
from vidscore_server.settings import Settings
from vidscore_server.workers import WorkerPool

pytestmark = pytest.mark.usefixtures("moody")

FUNCTIONS = ("tables", "scores", "faults")
FORBIDDEN = points({666: HERE})


@pytest.fixture
def called(moody: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[tuple[str, bool]]]:
    """How often each function of ``moody`` was called, outside and inside of a worker."""
    del moody
    counts: Counter[tuple[str, bool]] = Counter()
    inside: ContextVar[bool] = ContextVar("inside", default=False)

    def counted(name: str, function: Any) -> Any:
        def call(*args: Any) -> Any:
            counts[name, inside.get()] += 1
            return function(*args)

        return call

    async def work(_: PlayedWorkers, job: Any, work: Any, **__: Any) -> Any:
        token = inside.set(True)
        try:
            return work(job)
        finally:
            inside.reset(token)

    kind = importlib.import_module("vidscore_moody").Moody
    for name in FUNCTIONS:
        monkeypatch.setattr(kind, name, counted(name, getattr(kind, name)))
    monkeypatch.setattr(PlayedWorkers, "work", work)
    contained_plug_ins.contained.cache_clear()
    yield counts
    contained_plug_ins.contained.cache_clear()


def _moody(benchmark: benchmark_pb2.Benchmark, **parameters: Any) -> benchmark_pb2.Benchmark:
    [evaluator] = benchmark.specification.evaluators
    evaluator.name = "moody"
    evaluator.parameters.extend(parameter(*entry) for entry in parameters.items())
    return benchmark


@pytest.mark.parametrize("visibility", ["live", "bootstrap", "private"])
async def test_a_hosted_benchmark_calls_them_in_workers(
    hosted: Hosted, called: Counter[tuple[str, bool]], visibility: str
) -> None:
    policies: dict[str, dict[str, Any]] = {
        "live": {"visibility": LIVE, "minimum_frames": 1},
        "bootstrap": {"visibility": benchmark_pb2.VISIBILITY_BOOTSTRAP},
        "private": {"private_share": 0.5},
    }
    await hosted.organiser.create(_moody(dots(**policies[visibility])))
    await hosted.organiser.upload(TRUTH, points({1: HERE}, "another"))
    check = pb.CheckDetectionsRequest(benchmark=BENCHMARK, detections=TRUTH)
    await hosted.red.submissions.CheckDetections(check, metadata=hosted.red.metadata)
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, TRUTH)
    await watched(hosted.red, 0)
    response = await watched(hosted.organiser, 3)
    assert response.window_reports
    await hosted.red.seal()
    assert (await hosted.red.ended()).submission.state == pb.SUBMISSION_STATE_SCORED
    assert {name for name, inside in called if not inside} == set()
    assert {name for name, inside in called if inside} == set(FUNCTIONS)


async def test_a_stream_calls_them_in_workers(called: Counter[tuple[str, bool]]) -> None:
    session = ScoringSession(Settings(), PlayedWorkers(), with_live=True)
    await session.configure(partial(read_configuration, configuration("moody"), Settings()))
    batch = points({1: HERE})
    for side in Side:
        await session.receive(side, partial(read_batch, batch, side), batch_size(batch), side)
    await session.finish()
    assert {name for name, inside in called if not inside} == set()
    assert {name for name, inside in called if inside} == set(FUNCTIONS)


async def test_the_rules_of_a_plug_in_refuse_frames_wherever_they_come_in(hosted: Hosted) -> None:
    await hosted.organiser.create(_moody(dots()))
    of_truth = await refusal(hosted.organiser.upload(FORBIDDEN))
    await hosted.organiser.upload(TRUTH)
    check = pb.CheckDetectionsRequest(benchmark=BENCHMARK, detections=FORBIDDEN)
    call = hosted.red.submissions.CheckDetections(check, metadata=hosted.red.metadata)
    stream = await hosted.red.submission()
    of_frames = await refusal(hosted.red.append(stream, 0, FORBIDDEN))
    for found, field in (
        (of_truth, "truth.frame_numbers[0]"),
        (await refusal(call), "detections.frame_numbers[0]"),
        (of_frames, "detections.frame_numbers[0]"),
    ):
        assert found.violations == {field: "found a forbidden frame, expected another"}


@pytest.mark.parametrize("is_empty", [False, True])
@pytest.mark.asyncio(loop_scope="module")
async def test_a_report_from_a_worker_equals_one_made_here(
    workers: WorkerPool, is_empty: bool
) -> None:
    evaluator = create_evaluator("moody")
    evaluator.preset = "moods"
    batch = read_batch(points({1: HERE, 2: []}), "truth", BatchRules(2, Settings()))
    tally = None if is_empty else evaluator.tally(batch, batch)
    expected = evaluator.report(evaluator.identity_tally if tally is None else tally)
    assert await report_of(workers, evaluator, tally) == expected


async def test_an_evaluator_that_takes_long_to_make_does_not_stop_the_server(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it is made in the event loop, nothing frees it in time."""
    entered, free = threading.Event(), threading.Event()
    stopped: list[object] = []
    kind = importlib.import_module("vidscore_moody").Moody
    make = kind.__init__

    def slowly_made(self: object, *arguments: object) -> None:
        entered.set()
        if not free.wait(5.0):
            stopped.append(arguments)
        make(self, *arguments)

    async def freed(call: Awaitable[Any]) -> Any:
        entered.clear()
        free.clear()
        running = asyncio.ensure_future(call)
        await until(entered.is_set)
        free.set()
        return await running

    monkeypatch.setattr(kind, "__init__", slowly_made)
    await freed(site.hosted.organiser.create(_moody(dots())))
    described = benchmark_pb2.Benchmark(description="By night.")
    await freed(site.hosted.organiser.update(described, "description"))
    await freed(site.red.get(f"/{BENCHMARK}"))
    form = await site.organiser.get(f"/organise/{BENCHMARK}/about")
    await freed(site.organiser.send(form, f"/organise/{BENCHMARK}/about", title="Other"))
    await freed(site.organiser.get("/organise/new?evaluator=moody"))
    assert not stopped


async def _refused(workers: WorkerPool, mood: str) -> None:
    evaluator = create_evaluator("moody", {"mood": mood, "delay_s": 60.0, "when_checking": True})
    read = partial(read_batch, points({1: HERE}), "detections", BatchRules(2, Settings()))
    await refuse_by_own_rules(workers, [evaluator], Side.DETECTIONS, read, 1, "detections")


@pytest.mark.parametrize("mood", ["error", "exit", "input_error"])
@pytest.mark.asyncio(loop_scope="module")
async def test_rules_that_fail_are_no_fault_of_the_frames(workers: WorkerPool, mood: str) -> None:
    with pytest.raises(WorkFailedError) as caught:
        await _refused(workers, mood)
    assert "faults of the evaluator 'moody' of vidscore_moody" in caught.value.places
    assert "123.456" not in str(caught.value)


@pytest.mark.slow
async def test_rules_that_never_return_end_with_their_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise a batch of a participant could stop the server for everybody."""
    monkeypatch.setattr(plug_ins, "CHECK_S", 5.0)
    pool = WorkerPool(1)
    try:
        with pytest.raises(WorkFailedError) as caught:
            await _refused(pool, "slow")
        assert "faults of the evaluator 'moody'" in str(caught.value.places)
        async with asyncio.timeout(TIMEOUT_S):
            await _refused(pool, "calm")
    finally:
        await asyncio.to_thread(pool.close)


@pytest.mark.slow
async def test_rules_may_wait_for_a_worker_for_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise no frames would be accepted while a large submission is scored."""
    monkeypatch.setattr(plug_ins, "CHECK_S", 5.0)
    pool = WorkerPool(1)
    batch = read_batch(points({1: HERE}), "truth", BatchRules(2, Settings()))
    slow = make_job(create_evaluator("moody", {"mood": "slow", "delay_s": 8.0}), batch, batch)
    try:
        busy = asyncio.create_task(pool.run(slow))
        await until(lambda: pool.busy_count == 1)
        await _refused(pool, "calm")
        await busy
    finally:
        await asyncio.to_thread(pool.close)

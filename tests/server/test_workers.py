"""Worker processes do the work, and the death of one affects only its own job."""

from __future__ import annotations

import asyncio
import errno
import gc
import multiprocessing
import multiprocessing.queues
import os
import signal
import sys
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import pytest
from msgspec import structs
from tests.server.scene import HERE, points
from tests.support.waiting import until

from vidscore_evaluators.errors import InputError, UnknownEvaluatorError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.jobs import Job, make_job, run_job
from vidscore_evaluators.outcome_table import OUTCOMES, OperatingPoint, Outcome
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import make_annotations
from vidscore_server.api.batches import read_batch
from vidscore_server.domain.batches import BatchRules
from vidscore_server.errors import WorkerLostError, WorkFailedError
from vidscore_server.settings import Settings
from vidscore_server.workers import (
    WorkerPool,
    _Worker,
)

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("moody")]

BATCH = read_batch(points({1: HERE, 2: []}), "truth", BatchRules(2, Settings()))


def _job(**parameters: object) -> Job:
    evaluator: Evaluator[object] = create_evaluator("moody", parameters)
    return make_job(evaluator, BATCH, BATCH)


async def test_a_worker_gives_the_same_bytes_as_the_job_here(workers: WorkerPool) -> None:
    job = _job()
    assert await workers.run(job) == run_job(job)


async def test_an_input_error_is_raised_here_unchanged(workers: WorkerPool) -> None:
    boxes = make_annotations({("", "a"): {1: [(0, 0, 1, 1)]}})
    with pytest.raises(InputError, match="found upright boxes"):
        await workers.run(structs.replace(_job(), truth=boxes))


async def test_another_domain_error_is_raised_here_unchanged(workers: WorkerPool) -> None:
    job = _job()
    unknown = Job("nobody", "1", {}, job.specification, job.truth, job.detections)
    with pytest.raises(UnknownEvaluatorError, match="nobody"):
        await workers.run(unknown)


@pytest.mark.parametrize(("mood", "kind"), [("error", "RuntimeError"), ("exit", "SystemExit")])
async def test_an_unexpected_error_is_reduced_to_places_without_its_text(
    workers: WorkerPool, mood: str, kind: str
) -> None:
    """Otherwise a plug-in that calls `sys.exit` would end the server, and print what it got."""
    with pytest.raises(WorkFailedError) as caught:
        await workers.run(_job(mood=mood))
    assert kind in caught.value.places
    assert any("vidscore_moody" in place for place in caught.value.places)
    assert "123.456" not in str(caught.value)


@pytest.mark.slow
async def test_what_a_job_prints_does_not_leave_its_process(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A plug-in may print the truth, and the server's output is a log."""
    pool = WorkerPool(1)
    try:
        await pool.run(_job(mood="chatty"))
    finally:
        await asyncio.to_thread(pool.close)
    assert "123.456" not in str(capfd.readouterr())


def _badness(process: int | str) -> int:
    """What Linux adds to the size of a process when it chooses one to end."""
    return int(Path(f"/proc/{process}/oom_score_adj").read_text())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems choose otherwise")
async def test_a_worker_ends_before_the_server_if_memory_runs_out(workers: WorkerPool) -> None:
    """Otherwise Linux ends the larger one: with the server, all streams would end."""
    await workers.run(_job())
    assert workers.process_ids
    assert all(_badness(process) > _badness("self") for process in workers.process_ids)


async def test_a_job_whose_worker_dies_is_retried(workers: WorkerPool, tmp_path: Path) -> None:
    marker = tmp_path / "crashed"
    job = _job(mood="crash_once", marker=str(marker))
    tally = await workers.run(job)
    assert marker.exists()
    assert tally == run_job(job)


@pytest.mark.slow
async def test_a_job_that_kills_every_worker_fails_alone(workers: WorkerPool) -> None:
    """Concurrent jobs of others complete as usual."""
    expected = run_job(_job())
    results = await asyncio.gather(
        workers.run(_job(mood="crash")),
        *(workers.run(_job()) for _ in range(10)),
        return_exceptions=True,
    )
    assert isinstance(results[0], WorkerLostError)
    assert results[1:] == [expected] * 10


@pytest.mark.slow
async def test_an_idle_worker_that_dies_is_replaced_unnoticed(workers: WorkerPool) -> None:
    await asyncio.gather(workers.run(_job()), workers.run(_job()))
    await until(lambda: len(workers.process_ids) == 2)
    killed = workers.process_ids
    for process_id in killed:
        os.kill(process_id, signal.SIGKILL)
    expected = run_job(_job())
    assert await asyncio.gather(*(workers.run(_job()) for _ in range(4))) == [expected] * 4
    assert not set(killed) & set(workers.process_ids)


async def test_a_cancelled_caller_leaves_the_worker_usable(workers: WorkerPool) -> None:
    async def give_up() -> None:
        async with asyncio.timeout(0.05):
            await workers.run(_job(mood="slow", delay_s=0.3))

    for result in await asyncio.gather(*(give_up() for _ in range(4)), return_exceptions=True):
        assert isinstance(result, TimeoutError)
    assert await workers.run(_job()) == run_job(_job())


@pytest.mark.slow
async def test_a_worker_that_cannot_be_started_is_started_for_a_later_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The system refuses processes and threads at a limit, or without memory."""
    monkeypatch.setattr("vidscore_server.workers.REFUSED_PAUSE_S", 0.0)
    pool = WorkerPool(1)
    try:
        await pool.run(_job())
        with monkeypatch.context() as patch:
            patch.setattr("vidscore_server.workers.process_pool", _refused)
            [process_id] = pool.process_ids
            os.kill(process_id, signal.SIGKILL)
            for _ in range(3):
                with pytest.raises(WorkerLostError, match="lost 2 worker processes"):
                    await pool.run(_job())
        assert await pool.run(_job()) == run_job(_job())
        with monkeypatch.context() as patch:
            patch.setattr("vidscore_server.workers.process_pool", _refused)
            with pytest.raises(WorkerLostError):
                await pool.run(_job(mood="crash"))
        assert await pool.run(_job()) == run_job(_job())
    finally:
        await asyncio.to_thread(pool.close)


def _refused(*_: object, **__: object) -> NoReturn:
    raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_worker_without_the_thread_that_serves_it_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python starts that thread within another one, where nobody is told if it cannot."""
    monkeypatch.setattr("vidscore_server.workers.START_S", 5.0)
    start = multiprocessing.queues.Queue._start_thread  # type: ignore[attr-defined]
    failures = [RuntimeError("can't start new thread")]

    def start_thread(queue: object) -> None:
        if failures:
            raise failures.pop()
        start(queue)

    monkeypatch.setattr("multiprocessing.queues.Queue._start_thread", start_thread)
    pool = WorkerPool(1)
    try:
        async with asyncio.timeout(60):
            assert await pool.run(_job()) == run_job(_job())
        assert not failures
    finally:
        await asyncio.to_thread(pool.close)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_worker_that_starts_too_slowly_and_then_not_at_all_is_started_for_a_later_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both happen on a machine without memory."""
    monkeypatch.setattr("vidscore_server.workers.REFUSED_PAUSE_S", 0.0)
    before = set(multiprocessing.active_children())
    pool = WorkerPool(1)
    [slow] = set(multiprocessing.active_children()) - before
    try:
        with monkeypatch.context() as patch:
            patch.setattr("vidscore_server.workers.START_S", 0.0)
            patch.setattr("vidscore_server.workers.process_pool", _refused)
            with pytest.raises(WorkerLostError):
                await pool.run(_job())
        await until(lambda: not slow.is_alive())
        assert await pool.run(_job()) == run_job(_job())
    finally:
        await asyncio.to_thread(pool.close)


@pytest.mark.slow
async def test_a_job_that_goes_on_without_its_caller_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A plug-in that never returns would keep each worker that got it, until none were left."""
    monkeypatch.setattr("vidscore_server.workers.ABANDONED_S", 0.1)
    pool = WorkerPool(1)
    try:
        abandoned = asyncio.create_task(pool.run(_job(mood="slow", delay_s=60)))
        await until(lambda: len(pool.process_ids) == 1)
        [process_id] = pool.process_ids
        abandoned.cancel()
        assert await pool.run(_job()) == run_job(_job())
        assert pool.process_ids != [process_id]
    finally:
        await asyncio.to_thread(pool.close)


async def test_the_result_of_a_job_without_a_caller_is_not_kept(
    workers: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise results of megabytes would pile up while clients begin streams and leave."""
    monkeypatch.setattr("vidscore_server.workers.ABANDONED_S", 600.0)
    submit, submitted = _Worker.submit, []

    def recorded(worker: _Worker, job: Any, work: Any) -> Any:
        future = submit(worker, job, work)
        submitted.append(weakref.ref(future))
        return future

    monkeypatch.setattr(_Worker, "submit", recorded)
    with suppress(TimeoutError):
        async with asyncio.timeout(0.05):
            await workers.run(_job(mood="slow", delay_s=0.3))

    def is_gone() -> bool:
        gc.collect()  # of the frames of the cancelled call
        return submitted[0]() is None

    await until(is_gone)


@pytest.mark.slow
async def test_the_first_worker_starts_at_once_and_the_next_when_it_is_busy() -> None:
    pool = WorkerPool(3)
    try:
        await until(lambda: len(pool.process_ids) == 1)
        for _ in range(3):
            await pool.run(_job())
        assert len(pool.process_ids) == 1
        await asyncio.gather(*(pool.run(_job(mood="slow", delay_s=0.3)) for _ in range(2)))
        assert len(pool.process_ids) == 2
    finally:
        await asyncio.to_thread(pool.close)


@pytest.mark.slow
@pytest.mark.parametrize("leaves", [False, True])
async def test_long_jobs_of_streams_leave_one_worker_to_others_even_if_their_clients_leave(
    tmp_path: Path, leaves: bool
) -> None:
    """With as many as there are workers, nothing else would be scored for any time."""
    pool, marker = WorkerPool(2), tmp_path / "at work"
    slow = _job(mood="slow", delay_s=60, marker=str(marker))
    long = [asyncio.create_task(pool.run_sparing(slow)) for _ in range(3)]
    try:
        await until(marker.exists)
        if leaves:
            for task in long:
                task.cancel()
            long.append(asyncio.create_task(pool.run_sparing(slow)))
            await asyncio.sleep(0.1)  # it waits for the worker that still works
        assert pool.busy_count == 1
        assert await pool.run(_job()) == run_job(_job())
        assert pool.busy_count == 1
    finally:
        await asyncio.to_thread(pool.close)
        for task in long:
            task.cancel()
        await asyncio.gather(*long, return_exceptions=True)


async def test_streams_use_a_single_worker_too() -> None:
    pool = WorkerPool(1)
    try:
        assert await pool.run_sparing(_job()) == await pool.run(_job())
        assert await pool.run_sparing(_job()) == run_job(_job())
    finally:
        await asyncio.to_thread(pool.close)


async def test_closing_ends_busy_processes() -> None:
    pool = WorkerPool(1)
    await until(lambda: len(pool.process_ids) == 1)
    [process_id] = pool.process_ids
    running = asyncio.create_task(pool.run(_job(mood="slow", delay_s=60)))
    await asyncio.sleep(0.1)
    for _ in range(2):  # As the executor of large work, too.
        await asyncio.to_thread(pool.close)
    with pytest.raises(ProcessLookupError):
        os.kill(process_id, 0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_worker_computes_the_outcome_of_each_object(workers: WorkerPool) -> None:
    rules = BatchRules(2, Settings())
    truth = read_batch(points({1: [(10.0, 20.0), (30.0, 40.0)]}), "truth", rules)
    detections = read_batch(points({1: [(10.0, 20.0), (500.0, 500.0)]}), "detections", rules)
    found = await workers.outcomes(
        make_job(create_evaluator("spotgeo"), truth, detections), OperatingPoint()
    )
    assert [OUTCOMES[code] for code in found.outcomes] == [
        Outcome.TRUE_POSITIVE,
        Outcome.FALSE_NEGATIVE,
        Outcome.TRUE_POSITIVE,
        Outcome.FALSE_POSITIVE,
    ]

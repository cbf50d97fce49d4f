"""Large work runs on an executor; the server's own workers do what a cluster cannot."""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.crash.servers import KilledServer
from tests.server.domain.hosted import Client, _client, hosting
from tests.server.domain.sky import batch, batch_report, truth
from tests.server.domain.test_boards import _rescore, _waited
from tests.server.running import PlayedWorkers
from tests.server.scene import HERE, points, report_bytes
from tests.support.dask_cluster import Cluster, kill, running_cluster
from tests.support.waiting import TIMEOUT_S, eventually, until

from vidscore_evaluators.errors import EvaluatorVersionError, UnknownEvaluatorError
from vidscore_evaluators.installed import software_versions
from vidscore_evaluators.jobs import Job, make_job, run_job
from vidscore_evaluators.registry import create_evaluator
from vidscore_server import executors
from vidscore_server.api.batches import read_batch
from vidscore_server.domain.batches import BatchRules
from vidscore_server.errors import WorkerLostError, WorkFailedError
from vidscore_server.executors import DaskRunner, open_executor, run_shipped
from vidscore_server.settings import Settings, SettingsError, load_settings
from vidscore_server.workers import NICENESS, WorkerPool

BATCH = read_batch(points({1: HERE, 2: []}), "truth", BatchRules(2, Settings()))
JOB = make_job(create_evaluator("f1", {"base": "euclidean", "cutoff_px": 5.0}), BATCH, BATCH)
UNKNOWN = Job("nobody", "1", {}, JOB.specification, BATCH, BATCH)
TASK = ("vidscore_server.executors", "run_shipped")
FRAME_COUNT = 60


# --- Settings, and what they make


@pytest.mark.parametrize(
    "text", ["dask", "tcp://", "tcp://head", "http://head:8786", "tls://head:8786/path"]
)
def test_an_unknown_executor_is_refused_with_the_expected_values(text: str) -> None:
    with pytest.raises(SettingsError, match="none, processes, or an address"):
        load_settings(flags={"executor": text})


def test_truth_is_sent_to_another_machine_over_tls_or_by_an_explicit_setting() -> None:
    with pytest.raises(SettingsError, match="tls://, because truth is sent there"):
        load_settings(flags={"executor": "tcp://head:8786"})
    load_settings(flags={"executor": "tls://head:8786"})
    load_settings(flags={"executor": "tcp://127.0.0.1:8786"})
    load_settings(flags={"executor": "tcp://head:8786", "insecure_executor": True})


def test_without_an_executor_the_workers_do_everything() -> None:
    workers = PlayedWorkers()
    assert open_executor(load_settings(), workers) is workers


def _niceness(_: object) -> int:
    return os.nice(0)


@pytest.mark.slow
async def test_processes_give_the_same_bytes_as_the_workers_and_yield_to_them() -> None:
    pool = open_executor(load_settings(flags={"executor": "processes", "workers": 1}), object())  # type: ignore[arg-type]
    assert isinstance(pool, WorkerPool)
    try:
        assert await pool.capacity() == 1
        assert await pool.run(JOB) == run_job(JOB)
        found: Any = await pool.work(JOB, _niceness)
        assert found == min(19, os.nice(0) + NICENESS)  # The highest niceness of the system.
    finally:
        pool.close()


# --- A job on its worker


def test_a_shipped_job_gives_the_same_bytes_as_here() -> None:
    assert run_shipped(pickle.dumps(JOB), software_versions()) == run_job(JOB)


def test_other_versions_are_refused_before_anything_is_read() -> None:
    found = run_shipped(b"", {"vidscore": "0.0.1"})
    assert isinstance(found, EvaluatorVersionError)
    assert "the scoring needs vidscore 0.0.1" in str(found)


def test_an_unexpected_error_is_a_result_without_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Job) -> bytes:
        raise RuntimeError("123.456")

    monkeypatch.setattr("vidscore_server.workers.run_job", broken)
    found = run_shipped(pickle.dumps(JOB), software_versions())
    assert isinstance(found, WorkFailedError)
    assert "123.456" not in str(found)


def test_what_a_job_prints_is_dropped_and_what_others_print_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A plug-in may print the truth, and a worker of a cluster also does the work of others."""
    others = threading.Barrier(2)

    def chatty(job: Job) -> bytes:
        print("the coordinates are 123.456")
        print("the coordinates are 123.456", file=sys.stderr)
        others.wait(TIMEOUT_S)
        others.wait(TIMEOUT_S)
        return run_job(job)

    def other() -> None:
        others.wait(TIMEOUT_S)
        print("another's work")
        others.wait(TIMEOUT_S)

    monkeypatch.setattr("vidscore_server.workers.run_job", chatty)
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, getattr(sys, name))  # restored afterwards
    working = threading.Thread(target=other)
    working.start()
    assert run_shipped(pickle.dumps(JOB), software_versions()) == run_job(JOB)
    working.join()
    print("done")
    assert capsys.readouterr() == ("another's work\ndone\n", "")


# --- A cluster, whatever happens to it


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A scheduler without workers, which is checked for workers ten times a second."""
    pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "LOOK_S", 0.1)
    with running_cluster(tmp_path / "cluster", TASK) as found:
        yield found


@pytest.fixture
async def runner(cluster: Cluster) -> AsyncIterator[DaskRunner]:
    """Runs jobs on the cluster."""
    runner = DaskRunner(cluster.address, PlayedWorkers())
    yield runner
    await asyncio.to_thread(runner.close)


def own_jobs(runner: DaskRunner) -> int:
    """Number of jobs that the server's own workers have received."""
    assert isinstance(runner._workers, PlayedWorkers)
    return len(runner._workers.jobs)


@pytest.mark.slow
async def test_a_worker_returns_tallies_and_errors_and_writes_neither(
    cluster: Cluster, runner: DaskRunner
) -> None:
    cluster.add_held_worker(free=2)
    await _ready(cluster)
    assert await runner.capacity() == 1
    assert await runner.run(JOB) == run_job(JOB)
    with pytest.raises(UnknownEvaluatorError, match="nobody"):
        await runner.run(UNKNOWN)
    assert (len(cluster.begun), own_jobs(runner)) == (2, 0)
    assert "Compute Failed" not in _log(cluster)
    assert "run_shipped" not in _log(cluster)


@pytest.mark.slow
async def test_a_worker_that_is_killed_is_replaced_by_another(
    cluster: Cluster, runner: DaskRunner
) -> None:
    first = cluster.add_held_worker()
    await _ready(cluster)
    running = asyncio.create_task(runner.run(JOB))
    await until(lambda: bool(cluster.begun))
    cluster.add_held_worker()
    await _ready(cluster, 2)
    kill(first)
    cluster.release()
    assert await running == run_job(JOB)
    assert own_jobs(runner) == 0


@pytest.mark.slow
async def test_the_server_does_what_a_cluster_without_workers_or_scheduler_cannot(
    cluster: Cluster, runner: DaskRunner
) -> None:
    worker = cluster.add_held_worker()
    await _ready(cluster)
    running = asyncio.create_task(runner.run(JOB))
    await until(lambda: bool(cluster.begun))
    kill(worker)
    assert await running == run_job(JOB)
    assert own_jobs(runner) == 1
    kill(cluster.scheduler)
    assert await runner.run(JOB) == run_job(JOB)
    assert (own_jobs(runner), await runner.capacity()) == (2, 1)


@pytest.mark.slow
async def test_the_server_takes_over_the_jobs_of_a_scheduler_that_dies(
    cluster: Cluster, runner: DaskRunner
) -> None:
    cluster.add_held_worker()
    await _ready(cluster)
    running = asyncio.create_task(runner.run(JOB))
    await until(lambda: bool(cluster.begun))
    kill(cluster.scheduler)
    assert await running == run_job(JOB)
    assert own_jobs(runner) == 1


@pytest.mark.nightly
async def test_the_server_takes_over_the_jobs_if_there_is_no_scheduler() -> None:
    pytest.importorskip("distributed")
    runner = DaskRunner("tcp://127.0.0.1:1", PlayedWorkers())
    assert await runner.run(JOB) == run_job(JOB)
    assert own_jobs(runner) == 1


@pytest.mark.slow
async def test_the_server_takes_over_the_job_of_a_worker_of_another_version(
    cluster: Cluster, runner: DaskRunner
) -> None:
    cluster.add_worker_of_other_version()
    await _ready(cluster)
    assert await runner.run(JOB) == run_job(JOB)
    assert own_jobs(runner) == 1


@pytest.mark.nightly
async def test_a_job_that_ends_every_worker_is_not_run_by_the_server(
    cluster: Cluster, runner: DaskRunner
) -> None:
    for _ in range(5):
        cluster.add_worker("import os\nfrom vidscore_server import executors\n" + _DYING)
    await _ready(cluster, 5)
    with pytest.raises(WorkerLostError, match="several workers"):
        await runner.run(JOB)
    assert own_jobs(runner) == 0


_DYING = "executors.run_shipped = lambda *_: os._exit(1)\n"


@pytest.mark.slow
async def test_a_cancelled_caller_withdraws_its_job(cluster: Cluster, runner: DaskRunner) -> None:
    cluster.add_held_worker(free=1)
    await _ready(cluster)
    assert await runner.run(JOB) == run_job(JOB)
    running = asyncio.create_task(runner.run(JOB))
    await until(lambda: len(cluster.begun) == 2)
    running.cancel()
    await asyncio.wait([running])
    client = await runner._connected()
    await asyncio.to_thread(eventually, lambda: not any(client.processing().values()))
    assert own_jobs(runner) == 0


async def _ready(cluster: Cluster, workers: int = 1) -> None:
    """Wait until this many workers have connected to the scheduler."""
    await until(lambda: _log(cluster).count("Registered to") >= workers)


def _log(cluster: Cluster) -> str:
    return (cluster.folder / "log.txt").read_text()


# --- A hosted benchmark over it


async def _submit(organiser: Client, team: Client) -> None:
    await organiser.create_benchmark()
    await organiser.upload(truth(FRAME_COUNT))
    stream = await team.submission()
    await team.append(stream, 0, batch(range(FRAME_COUNT)))
    await team.seal(frames=FRAME_COUNT)


async def _report(organiser: Client) -> bytes:
    [score, *_] = await organiser.scores()
    return report_bytes(score.report)


@pytest.mark.parametrize(("bound", "large"), [(0, True), (1 << 20, False)])
async def test_the_executor_scores_submissions_above_a_size(
    tmp_path: Path, bound: int, *, large: bool
) -> None:
    executor = PlayedWorkers()
    async with hosting(tmp_path, executor=executor, executor_bytes=bound) as hosted:
        await _submit(hosted.organiser, hosted.red)
        await hosted.red.ended()
        assert await _report(hosted.organiser) == batch_report(FRAME_COUNT, range(FRAME_COUNT))
        assert (bool(executor.jobs), bool(hosted.workers.jobs)) == (large, not large)


@pytest.mark.slow
async def test_the_executor_rescores_submissions_of_any_size(tmp_path: Path) -> None:
    executor = PlayedWorkers()
    async with hosting(tmp_path, executor=executor) as hosted:
        await _submit(hosted.organiser, hosted.red)
        await hosted.red.ended()
        assert not executor.jobs
        before = await _report(hosted.organiser)
        await _waited(hosted.organiser, await _rescore(hosted.organiser))
        assert executor.jobs
        assert await _report(hosted.organiser) == before


@pytest.mark.nightly
async def test_a_server_killed_while_a_cluster_scores_scores_again_to_the_same_bits(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.add_held_worker()
    await _ready(cluster)
    server = KilledServer(
        tmp_path, executor=cluster.address, executor_bytes="0", lease_timeout_s="2"
    )
    try:
        await asyncio.to_thread(server.start)
        async with grpc.aio.insecure_channel(server.address) as channel:
            organiser = _client(channel, server.secret)
            await _submit(organiser, organiser)
            await until(lambda: bool(cluster.begun))
        await asyncio.to_thread(server.kill)
        cluster.release()
        await asyncio.to_thread(server.start)
        async with grpc.aio.insecure_channel(server.address) as channel:
            organiser = _client(channel, server.secret)
            async with asyncio.timeout(TIMEOUT_S):
                await organiser.ended()
            expected = batch_report(FRAME_COUNT, range(FRAME_COUNT))
            assert await _report(organiser) == expected
        assert "executor unusable" not in server.said()
    finally:
        await asyncio.to_thread(server.kill)

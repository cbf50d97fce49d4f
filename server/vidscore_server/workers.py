"""Worker processes: where scoring happens, so that it never holds up the event loop.

Each worker is an executor of one process, so that a process that dies takes one job with it and
not those of other streams. The processes are spawned, not forked: a fork of a process in which
gRPC runs can hang. They should be started before gRPC is, and warm up while the server already
answers. This module imports no gRPC, because every worker imports this module.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial

from vidscore_evaluators.errors import VidscoreError
from vidscore_evaluators.jobs import Job, run_job
from vidscore_evaluators.registry import evaluator_class, evaluator_names
from vidscore_evaluators.runtime import SPAWN, initialize_worker, sigint_blocked
from vidscore_server.errors import WorkerLostError, WorkFailedError
from vidscore_server.logs import log, places_of

ATTEMPTS = 2
"""How often a job is tried whose worker dies; after that the job itself is the likely cause."""


class WorkerPool:
    """Runs jobs in worker processes.

    Args:
        worker_count: Processes; 0 for as many as the machine has cores.
    """

    def __init__(self, worker_count: int = 0) -> None:
        """Spawn the processes; they warm up by themselves."""
        count = worker_count or os.cpu_count() or 1
        self._workers = [_Worker() for _ in range(count)]
        self._closed = False
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        for worker in self._workers:
            self._idle.put_nowait(worker)

    @property
    def process_ids(self) -> list[int]:
        """Process of each worker that has started."""
        return [worker.process_id for worker in self._workers if worker.process_id is not None]

    @property
    def busy_count(self) -> int:
        """Workers that have something to do."""
        return len(self._workers) - self._idle.qsize()

    async def run(self, job: Job) -> bytes:
        """Run a job and give its tally as bytes.

        Raises:
            VidscoreError: As the job raised it.
            WorkerLostError: If the worker died, and so did the one that tried again.
            WorkFailedError: If the job ended in an unexpected error.
        """
        loop = asyncio.get_running_loop()
        for _ in range(ATTEMPTS):
            worker = await self._idle.get()
            future = worker.submit(job)
            # Even a caller that is cancelled leaves its worker busy until the job has ended.
            future.add_done_callback(partial(_call_soon, loop, self._take_back, worker))
            try:
                return await asyncio.wrap_future(future)
            except BrokenProcessPool:
                log(logging.ERROR, "worker died", evaluator=job.evaluator)
        raise WorkerLostError(
            f"the work for {job.evaluator} ended {ATTEMPTS} worker processes; it is not tried again"
        )

    def close(self) -> None:
        """End all processes, whatever they do."""
        self._closed = True
        for worker in self._workers:
            worker.close()

    def _take_back(self, worker: _Worker, future: Future[bytes]) -> None:
        if self._closed:
            return
        if not future.cancelled() and isinstance(future.exception(), BrokenProcessPool):
            worker.replace()
        self._idle.put_nowait(worker)


class _Worker:
    """One process, and the next one when it dies."""

    def __init__(self) -> None:
        self._start()

    @property
    def process_id(self) -> int | None:
        """Its process, once it has started."""
        started = self._started
        if not started.done() or started.cancelled() or started.exception() is not None:
            return None
        return started.result()

    def submit(self, job: Job) -> Future[bytes]:
        try:
            return self._executor.submit(_run, job)
        except BrokenProcessPool:
            # It died while it had nothing to do, which is not this job's fault.
            self.replace()
            return self._executor.submit(_run, job)

    def replace(self) -> None:
        self._executor.shutdown(wait=False)
        self._start()

    def close(self) -> None:
        if self.process_id is not None:
            with suppress(ProcessLookupError):
                os.kill(self.process_id, signal.SIGKILL)
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _start(self) -> None:
        self._executor = ProcessPoolExecutor(
            max_workers=1,
            mp_context=SPAWN,
            initializer=initialize_worker,
        )
        with sigint_blocked():
            self._started = self._executor.submit(os.getpid)
        self._started.add_done_callback(_log_started)
        self._executor.submit(_warm_up)


def _call_soon(
    loop: asyncio.AbstractEventLoop,
    take_back: Callable[[_Worker, Future[bytes]], None],
    worker: _Worker,
    future: Future[bytes],
) -> None:
    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(take_back, worker, future)


def _log_started(started: Future[int]) -> None:
    if not started.cancelled() and started.exception() is None:
        log(logging.INFO, "worker started", process_id=started.result())


def _warm_up() -> None:
    """Import what every job needs."""
    for name in evaluator_names():
        evaluator_class(name)


def _run(job: Job) -> bytes:
    try:
        return run_job(job)
    except VidscoreError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, only its place may go back
        # An error's text may quote the data, and a traceback shows it: only places go back.
        raise WorkFailedError(places_of(error)) from None

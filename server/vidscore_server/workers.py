"""Worker processes of the server: a pool that scores.

Scoring runs in processes, so that it never blocks the event loop; only work that is as short as
handing it over runs in the loop. The processes are spawned, not forked, because a fork of a process
that runs gRPC can hang. They end with the server, however it ends. This module imports no gRPC,
because every process imports this module.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from vidscore_evaluators.errors import VidscoreError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.jobs import Job, run_job, run_outcome_job
from vidscore_evaluators.outcome_table import OperatingPoint, Outcomes
from vidscore_evaluators.registry import usable_evaluators
from vidscore_evaluators.runtime import initialize_worker, process_pool, terminal_signals_blocked
from vidscore_server.errors import WorkerLostError, WorkFailedError
from vidscore_server.logs import log, places_of
from vidscore_server.runtime import end_first, print_nothing

if TYPE_CHECKING:
    from vidscore_evaluators.arrays import FloatArray
    from vidscore_evaluators.tally import Tally
    from vidscore_evaluators.trust.tiers import DrawsJob

ATTEMPTS = 2
"""Maximum attempts at a job whose worker dies; then the job itself is the likely cause."""

ABANDONED_S = 30.0
"""Time after which a job that nobody waits for any more is ended with its process: it may never
return, and starting another process costs a second."""

REFUSED_PAUSE_S = 5.0
"""Pause after the system has refused a process: at once, it would most likely refuse it again."""

START_S = 60.0
"""Time for a process to start, after which it is replaced: its pool may have no thread for it."""

NICENESS = 10
"""POSIX niceness of analyses and large scorings, which yield to work that clients wait for."""

_NOT_STARTED = (OSError, RuntimeError)
"""Errors if the system refuses a process or a thread: at a limit, or without memory."""

Result = TypeVar("Result")
AnyJob = TypeVar("AnyJob", "Job", "DrawsJob")


class WorkerPool:
    """Runs jobs in worker processes.

    Each worker is an executor of one process, so that a dying process loses one job and not those
    of other streams. The first worker starts at once and warms up while the server already answers;
    the others start when all started ones are busy.

    Args:
        worker_count: Number of processes; 0 for one per core.
        niceness: POSIX niceness of the processes.
    """

    def __init__(self, worker_count: int = 0, niceness: int = 0) -> None:
        count = worker_count or os.cpu_count() or 1
        self._workers = [_Worker(niceness) for _ in range(count)]
        self._closed = False
        # Last in, first out: started workers are used before others.
        self._idle: asyncio.Queue[_Worker] = asyncio.LifoQueue()
        for worker in reversed(self._workers):
            self._idle.put_nowait(worker)
        self._sparing = asyncio.Semaphore(max(1, count - 1))
        self._workers[0].start()

    @property
    def process_ids(self) -> list[int]:
        """Process ids of the started workers."""
        return [worker.process_id for worker in self._workers if worker.process_id is not None]

    @property
    def busy_count(self) -> int:
        """Number of busy workers."""
        return len(self._workers) - self._idle.qsize()

    async def capacity(self) -> int:
        """Number of workers."""
        return len(self._workers)

    async def run(self, job: Job) -> bytes:
        """Run a job and return its tally as bytes.

        Raises:
            VidscoreError: Raised by the job.
            WorkerLostError: If the worker died, and so did the one that retried the job; or if no
                worker can be started.
            WorkFailedError: If the job ended in an unexpected error.
        """
        return await self.work(job, run_job)

    async def run_sparing(self, job: Job) -> bytes:
        """As `run`, but such jobs leave one worker to all others, if there are several."""
        return await self.work(job, run_job, spares_one=True)

    def run_here(self, job: Job, evaluator: Evaluator[Any]) -> Tally:
        """Run a job in this process, if it is so small that handing it over would take longer.

        Args:
            job: The job.
            evaluator: Its evaluator, which need not be rebuilt here.

        Raises:
            VidscoreError: Raised by the job.
            WorkFailedError: If the job ended in an unexpected error.
        """
        return _run_job(job, lambda job: evaluator.tally(job.truth, job.detections))

    async def outcomes(self, job: Job, at: OperatingPoint) -> Outcomes:
        """Compute the outcomes of a job; raises as `run` does."""
        return await self.work(job, partial(run_outcome_job, at=at))

    async def draws(self, job: DrawsJob) -> FloatArray:
        """Score a system on draws of sequences; raises as `run` does."""
        return await self.work(job, _run_draws)

    async def work(
        self,
        job: AnyJob,
        work: Callable[[AnyJob], Result],
        *,
        timeout_s: float | None = None,
        spares_one: bool = False,
    ) -> Result:
        """Call a function with a job, in a worker.

        Args:
            job: The job.
            work: The function.
            timeout_s: Maximum time in the worker; waiting for one does not count. None for no
                bound.
            spares_one: Whether such jobs leave one worker to all others.

        Raises:
            TimeoutError: If it takes longer.
            VidscoreError: And the other errors of `run`.
        """
        loop = asyncio.get_running_loop()
        for _ in range(ATTEMPTS):
            worker = await self._next(spares_one=spares_one)
            try:
                future = worker.submit(job, work)
            except _NOT_STARTED as error:
                self._give_back(worker)
                log(logging.ERROR, "worker cannot be started", reason=str(error))
                await asyncio.sleep(REFUSED_PAUSE_S)
                continue
            future.add_done_callback(partial(_call_soon, loop, self._take_back, worker))
            starting = loop.call_later(START_S, worker.require_start, future)
            future.add_done_callback(partial(_cancel_soon, loop, starting))
            try:
                async with asyncio.timeout(None) as limit:
                    if timeout_s is not None:
                        worker.call_when_ready(partial(_limit_soon, loop, limit, timeout_s))
                    return await asyncio.wrap_future(future)
            except BrokenProcessPool:
                log(logging.ERROR, "worker died", evaluator=job.evaluator)
            except TimeoutError:
                worker.abandon(future)
                raise
            except asyncio.CancelledError:
                # The worker stays busy until the job has ended.
                ending = loop.call_later(ABANDONED_S, worker.abandon, future)
                # Otherwise the timer would keep the result.
                future.add_done_callback(partial(_cancel_soon, loop, ending))
                raise
        raise WorkerLostError(
            f"the work for {job.evaluator} lost {ATTEMPTS} worker processes; it is not retried"
        )

    def close(self) -> None:
        """Kill all processes."""
        self._closed = True
        for worker in self._workers:
            worker.close()

    async def _next(self, *, spares_one: bool) -> _Worker:
        """Wait for an idle worker."""
        if not spares_one:
            return await self._idle.get()
        await self._sparing.acquire()
        try:
            worker = await self._idle.get()
        except asyncio.CancelledError:
            self._sparing.release()
            raise
        worker.spares_one = True
        return worker

    def _take_back(self, worker: _Worker, future: Future[Any]) -> None:
        if self._closed:
            return
        if not future.cancelled() and isinstance(future.exception(), BrokenProcessPool):
            with suppress(*_NOT_STARTED):  # its next job starts it
                worker.replace()
        self._give_back(worker)

    def _give_back(self, worker: _Worker) -> None:
        if worker.spares_one:
            worker.spares_one = False
            self._sparing.release()
        self._idle.put_nowait(worker)


class _Worker:
    """One process, replaced when it dies; it starts with its first job, or earlier.

    Attributes:
        spares_one: Whether its job is one of those that leave a worker to others.
    """

    def __init__(self, niceness: int) -> None:
        self.spares_one = False
        self._niceness = niceness
        self._executor: ProcessPoolExecutor | None = None
        self._started: Future[int] = Future()
        self._ready: Future[None] = Future()

    @property
    def process_id(self) -> int | None:
        """Its process, once it has started."""
        started = self._started
        if not started.done() or started.cancelled() or started.exception() is not None:
            return None
        return started.result()

    def submit(self, job: AnyJob, work: Callable[[AnyJob], Result]) -> Future[Result]:
        executor = self._executor or self.start()
        try:
            return executor.submit(_run_job, job, work)
        except BrokenProcessPool:
            # It died while it was idle, so this job is not the cause.
            return self.replace().submit(_run_job, job, work)

    def start(self) -> ProcessPoolExecutor:
        """Start the process, which then imports the modules that every job needs."""
        executor = process_pool(1, _initialize, self._niceness)
        with terminal_signals_blocked():
            self._started = executor.submit(os.getpid)
        self._started.add_done_callback(_log_started)
        self._ready = executor.submit(_warm_up)
        self._executor = executor
        return executor

    def call_when_ready(self, function: Callable[[object], None]) -> None:
        """Call a function once the process has started, and works on jobs."""
        self._ready.add_done_callback(function)

    def replace(self) -> ProcessPoolExecutor:
        if (executor := self._end()) is not None:
            executor.shutdown(wait=False)
        return self.start()

    def require_start(self, future: Future[Any]) -> None:
        """Fail a job, so that the process is replaced, if it has not started."""
        if self.process_id is None:
            with suppress(InvalidStateError):  # it has ended
                future.set_exception(BrokenProcessPool("the process has not started"))

    def abandon(self, future: Future[Any]) -> None:
        """Kill the process if its job has not ended; it is then replaced."""
        if not future.done():
            self._kill()

    def close(self) -> None:
        if (executor := self._end()) is not None:
            executor.shutdown(wait=True, cancel_futures=True)

    def _end(self) -> ProcessPoolExecutor | None:
        """Kill the process; a later job starts another one. Returns its executor."""
        self._kill()
        executor, self._executor = self._executor, None
        return executor

    def _kill(self) -> None:
        """Kill the process, even if it has not started to work."""
        if self._executor is not None:
            # Before Python 3.14, an executor has no function for it.
            for process in [*self._executor._processes.values()]:  # noqa: SLF001
                process.kill()


def _call_soon(
    loop: asyncio.AbstractEventLoop,
    take_back: Callable[[_Worker, Future[Any]], None],
    worker: _Worker,
    future: Future[Any],
) -> None:
    with suppress(RuntimeError):  # the event loop is closed
        loop.call_soon_threadsafe(take_back, worker, future)


def _limit_soon(
    loop: asyncio.AbstractEventLoop, limit: asyncio.Timeout, timeout_s: float, _: object
) -> None:
    with suppress(RuntimeError):  # as above
        loop.call_soon_threadsafe(_limit, loop, limit, timeout_s)


def _limit(loop: asyncio.AbstractEventLoop, limit: asyncio.Timeout, timeout_s: float) -> None:
    with suppress(RuntimeError):  # the job has ended
        limit.reschedule(loop.time() + timeout_s)


def _cancel_soon(loop: asyncio.AbstractEventLoop, timer: asyncio.TimerHandle, _: object) -> None:
    with suppress(RuntimeError):  # as above
        loop.call_soon_threadsafe(timer.cancel)


def _log_started(started: Future[int]) -> None:
    if not started.cancelled() and started.exception() is None:
        log(logging.INFO, "worker started", process_id=started.result())


def _initialize(niceness: int) -> None:
    initialize_worker()
    os.nice(niceness)
    print_nothing()
    end_first(500)  # larger programs beside vidscore still end first


def _warm_up() -> None:
    list(usable_evaluators())


def _run_draws(job: DrawsJob) -> FloatArray:
    from vidscore_evaluators.trust.tiers import run_draws_job  # noqa: PLC0415 - few servers need it

    return run_draws_job(job)


def run_guarded(job: Job) -> bytes:
    """Run a job and return its tally as bytes; errors reveal none of the data.

    Raises:
        VidscoreError: Raised by the job.
        WorkFailedError: If it ended in an unexpected error.
    """
    return _run_job(job, run_job)


def _run_job(job: AnyJob, work: Callable[[AnyJob], Result]) -> Result:
    try:
        return work(job)
    except VidscoreError:
        raise
    except BaseException as error:  # noqa: BLE001 - a plug-in may call `sys.exit`, too
        # Text and traceback of an error may show hidden data, so only places leave the process.
        raise WorkFailedError(places_of(error)) from None

"""Executors of a server's large work: its own workers, extra processes, or a Dask cluster.

A job gives the same bytes of a tally wherever it runs. If a cluster cannot run it, because it is
unreachable, loses its workers or has other versions, the server's own workers run it.

A job reaches a worker of the cluster as bytes, and an error comes back as a result, so that Dask's
logs and dashboard show none of the data.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import sys
import time
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from vidscore_evaluators.errors import EvaluatorVersionError, MissingExtraError
from vidscore_evaluators.installed import software_versions
from vidscore_evaluators.jobs import Job
from vidscore_server.errors import WorkerLostError
from vidscore_server.logs import log
from vidscore_server.settings import Settings
from vidscore_server.workers import NICENESS, WorkerPool, run_guarded

if TYPE_CHECKING:
    from distributed import Client

CONNECT_TIMEOUT_S = 5
"""Time for a scheduler to answer."""

RETRY_S = 30.0
"""Time after which a cluster that could not be used is tried again."""

LOOK_S = 2.0
"""Interval of checks whether a cluster still has workers."""

Shipped = bytes | Exception
"""A tally, or an error instead."""


class JobRunner(Protocol):
    """Runs jobs somewhere."""

    async def capacity(self) -> int:
        """Number of jobs that run at once."""

    async def run(self, job: Job) -> bytes:
        """Run a job and return its tally as bytes; raises as `WorkerPool.run` does."""

    def close(self) -> None:
        """Stop running jobs."""


def require_executor(settings: Settings) -> None:
    """Import what the executor of the settings needs, which few servers do.

    Raises:
        MissingExtraError: If it is a cluster and Dask is not installed.
    """
    if settings.executor in {"none", "processes"}:
        return
    try:
        import distributed  # noqa: F401, PLC0415 - see above
    except ImportError:
        raise MissingExtraError("executors of Dask", "distributed", "dask") from None


def open_executor(settings: Settings, workers: WorkerPool) -> JobRunner:
    """The executor of large work that the settings select.

    Args:
        settings: The server's settings.
        workers: The server's workers.
    """
    if settings.executor == "none":
        return workers
    if settings.executor == "processes":
        return WorkerPool(settings.workers, niceness=NICENESS)
    return DaskRunner(settings.executor, workers)


class _UnusableError(Exception):
    """The cluster cannot be used now."""


class DaskRunner:
    """Runs jobs on a cluster; those that it cannot run, on the server's own workers.

    Args:
        address: Address of the scheduler.
        workers: The server's workers.
    """

    def __init__(self, address: str, workers: WorkerPool) -> None:
        self._address = address
        self._workers = workers
        self._client: Client | None = None
        self._connecting = asyncio.Lock()
        self._unusable_until_s = 0.0
        self._looking = asyncio.Lock()
        self._threads, self._looked_s = 0, -LOOK_S

    async def capacity(self) -> int:
        """Threads of the cluster's workers; without a cluster, the server's workers."""
        try:
            return await self._thread_count(await self._connected())
        except _UnusableError:
            return await self._workers.capacity()

    async def run(self, job: Job) -> bytes:
        """Run a job and return its tally as bytes.

        Raises:
            VidscoreError: Raised by the job.
            WorkerLostError: If the job killed several workers.
            WorkFailedError: If the job ended in an unexpected error.
        """
        try:
            found = await self._ship(job)
            if isinstance(found, EvaluatorVersionError):
                raise _UnusableError(str(found))
        except _UnusableError as error:
            self._leave_alone(str(error))
            return await self._workers.run(job)
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None:
        """Disconnect from the cluster, which drops this server's jobs."""
        client, self._client = self._client, None
        if client is not None:
            client.close(timeout=CONNECT_TIMEOUT_S)

    async def _ship(self, job: Job) -> Shipped:
        client = await self._connected()
        # In a thread, because the bytes may be megabytes.
        running = asyncio.wrap_future(await asyncio.to_thread(_submit, client, job))
        try:
            while not running.done():
                await asyncio.wait([running], timeout=LOOK_S)
                if not running.done():
                    await self._thread_count(client)
        finally:
            running.cancel()
        if running.cancelled():
            raise _UnusableError("the scheduler is lost")
        error = running.exception()
        if error is None:
            return running.result()
        if isinstance(error, _killed_worker()):
            raise WorkerLostError(
                f"the work for {job.evaluator} ended several workers of the cluster"
            ) from None
        raise _UnusableError(type(error).__name__)

    async def _connected(self) -> Client:
        async with self._connecting:
            if self._client is not None and self._client.status == "running":
                return self._client
            if time.monotonic() < self._unusable_until_s:
                raise _UnusableError("")
            try:
                self._client = await asyncio.to_thread(_connect, self._address)
            except (OSError, TimeoutError) as error:
                raise _UnusableError(f"no connection: {type(error).__name__}") from None
            log(logging.INFO, "executor connected", address=self._address)
            return self._client

    async def _thread_count(self, client: Client) -> int:
        async with self._looking:
            if time.monotonic() - self._looked_s >= LOOK_S / 2:
                try:
                    threads = await asyncio.to_thread(client.nthreads)
                except (OSError, TimeoutError):
                    raise _UnusableError("the scheduler is lost") from None
                self._threads, self._looked_s = sum(threads.values()), time.monotonic()
        if not self._threads:
            raise _UnusableError("it has no workers")
        return self._threads

    def _leave_alone(self, why: str) -> None:
        """Do not use the cluster for a while."""
        if time.monotonic() >= self._unusable_until_s:
            self._unusable_until_s = time.monotonic() + RETRY_S
            log(logging.ERROR, "executor unusable", address=self._address, reason=why)


def run_shipped(data: bytes, software: Mapping[str, str]) -> Shipped:
    """Run a job, in a worker of a cluster.

    Args:
        data: The job.
        software: Versions that it needs.

    Returns:
        The bytes of its tally, or the error.
    """
    here = software_versions()
    if here != dict(software):
        found, wanted = (
            ", ".join(f"{name} {version}" for name, version in versions.items())
            for versions in (here, software)
        )
        return EvaluatorVersionError(f"a worker has {found}; the scoring needs {wanted}")
    _mute_here()
    token = _muted.set(True)
    try:
        return run_guarded(pickle.loads(data))  # noqa: S301 - what a server has written
    except Exception as error:  # noqa: BLE001 - Dask would log what it was given
        return error
    finally:
        _muted.reset(token)


_muted: ContextVar[bool] = ContextVar("muted", default=False)


class _Output:
    """A standard stream that drops what our jobs print; a worker also does the work of others."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return len(text) if _muted.get() else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _mute_here() -> None:
    for name in ("stdout", "stderr"):
        if not isinstance(stream := getattr(sys, name), _Output):
            setattr(sys, name, _Output(stream))


def _connect(address: str) -> Client:
    import dask  # noqa: PLC0415 - few servers need it
    from distributed import Client  # noqa: PLC0415 - few servers need it

    # A loss is logged in one line, and jobs are as large as the parts of a scoring.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    dask.config.set(
        {
            "distributed.admin.large-graph-warning-threshold": "1GiB",
            "distributed.comm.timeouts.connect": f"{CONNECT_TIMEOUT_S}s",
        }
    )
    return Client(address, timeout=CONNECT_TIMEOUT_S, set_as_default=False)


def _killed_worker() -> type[Exception]:
    from distributed import KilledWorker  # noqa: PLC0415 - few servers need it

    return KilledWorker


def _submit(client: Client, job: Job) -> Future[Shipped]:
    executor: Executor = client.get_executor(pure=False)
    data = pickle.dumps(job, protocol=pickle.HIGHEST_PROTOCOL)
    return executor.submit(run_shipped, data, software_versions())

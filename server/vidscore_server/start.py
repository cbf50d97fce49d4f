"""The process of a server: it opens the store, spawns workers, serves until a signal, and ends."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from vidscore_evaluators.runtime import ending_signals
from vidscore_server.addresses import ListenAddress
from vidscore_server.application import ScoringServer
from vidscore_server.executors import JobRunner, open_executor, require_executor
from vidscore_server.logs import configure_logging, log
from vidscore_server.settings import Settings
from vidscore_server.store import SqlStore, open_store
from vidscore_server.workers import WorkerPool

GARBAGE_THRESHOLD = 20_000
"""Allocations before a garbage collection: Python's default of 700 would collect again and again
while a thousand batches are pending."""

SWITCH_INTERVAL_S = 0.001
"""Time after which a thread yields the GIL to the event loop; Python's default is 5 ms."""

ENDING_S = 5.0
"""Time for threads to end after the server has stopped; then the process ends without them."""

MMAP_THRESHOLD_BYTES = 1 << 18
"""Allocations of at least this size are mapped, and return to the system when freed."""

MAX_ARENAS = 2

# Of <malloc.h>.
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8

Ready = Callable[[ListenAddress, str], None]
"""Called with the address of the server, and the address of its site, or an empty text."""


async def serve(
    settings: Settings,
    workers: WorkerPool,
    ready: Ready,
    store: SqlStore | None = None,
    executor: JobRunner | None = None,
) -> None:
    """Serve until a signal arrives or the store is lost.

    SIGTERM, SIGINT and SIGHUP drain open streams; a second SIGTERM or SIGINT ends them at once.

    Args:
        settings: Settings.
        workers: Worker processes.
        store: The store of hosted benchmarks.
        ready: Called once the server listens.
        executor: Runs large scorings; by default, the workers.

    Raises:
        ListenError: If the server cannot listen at the address.
        SettingsError: If the TLS files cannot be read.
        StoreLostError: If the store takes no more writes.
    """
    stopping = asyncio.Event()

    def stop() -> None:
        if stopping.is_set():
            server.sessions.expire()
        stopping.set()

    def hang_up(*_: object) -> None:
        # A closed terminal sends its signal twice: from the kernel and from the shell. The second
        # one may come after the event loop has ended.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        loop.call_soon_threadsafe(stopping.set)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    if signal.SIGHUP in ending_signals():
        signal.signal(signal.SIGHUP, hang_up)
    # From here on signals only call back: an exception in gRPC's constructor would crash Python.
    server = ScoringServer(settings, workers, store, executor=executor)
    gc.freeze()  # loaded modules stay for good
    address = await server.start()
    tls = bool(settings.tls_certificate_file)
    log(logging.INFO, "listening", address=str(address), tls=tls)
    if server.site_url:
        log(logging.INFO, "site", address=server.site_url)
    ready(address, server.site_url)
    lost = None if store is None else store.lost
    if lost is not None:
        lost.add_done_callback(lambda _: loop.call_soon_threadsafe(stopping.set))
    await stopping.wait()
    log(logging.INFO, "draining", open_streams=server.sessions.open_count)
    gone = lost is not None and lost.done()
    await server.stop(0 if gone else settings.drain_timeout_s)
    log(logging.INFO, "stopped")
    if lost is not None and gone:
        raise lost.result()


def run(settings: Settings, ready: Ready = lambda _, __: None) -> None:
    """Serve in this process until a signal ends it.

    Args:
        settings: Settings.
        ready: Called once the server listens.

    Raises:
        MissingExtraError: If the settings need a package that is not installed.
        ListenError: If the server cannot listen at the address.
        SettingsError: If the TLS files cannot be read.
        StoreError: If the store cannot be opened, or is lost.
    """
    require_extras(settings)
    tune_malloc()
    raise_file_limit()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    gc.set_threshold(GARBAGE_THRESHOLD)
    configure_logging(settings.log_level, settings.log_format)
    store = (
        open_store(settings.store, settings.store_connections, must_exist=True)
        if settings.store
        else None
    )
    workers = WorkerPool(settings.workers)
    executor = open_executor(settings, workers)
    try:
        asyncio.run(_serve_and_end(settings, workers, ready, store, executor))
    finally:
        executor.close()
        workers.close()
        if store is not None:
            store.close()


async def _serve_and_end(
    settings: Settings,
    workers: WorkerPool,
    ready: Ready,
    store: SqlStore | None,
    executor: JobRunner,
) -> None:
    """Serve, and end the process soon after that, even if a thread never returns.

    Python waits for the threads of the event loop. One may be in a plug-in, or wait for a database
    that is away. Everything that was acknowledged is durable by then.
    """
    code = 1
    try:
        await serve(settings, workers, ready, store, executor)
        code = 0
    finally:
        ending = threading.Timer(ENDING_S, os._exit, (code,))
        ending.daemon = True
        ending.start()


def require_extras(settings: Settings) -> None:
    """Import what only some servers need, so that nothing is started if it is not there.

    Raises:
        MissingExtraError: If a package is not installed.
    """
    if settings.web:
        import vidscore_server.hosted_site  # noqa: F401, PLC0415 - see above
    require_executor(settings)


def raise_file_limit() -> None:
    """Allow as many files and connections as the system permits.

    The soft limit is often 1,024; a thousand connections use it up, and then no call comes in.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError):  # macOS and some containers name a hard limit that they do not allow
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def tune_malloc() -> None:
    """Make glibc return freed memory to the system; other C libraries are not changed.

    glibc keeps freed memory in one arena per thread, from which it allocates ever larger pieces:
    with messages and columns of megabytes, a server held several times the memory in use.
    """
    tune = getattr(ctypes.CDLL(None), "mallopt", None)
    if tune is not None:
        tune(_M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES)
        tune(_M_TRIM_THRESHOLD, MMAP_THRESHOLD_BYTES)
        tune(_M_ARENA_MAX, MAX_ARENAS)

"""Processes, threads, interrupts and memory of the process that scores.

- `SpawnedPool` and `map_in_order`: worker processes that end with their parent, ignore what its
  terminal sends and give results in order.
- `map_threads`: an ordered, bounded thread map for work that releases the GIL.
- `terminal_signals_blocked`: SIGINT and SIGHUP are blocked in children and deferred in the parent.
- `ending_signals`: what ends a process in order.
- `tune_malloc`: for processes of our own; nothing calls it on import.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
    from multiprocessing.context import SpawnContext

Item = TypeVar("Item")
Result = TypeVar("Result")

_NO_SEMAPHORES = {errno.EROFS, errno.ENOSPC, errno.EACCES, errno.ENOENT, errno.ENOSYS}

_ABOUT_SEMAPHORES = (
    "worker processes need semaphores, which Linux keeps in /dev/shm: mount it as a tmpfs with "
    "room that this user may write to (in Docker, without --ipc=none)"
)

Progress = Callable[[int, int], None]
"""Called with (items done, items in all)."""

MAX_THREADS = 4
"""More threads would contend for the GIL."""

_HAS_POSIX_SIGNALS = hasattr(signal, "pthread_sigmask")  # Windows has not

# Option numbers of <malloc.h>.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3

MMAP_THRESHOLD_BYTES = 32 << 20
"""Larger arrays are returned to the system when they are freed; glibc allows no larger value."""

TRIM_THRESHOLD_BYTES = 256 << 20
"""Free memory kept at the top of the heap."""


class SpawnedPool:
    """A process pool for a `with` block; its workers end with their parent and ignore its terminal.

    Leaving the block cancels work that has not begun and waits for the rest.
    """

    def __init__(self, workers: int) -> None:
        self._executor = process_pool(workers, initialize_worker)

    def __enter__(self) -> Self:
        """Return the pool; processes start with the first work."""
        return self

    def __exit__(self, *_: object) -> None:
        """Cancel what has not begun and wait for the rest."""
        self._executor.shutdown(cancel_futures=True)

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply a function to every item; results come in the order of the items.

        Args:
            work: A module-level function, so that another process can import it.
            items: Its arguments; all are submitted at once.
        """
        with terminal_signals_blocked():
            return self._executor.map(work, items)


def process_pool(
    workers: int, initializer: Callable[..., None], *arguments: object
) -> ProcessPoolExecutor:
    """A pool of spawned processes, which start with the first work.

    Args:
        workers: Number of processes.
        initializer: Called in each process first.
        arguments: Its arguments.

    Raises:
        OSError: If the system lacks what processes share; the message says what to do.
    """
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - as in spawn_context

    try:
        return ProcessPoolExecutor(
            workers, mp_context=spawn_context(), initializer=initializer, initargs=arguments
        )
    except OSError as error:
        if error.errno not in _NO_SEMAPHORES:
            raise
        raise OSError(error.errno, f"{error.strerror}: {_ABOUT_SEMAPHORES}") from error


def spawn_context() -> SpawnContext:
    """The context that spawns processes; a fork of a process with gRPC's threads can hang."""
    # Slow to import, and one process is enough for most scores.
    import multiprocessing  # noqa: PLC0415
    from multiprocessing import resource_tracker  # noqa: PLC0415

    if _HAS_POSIX_SIGNALS:
        # Now, because it ignores SIGINT alone, and because its start unblocks that in the thread
        # that needs it first.
        with terminal_signals_blocked():
            resource_tracker.ensure_running()
    return multiprocessing.get_context("spawn")


def map_in_order(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    workers: int,
    progress: Progress | None = None,
) -> list[Result]:
    """Apply a function to every item, in this process or in several.

    Args:
        work: A module-level function, so that another process can import it.
        items: Its arguments.
        workers: Number of processes; 1 for this process alone.
        progress: Called after each item.

    Returns:
        Results in the order of the items, whatever `workers` is.

    Raises:
        ValueError: If `workers` is below 1.
    """
    if workers < 1:
        raise ValueError(f"at least 1 worker is needed, not {workers}")
    if workers == 1 or len(items) < 2:
        return _gather(map(work, items), len(items), progress)
    with SpawnedPool(workers) as pool:
        return _gather(pool.map(work, items), len(items), progress)


def initialize_worker() -> None:
    """Set up a worker process, so that it exits when its parent ends for any reason."""
    tune_malloc()
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def thread_count() -> int:
    """Number of threads that `map_threads` uses."""
    return min(MAX_THREADS, os.cpu_count() or 1)


def map_threads(
    work: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Callable[[], Result]]:
    """Apply a function to every item in a few threads; in this thread if there is one processor.

    Args:
        work: The function; it must not call `map_threads` itself, which would deadlock.
        items: Its arguments; one is taken when a thread is free or about to be free.

    Yields:
        For each item, in order, a function that returns the result or raises the error.
    """
    count = thread_count()
    if count == 1:
        yield from (partial(work, item) for item in items)
        return
    threads = _threads(count, os.getpid())
    pending: deque[Future[Result]] = deque()
    for item in items:
        pending.append(threads.submit(work, item))
        if len(pending) > count:
            yield pending.popleft().result  # not kept once yielded: a result may be large
    while pending:
        yield pending.popleft().result


def side_by_side(first: Callable[[], Item], second: Callable[[], Result]) -> tuple[Item, Result]:
    """Run two functions at once, the second in another thread.

    Returns:
        Both results; an error is raised after both have ended.
    """
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - as in spawn_context

    with ThreadPoolExecutor(1) as thread:
        later = thread.submit(second)
        return first(), later.result()


@contextmanager
def terminal_signals_blocked() -> Iterator[None]:
    """Block a terminal's signals in processes started here, and defer them in this one to the end.

    A terminal sends Ctrl-C, and SIGHUP when it is closed, to every process in the foreground,
    workers included. Only the process that started them should act on it; a worker interrupted
    during its imports would print a meaningless traceback. Does nothing on systems without POSIX
    signals.
    """
    if not _HAS_POSIX_SIGNALS:
        yield
        return
    # A blocked signal stays blocked in the processes that start here.
    numbers = (signal.SIGINT, signal.SIGHUP)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        with _deferred(numbers):
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ending_signals() -> list[signal.Signals]:
    """SIGTERM of a service manager; SIGHUP of a closed terminal, unless `nohup` has it ignored."""
    hang_up = getattr(signal, "SIGHUP", None)  # Windows has none
    if hang_up is None or signal.getsignal(hang_up) is signal.SIG_IGN:
        return [signal.SIGTERM]
    return [signal.SIGTERM, hang_up]


def tune_malloc() -> bool:
    """Keep freed arrays in this process for reuse; returns whether the C library supports it.

    glibc returns large arrays to the system as soon as they are freed. Each new one then costs a
    page fault per 4 KiB, which takes a fifth of the time of scoring files. The setting affects the
    whole process, so only processes of our own call this: the command line, servers and workers.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except AttributeError:  # not glibc
        return False
    options = (
        (_M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES),
        (_M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES),
    )
    return all(set_option(option, value) for option, value in options)


def _exit_with_parent() -> None:
    import multiprocessing  # noqa: PLC0415 - as in spawn_context

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _gather(results: Iterable[Result], count: int, progress: Progress | None) -> list[Result]:
    gathered = []
    for result in results:
        gathered.append(result)
        if progress is not None:
            progress(len(gathered), count)
    return gathered


@cache
def _threads(count: int, _process: int) -> ThreadPoolExecutor:
    # One per process: a fork has its parent's pool, but none of its threads. It is never shut down:
    # the garbage collector would do that wherever a `map_threads` was abandoned, in any thread,
    # even while that thread starts another one, and would wait for itself forever.
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - as in spawn_context

    return ThreadPoolExecutor(count, "map-threads")


@contextmanager
def _deferred(numbers: Iterable[signal.Signals]) -> Iterator[None]:
    """Defer signals that another thread receives until the end of the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def keep(number: int, _frame: object) -> None:
        received.append(number)

    before = {number: signal.signal(number, keep) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
        for late in received:
            signal.raise_signal(late)

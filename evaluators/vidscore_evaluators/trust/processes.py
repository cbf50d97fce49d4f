"""Work for several processes, with results in order, and progress."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

from vidscore_evaluators.interrupts import interrupts_held_back
from vidscore_evaluators.jobs import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_order(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> list[Result]:
    """Do the same to every item.

    Args:
        work: What to do; a function of a module, so that another process finds it.
        items: What to do it to.
        workers: Processes to use; 1 for this one alone.
        progress: Called with (items done, items in all).

    Returns:
        Results in the order of the items, whatever `workers` is.

    Raises:
        ValueError: If `workers` is below 1.
    """
    if workers < 1:
        raise ValueError(f"at least 1 worker is needed, not {workers}")
    if workers == 1:
        return _gather(map(work, items), len(items), progress)
    # Spawned, not forked: a fork of a process with running gRPC threads can hang.
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    try:
        with interrupts_held_back():
            results = pool.map(work, items)
        return _gather(results, len(items), progress)
    finally:
        pool.shutdown(cancel_futures=True)


def _gather(results: Iterable[Result], count: int, progress: Progress | None) -> list[Result]:
    gathered = []
    for result in results:
        gathered.append(result)
        if progress is not None:
            progress(len(gathered), count)
    return gathered

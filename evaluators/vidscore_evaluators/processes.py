"""Work for several processes: started without harm, ended with their parent, results in order."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Self, TypeVar

from vidscore_evaluators.interrupts import interrupts_held_back

Item = TypeVar("Item")
Result = TypeVar("Result")

Progress = Callable[[int, int], None]
"""Called with (pieces of work done, pieces in all)."""

SPAWN = multiprocessing.get_context("spawn")
"""Processes are spawned, not forked: a fork of a process with running gRPC threads can hang."""


class SpawnedPool:
    """Processes for the length of a block; a Ctrl-C does not reach them, work that waits is left.

    Args:
        workers: How many.
    """

    def __init__(self, workers: int) -> None:
        """Start none yet."""
        self._executor = ProcessPoolExecutor(workers, mp_context=SPAWN, initializer=end_with_parent)

    def __enter__(self) -> Self:
        """Wait for work."""
        return self

    def __exit__(self, *_: object) -> None:
        """End when what has begun is done."""
        self._executor.shutdown(cancel_futures=True)

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Do the same to every item; results come in the order of the items.

        Args:
            work: What to do; a function of a module, so that another process finds it.
            items: What to do it to; all are given out at once.
        """
        with interrupts_held_back():
            return self._executor.map(work, items)


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
    if workers == 1 or len(items) < 2:
        return _gather(map(work, items), len(items), progress)
    with SpawnedPool(workers) as pool:
        return _gather(pool.map(work, items), len(items), progress)


def end_with_parent() -> None:
    """Let this process end when the one that started it does, however that ends."""
    threading.Thread(target=_outlive_nobody, daemon=True).start()


def _outlive_nobody() -> None:
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

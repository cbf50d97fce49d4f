"""Work for several threads, for what lets go of the interpreter most of the time.

The threads are for good. Ones that somebody had to end would be ended by the garbage collector
where work is left before its end, by an error for example: in any thread, at any moment, even in
the start of another thread, which would wait for itself for ever.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from typing import TypeVar

MOST_THREADS = 4
"""More would wait for the interpreter."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(
    work: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Callable[[], Result]]:
    """Do the same to every item, some at a time; in this thread if there is one processor.

    Args:
        work: What to do; not what does its own work so, which would wait for its own thread.
        items: What to do it to; one is asked for when there is a thread for it, or one that is
            about to be free.

    Yields:
        For each item, in order, a function that returns or raises what came of it.
    """
    count = min(MOST_THREADS, os.cpu_count() or 1)
    if count == 1:
        yield from (partial(work, item) for item in items)
        return
    threads = _threads(count)
    begun: deque[Future[Result]] = deque()
    for item in items:
        begun.append(threads.submit(work, item))
        if len(begun) > count:
            yield begun.popleft().result  # one that was given is not kept: it may be large
    while begun:
        yield begun.popleft().result


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, "parts")

"""Work in several threads: complete, in order, and a bounded amount at a time."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from tests.support.waiting import TIMEOUT_S, returns_before

from vidscore_evaluators import runtime
from vidscore_evaluators.runtime import map_threads

WAIT_S = 60.0


@pytest.fixture(params=[1, 2, 3], autouse=True)
def thread_count(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Pretend that there are this many processors."""
    count: int = request.param
    monkeypatch.setattr("os.cpu_count", lambda: count)
    return count


@pytest.mark.parametrize("item_count", [0, 1, 2, 3, 20])
def test_every_item_is_done_and_results_are_in_order(item_count: int) -> None:
    found = [result() for result in map_threads(lambda item: item * item, range(item_count))]
    assert found == [item * item for item in range(item_count)]


def test_as_many_items_as_threads_are_processed_at_a_time(thread_count: int) -> None:
    """Nobody passes the barrier before all of them have reached it."""
    barrier = threading.Barrier(thread_count)

    def work(item: int) -> int:
        barrier.wait(WAIT_S)
        return item

    items = range(4 * thread_count)
    assert [result() for result in map_threads(work, items)] == list(items)


def test_items_are_requested_when_they_are_needed(thread_count: int) -> None:
    """One item waits beside those in work; a finished one is kept until it is taken."""
    ahead = thread_count if thread_count > 1 else 0
    asked = []

    def items() -> Iterator[int]:
        for item in range(20):
            asked.append(item)
            yield item

    for taken, _ in enumerate(map_threads(str, items())):
        assert len(asked) == min(20, taken + 1 + ahead)


def test_on_one_processor_the_calling_thread_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: None)
    [result] = map_threads(lambda _: threading.current_thread(), [0])
    assert result() is threading.current_thread()


def test_an_error_is_raised_only_for_its_own_item() -> None:
    def work(item: int) -> int:
        if item == 1:
            raise ValueError("item 1")
        return item

    first, second, third = map_threads(work, range(3))
    assert (first(), third()) == (0, 2)
    with pytest.raises(ValueError, match="item 1"):
        second()


def test_abandoned_work_is_not_waited_for() -> None:
    """The garbage collector may abandon it, in a thread that holds a lock of others."""
    go_on = threading.Event()
    results: Any = map_threads(lambda _: go_on.wait(2 * TIMEOUT_S), range(9))
    next(results)
    assert returns_before(go_on, results.close)


def test_no_more_than_a_few_threads_are_used_on_a_large_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    names = {
        result() for result in map_threads(lambda _: threading.current_thread().name, range(99))
    }
    assert len(names) <= runtime.MAX_THREADS


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")
@pytest.mark.filterwarnings("ignore:This process.* is multi-threaded:DeprecationWarning")
def test_a_fork_has_its_own_threads() -> None:
    """The threads of its parent are not in it, and would never process its items."""

    def done() -> bool:
        return [result() for result in map_threads(str, range(3))] == ["0", "1", "2"]

    assert done()
    child = os.fork()
    if child == 0:
        signal.alarm(int(TIMEOUT_S))
        with suppress(Exception):
            os._exit(0 if done() else 1)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

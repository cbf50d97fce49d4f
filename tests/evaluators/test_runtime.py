"""Process settings: memory, interrupts, and other processes."""

from __future__ import annotations

import errno
import os
import platform
import signal
import subprocess
import sys
import threading
from typing import NoReturn

import pytest

from vidscore_evaluators.runtime import (
    ending_signals,
    map_in_order,
    terminal_signals_blocked,
    tune_malloc,
)

# --- Reuse of the memory of freed arrays


ARRAYS, ROUNDS = 100, 10
PAGES = ARRAYS << 20 >> 12
"""Number of 4 KiB pages of all arrays of a round."""

PROGRAM = f"""
import ctypes
import resource
import numpy as np
{{statement}}
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE: pages of one size alone

def fill():
    arrays = [np.ones(1 << 17) for _ in range({ARRAYS})]

fill()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range({ROUNDS}):
    fill()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""

of_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="not glibc")


def faults(statement: str) -> int:
    """Page faults of filling arrays of 1 MiB repeatedly, after the first time."""
    program = PROGRAM.format(statement=statement)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    return int(done.stdout)


@of_glibc
@pytest.mark.slow
def test_tuned_processes_reuse_freed_memory() -> None:
    """Imports do not tune. How much glibc then returns depends on where its memory came from."""
    tuned = faults("from vidscore_evaluators.runtime import tune_malloc; tune_malloc()")
    untuned = faults("import vidscore_evaluators.scoring")
    assert tuned < PAGES // 10
    assert untuned > PAGES


@of_glibc
def test_the_library_reports_that_it_can_tune() -> None:
    assert tune_malloc()


# --- Processes that start while interrupts are deferred never see them


def interrupt_from_another_thread() -> None:
    """Let another thread receive an interrupt; one sent to the process might arrive too late."""

    def take_in() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=take_in)
    thread.start()
    thread.join()


def test_an_interrupt_waits_until_the_block_has_ended() -> None:
    steps = []

    def work() -> None:
        with terminal_signals_blocked():
            interrupt_from_another_thread()
            steps.append("whole")
        steps.append("never")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["whole"]


def test_an_interrupt_after_the_block_acts_at_once() -> None:
    with terminal_signals_blocked():
        pass
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])
def test_a_process_that_starts_in_the_block_is_not_interrupted(name: str) -> None:
    program = f"import signal; signal.raise_signal(signal.{name}); print('lives')"
    with terminal_signals_blocked():
        child = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, encoding="utf-8"
        )
    assert child.communicate(timeout=60)[0] == "lives\n"
    assert child.returncode == 0


def test_the_block_may_be_entered_in_any_thread() -> None:
    done = []

    def work() -> None:
        with terminal_signals_blocked():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def test_a_closed_terminal_ends_a_process_unless_it_is_to_outlast_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`nohup` starts it with SIGHUP ignored; Windows has no such signal."""
    before = signal.getsignal(signal.SIGHUP)
    try:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        assert ending_signals() == [signal.SIGTERM, signal.SIGHUP]
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        assert ending_signals() == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGHUP, before)
    monkeypatch.delattr(signal, "SIGHUP")
    assert ending_signals() == [signal.SIGTERM]


# --- Work for several processes: in order, with progress, and with at least one


def test_results_are_in_the_order_of_the_items_with_progress() -> None:
    """Two processes; the largest item is first, so the last one is done before it."""
    calls: list[tuple[int, int]] = []
    items = [10**6, 1000, 10]
    done = map_in_order(bin, items, workers=2, progress=lambda *at: calls.append(at))
    assert done == [bin(item) for item in items]
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_zero_workers_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 worker is needed, not 0"):
        map_in_order(bin, [1], workers=0)


# --- Processes that the system refuses


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (
            errno.EROFS,
            "Read-only file system: worker processes need semaphores, .*/dev/shm: mount",
        ),
        (errno.ENOSPC, "No space left on device: worker processes need semaphores"),
        (errno.EMFILE, r"Too many open files$"),
    ],
)
def test_a_system_without_semaphores_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    """Python raises the error of `sem_open`, which names no file."""

    def refused(*_: object, **__: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("multiprocessing.synchronize.SemLock.__init__", refused)
    with pytest.raises(OSError, match=said):
        map_in_order(abs, [-1, -2], workers=2)

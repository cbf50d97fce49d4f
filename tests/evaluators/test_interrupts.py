"""Processes that start while interrupts are held back never see them; this one does, later."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from vidscore_evaluators.runtime import sigint_blocked


def interrupt_from_another_thread() -> None:
    """Have another thread take an interrupt in; one for the process might reach it too late."""

    def take_in() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=take_in)
    thread.start()
    thread.join()


def test_an_interrupt_waits_until_the_block_has_ended() -> None:
    steps = []

    def work() -> None:
        with sigint_blocked():
            interrupt_from_another_thread()
            steps.append("whole")
        steps.append("never")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["whole"]


def test_an_interrupt_after_the_block_acts_at_once() -> None:
    with sigint_blocked():
        pass
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_process_that_starts_in_the_block_is_not_interrupted() -> None:
    program = "import signal; signal.raise_signal(signal.SIGINT); print('lives')"
    with sigint_blocked():
        child = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, encoding="utf-8"
        )
    assert child.communicate(timeout=60)[0] == "lives\n"
    assert child.returncode == 0


def test_the_block_may_be_entered_in_any_thread() -> None:
    done = []

    def work() -> None:
        with sigint_blocked():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]

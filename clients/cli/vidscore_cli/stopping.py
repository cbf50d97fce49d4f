"""How commands end that a person, a service manager or a closed terminal stops by a signal."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from vidscore_evaluators.runtime import ending_signals


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Treat the signals that end processes as Ctrl-C."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    with _handled(ending_signals(), interrupt):
        yield


@contextmanager
def stopped_by_signals(stopping: threading.Event) -> Iterator[None]:
    """Stop cleanly at the first SIGINT or signal that ends processes."""
    with _handled([signal.SIGINT, *ending_signals()], stopping.set):
        yield


@contextmanager
def _handled(numbers: Iterable[signal.Signals], act: Callable[[], None]) -> Iterator[None]:
    """Act at the first of some signals; the next one of its number has its previous effect."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in numbers}

    def handle(number: int, _frame: object) -> None:
        # A closed terminal sends its signal twice: from the kernel and from the shell.
        named = signal.Signals(number)
        signal.signal(number, signal.SIG_IGN if named.name == "SIGHUP" else before[named])
        act()

    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is handle:  # it has not come
                signal.signal(number, handler)

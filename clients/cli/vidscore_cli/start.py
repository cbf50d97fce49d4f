"""Entry point of `vidscore`: Ctrl-C ends it quietly, even during imports."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn

_IMPORT_SYSTEM = "<frozen importlib._bootstrap>"
_LATER_S = 0.001


def main() -> NoReturn:
    """Import the command line, and run it."""
    before = signal.getsignal(signal.SIGINT)
    acts = before is signal.default_int_handler  # otherwise it is ignored, as in the background
    if acts:
        signal.signal(signal.SIGINT, _end)
    from vidscore_cli.main import main as run

    signal.signal(signal.SIGINT, interrupt if acts else before)
    run()


def interrupt(_number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, but not inside of Python's import system.

    An exception between its taking of a lock and the following block would leave the lock taken,
    and a thread that imports something would wait for ever. Windows has no timer for this.
    """
    is_importing = frame is not None and frame.f_code.co_filename == _IMPORT_SYSTEM
    if not (is_importing and hasattr(signal, "setitimer")):
        raise KeyboardInterrupt
    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, _LATER_S)


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    # Nothing has begun that needs cleaning up.
    os._exit(130)

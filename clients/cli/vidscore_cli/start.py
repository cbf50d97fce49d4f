"""Entry point of `vidscore`: Ctrl-C ends it quietly, even during imports."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn


def main() -> NoReturn:
    """Import the command line, and run it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # otherwise it is ignored, as in the background
        signal.signal(signal.SIGINT, _end)
    from vidscore_cli.main import main as run

    signal.signal(signal.SIGINT, before)
    run()


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    # Nothing has begun that needs cleaning up.
    os._exit(130)

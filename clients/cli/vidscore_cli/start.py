"""Where the command `vidscore` begins: Ctrl-C ends it without noise while it still imports."""

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
    # Nothing was begun that would have to be put in order.
    os._exit(130)

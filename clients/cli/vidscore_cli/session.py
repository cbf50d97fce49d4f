"""State of one run of the command line, its exit codes, and the default server."""

from __future__ import annotations

import os
from enum import IntEnum

DEFAULT_ADDRESS = "127.0.0.1:50051"


class Session:
    """Choices that the handling of errors needs after a command has failed.

    Attributes:
        debug: Whether an internal error shows its traceback.
        all_faults: Whether an error lists every fault of an input, however many.
    """

    def __init__(self) -> None:
        self.debug = os.environ.get("VIDSCORE_DEBUG", "") not in {"", "0"}
        self.all_faults = False


class ExitCode(IntEnum):
    """Exit codes; scripts rely on them."""

    OK = 0
    INPUT = 1
    """The input is wrong, an output cannot be written, or memory or threads are lacking."""
    USAGE = 2
    """The command line itself is wrong, or needs something that is not installed."""
    UNREACHABLE = 3
    """The server cannot be reached, or does not serve."""
    REFUSED = 4
    """The token is missing, unknown, or not allowed to do this."""
    NOT_SCORED = 5
    """The submission has failed or was cancelled."""
    THRESHOLD = 6
    """A requested threshold is not met, or a live submission is not certified."""
    INTERNAL = 70
    """An internal error of vidscore (EX_SOFTWARE of sysexits.h)."""
    INTERRUPTED = 130
    """Ctrl-C (128 + SIGINT, as in shells)."""
    PIPE_CLOSED = 141
    """The reader of the output stopped reading (128 + SIGPIPE)."""

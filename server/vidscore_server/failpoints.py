"""Named points at which a test may kill, delay or break the server.

Off unless the environment says otherwise: ``VIDSCORE_FAILPOINTS="before_commit=kill@3"`` kills the
process with SIGKILL the third time it gets there; ``=sleep:50`` waits 50 ms each time, ``=raise``
raises `OSError` (no space left); ``clock=shift:60`` sets the clock a minute ahead.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections import Counter
from functools import cache

ENVIRONMENT = "VIDSCORE_FAILPOINTS"

NAMES = (
    "before_commit",
    "after_commit",
    "before_acknowledge",
    "before_scoring",
    "before_score_commit",
)

CLOCK = "clock"

_passed: Counter[str] = Counter()
_lock = threading.Lock()


def failpoint(name: str) -> None:
    """Do what the environment says for this point, if anything.

    Raises:
        OSError: For ``raise``.
    """
    configured = _configured()
    if name not in configured:
        return
    action, _, wanted = configured[name].partition("@")
    with _lock:
        _passed[name] += 1
        if wanted and _passed[name] != int(wanted):
            return
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "raise":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    elif action.startswith("sleep:"):
        time.sleep(float(action.removeprefix("sleep:")) / 1000.0)


def clock_shift_s() -> float:
    """Seconds by which `vidscore_server.clock` is shifted."""
    return float(_configured().get(CLOCK, "shift:0").removeprefix("shift:"))


@cache
def _configured() -> dict[str, str]:
    entries = filter(None, os.environ.get(ENVIRONMENT, "").split(","))
    configured = dict(entry.split("=", 1) for entry in entries)
    unknown = set(configured) - {*NAMES, CLOCK}
    if unknown:
        known = ", ".join((*NAMES, CLOCK))
        raise ValueError(f"{ENVIRONMENT} names {sorted(unknown)}; there are {known}")
    return configured

"""Process settings at start: freed memory is returned, and many files may be open."""

from __future__ import annotations

import subprocess
import sys

import pytest

from vidscore_server.start import raise_file_limit

pytestmark = pytest.mark.slow

HOLD_AND_FREE = """
import re
import sys
from pathlib import Path

import numpy as np
from vidscore_server.start import tune_malloc

def used():
    [kibibytes] = re.findall(r"VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text())
    return int(kibibytes) << 10

if sys.argv[1] == "tuned":
    tune_malloc()
np.ones(3 << 20)  # of 24 MiB: from then on the C library takes smaller pieces out of its heap
before = used()
arrays = [np.ones(1 << 17) for _ in range(100)]
last = arrays.pop()
del arrays
print(used() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_large_freed_blocks_do_not_stay_in_the_heap() -> None:
    """99 of 100 MiB are freed, and the last MiB lies behind them."""

    def kept(how: str) -> int:
        command = [sys.executable, "-c", HOLD_AND_FREE, how]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    assert kept("tuned") < 10 << 20
    assert kept("untuned") > 20 << 20


LIMITS = """
import resource
from vidscore_server.start import raise_file_limit

_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (128, most))
raise_file_limit()
print(resource.getrlimit(resource.RLIMIT_NOFILE) == (most, most))
"""


def test_the_open_file_limit_is_raised_to_what_the_system_allows() -> None:
    command = [sys.executable, "-c", LIMITS]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "True\n"


def test_a_server_starts_if_the_hard_limit_itself_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on macOS, whose hard limit is infinite although its kernel allows 10,240 files."""

    def refuse(_: int, __: tuple[int, int]) -> None:
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr("resource.setrlimit", refuse)
    raise_file_limit()


LEFT_BEHIND = """
import asyncio
import time
from vidscore_server import start
from vidscore_server.settings import Settings

async def serve(*_):
    asyncio.get_running_loop().run_in_executor(None, time.sleep, 600)

start.serve = serve
start.ENDING_S = 0.1
start.run(Settings(workers=1))
"""


def test_a_thread_that_never_ends_does_not_keep_a_server_that_has_stopped() -> None:
    """Such as one in the scores of a plug-in, or one that waits for a database that is away."""
    done = subprocess.run([sys.executable, "-c", LEFT_BEHIND], timeout=60, check=False)
    assert done.returncode == 0


INTERRUPTED = """
import signal
from vidscore_server import start
from vidscore_server.settings import Settings

def interrupt(*_):  # as the command line does; asyncio replaces only Python's own handler
    raise KeyboardInterrupt

def interrupted(*arguments, **named):
    signal.raise_signal(signal.SIGINT)
    return build(*arguments, **named)

signal.signal(signal.SIGINT, interrupt)
build, start.ScoringServer = start.ScoringServer, interrupted
start.run(Settings(workers=1, listen="127.0.0.1:0"))
"""


def test_an_interrupt_while_the_server_is_built_does_not_break_into_that() -> None:
    """In the constructor of gRPC's server, an exception ended the process by SIGSEGV."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], timeout=60, capture_output=True, text=True
    )
    assert (done.returncode, "KeyboardInterrupt" in done.stderr) == (0, False)

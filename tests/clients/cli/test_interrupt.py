"""Ctrl-C ends a command at once and without noise, its worker processes included."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.clients.cli.helpers import BINARY
from tests.support.requirements import missing

pytestmark = pytest.mark.slow


def children_of(process_id: int) -> list[int]:
    """Processes that a process has started, as Linux lists them."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = status.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(after_name[1]) == process_id:
            found.append(int(status.parent.name))
    return found


def is_importing(process_id: int) -> bool:
    """Whether a process has come as far as numpy, one of the first imports of a worker."""
    try:
        return "_multiarray_umath" in Path(f"/proc/{process_id}/maps").read_text()
    except OSError:
        return False


def wait_for_workers(process: subprocess.Popen[str]) -> None:
    give_up = time.monotonic() + 60
    while not any(map(is_importing, children_of(process.pid))) and time.monotonic() < give_up:
        assert process.poll() is None, "ended before its workers had started"
        time.sleep(0.005)


def test_ctrl_c_while_workers_start_exits_with_130_and_no_traceback(data: Path) -> None:
    if not Path("/proc/self/stat").exists():
        missing("a /proc file system, to see worker processes start")
    with subprocess.Popen(
        [BINARY, "score", "neovision2", "--truth", "truth", "--detections", "detections",
         "--workers", "2"],
        cwd=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    ) as process:  # fmt: skip
        wait_for_workers(process)
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr.strip()) == (130, "", "")

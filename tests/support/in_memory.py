"""A pytest plug-in that keeps the folders of tests in memory, on systems with room for it.

A store waits for its disk at each commit; that takes a third of the time of tests of servers, and a
seventh of their processor time. `make test` and `make test-slow` use this plug-in.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")
ROOM_BYTES = 4 * 2**30
"""Many times what tests write at a time; containers often have 64 MiB there."""

ROOT = "PYTEST_DEBUG_TEMPROOT"
"""The environment variable that tells pytest, and its worker processes, where to make folders."""


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the place before pytest makes its first folder."""
    del config
    if has_room(MEMORY):
        os.environ.setdefault(ROOT, str(MEMORY))


def has_room(folder: Path) -> bool:
    """Whether a folder has room for the files of tests, and programs in it may run."""
    if not folder.is_dir():
        return False
    found = os.statvfs(folder)
    is_usable = not found.f_flag & (os.ST_NOEXEC | os.ST_RDONLY)
    return is_usable and found.f_bavail * found.f_frsize >= ROOM_BYTES

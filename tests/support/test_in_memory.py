"""Folders of tests are kept in memory only where there is room and programs may run."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.support.in_memory import ROOM_BYTES, has_room

BLOCK_BYTES = 4096


@pytest.mark.parametrize(
    ("free_bytes", "flags", "expected"),
    [
        (ROOM_BYTES, 0, True),
        (ROOM_BYTES, os.ST_NOSUID, True),
        (ROOM_BYTES - BLOCK_BYTES, 0, False),
        (ROOM_BYTES, os.ST_NOEXEC, False),
        (ROOM_BYTES, os.ST_RDONLY, False),
    ],
)
def test_a_place_needs_room_and_lets_programs_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_bytes: int, flags: int, expected: bool
) -> None:
    found = SimpleNamespace(f_flag=flags, f_bavail=free_bytes // BLOCK_BYTES, f_frsize=BLOCK_BYTES)
    monkeypatch.setattr(os, "statvfs", lambda _: found)
    assert has_room(tmp_path) is expected


def test_a_system_without_such_a_place_is_supported(tmp_path: Path) -> None:
    assert not has_room(tmp_path / "missing")

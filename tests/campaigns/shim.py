"""The preloaded library that logs a server's accesses to its store's files, and fails calls."""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from tests.support.tree import ROOT

SOURCE = Path(__file__).with_name("store_shim.c")
LIBRARIES = ROOT / "build/campaigns"
HEAD = struct.Struct("<IIqq")
SHARED = struct.Struct("<IIII")


class Change(IntEnum):
    """What happened to a file; the test itself logs the last one: an acknowledgement."""

    MADE = 1
    WRITTEN = 2
    TRUNCATED = 3
    SYNCED = 4
    UNLINKED = 5
    RENAMED = 6
    ACKNOWLEDGED = 7


class Mode(IntEnum):
    """A kind of disk fault."""

    NONE = 0
    FULL = 1
    WRITE_ERROR = 2
    SHORT = 3
    SYNC_ERROR = 4
    READ_ERROR = 5
    READ_ONLY = 6
    FLIPPED = 7


@dataclass(frozen=True)
class Entry:
    """An entry of the log.

    Attributes:
        change: What happened.
        name: The file, without its folder.
        offset: The offset, or the new size.
        data: The bytes written, or the new name.
    """

    change: Change
    name: str
    offset: int
    data: bytes


def shim() -> Path:
    """The compiled library; built on first use."""
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    library = LIBRARIES / f"store_shim-{digest}.so"
    if library.is_file():
        return library
    LIBRARIES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True, dir=LIBRARIES) as folder:
        made = Path(folder, library.name)
        caches = {f"ZIG_{which}_CACHE_DIR": folder for which in ("GLOBAL", "LOCAL")}
        compiler = (sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", "-O1", "-Wall")
        subprocess.run(
            [*compiler, "-fno-sanitize=undefined", "-o", str(made), str(SOURCE), "-ldl"],
            check=True,
            env=os.environ | caches,
        )
        made.replace(library)
    return library


def preloaded(store: Path, log: Path | None = None, faults: Path | None = None) -> dict[str, str]:
    """The environment of a process whose store is observed.

    Args:
        store: The absolute path of its file.
        log: The file of the log.
        faults: The file of `Faults`.
    """
    named = {"SHIM_LOG": log, "SHIM_FAULTS": faults}
    return {
        "LD_PRELOAD": str(shim()),
        "SHIM_STORE": str(store),
        **{name: str(path) for name, path in named.items() if path is not None},
    }


class Log:
    """The log of the changes of a store's files.

    Args:
        path: Its file.
    """

    def __init__(self, path: Path) -> None:
        """Create it."""
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def acknowledge(self, what: str) -> None:
        """Log an acknowledgement."""
        name = what.encode()
        os.write(self._file, HEAD.pack(Change.ACKNOWLEDGED, len(name), 0, 0) + name)

    def entries(self) -> Iterator[Entry]:
        """All entries."""
        data, place = self.path.read_bytes(), 0
        while place + HEAD.size <= len(data):
            kind, name_bytes, offset, size = HEAD.unpack_from(data, place)
            place += HEAD.size
            name = data[place : place + name_bytes].decode()
            place += name_bytes
            yield Entry(Change(kind), name, offset, data[place : place + size])
            place += size

    def close(self) -> None:
        """Stop logging."""
        os.close(self._file)


class Faults:
    """Makes the disk of running servers fail.

    Args:
        path: A file shared with them.
    """

    def __init__(self, path: Path) -> None:
        """Create it; nothing fails yet."""
        self.path = path
        path.write_bytes(bytes(SHARED.size))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), SHARED.size)

    def begin(self, mode: Mode, every: int = 1) -> None:
        """Let every n-th call fail."""
        self._shared[:] = SHARED.pack(Mode.NONE, every, 0, 0)
        self._shared[:4] = struct.pack("<I", mode)

    def end(self) -> int:
        """Stop the faults; returns how many calls have failed."""
        self._shared[:4] = struct.pack("<I", Mode.NONE)
        return self.hits

    @property
    def hits(self) -> int:
        """How many calls have failed since `begin`."""
        return int(SHARED.unpack(self._shared[:])[3])

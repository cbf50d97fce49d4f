"""The sources of the library of kernels.

Standard library only: `hatch_build.py` runs this file before anything is installed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

LIBRARY = "loops.so"
"""File name of the library, which is beside its sources."""


def sources(folder: Path) -> list[Path]:
    """List the C files of a folder, headers included."""
    return sorted(folder.glob("*.[ch]"))


def digest(folder: Path) -> int:
    """A digest of all sources, which is also compiled into the library."""
    text = b"".join(path.read_bytes() for path in sources(folder))
    return int.from_bytes(hashlib.sha256(text).digest()[:7])

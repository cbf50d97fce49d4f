"""What a library of compiled loops is made of.

Needs the standard library alone: `hatch_build.py` runs this file where nothing is installed yet.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

LIBRARY = "loops.so"
"""Name of the library, which lies beside its sources."""


def sources(folder: Path) -> list[Path]:
    """List the C files of a folder, headers included."""
    return sorted(folder.glob("*.[ch]"))


def digest(folder: Path) -> int:
    """Give a number that is another one as soon as a source is; the library has it compiled in."""
    text = b"".join(path.read_bytes() for path in sources(folder))
    return int.from_bytes(hashlib.sha256(text).digest()[:7])

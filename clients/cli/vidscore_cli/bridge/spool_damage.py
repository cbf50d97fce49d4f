"""What is refused of a spool file, and what is done with a damaged one."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

from vidscore_evaluators.errors import Fault, InputError

_CHUNK_BYTES = 1 << 20


class Damage(NamedTuple):
    """Bytes of a spool that are no whole message.

    Attributes:
        begin: Offset of the first of them.
        next: Offset of the message behind them; None where nothing behind them can be read.
        end: Offset of the byte behind them.
    """

    begin: int
    next: int | None
    end: int


def refused(path: Path, found: str, expected: str, advice: str) -> InputError:
    """The error of a file that cannot be a spool."""
    return InputError([Fault(found, expected, source=str(path), advice=advice)])


def keep_copy(path: Path, file: int) -> Path:
    """Copy a damaged file beside itself; gives the name of the copy.

    Raises:
        InputError: If that is not possible.
    """
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in count(1))
    kept = next(name for name in names if not name.exists())
    try:
        kept.touch(0o600, exist_ok=False)
        with kept.open("wb") as copy:
            place = 0
            while data := os.pread(file, _CHUNK_BYTES, place):
                copy.write(data)
                place += len(data)
    except OSError as error:
        with suppress(OSError):
            kept.unlink()
        found = f"damage, and no way to keep the file as {kept.name} ({error.strerror})"
        expected = "a folder with room for a copy"
        raise refused(path, found, expected, "make room, or move the file away") from None
    return kept

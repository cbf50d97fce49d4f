"""A terminal to test with."""

from __future__ import annotations

import os
import re
import time


def read_until(descriptor: int, wanted: str) -> str:
    """Read from a terminal until something has come that matches, or thirty seconds have gone."""
    data = b""
    give_up = time.monotonic() + 30
    while not re.search(wanted, data.decode(errors="replace")) and time.monotonic() < give_up:
        data += os.read(descriptor, 4096)
    return data.decode(errors="replace")

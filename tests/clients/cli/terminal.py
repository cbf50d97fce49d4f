"""A terminal to test with."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import time
from collections.abc import Iterator

from tests.clients.cli.helpers import BINARY


def read_until(descriptor: int, wanted: str) -> str:
    """Read from a terminal until something has come that matches, or thirty seconds have gone."""
    data = b""
    give_up = time.monotonic() + 30
    while not re.search(wanted, data.decode(errors="replace")) and time.monotonic() < give_up:
        data += os.read(descriptor, 4096)
    return data.decode(errors="replace")


def run_on_terminal(*arguments: str) -> tuple[int, str]:
    """Run the installed command on a terminal of 100 columns; its exit code and all it wrote."""
    master, slave = pty.openpty()
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm-256color"}
    with subprocess.Popen(
        [BINARY, *arguments], stdin=slave, stdout=slave, stderr=slave, env=environment
    ) as process:
        os.close(slave)
        data = b"".join(_parts(master))
    os.close(master)
    return process.returncode, data.decode()


def _parts(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # how Linux says that the other end of a terminal is closed
            return
        if not part:
            return
        yield part

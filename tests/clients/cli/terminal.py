"""A terminal for tests."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.clients.cli.helpers import BINARY

TIMEOUT_S = 120.0


def read_until(descriptor: int, wanted: str) -> str:
    """Read from a terminal until a match, its end, or the timeout."""
    data = b""
    give_up_s = time.monotonic() + TIMEOUT_S
    while not re.search(wanted, data.decode(errors="replace")):
        left_s = max(0.0, give_up_s - time.monotonic())
        if not select.select([descriptor], [], [], left_s)[0] or not (part := _part(descriptor)):
            break
        data += part
    return data.decode(errors="replace")


def read_rest(descriptor: int) -> str:
    """Read from a terminal until its end."""
    return b"".join(iter(lambda: _part(descriptor), b"")).decode()


@contextmanager
def on_terminal(*arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run the installed command on a terminal of 100 columns; it has ended at the end of the block.

    Yields the process and the other end of its terminal, which must be read to its end.
    """
    master, slave = pty.openpty()
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm-256color"}
    with subprocess.Popen(
        [BINARY, *arguments], stdin=slave, stdout=slave, stderr=slave, env=environment
    ) as process:
        os.close(slave)
        try:
            yield process, master
        except BaseException:
            process.kill()
            raise
        finally:
            os.close(master)


def run_on_terminal(*arguments: str) -> tuple[int, str]:
    """Run the installed command on a terminal of 100 columns; returns exit code and output."""
    with on_terminal(*arguments) as (process, terminal):
        written = read_rest(terminal)
    return process.returncode, written


def _part(descriptor: int) -> bytes:
    """The available output; nothing if the terminal is closed."""
    try:
        return os.read(descriptor, 65536)
    except OSError:  # On Linux this means that the other end of a terminal is closed.
        return b""

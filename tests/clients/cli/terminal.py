"""A terminal to test with."""

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
    """Read from a terminal until something has come that matches, it is closed, or time is up."""
    data = b""
    give_up_s = time.monotonic() + TIMEOUT_S
    while not re.search(wanted, data.decode(errors="replace")):
        left_s = max(0.0, give_up_s - time.monotonic())
        if not select.select([descriptor], [], [], left_s)[0] or not (part := _part(descriptor)):
            break
        data += part
    return data.decode(errors="replace")


def read_rest(descriptor: int) -> str:
    """Read from a terminal until nobody writes to it any more."""
    return b"".join(iter(lambda: _part(descriptor), b"")).decode()


@contextmanager
def on_terminal(*arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run the installed command on a terminal of 100 columns; it has ended at the end of the block.

    Gives the process and the other end of its terminal, which is to be read to its end.
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
    """Run the installed command on a terminal of 100 columns; its exit code and all it wrote."""
    with on_terminal(*arguments) as (process, terminal):
        written = read_rest(terminal)
    return process.returncode, written


def _part(descriptor: int) -> bytes:
    """What has come; nothing where nobody writes to the terminal any more."""
    try:
        return os.read(descriptor, 65536)
    except OSError:  # how Linux says that the other end of a terminal is closed
        return b""

"""A program in any language that reads and writes lines, until it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import cast

import click

CHUNK_BYTES = 1 << 16
END_TIMEOUT_S = 5.0
"""Time for a program to end on request before it is killed."""


class Program:
    """A process that exchanges lines on standard input and output; its stderr is passed through.

    It has its own session, so that Ctrl-C reaches only the caller, which then ends the program and
    its children.
    """

    def __init__(self, process: Process, input_: StreamWriter, output: StreamReader) -> None:
        self._process, self._input, self._output = process, input_, output

    @classmethod
    async def start(cls, command: Sequence[str]) -> Program:
        """Start it.

        Args:
            command: The program and its arguments.

        Raises:
            click.UsageError: If there is no such program, or it may not be run.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, start_new_session=True
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise click.UsageError(f"{command[0]} cannot be started: {reason}") from None
        input_, output = cast(StreamWriter, process.stdin), cast(StreamReader, process.stdout)
        return cls(process, input_, output)

    def tell(self, line: Mapping[str, object]) -> None:
        """Write a line of JSON; does nothing if the program no longer reads."""
        if not self._input.is_closing():
            self._input.write(json.dumps(line).encode() + b"\n")

    async def read(self) -> bytes:
        """Its next output; empty once it has closed its output."""
        return await self._output.read(CHUNK_BYTES)

    async def finish(self, timeout_s: float) -> int | None:
        """Close its input, and wait for its end; further output is dropped.

        Args:
            timeout_s: Maximum wait.

        Returns:
            Its exit code; None if it has not ended by then.
        """
        self._input.close()
        try:
            async with asyncio.timeout(timeout_s):
                await self._read_to_end()
                return await self._process.wait()
        except TimeoutError:
            return None

    async def end(self) -> None:
        """End it and its children; kill those that do not end on request."""
        self._input.close()
        for sign in (signal.SIGTERM, signal.SIGKILL):
            # The system may know of its end before this loop does, so wait for the loop, too.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, sign)
            await _wait_for(self._process.wait())
        await _wait_for(self._read_to_end())

    async def _read_to_end(self) -> None:
        while await self.read():
            pass


async def _wait_for(work: Coroutine[None, None, object]) -> None:
    """Wait for some work, at most `END_TIMEOUT_S`, in a task that may have been cancelled.

    `asyncio.timeout` ends such a task when time is up, before Python 3.11.3.
    """
    working = asyncio.ensure_future(work)
    await asyncio.wait({working}, timeout=END_TIMEOUT_S)
    if working.done():
        working.result()
    else:
        working.cancel()


def exit_text(code: int) -> str:
    """How a program ended, in words."""
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"

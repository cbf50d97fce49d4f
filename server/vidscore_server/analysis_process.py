"""One trust analysis in a process of its own, which can be ended at any time.

Analyses take minutes and more, so the workers that score do not run them: a stream would wait. The
process is spawned like those workers, steps behind them by its priority, and ends with the call
that runs it or with the server, however that ends. This module imports no gRPC, because the
process imports this module.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from vidscore_evaluators.errors import VidscoreError
from vidscore_evaluators.runtime import SPAWN, initialize_worker, sigint_blocked
from vidscore_evaluators.trust.analyses import Analysis, StageProgress
from vidscore_server.errors import WorkerLostError, WorkFailedError
from vidscore_server.logs import places_of

NICENESS = 10
"""How far it steps behind what clients wait for, as POSIX counts priorities."""

TELL_INTERVAL_S = 0.2
"""Shortest time between two messages about how far it is."""

Message = tuple[str, int, int] | str | BaseException
"""How far it is, then the document as JSON or what it failed with."""


async def run_analysis(
    analysis: Analysis, *, workers: int = 1, on_progress: StageProgress | None = None
) -> str:
    """Run an analysis in a process that ends with this call.

    Args:
        analysis: The analysis.
        workers: Processes that it may use in turn; the document does not depend on it.
        on_progress: Told how far it is.

    Returns:
        Its document as JSON.

    Raises:
        VidscoreError: As the analysis raised it.
        WorkerLostError: If the process died.
        WorkFailedError: If it ended in an unexpected error.
    """
    receiver, sender = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=_work, args=(sender, analysis, workers))
    starting = asyncio.ensure_future(asyncio.to_thread(_start, process, sender))
    try:
        await asyncio.shield(starting)
        while True:
            message = await _receive(receiver)
            if isinstance(message, str):
                return message
            if isinstance(message, BaseException):
                raise message
            if on_progress is not None:
                on_progress(*message)
    finally:
        await asyncio.wait([starting])
        await asyncio.to_thread(_end, process, receiver)


def _start(process: BaseProcess, sender: Connection) -> None:
    try:
        with sigint_blocked():
            process.start()
    finally:
        sender.close()  # the process has its own: with that, the receiver sees its end


def _end(process: BaseProcess, receiver: Connection) -> None:
    if process.pid is not None:
        process.kill()
        process.join()
    process.close()
    receiver.close()


async def _receive(receiver: Connection) -> Message:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(receiver.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(receiver.fileno())
    try:
        message: Message = await asyncio.to_thread(receiver.recv)
    except (EOFError, OSError):
        raise WorkerLostError("the process of the analysis died; it is not tried again") from None
    return message


def _work(sender: Connection, analysis: Analysis, workers: int) -> None:
    """What the process does."""
    initialize_worker()
    os.nice(NICENESS)
    outcome: Message
    try:
        document = analysis.run(workers=workers, progress=_teller(sender))
        outcome = json.dumps(document, ensure_ascii=False, allow_nan=False)
    except VidscoreError as error:
        outcome = error
    except Exception as error:  # noqa: BLE001 - whatever it is, only its place may go back
        # An error's text may quote the data, and a traceback shows it: only places go back.
        outcome = WorkFailedError(places_of(error))
    with suppress(OSError):
        sender.send(outcome)


def _teller(sender: Connection) -> Callable[[str, int, int], None]:
    """Tells how far it is, each stage at once and its pieces now and then."""
    told_stage, told_s = "", 0.0

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal told_stage, told_s
        now_s = time.monotonic()
        if stage == told_stage and now_s - told_s < TELL_INTERVAL_S:
            return
        told_stage, told_s = stage, now_s
        with suppress(OSError):
            sender.send((stage, done, total))

    return tell

"""Processes of the server for one piece of work each: a trust analysis, or a file.

Analyses take minutes or more; in the workers, they would delay streams. A file that may need any
amount of memory is read in a process, too. As for `vidscore_server.workers`, the processes are
spawned, end with the server, and import no gRPC.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import resource
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from vidscore_evaluators.errors import VidscoreError
from vidscore_evaluators.runtime import initialize_worker, spawn_context, terminal_signals_blocked
from vidscore_server.errors import WorkerLostError, WorkFailedError
from vidscore_server.logs import places_of
from vidscore_server.runtime import end_first, print_nothing
from vidscore_server.workers import NICENESS, Result

if TYPE_CHECKING:
    from vidscore_evaluators.trust.analyses import Analysis, StageProgress

PROGRESS_INTERVAL_S = 0.2
"""Minimum interval between progress messages of one stage."""

_Message = tuple[str, int, int] | str | BaseException
"""Progress, then the document as JSON or the error."""


async def run_analysis(
    analysis: Analysis, *, workers: int = 1, on_progress: StageProgress | None = None
) -> str:
    """Run a trust analysis in a process of its own, which is killed when the call ends.

    Args:
        analysis: The analysis.
        workers: Processes that the analysis may start; the document does not depend on them.
        on_progress: Called with the progress.

    Returns:
        The document as JSON.

    Raises:
        VidscoreError: Raised by the analysis.
        WorkerLostError: If the process died.
        WorkFailedError: If the analysis ended in an unexpected error.
    """
    async with _process(_run_analysis, analysis, workers) as receiver:
        while True:
            message = await _receive(receiver)
            if isinstance(message, str):
                return message
            if isinstance(message, BaseException):
                raise message
            if on_progress is not None:
                on_progress(*message)


@asynccontextmanager
async def _process(work: Callable[..., None], *args: object) -> AsyncIterator[Connection]:
    """A process with the messages that it sends; it is killed at the end of the block."""
    receiver, sender = spawn_context().Pipe(duplex=False)
    process = spawn_context().Process(target=work, args=(sender, *args))
    starting = asyncio.ensure_future(asyncio.to_thread(_start_process, process, sender))
    try:
        await asyncio.shield(starting)
        yield receiver
    finally:
        await asyncio.wait([starting])
        await asyncio.to_thread(_end_process, process, receiver)


def _start_process(process: BaseProcess, sender: Connection) -> None:
    try:
        with terminal_signals_blocked():
            process.start()
    finally:
        sender.close()  # the process holds the only other end: the receiver sees its exit


def _end_process(process: BaseProcess, receiver: Connection) -> None:
    if process.pid is not None:
        process.kill()
        process.join()
    process.close()
    receiver.close()


async def _receive(receiver: Connection) -> Any:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(receiver.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(receiver.fileno())
    try:
        return await asyncio.to_thread(receiver.recv)
    except (EOFError, OSError):
        raise WorkerLostError("the process of the analysis died; it is not tried again") from None


def _run_analysis(sender: Connection, analysis: Analysis, workers: int) -> None:
    """Run an analysis, in its process."""
    initialize_worker()
    os.nice(NICENESS)
    print_nothing()
    end_first(500)
    outcome: _Message
    try:
        document = analysis.run(workers=workers, progress=_progress_sender(sender))
        outcome = json.dumps(document, ensure_ascii=False, allow_nan=False)
    except VidscoreError as error:
        outcome = error
    except BaseException as error:  # noqa: BLE001 - a plug-in may call `sys.exit`, too
        outcome = WorkFailedError(places_of(error))
    with suppress(OSError):
        sender.send(outcome)


def _progress_sender(sender: Connection) -> Callable[[str, int, int], None]:
    """A function that sends progress: each stage at once, its pieces at intervals."""
    sent_stage, sent_s = "", 0.0

    def send(stage: str, done: int, total: int) -> None:
        nonlocal sent_stage, sent_s
        now_s = time.monotonic()
        if stage == sent_stage and now_s - sent_s < PROGRESS_INTERVAL_S:
            return
        sent_stage, sent_s = stage, now_s
        with suppress(OSError):
            sender.send((stage, done, total))

    return send


# --- Work with bounded memory

ANSWER_SHARE = 4
"""Divisor of the memory: the result, which the server must hold, may have at most so many bytes."""

MOST_THREADS = 4
"""Maximum threads of libraries in such a process; their stacks count as memory."""


class _Answer(Struct, frozen=True):
    """The outcome of the work: a result, or an error to raise."""

    result: Any = None
    error: BaseException | None = None


async def run_bounded(
    work: Callable[[], Result], memory_bytes: int, *, timeout_s: float | None = None
) -> Result:
    """Run work in a separate process with bounded memory and time.

    Memory is bounded on Linux only; there, the system kills this process first if memory runs out.

    Args:
        work: The work; it and its result can be pickled.
        memory_bytes: Maximum memory in bytes.
        timeout_s: Maximum time; None for no bound.

    Raises:
        MemoryError: If it takes more, or the process died.
        TimeoutError: If it takes longer.
        VidscoreError: Raised by the work.
        WorkFailedError: If it ended in an unexpected error.
    """
    async with asyncio.timeout(timeout_s), _process(_run_bounded, work, memory_bytes) as receiver:
        try:
            answer: _Answer = await _receive(receiver)
        except WorkerLostError:
            raise MemoryError("the process died") from None
    if answer.error is not None:
        raise answer.error
    result: Result = answer.result
    return result


def _run_bounded(sender: Connection, work: Callable[[], Any], memory_bytes: int) -> None:
    """Do bounded work, in its process."""
    initialize_worker()
    os.nice(NICENESS)
    print_nothing()
    os.environ["OMP_NUM_THREADS"] = str(MOST_THREADS)  # of Arrow, too, which is not loaded yet
    _bound_memory(memory_bytes)
    try:
        outcome = pickle.dumps(_Answer(work()), pickle.HIGHEST_PROTOCOL)
        if len(outcome) > memory_bytes // ANSWER_SHARE:
            raise MemoryError("a result of so many bytes")
    except VidscoreError as error:
        outcome = pickle.dumps(_Answer(error=error))
    except MemoryError as error:  # perhaps of a class of Arrow, which the server may not have
        outcome = pickle.dumps(_Answer(error=MemoryError(str(error))))
    except Exception as error:  # noqa: BLE001 - only places may leave the process
        outcome = pickle.dumps(_Answer(error=WorkFailedError(places_of(error))))
    with suppress(OSError):
        sender.send_bytes(outcome)


def _bound_memory(more_bytes: int) -> None:
    """Bound the additional memory of this process, if the system supports it."""
    end_first(1000)
    with suppress(OSError):  # it exists on Linux only
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
        most = pages * resource.getpagesize() + more_bytes
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))

"""Each analysis and each file has a process of its own, with limits."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import pytest
from tests.support.waiting import until

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.trust.analyses import StageProgress
from vidscore_server.errors import WorkerLostError, WorkFailedError
from vidscore_server.processes import ANSWER_SHARE, run_analysis, run_bounded

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = "123.4567"
LONG_S = 600.0


@dataclass(frozen=True)
class Played:
    """An analysis that does what its name says."""

    act: str

    def run(self, *, workers: int = 1, progress: StageProgress | None = None) -> dict[str, Any]:
        assert progress is not None
        progress("first", 0, 0)
        progress("second", 1, 2)
        if self.act == "refuse":
            raise InputError([Fault("one system", "two")])
        if self.act == "fail":
            raise ValueError(f"the truth at {SECRET} is odd")
        if self.act == "exit":
            sys.exit(f"the truth at {SECRET} is odd")
        if self.act == "die":
            os._exit(9)
        if self.act == "hang":
            time.sleep(LONG_S)
        return {"workers": workers, "third": 1 / 3, "process": os.getpid()}


def run(act: str, **more: Any) -> Any:
    return run_analysis(Played(act), **more)  # type: ignore[arg-type] # it need only have `run`


@pytest.mark.slow
async def test_the_document_comes_with_progress_from_another_process() -> None:
    told: list[tuple[str, int, int]] = []
    text = await run("work", workers=3, on_progress=lambda *at: told.append(at))
    document = json.loads(text)
    assert (document["workers"], document["third"]) == (3, 1 / 3)
    assert document["process"] != os.getpid()
    assert told == [("first", 0, 0), ("second", 1, 2)]


async def test_an_input_error_of_an_analysis_is_raised_here_unchanged() -> None:
    with pytest.raises(InputError, match="one system"):
        await run("refuse")


@pytest.mark.parametrize(("act", "kind"), [("fail", "ValueError"), ("exit", "SystemExit")])
async def test_an_unexpected_error_of_an_analysis_is_reduced_to_places_without_its_text(
    act: str, kind: str
) -> None:
    with pytest.raises(WorkFailedError) as caught:
        await run(act)
    assert kind in caught.value.places
    assert SECRET not in repr(caught.value)


async def test_a_process_that_dies_is_reported_as_such() -> None:
    with pytest.raises(WorkerLostError):
        await run("die")


async def test_a_cancelled_call_ends_its_process() -> None:
    began = asyncio.Event()
    before = set(multiprocessing.active_children())
    call = asyncio.create_task(run("hang", on_progress=lambda *_: began.set()))
    async with asyncio.timeout(60):
        await began.wait()
    [process] = set(multiprocessing.active_children()) - before
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until(lambda: process not in multiprocessing.active_children())


# --- Work in its own process with limits of memory and time


MEBIBYTE = 1 << 20
MEMORY_BYTES = 64 * MEBIBYTE


def _refuse() -> NoReturn:
    raise InputError([Fault("one column", "two")])


def _fail() -> NoReturn:
    raise ValueError(f"the detections at {SECRET} are odd")


async def test_bounded_work_runs_in_another_process_and_returns_its_result() -> None:
    assert await run_bounded(os.getpid, MEMORY_BYTES) != os.getpid()
    assert await run_bounded(partial(bytearray, MEBIBYTE), MEMORY_BYTES) == bytearray(MEBIBYTE)


@pytest.mark.parametrize(
    "work",
    [
        partial(bytearray, 2 * MEMORY_BYTES),
        partial(bytearray, 2 * MEMORY_BYTES // ANSWER_SHARE),
        partial(os._exit, 9),
    ],
)
async def test_work_over_the_memory_limit_is_ended_and_reported(work: partial[object]) -> None:
    with pytest.raises(MemoryError):
        await run_bounded(work, MEMORY_BYTES)


async def test_work_over_the_time_limit_is_ended_and_reported() -> None:
    with pytest.raises(TimeoutError):
        await run_bounded(partial(time.sleep, LONG_S), MEMORY_BYTES, timeout_s=0.1)


async def test_errors_of_bounded_work_are_raised_like_those_of_analyses() -> None:
    with pytest.raises(InputError, match="one column"):
        await run_bounded(_refuse, MEMORY_BYTES)
    with pytest.raises(WorkFailedError) as caught:
        await run_bounded(_fail, MEMORY_BYTES)
    assert SECRET not in repr(caught.value)

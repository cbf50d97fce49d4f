"""An analysis in a process of its own: its outcome, its errors, its progress, and its end."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import time
from dataclasses import dataclass
from typing import Any

import pytest
from tests.support.waiting import until

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.trust.analyses import StageProgress
from vidscore_server.errors import WorkerLostError, WorkFailedError
from vidscore_server.workers import run_analysis

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


async def test_what_is_wrong_with_an_input_comes_back_as_it_is() -> None:
    with pytest.raises(InputError, match="one system"):
        await run("refuse")


async def test_of_an_unexpected_error_places_come_back_and_no_text() -> None:
    with pytest.raises(WorkFailedError) as caught:
        await run("fail")
    assert "ValueError" in caught.value.places
    assert SECRET not in repr(caught.value)


async def test_a_process_that_dies_is_told_as_such() -> None:
    with pytest.raises(WorkerLostError):
        await run("die")


async def test_a_call_that_is_cancelled_ends_its_process() -> None:
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

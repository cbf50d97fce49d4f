"""Work in a process of its own that may take only so much memory and time."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import NoReturn

import pytest

from vidscore_evaluators.errors import Fault, InputError
from vidscore_server.errors import WorkFailedError
from vidscore_server.workers import ANSWER_SHARE, run_bounded

MEBIBYTE = 1 << 20
MEMORY_BYTES = 64 * MEBIBYTE
SECRET = "123.4567"
LONG_S = 600.0


def _refuse() -> NoReturn:
    raise InputError([Fault("one column", "two")])


def _fail() -> NoReturn:
    raise ValueError(f"the detections at {SECRET} are odd")


async def test_work_is_done_in_another_process_and_its_result_comes_back() -> None:
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
async def test_work_that_takes_more_memory_ends_and_is_told_as_such(
    work: partial[object],
) -> None:
    with pytest.raises(MemoryError):
        await run_bounded(work, MEMORY_BYTES)


async def test_work_that_takes_longer_ends_and_is_told_as_such() -> None:
    with pytest.raises(TimeoutError):
        await run_bounded(partial(time.sleep, LONG_S), MEMORY_BYTES, timeout_s=0.1)


async def test_errors_of_bounded_work_come_back_as_those_of_analyses_do() -> None:
    with pytest.raises(InputError, match="one column"):
        await run_bounded(_refuse, MEMORY_BYTES)
    with pytest.raises(WorkFailedError) as caught:
        await run_bounded(_fail, MEMORY_BYTES)
    assert SECRET not in repr(caught.value)

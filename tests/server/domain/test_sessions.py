"""Places for runs: their number, and how runs end when the server stops."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from vidscore_evaluators.errors import LimitError
from vidscore_server.domain.sessions import PlainCalls, Sessions, Use
from vidscore_server.errors import DrainingError, NoPlaceError


def test_every_end_of_a_run_frees_its_place() -> None:
    sessions = Sessions(maximum=1)
    with sessions.open(Use.SCORING):
        assert sessions.open_count == 1
    with suppress(ZeroDivisionError), sessions.open(Use.SCORING):
        raise ZeroDivisionError
    assert sessions.open_count == 0
    with sessions.open(Use.SCORING):
        pass


def test_without_a_place_the_limit_is_named() -> None:
    sessions = Sessions(maximum=1)
    with (
        sessions.open(Use.SCORING),
        pytest.raises(LimitError, match="maximum_streams is 1"),
        sessions.open(Use.SCORING),
    ):
        pass


async def test_a_call_that_ends_frees_only_its_own_place() -> None:
    calls, end = PlainCalls(maximum=1), asyncio.Event()

    async def call(team: str = "red") -> None:
        calls.begin(team)
        await end.wait()

    end.set()
    for _ in range(3):
        await asyncio.create_task(call())
    end.clear()
    held = asyncio.create_task(call())
    await asyncio.sleep(0)
    with pytest.raises(NoPlaceError, match="1 call of one team is open"):
        await asyncio.create_task(call())
    of_others = asyncio.create_task(call("blue"))
    await asyncio.sleep(0)
    end.set()
    await asyncio.gather(held, of_others)


async def test_draining_waits_for_open_runs_and_lets_no_new_one_begin() -> None:
    sessions = Sessions(maximum=2)
    with sessions.open(Use.SCORING):
        draining = asyncio.create_task(sessions.drain(timeout_s=60))
        await asyncio.sleep(0)
        with pytest.raises(DrainingError), sessions.open(Use.SCORING):
            pass
        assert not draining.done()
    await draining


async def test_runs_that_outlast_the_timeout_are_told_that_the_server_stops() -> None:
    sessions = Sessions(maximum=1)

    async def stubborn() -> None:
        with sessions.open(Use.SCORING):
            await sessions.until_expired()

    run = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await sessions.drain(timeout_s=0)
    with pytest.raises(DrainingError, match="begin it again"):
        await run

"""A slow taker gets the newest value and skips the others."""

from __future__ import annotations

import asyncio

from vidscore_server.domain.scoring_session import LatestValue


async def _take_all(newest: LatestValue[int], taken: list[int], pause: asyncio.Event) -> None:
    async for value in newest:
        taken.append(value)
        await pause.wait()


async def test_values_that_come_while_the_taker_is_busy_are_replaced_by_the_last() -> None:
    newest: LatestValue[int] = LatestValue()
    taken: list[int] = []
    pause = asyncio.Event()
    task = asyncio.create_task(_take_all(newest, taken, pause))
    newest.put(1)
    await asyncio.sleep(0)
    for value in (2, 3, 4):
        newest.put(value)
    pause.set()
    await asyncio.sleep(0)
    newest.close()
    await task
    assert taken == [1, 4]


async def test_closing_ends_the_taker_and_drops_what_it_has_not_taken() -> None:
    newest: LatestValue[int] = LatestValue()
    newest.put(1)
    newest.close()
    assert [value async for value in newest] == []

"""Messages that come slowly, or not to their end, take little memory and nobody's place."""

from __future__ import annotations

import asyncio

from tests.server.running import PlayedWorkers, serving
from tests.support.half_sent import half_sent, message_head
from tests.support.waiting import TIMEOUT_S

GET_SERVER = "/vidscore.v1.ServerService/GetServer"


async def test_a_message_that_is_far_too_large_is_refused_by_its_length() -> None:
    async with (
        serving(PlayedWorkers()) as running,
        half_sent(running.address, GET_SERVER) as call,
        asyncio.timeout(TIMEOUT_S),
    ):
        call.send(message_head(1 << 30))
        assert b"larger than max" in await call.answer()

"""Properties of the connections that a listening socket accepts."""

from __future__ import annotations

import asyncio
import contextlib
import socket

from tests.support.waiting import TIMEOUT_S


async def sends_at_once(listener: socket.socket) -> bool:
    """Whether asyncio sends each write on an accepted connection without delay (TCP_NODELAY).

    Otherwise the end of an answer waits until the client acknowledges its beginning, which takes
    40 ms or more.

    Args:
        listener: A listening socket; it is closed at the end.
    """
    accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def look(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        accepted.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async with await asyncio.start_server(look, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname()[:2])
        with contextlib.closing(writer):
            return bool(await asyncio.wait_for(accepted, TIMEOUT_S))

"""What becomes of the connections of a listening socket."""

from __future__ import annotations

import asyncio
import contextlib
import socket


async def sends_at_once(listener: socket.socket) -> bool:
    """Whether asyncio sends every write on a connection of a listener without waiting for others.

    Otherwise the end of an answer waits until the client has acknowledged its beginning, for which
    systems take 40 ms and more.

    Args:
        listener: Listens; it is closed in the end.
    """
    accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def look(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        accepted.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async with await asyncio.start_server(look, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname()[:2])
        with contextlib.closing(writer):
            return bool(await asyncio.wait_for(accepted, 10))

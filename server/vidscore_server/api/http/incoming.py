"""What a client sends: the body of one request, bounded before it is read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.types import Receive

from vidscore_server.api.message_sizes import SizeLimit


class Incoming:
    """The body of a request.

    Args:
        receive: Gives its pieces.
        limit: Bytes of the largest message.
        is_empty: Whether there is none.

    Attributes:
        is_whole: Whether all of it has come.
    """

    def __init__(self, receive: Receive, limit: SizeLimit, *, is_empty: bool) -> None:
        self.is_whole = is_empty
        self._receive = receive
        self._limit = limit
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue(1)

    async def until_gone(self) -> None:
        """Take the body in, as fast as it is used, until the client has gone.

        It runs beside the call.
        """
        while (message := await self._receive())["type"] == "http.request":
            piece = message.get("body", b"")
            if piece:
                await self._pieces.put(piece)
            if not message.get("more_body", False):
                self.is_whole = True
                await self._pieces.put(b"")

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        while piece := await self._pieces.get():
            yield piece

    async def whole(self, announced_bytes: int) -> bytes:
        """All of a body that is one message.

        Args:
            announced_bytes: Its Content-Length; 0 where there is none.

        Raises:
            LimitError: If it is too large.
        """
        self._refuse_over(announced_bytes)
        body = bytearray()
        async for piece in self.pieces():
            body += piece
            self._refuse_over(len(body))
        return bytes(body)

    async def lines(self) -> AsyncIterator[tuple[int, bytes]]:
        """The lines of a body that are not empty, each with its number, counted from 1.

        Raises:
            LimitError: If a line is too large.
        """
        rest = bytearray()
        number = 0
        async for piece in self.pieces():
            start = 0
            while (end := piece.find(b"\n", start)) >= 0:
                rest += piece[start:end]
                start = end + 1
                number += 1
                self._refuse_over(len(rest))
                if line := bytes(rest).strip():
                    yield number, line
                rest.clear()
            rest += piece[start:]
            self._refuse_over(len(rest))
        if line := bytes(rest).strip():
            yield number + 1, line

    async def discard(self) -> None:
        """Read the rest, for a client that reads nothing before it has sent everything."""
        async for _ in self.pieces():
            pass

    def _refuse_over(self, count_bytes: int) -> None:
        if count_bytes > self._limit.maximum_bytes:
            raise self._limit.refusal(count_bytes)

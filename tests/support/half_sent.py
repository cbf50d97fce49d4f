"""gRPC calls whose message is sent only in part, which no gRPC library can do."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""The start of an HTTP/2 connection: the magic, and an empty SETTINGS frame."""

DATA, HEADERS = 0, 1
END_HEADERS = 4
CALL = 1
"""The id of the only stream of a connection."""


class HalfSent:
    """A call over its own connection.

    Args:
        reader: Reads from the server.
        writer: Writes to the server.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, data: bytes) -> None:
        """Send the next few bytes of the message, which begins with its length."""
        self._writer.write(_frame(DATA, 0, data))

    async def answer(self) -> bytes:
        """The headers of the server's answer, as sent on the wire."""
        while True:
            head = await self._reader.readexactly(9)
            data = await self._reader.readexactly(int.from_bytes(head[:3]))
            if head[3] == HEADERS:
                return data


@asynccontextmanager
async def half_sent(
    address: str, method: str, metadata: tuple[tuple[str, str], ...] = ()
) -> AsyncIterator[HalfSent]:
    """Begin a call.

    Args:
        address: Address of the server.
        method: Full name of the RPC.
        metadata: Metadata of the call.
    """
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    headers = (
        (":method", "POST"),
        (":scheme", "http"),
        (":path", method),
        (":authority", "localhost"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        *metadata,
    )
    try:
        writer.write(PREFACE + _frame(HEADERS, END_HEADERS, b"".join(map(_literal, headers))))
        yield HalfSent(reader, writer)
    finally:
        writer.close()


def message_head(size: int) -> bytes:
    """The prefix of a message of this many bytes."""
    return struct.pack(">?I", False, size)


def _frame(kind: int, flags: int, data: bytes) -> bytes:
    return len(data).to_bytes(3) + bytes([kind, flags]) + CALL.to_bytes(4) + data


def _literal(header: tuple[str, str]) -> bytes:
    """A header without compression (RFC 7541, section 6.2.2); its texts must be short."""
    return b"\x00" + b"".join(bytes([len(text)]) + text.encode() for text in header)

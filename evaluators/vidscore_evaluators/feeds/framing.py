"""Separate a stream of bytes into messages, each with the offset of its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.feeds.frames import MAXIMUM_DOCUMENT_BYTES, MAXIMUM_MESSAGE_BYTES, Framing
from vidscore_evaluators.names import counted

_LENGTH_BYTES = 4


class Cut(NamedTuple):
    """A message, and the offset of the byte after it."""

    message: bytes
    end: int


class Cutter(Struct):
    """Separates bytes that arrive in blocks.

    Attributes:
        framing: How messages are separated.
        offset: Offset of the first byte that is not part of a returned message.
    """

    framing: Framing
    offset: int = 0
    _rest: bytes = b""

    def feed(self, data: bytes) -> Iterator[Cut]:
        """The messages that end in these bytes.

        Raises:
            InputError: If one is too long.
        """
        self._rest += data
        if self.framing is Framing.LINES:
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                self.offset += len(line) + 1
                yield Cut(line, self.offset)
        while self.framing is Framing.LENGTH and len(self._rest) >= _LENGTH_BYTES:
            size = int.from_bytes(self._rest[:_LENGTH_BYTES], "big")
            end = _LENGTH_BYTES + size
            self._refuse_long(size)
            if len(self._rest) < end:
                return
            message, self._rest = self._rest[_LENGTH_BYTES:end], self._rest[end:]
            self.offset += end
            yield Cut(message, self.offset)
        self._refuse_long(len(self._rest))

    def finish(self) -> Iterator[Cut]:
        """The last message, if the end of the stream completes one.

        Raises:
            InputError: If the stream ends within a message that states its length.
        """
        message, self._rest = self._rest, b""
        if message and self.framing is Framing.LENGTH:
            found = f"an end after {counted(len(message), 'byte')}"
            raise InputError([Fault(found, "a whole message")])
        self.offset += len(message)
        if message.strip():
            yield Cut(message, self.offset)

    def _refuse_long(self, size: int) -> None:
        is_document = self.framing is Framing.DOCUMENT
        most = MAXIMUM_DOCUMENT_BYTES if is_document else MAXIMUM_MESSAGE_BYTES
        if size > most:
            raise InputError([Fault(f"a message of over {size} bytes", f"at most {most}")])

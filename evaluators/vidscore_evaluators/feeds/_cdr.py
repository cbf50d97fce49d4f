"""Values out of bytes in CDR, the encoding of DDS and so of ROS 2 (XCDR version 1)."""

from __future__ import annotations

import struct

_HEADER_BYTES = 4
_ORDERS = {b"\x00\x00": ">", b"\x00\x01": "<"}


class CdrError(Exception):
    """The bytes are not what they should be; the text says what was found."""


class CdrReader:
    """Reads values one after the other; each is aligned to its own size.

    Args:
        message: The bytes, with their header.
    """

    def __init__(self, message: bytes) -> None:
        order = _ORDERS.get(message[:2])
        if order is None or len(message) < _HEADER_BYTES:
            raise CdrError("another header than that of plain CDR")
        self._order = order
        self._data = memoryview(message)[_HEADER_BYTES:]
        self._at = 0

    def int32(self) -> int:
        """An integer of 32 bits."""
        return int(self._value("i", 4))

    def uint32(self) -> int:
        """An integer of 32 bits without a sign."""
        return int(self._value("I", 4))

    def float64(self) -> float:
        """A number of 64 bits."""
        return float(self._value("d", 8))

    def skip_float64(self, count: int) -> None:
        """Pass over numbers of 64 bits."""
        self._align(8)
        self._take(8 * count)

    def string(self) -> str:
        """A text, which ends in a zero byte."""
        data = self._take(self.uint32())
        try:
            return bytes(data).removesuffix(b"\x00").decode()
        except UnicodeDecodeError:
            raise CdrError("a string that is not UTF-8") from None

    def count(self, least_bytes: int) -> int:
        """The length of a sequence, bounded by the bytes that each element has at least."""
        count = self.uint32()
        if count * least_bytes > len(self._data) - self._at:
            raise CdrError(f"a sequence of {count} in {len(self._data)} bytes")
        return count

    def done(self) -> None:
        """Refuse bytes that are left over, but for what fills up the last four."""
        if len(self._data) - self._at >= _HEADER_BYTES:
            raise CdrError(f"{len(self._data) - self._at} bytes more")

    def _value(self, code: str, size: int) -> float:
        self._align(size)
        value: float = struct.unpack(self._order + code, self._take(size))[0]
        return value

    def _align(self, size: int) -> None:
        self._at += -self._at % size

    def _take(self, size: int) -> memoryview:
        end = self._at + size
        if end > len(self._data):
            raise CdrError(f"an end after {len(self._data)} bytes")
        data = self._data[self._at : end]
        self._at = end
        return data

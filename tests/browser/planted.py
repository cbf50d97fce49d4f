"""Searches everything that a browser receives for the numbers of the truth, in any form."""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib
from collections.abc import Iterator

from tests.browser.competition import PLANTED

_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{11,}")
_PACKED = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")
"""The first bytes of gzip and zlib."""

_ANY_HEADER = 32 + zlib.MAX_WBITS


def spellings(number: float) -> list[bytes]:
    """The forms in which a number of the truth may be sent: its digits, and its binary forms.

    From two decimal places on, exact and rounded; without the point with all digits, because fewer
    may occur in a random name.
    """
    digits = f"{number:.5f}".rstrip("0")
    return [
        digits[:6].encode(),
        f"{number:.2f}".encode(),
        digits.replace(".", "").encode(),
        struct.pack("<d", number),
        struct.pack("<f", number),
        struct.pack(">d", number),
        struct.pack(">f", number),
    ]


def planted_in(data: bytes, truth: tuple[float, ...] = PLANTED) -> list[float]:
    """Numbers of the truth in some bytes, or in data compressed in them.

    Args:
        data: The bytes.
        truth: The numbers.
    """
    forms = list(_forms(data))
    return [
        number
        for number in truth
        if any(text in form for text in spellings(number) for form in forms)
    ]


def _forms(data: bytes, depth: int = 2) -> Iterator[bytes]:
    """The bytes, the compressed data in them, and their base64 parts."""
    yield data
    runs = [run.replace(b"-", b"+").replace(b"_", b"/") for run in _BASE64.findall(data)]
    for start in range(4):  # A word before it may look like a part of it.
        yield b"\n".join(_decoded(run[start:]) for run in runs)
    for found in _PACKED.finditer(data) if depth else ():
        try:
            unpacked = zlib.decompressobj(_ANY_HEADER).decompress(data[found.start() :])
        except zlib.error:  # It only looked so.
            continue
        yield from _forms(unpacked, depth - 1)


def _decoded(text: bytes) -> bytes:
    try:
        return base64.b64decode(text + b"=" * (-len(text) % 4))
    except binascii.Error:  # It has no such length.
        return b""

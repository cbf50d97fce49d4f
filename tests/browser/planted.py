"""The numbers of the truth in whatever a browser receives, however they are spelt."""

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
"""How gzip and zlib begin."""

_ANY_HEADER = 32 + zlib.MAX_WBITS


def spellings(number: float) -> list[bytes]:
    """How a number of the truth may stand in what is sent: its digits, and its binary forms.

    From two decimal places on, as they are and rounded; without the point all digits, since fewer
    may stand in a random name.
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
    """Numbers of the truth that stand in some bytes, or in what is packed in them.

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
    """The bytes, what is packed in them, and what of them is base64."""
    yield data
    runs = [run.replace(b"-", b"+").replace(b"_", b"/") for run in _BASE64.findall(data)]
    for start in range(4):  # a word before it may look like a part of it
        yield b"\n".join(_decoded(run[start:]) for run in runs)
    for found in _PACKED.finditer(data) if depth else ():
        try:
            unpacked = zlib.decompressobj(_ANY_HEADER).decompress(data[found.start() :])
        except zlib.error:  # it only looked so
            continue
        yield from _forms(unpacked, depth - 1)


def _decoded(text: bytes) -> bytes:
    try:
        return base64.b64decode(text + b"=" * (-len(text) % 4))
    except binascii.Error:  # it has no such length
        return b""

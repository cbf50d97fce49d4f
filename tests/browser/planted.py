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
_GZIP = b"\x1f\x8b\x08"
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


def planted_in(data: bytes) -> list[float]:
    """Numbers of the truth that stand in some bytes, or in what is packed in them."""
    forms = list(_forms(data))
    return [
        number
        for number in PLANTED
        if any(text in form for text in spellings(number) for form in forms)
    ]


def _forms(data: bytes) -> Iterator[bytes]:
    """The bytes, unpacked, and what of them is base64."""
    yield data
    at = data.find(_GZIP)
    if at >= 0:
        unpacking = zlib.decompressobj(_ANY_HEADER)
        data = unpacking.decompress(data[at:])
        yield data
    for run in _BASE64.findall(data):
        text = run.replace(b"-", b"+").replace(b"_", b"/")
        for start in range(4):  # a word before it may look like a part of it
            part = text[start:]
            try:
                yield base64.b64decode(part + b"=" * (-len(part) % 4))
            except binascii.Error:
                continue

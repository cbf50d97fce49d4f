"""Grey PNG images of 8 and 16 bits without interlacing, as label images are stored.

Source: W3C, "Portable Network Graphics (PNG) Specification (Third Edition)". What an image says of
its size bounds what is unpacked.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from vidscore_evaluators.arrays import AnyArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.kernels.reading import unfilter_rows
from vidscore_evaluators.mask_forms import MAXIMUM_MASK_PIXELS

HEAD = b"\x89PNG\r\n\x1a\n"

_HEADER = struct.Struct(">IIBBBBB")
_CHUNK = struct.Struct(">I4s")
_CHECKSUM_BYTES = 4
_GREY = 0
_DEPTHS = (8, 16)
_OPTIONAL = 0x20
"""Of the first letter of a chunk: without it, a reader has to know what the chunk means."""


class _Header(NamedTuple):
    """What IHDR says."""

    width: int
    height: int
    depth: int
    colour: int
    compression: int
    filtering: int
    interlace: int


def depth_of_grey(head: bytes) -> int | None:
    """Bits of a pixel of a file that begins like this; None where it is no such image."""
    start = len(HEAD) + _CHUNK.size
    if not head.startswith(HEAD) or len(head) < start + _HEADER.size:
        return None
    header = _Header(*_HEADER.unpack_from(head, start))
    return header.depth if not _problem(header) else None


def read_grey_png(data: bytes, name: str) -> AnyArray:
    """Read an image.

    Args:
        data: The file.
        name: Its name, for error messages.

    Returns:
        (height, width) integers.

    Raises:
        InputError: If it is no such image; ``field`` is the chunk that is wrong.
    """
    if not data.startswith(HEAD):
        raise _wrong("another file", "a PNG image", name)
    header, packed = None, []
    for kind, content in _chunks(data, name):
        if header is None:
            header = _header_of(kind, content, name)
        elif kind == b"IDAT":
            packed.append(content)
        elif not kind[0] & _OPTIONAL and kind != b"IEND":
            raise _wrong("a chunk of another kind", "a grey image", name, kind)
    if header is None:
        raise _wrong("nothing", "an image", name)
    return _pixels(header, b"".join(packed), name)


def _chunks(data: bytes, name: str) -> Iterator[tuple[bytes, memoryview]]:
    """Kind and content of each chunk, up to the last one."""
    view, place, kind = memoryview(data), len(HEAD), b""
    while kind != b"IEND":
        if len(data) < place + _CHUNK.size:
            raise _wrong(f"the end of the file at byte {len(data)}", "IEND at its end", name)
        size, kind = _CHUNK.unpack_from(data, place)
        content = view[place + _CHUNK.size : place + _CHUNK.size + size]
        end = place + _CHUNK.size + size + _CHECKSUM_BYTES
        if len(data) < end:
            found = f"the end of the file at byte {len(data)}"
            raise _wrong(found, f"{size} bytes from byte {place} on", name, kind)
        if zlib.crc32(content, zlib.crc32(kind)) != int.from_bytes(view[end - 4 : end], "big"):
            raise _wrong("another checksum", f"the checksum of byte {place} and on", name, kind)
        yield kind, content
        place = end


def _header_of(kind: bytes, content: memoryview, name: str) -> _Header:
    if kind != b"IHDR" or len(content) != _HEADER.size:
        raise _wrong("another chunk", "IHDR first, of 13 bytes", name, kind)
    header = _Header(*_HEADER.unpack(content))
    problem = _problem(header)
    if problem:
        raise _wrong(*problem, name, kind)
    return header


def _problem(header: _Header) -> tuple[str, str] | None:
    """What an image is, and what it should be, if it is another one."""
    if header.colour != _GREY or header.depth not in _DEPTHS:
        found = f"{header.depth} bits of colour type {header.colour}"
        return found, "grey, colour type 0, of 8 or 16 bits"
    if header.interlace or header.compression or header.filtering:
        return "interlacing, or another compression", "neither"
    pixels = header.width * header.height
    if not 0 < pixels <= MAXIMUM_MASK_PIXELS:
        found = f"{header.width} by {header.height} pixels"
        return found, f"1 to {MAXIMUM_MASK_PIXELS} pixels together"
    return None


def _pixels(header: _Header, packed: bytes, name: str) -> AnyArray:
    step = header.depth // 8
    size = header.width * step
    whole = header.height * (size + 1)
    try:
        content = zlib.decompressobj().decompress(packed, whole + 1)
    except zlib.error:
        raise _wrong("what cannot be unpacked", "whole data", name, b"IDAT") from None
    if len(content) != whole:
        found = f"{'more' if len(content) > whole else len(content)} bytes"
        raise _wrong(found, f"{whole} bytes of {header.height} rows", name, b"IDAT")
    rows = np.frombuffer(bytearray(content), dtype=np.uint8)
    row = unfilter_rows(rows, header.height, size, step)
    if row < header.height:
        found = f"another filter in row {row}"
        raise _wrong(found, "filters from 0 to 4", name, b"IDAT")
    pixels = rows.reshape(header.height, size + 1)[:, 1:]
    return np.ascontiguousarray(pixels).view(">u2" if step == 2 else np.uint8)


def _wrong(found: str, expected: str, name: str, chunk: bytes | None = None) -> InputError:
    shown = None if chunk is None else f"chunk {chunk.decode('ascii', 'backslashreplace')}"
    return InputError([Fault(found, expected, source=name, field=shown)])

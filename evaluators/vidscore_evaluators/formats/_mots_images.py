"""Label images of MOTS: ``<sequence>/<frame>.png``, whose pixels are 1000 * class + instance.

They are grey PNG of 16 bits; this module also reads and writes such PNG.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.arrays import AnyArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import (
    InputPath,
    is_folder,
    read_bytes,
    read_head,
    visible_entries,
)
from vidscore_evaluators.formats._sequence_files import SequenceFiles, check_count
from vidscore_evaluators.formats._table import EXPECTED_STRING, RowTable, parse_string
from vidscore_evaluators.formats.source import FaultList, ReadLimits
from vidscore_evaluators.kernels.reading import unfilter_rows
from vidscore_evaluators.mask_forms import MAXIMUM_MASK_PIXELS, masks_from_label_image
from vidscore_evaluators.masks import Masks, concatenate_masks
from vidscore_evaluators.names import counted
from vidscore_evaluators.runtime import map_threads
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

FOLDER = "instances"
VALUES_PER_CLASS = 1000

_FILE = "a label image of MOTS"
_LAYOUT = "a folder of <sequence>/<frame>.png"
_SUFFIX = ".png"
_DEPTH = 16
_BACKGROUND = 0


class LabelImages(Struct, frozen=True, eq=False):
    """The label images of a side; each lists its frame.

    Attributes:
        table: One row per object, positioned by the value of its pixels; the source of a row is its
            image.
        masks: The mask of each row.
        sequence_of_image: (I,) index into the folders of sequences.
        frame_of_image: (I,) number of its frame.
    """

    table: RowTable
    masks: Masks
    sequence_of_image: IntArray
    frame_of_image: IntArray

    @property
    def first_images(self) -> IntArray:
        """The first image of each sequence."""
        _, first = np.unique(self.sequence_of_image, return_index=True)
        return first.astype(np.int64)


def find_sequences(path: InputPath) -> SequenceFiles:
    """The folders of sequences with images in a folder; a folder of images is itself a sequence."""
    root = path / FOLDER if is_folder(path / FOLDER) else path
    if any(entry.suffix == _SUFFIX for entry in visible_entries(root)):
        return {SequenceKey("", root.absolute().name): root}
    return {
        SequenceKey("", folder.name): folder
        for folder in visible_entries(root)
        if is_folder(folder) and any(one.suffix == _SUFFIX for one in visible_entries(folder))
    }


def are_label_images(sequences: SequenceFiles) -> bool:
    """Whether the first image is grey and of 16 bits."""
    first = next(islice(sequences.values(), 1), None)
    if first is None:
        return False
    image = next(entry for entry in visible_entries(first) if entry.suffix == _SUFFIX)
    return depth_of_grey(read_head(image, _FILE)) == _DEPTH


def read_label_images(
    path: InputPath,
    sequences: SequenceFiles,
    bounds: Mapping[SequenceKey, tuple[int, int]],
    limits: ReadLimits,
) -> LabelImages:
    """Read the images of all sequences.

    Args:
        path: The folder of a side.
        sequences: The folder of each sequence.
        bounds: First and last frame of sequences, if known.
        limits: Limits of size.

    Raises:
        InputError: With every fault of every image: a name that is not a frame number, a frame out
            of bounds, a file that is not a label image; or too many of them.
    """
    faults = FaultList()
    files: list[tuple[int, int, InputPath]] = []
    for index, (key, folder) in enumerate(sequences.items()):
        if parse_string(key.sequence) != key.sequence:
            faults.add(Fault(repr(key.sequence), EXPECTED_STRING, source=str(folder.parent)))
        frames: dict[int, InputPath] = {}
        for file in visible_entries(folder):
            if file.suffix == _SUFFIX:
                faults.extend(_add_frame(frames, file, bounds.get(key)))
        files.extend((index, number, file) for number, file in sorted(frames.items()))
    check_count(len(files), path, _LAYOUT, limits, others=faults.listed())
    names = [str(file) for _, _, file in files]
    values, parts = _read_all([file for _, _, file in files], path, limits)
    return _label_images(names, files, values, parts)


def _add_frame(
    frames: dict[int, InputPath], file: InputPath, bounds: tuple[int, int] | None
) -> list[Fault]:
    """Add the frame of an image, or return its faults."""
    known = file.stem.isascii() and file.stem.isdigit() and int(file.stem) <= MAXIMUM_FRAME_NUMBER
    if not known:
        return [Fault(repr(file.name), "the number of a frame as its name", source=str(file))]
    number = int(file.stem)
    if number in frames:
        return [Fault(f"frame {number} again", "one image per frame", source=str(file))]
    frames[number] = file
    if bounds is not None and not bounds[0] <= number <= bounds[1]:
        expected = f"a frame from {bounds[0]} to {bounds[1]}, by the seqmap"
        return [Fault(f"frame {number}", expected, source=str(file))]
    return []


def _read_all(
    files: Sequence[InputPath], path: InputPath, limits: ReadLimits
) -> tuple[list[IntArray], list[Masks]]:
    """Values and masks of all images."""
    faults, values, parts, size = FaultList(), [], [], 0
    for read in map_threads(partial(_read_image, limits=limits), files):
        try:
            found, masks = read()
        except InputError as error:
            faults.extend(error.faults)
            continue
        size += masks.nbytes
        if size > limits.maximum_unpacked_bytes:
            expected = f"at most maximum_unpacked_bytes = {limits.maximum_unpacked_bytes}"
            raise InputError([Fault(f"masks of {size} bytes", expected, source=str(path))])
        values.append(found)
        parts.append(masks)
    if faults:
        raise InputError(faults.listed())
    return values, parts


def _read_image(file: InputPath, limits: ReadLimits) -> tuple[IntArray, Masks]:
    """Values of the objects of an image, and their masks."""
    labels = read_grey_png(read_bytes(file, _FILE, limits), str(file))
    try:
        values, masks = masks_from_label_image(labels)
    except InputError as error:
        faults = [
            replace(fault, source=str(file), entry=None, field=None) for fault in error.faults
        ]
        raise InputError(faults) from None
    objects = np.flatnonzero(values != _BACKGROUND)
    return values[objects], masks.take(objects)


def _label_images(
    names: Sequence[str],
    files: Sequence[tuple[int, int, InputPath]],
    values: Sequence[IntArray],
    parts: Sequence[Masks],
) -> LabelImages:
    of_sequence = np.array([index for index, _, _ in files], dtype=np.int64)
    frames = np.array([number for _, number, _ in files], dtype=np.int64)
    counts = np.array([len(found) for found in values], dtype=np.int64)
    masks, ids = concatenate_masks(parts), np.concatenate(values)
    image_of_row = np.repeat(np.arange(len(files)), counts)
    columns = {
        "frame": frames[image_of_row],
        "id": ids,
        "class": ids // VALUES_PER_CLASS,
        "height": masks.sizes[:, 0],
        "width": masks.sizes[:, 1],
    }
    table = RowTable({}, columns, {}, tuple(names), image_of_row, ids, "entry")
    return LabelImages(table, masks, of_sequence, frames)


# --- grey PNG images of 8 and 16 bits without interlacing ------------------------------------
#
# Source: W3C, "Portable Network Graphics (PNG) Specification (Third Edition)". The image size that
# a file states bounds what is unpacked.


HEAD = b"\x89PNG\r\n\x1a\n"

_HEADER = struct.Struct(">IIBBBBB")
_CHUNK = struct.Struct(">I4s")
_CHECKSUM_BYTES = 4
_GREY = 0
_DEPTHS = (8, 16)
_OPTIONAL = 0x20
"""Bit of the first letter of a chunk: without it, readers must understand the chunk."""


class _Header(NamedTuple):
    """The fields of IHDR."""

    width: int
    height: int
    depth: int
    colour: int
    compression: int
    filtering: int
    interlace: int


def depth_of_grey(head: bytes) -> int | None:
    """Bits per pixel of a file, by its first bytes; None if it is not such an image."""
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
        InputError: If it is not such an image; ``field`` is the faulty chunk.
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
    """Kind and content of each chunk, up to the last."""
    view, place, kind = memoryview(data), len(HEAD), b""
    while kind != b"IEND":
        if len(data) < place + _CHUNK.size:
            raise _wrong(f"the end of the file at byte {len(data)}", "IEND at its end", name)
        size, kind = _CHUNK.unpack_from(data, place)
        content = view[place + _CHUNK.size : place + _CHUNK.size + size]
        end = place + _CHUNK.size + size + _CHECKSUM_BYTES
        if len(data) < end:
            found = f"the end of the file at byte {len(data)}"
            raise _wrong(found, f"{counted(size, 'byte')} from byte {place} on", name, kind)
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
    """What an image is, and what is expected, if it is not of the supported kind."""
    if header.colour != _GREY or header.depth not in _DEPTHS:
        found = f"{counted(header.depth, 'bit')} of colour type {header.colour}"
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
        raise _wrong("data that cannot be unpacked", "complete data", name, b"IDAT") from None
    if len(content) != whole:
        found = "more bytes" if len(content) > whole else counted(len(content), "byte")
        expected = f"{whole} bytes of {counted(header.height, 'row')}"
        raise _wrong(found, expected, name, b"IDAT")
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

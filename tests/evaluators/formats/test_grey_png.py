"""Grey PNG images: as OpenCV writes them, and what is wrong with a file is told with its chunk."""

from __future__ import annotations

import struct
import zlib

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._mots_images import HEAD, depth_of_grey, read_grey_png
from vidscore_evaluators.testing.examples import example_count

FILTERS = {
    "none": "IMWRITE_PNG_FILTER_NONE",
    "sub": "IMWRITE_PNG_FILTER_SUB",
    "up": "IMWRITE_PNG_FILTER_UP",
    "average": "IMWRITE_PNG_FILTER_AVG",
    "paeth": "IMWRITE_PNG_FILTER_PAETH",
    "all": "IMWRITE_PNG_ALL_FILTERS",
}
"""Constants of OpenCV."""


def chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)


def header(
    width: int = 2, height: int = 2, depth: int = 8, colour: int = 0, interlace: int = 0
) -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace))


def rows(*content: bytes) -> bytes:
    return chunk(b"IDAT", zlib.compress(b"".join(content)))


END = chunk(b"IEND", b"")
ROWS = rows(b"\0ab", b"\0cd")
WHOLE = HEAD + header() + ROWS + END


@pytest.mark.skipif(
    not hasattr(cv2, "IMWRITE_PNG_FILTER"), reason="OpenCV takes a filter from 4.12 on"
)
@pytest.mark.parametrize("kind", FILTERS)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_images_are_read_as_opencv_wrote_them(kind: str, dtype: type[np.uint8 | np.uint16]) -> None:
    """Smooth and noisy rows, so that a writer that chooses has reason for each filter."""
    random = np.random.default_rng(3)
    smooth = np.add.outer(np.arange(40) * 3, np.arange(53) * 7)
    noise = random.integers(0, np.iinfo(dtype).max, (40, 53), endpoint=True)
    chosen = np.where(np.arange(40)[:, None] % 3 == 0, noise, smooth)
    image: NDArray[np.uint8 | np.uint16] = chosen.astype(dtype)
    chosen_filter = [cv2.IMWRITE_PNG_FILTER, getattr(cv2, FILTERS[kind])]
    encoded = cv2.imencode(".png", image, chosen_filter)[1].tobytes()
    assert depth_of_grey(encoded) == 8 * image.itemsize
    found = read_grey_png(encoded, "a.png")
    np.testing.assert_array_equal(found, image)


def test_content_may_come_in_parts_beside_what_need_not_be_known() -> None:
    packed = zlib.compress(b"\0ab\0cd")
    parts = chunk(b"IDAT", packed[:3]) + chunk(b"IDAT", packed[3:])
    data = HEAD + header() + chunk(b"tEXt", b"a\0b") + parts + END
    assert read_grey_png(data, "a.png").tolist() == [[97, 98], [99, 100]]


@pytest.mark.parametrize(
    ("data", "chunk_name", "problem"),
    [
        (b"GIF89a", None, "found another file, expected a PNG image"),
        (HEAD, None, "found the end of the file at byte 8"),
        (HEAD + END, "chunk IEND", "found another chunk, expected IHDR first"),
        (HEAD + header(colour=2) + ROWS + END, "chunk IHDR", "found 8 bits of colour type 2"),
        (HEAD + header(depth=4) + ROWS + END, "chunk IHDR", "found 4 bits of colour type 0"),
        (HEAD + header(interlace=1) + ROWS + END, "chunk IHDR", "found interlacing"),
        (HEAD + header(width=0) + ROWS + END, "chunk IHDR", "found 0 by 2 pixels"),
        (HEAD + header(width=1 << 28) + ROWS + END, "chunk IHDR", "found 268435456 by 2 pixels"),
        (
            HEAD + header() + chunk(b"PLTE", b"") + END,
            "chunk PLTE",
            "found a chunk of another kind",
        ),
        (HEAD + header() + END, "chunk IDAT", "found 0 bytes, expected 6 bytes of 2 rows"),
        (HEAD + header() + rows(b"\0ab") + END, "chunk IDAT", "found 3 bytes, expected 6"),
        (HEAD + header() + rows(b"\0ab" * 3) + END, "chunk IDAT", "found more bytes, expected 6"),
        (HEAD + header() + rows(b"\0ab\5cd") + END, "chunk IDAT", "found another filter in row 1"),
        (HEAD + header() + chunk(b"IDAT", b"no") + END, "chunk IDAT", "found what cannot be unp"),
        (WHOLE[:-2], "chunk IEND", f"found the end of the file at byte {len(WHOLE) - 2}"),
        (WHOLE.replace(b"IEND", b"iEND"), "chunk iEND", "found another checksum"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_told_with_its_chunk(
    data: bytes, chunk_name: str | None, problem: str
) -> None:
    fault = fault_of(data)
    assert fault is not None
    assert (fault.source, fault.field) == ("a.png", chunk_name)
    assert fault.description.startswith(problem)


def fault_of(data: bytes) -> Fault | None:
    try:
        read_grey_png(data, "a.png")
    except InputError as error:
        [fault] = error.faults
        return fault
    return None


def test_what_unpacks_to_more_than_it_says_is_not_unpacked() -> None:
    packed = zlib.compress(bytes(1 << 24))
    fault = fault_of(HEAD + header() + chunk(b"IDAT", packed) + END)
    assert fault is not None
    assert fault.found == "more bytes"


@settings(max_examples=example_count(200), deadline=None)
@given(st.lists(st.tuples(st.integers(8, len(WHOLE) - 1), st.integers(0, 255)), max_size=3))
def test_a_damaged_file_is_an_image_or_a_fault(changes: list[tuple[int, int]]) -> None:
    data = bytearray(WHOLE)
    for place, value in changes:
        data[place] = value
    fault_of(bytes(data))

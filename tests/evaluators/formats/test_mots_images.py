"""Label images of MOTS: they have the meaning and the scores of the same scene as text."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pycocotools import mask as coco_masks
from tests.evaluators.formats.helpers import truth_of, validate_file

from vidscore_evaluators import score
from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import detect_format
from vidscore_evaluators.formats._mots_images import HEAD, depth_of_grey, read_grey_png
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.source import ReadLimits
from vidscore_evaluators.testing.examples import example_count

Image = np.ndarray[Any, np.dtype[np.uint16]]
Scene = dict[str, dict[int, Image]]
"""Images by sequence and frame."""


def scene(random: np.random.Generator, *, regions: bool, jitter: int) -> Scene:
    """Two sequences of moving rectangles, later ones in front; one image is empty."""
    made: Scene = {}
    for sequence in ("0002", "0007"):
        images = made.setdefault(sequence, {})
        for frame in range(6):
            image = np.zeros((40, 60), dtype=np.uint16)
            if regions:
                image[:8, :20] = 10000
            for track in range(5):
                x, y = 6 * track + 3 * frame, 7 * track + int(random.integers(0, jitter + 1))
                image[y : y + 10, x : x + 12] = 1000 * (1 + track % 2) + track
            images[frame] = image * (frame != 4)
    return made


def save_images(folder: Path, made: Scene) -> Path:
    for sequence, images in made.items():
        target = folder / "instances" / sequence
        target.mkdir(parents=True, exist_ok=True)
        for frame, image in images.items():
            cv2.imwrite(str(target / f"{frame:06}.png"), image)
    return folder


def text_of(pixels: np.ndarray[Any, np.dtype[np.bool_]]) -> str:
    encoded: Any = coco_masks.encode(np.asfortranarray(pixels.astype(np.uint8)))
    return str(encoded["counts"].decode())


def save_text(folder: Path, made: Scene) -> Path:
    """The same as text, with the runs of pycocotools."""
    folder.mkdir(parents=True)
    for sequence, images in made.items():
        lines = [
            f"{frame} {value} {value // 1000} {image.shape[0]} {image.shape[1]} "
            + text_of(image == value)
            for frame, image in images.items()
            for value in np.unique(image[image > 0]).tolist()
        ]
        (folder / f"{sequence}.txt").write_text("".join(f"{line}\n" for line in lines))
    return folder


def save_seqmap(folder: Path) -> None:
    text = "".join(f"{name} empty 000000 000005\n" for name in ("0002", "0007"))
    (folder / "evaluate_mots.seqmap").write_text(text)


@pytest.mark.parametrize("preset", ["mots", "kitti-mots"])
def test_images_and_text_of_a_scene_have_equal_scores(tmp_path: Path, preset: str) -> None:
    """Either side in either form, with the empty frame, the regions and the classes."""
    truth = scene(np.random.default_rng(1), regions=True, jitter=0)
    found = scene(np.random.default_rng(2), regions=False, jitter=3)
    reports = {}
    for save in (save_images, save_text):
        for other in (save_images, save_text):
            folder = tmp_path / f"{save.__name__}-{other.__name__}"
            save(folder / "gt", truth)
            save_seqmap(folder / "gt")
            other(folder / "data", found)
            scored: Any = score(preset, folder / "gt", folder / "data")
            reports[save, other] = [row for report in scored for row in report.rows()]
    first, *others = reports.values()
    assert 0.0 < next(row.value for row in first if row.measure == "hota") < 1.0
    assert others == [first] * 3


def test_images_equal_their_text(tmp_path: Path) -> None:
    """Run by run, including where pixels lie; an image lists its frame."""
    made = scene(np.random.default_rng(1), regions=True, jitter=2)
    images, text = save_images(tmp_path / "i", made), save_text(tmp_path / "t", made)
    assert detect_format(images).name == "mots"
    found, expected = truth_of(images), truth_of(text).annotations
    assert found.warnings == ()
    assert found.annotations.frame_numbers.tolist() == [*range(6), *range(6)]
    listed = found.annotations.take_frames(found.annotations.object_counts > 0)
    assert fingerprint(listed) == fingerprint(expected)
    written = convert(found, "mots", Side.TRUTH)
    assert written.files == {path.name: path.read_bytes() for path in text.iterdir()}


def test_a_single_folder_of_images_is_a_sequence(tmp_path: Path) -> None:
    made = scene(np.random.default_rng(1), regions=False, jitter=0)
    path = save_images(tmp_path, made) / "instances" / "0007"
    assert [key.sequence for key in truth_of(path).annotations.sequences] == ["0007"]


def test_an_invalid_value_is_reported_with_its_image(tmp_path: Path) -> None:
    """Classes are 1, 2 and 10; detections have no 10."""
    image = np.zeros((4, 5), dtype=np.uint16)
    image[0, 0], image[1, 1], image[2, 2] = 7, 3001, 10000
    path = save_images(tmp_path, {"0001": {0: image, 3: image * 0 + 1001}})
    file = str(path / "instances" / "0001" / "000000.png")
    faults = validate_file(path)
    assert [(one.source, one.entry, one.found) for one in faults] == [
        (file, 7, "0"),
        (file, 3001, "3"),
    ]
    faults = validate_file(path, side=Side.DETECTIONS)
    assert [one.entry for one in faults] == [7, 3001, 10000]
    assert all(one.field == "column class" for one in faults)


def test_invalid_label_images_are_reported_with_every_file(tmp_path: Path) -> None:
    image = np.full((4, 5), 1001, dtype=np.uint16)
    path = save_images(tmp_path, {"0001": {0: image, 1: image, 2: image}})
    folder = path / "instances" / "0001"
    (folder / "000000.png").write_bytes((folder / "000000.png").read_bytes()[:-20])
    cv2.imwrite(str(folder / "000002.png"), np.zeros((4, 5, 3), dtype=np.uint8))
    faults = validate_file(path, format_name="mots")
    assert [one.source for one in faults] == [str(folder / f"00000{n}.png") for n in (0, 2)]
    assert faults[1].found == "8 bits of colour type 2"


def test_a_frame_has_one_image_numbered_within_the_seqmap(tmp_path: Path) -> None:
    image = np.full((4, 5), 1001, dtype=np.uint16)
    path = save_images(tmp_path, {"0002": {0: image, 6: image}})
    save_seqmap(path)
    folder = path / "instances" / "0002"
    for name in ("0.png", "first.png"):
        (folder / name).write_bytes((folder / "000000.png").read_bytes())
    assert [(one.source, one.found) for one in validate_file(path)] == [
        (str(folder / "000000.png"), "frame 0 again"),
        (str(folder / "000006.png"), "frame 6"),
        (str(folder / "first.png"), "'first.png'"),
    ]


def test_frames_of_the_seqmap_without_an_image_are_evaluated(tmp_path: Path) -> None:
    image = np.full((4, 5), 1001, dtype=np.uint16)
    path = save_images(tmp_path, {"0002": {1: image}})
    save_seqmap(path)
    source = truth_of(path)
    assert source.annotations.object_counts.tolist() == [0, 1, 0, 0, 0, 0]
    # At the first image of the sequence, without a value.
    file = path / "instances" / "0002" / "000001.png"
    assert source.place_of(SequenceKey("", "0002"), 3) == f"{file}, entry 0"


def test_the_number_of_images_and_the_size_of_their_masks_are_bounded(tmp_path: Path) -> None:
    path = save_images(tmp_path, {"0002": {2**53 - 1: np.full((4, 5), 1001, dtype=np.uint16)}})
    found = truth_of(path).annotations
    assert found.frame_numbers.tolist() == [2**53 - 1]
    assert found.masks is not None
    size = found.masks.nbytes
    exact = ReadLimits(maximum_unpacked_bytes=size)
    assert validate_file(path, limits=exact) == []
    less = ReadLimits(maximum_unpacked_bytes=size - 1)
    (fault,) = validate_file(path, limits=less, format_name="mots")
    assert fault.found == f"masks of {size} bytes"
    save_images(tmp_path, {"0007": {1: np.full((4, 5), 1001, dtype=np.uint16)}})
    (fault,) = validate_file(path, limits=ReadLimits(maximum_files=1))
    assert (fault.found, fault.expected) == ("2 files", "at most maximum_files = 1")


def test_the_name_of_a_folder_of_images_must_be_valid_for_a_sequence(tmp_path: Path) -> None:
    path = save_images(tmp_path, {" 0002": {0: np.full((4, 5), 1001, dtype=np.uint16)}})
    (fault,) = validate_file(path)
    assert (fault.source, fault.found) == (str(path / "instances"), "' 0002'")


def test_a_folder_of_photographs_is_not_read_as_label_images(tmp_path: Path) -> None:
    (tmp_path / "0001").mkdir()
    cv2.imwrite(str(tmp_path / "0001" / "000000.png"), np.zeros((4, 5, 3), dtype=np.uint8))
    faults = validate_file(tmp_path)
    assert len(faults) == 1
    assert "mots" not in str(faults[0])


# --- Grey PNG images: as OpenCV writes them; faults name the chunk


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
    """Smooth and noisy rows, so that a writer that chooses filters uses each of them."""
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


def test_content_may_be_split_and_mixed_with_unknown_chunks() -> None:
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
        (
            HEAD + header() + chunk(b"IDAT", b"no") + END,
            "chunk IDAT",
            "found data that cannot be unp",
        ),
        (WHOLE[:-2], "chunk IEND", f"found the end of the file at byte {len(WHOLE) - 2}"),
        (WHOLE.replace(b"IEND", b"iEND"), "chunk iEND", "found another checksum"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_fault_of_an_image_names_its_chunk(
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


def test_content_larger_than_declared_is_not_unpacked() -> None:
    packed = zlib.compress(bytes(1 << 24))
    fault = fault_of(HEAD + header() + chunk(b"IDAT", packed) + END)
    assert fault is not None
    assert fault.found == "more bytes"


@settings(max_examples=example_count(200), deadline=None)
@given(st.lists(st.tuples(st.integers(8, len(WHOLE) - 1), st.integers(0, 255)), max_size=3))
def test_a_damaged_image_gives_an_image_or_a_fault(changes: list[tuple[int, int]]) -> None:
    data = bytearray(WHOLE)
    for place, value in changes:
        data[place] = value
    fault_of(bytes(data))

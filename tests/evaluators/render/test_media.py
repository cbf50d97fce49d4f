"""Each frame gets its own image, and missing ones are named."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.render.media import SequenceMedia, Video, find_media, read_image

STREET, ALLEY = SequenceKey("", "street"), SequenceKey("Tower", "alley")
LEVEL_PER_FRAME = 20


def write_image(path: Path, level: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    assert cv2.imwrite(str(path), np.full((24, 32, 3), level, dtype=np.uint8))
    return path


def write_video(path: Path, frame_count: int) -> Path:
    """Frame n has the grey level 20 n."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 12.0, (64, 48))
    for index in range(frame_count):
        writer.write(np.full((48, 64, 3), index * LEVEL_PER_FRAME, dtype=np.uint8))
    writer.release()
    return path


def media_of(path: Path, *keys: SequenceKey, first: int = 0) -> dict[SequenceKey, SequenceMedia]:
    return find_media(path, keys, dict.fromkeys(keys, first), {})


def levels(media: SequenceMedia, *numbers: int, key: SequenceKey = STREET) -> list[int]:
    rows = np.array(numbers, dtype=np.int64)
    assert media.faults(key, rows) == []
    return [round(float(image.mean())) for image in media.images(key, rows)]


def test_images_are_frames_by_the_numbers_in_their_names(tmp_path: Path) -> None:
    for number in (3, 10, 200):
        write_image(tmp_path / f"frame_{number:04d}.png", number)
    assert levels(media_of(tmp_path, STREET)[STREET], 3, 200) == [3, 200]


def test_images_without_numbers_in_their_names_are_frames_in_their_order(tmp_path: Path) -> None:
    for level, name in enumerate("acb"):
        write_image(tmp_path / f"{name}.png", 50 + level)
    assert levels(media_of(tmp_path, STREET, first=5)[STREET], 5, 6, 7) == [50, 52, 51]


def test_names_of_images_begin_with_their_sequence(tmp_path: Path) -> None:
    write_image(tmp_path / "street_1.png", 10)
    write_image(tmp_path / "alley_1.png", 20)
    found = media_of(tmp_path, STREET, ALLEY)
    assert levels(found[STREET], 1) == [10]
    assert levels(found[ALLEY], 1, key=ALLEY) == [20]


@pytest.mark.parametrize("place", ["Tower/alley", "alley", "Tower/alley/img1"])
def test_a_sequence_has_a_folder_of_its_name(tmp_path: Path, place: str) -> None:
    write_image(tmp_path / place / "000001.png", 30)
    write_video(tmp_path / "street.avi", 3)
    found = media_of(tmp_path, STREET, ALLEY)
    assert levels(found[ALLEY], 1, key=ALLEY) == [30]
    assert isinstance(found[STREET], Video)


def test_images_are_found_by_the_names_in_the_truth(tmp_path: Path) -> None:
    write_image(tmp_path / "b.png", 40)
    write_image(tmp_path / "val" / "a.png", 60)
    write_image(tmp_path.parent / "outside.png", 90)
    names = {STREET: {17: "elsewhere/b.png", 18: "val/a.png", 19: "../outside.png"}}
    media = find_media(tmp_path, [STREET], {STREET: 0}, names)[STREET]
    assert levels(media, 17, 18) == [40, 60]
    [fault] = media.faults(STREET, np.array([18, 19]))
    assert fault.found == "no image of frame 19 of sequence street"


def test_frames_of_a_video_count_from_its_first(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.avi", 8)
    media = media_of(path, STREET, first=1)[STREET]
    expected = [0, 2 * LEVEL_PER_FRAME, 7 * LEVEL_PER_FRAME]
    assert np.allclose(levels(media, 1, 3, 8), expected, atol=3)
    assert media.frames_per_s == 12.0


def test_a_frame_that_the_media_lack_is_named(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.avi", 8)
    media = media_of(path, STREET, first=1)[STREET]
    [late] = media.faults(STREET, np.array([3, 9, 10]))
    assert late.found == "no frame 9 of sequence street: 8 frames can be decoded, from 1 on"
    [early] = media.faults(STREET, np.array([0, 3]))
    assert early.found == "no frame 0 of sequence street: its first frame is 1"
    assert "--first-frame" in str(early.advice)


def test_a_truncated_video_lacks_frames(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.avi", 9)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    media = media_of(path, STREET)[STREET]
    numbers = np.arange(9)
    if not media.faults(STREET, numbers):  # It claims to be complete until it is read.
        with pytest.raises(InputError, match="of sequence street"):
            list(media.images(STREET, numbers))


def test_a_video_belongs_to_one_sequence(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.avi", 1)
    with pytest.raises(InputError, match=r"one video for 2 sequences.*--sequence"):
        media_of(path, STREET, ALLEY)


def test_every_sequence_without_media_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        media_of(tmp_path, STREET, ALLEY)
    assert [fault.found for fault in error.value.faults] == [
        "no images and no video of sequence street",
        "no images and no video of sequence Tower/alley",
    ]
    with pytest.raises(InputError, match="file or folder not found"):
        media_of(tmp_path / "nothing", STREET)


def test_a_sequence_whose_name_leads_elsewhere_has_no_media(tmp_path: Path) -> None:
    write_image(tmp_path / "outside" / "1.png", 10)
    (tmp_path / "media").mkdir()
    with pytest.raises(InputError, match="no images"):
        media_of(tmp_path / "media", SequenceKey("", "../outside"))


def test_media_that_are_not_a_video_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    path.write_text("no video")
    [fault] = media_of(path, STREET)[STREET].faults(STREET, np.array([0]))
    assert fault.found == "no video that OpenCV can read"


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_a_truncated_image_is_refused(tmp_path: Path, suffix: str) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    path = tmp_path / f"1{suffix}"
    cv2.imwrite(str(path), noise)
    assert read_image(path).shape == (64, 64, 3)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError, match=r"1\.(png|jpg)"):
        read_image(path)


def test_an_image_of_billions_of_pixels_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(b"\0")), chunk(b"IEND", b"")
    path = tmp_path / "1.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))
    with pytest.raises(InputError, match="broken or too large"):
        read_image(path)


def test_a_grey_image_is_read_in_three_colours(tmp_path: Path) -> None:
    path = tmp_path / "1.png"
    cv2.imwrite(str(path), np.full((5, 6), 77, dtype=np.uint8))
    assert read_image(path).tolist() == [[[77] * 3] * 6] * 5

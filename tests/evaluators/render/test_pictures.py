"""Single frames of media in any order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vidscore_evaluators.annotations import SequenceKey

cv2 = pytest.importorskip("cv2")

from vidscore_evaluators.render.media import ImageFiles, Video  # noqa: E402
from vidscore_evaluators.render.pictures import MediaPictures  # noqa: E402

KEY = SequenceKey("Tower", "001")


def grey_of(data: bytes | None) -> float:
    assert data is not None
    return float(cv2.imdecode(np.frombuffer(data, dtype=np.uint8), 1).mean())


def test_frames_of_a_video_are_read_in_any_order(tmp_path: Path) -> None:
    """Frame n of 200 has the grey level n."""
    writer = cv2.VideoWriter(
        str(tmp_path / "v.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 10.0, (64, 48)
    )
    for grey in range(200):
        writer.write(np.full((48, 64, 3), grey, dtype=np.uint8))
    writer.release()
    pictures = MediaPictures({KEY: Video(tmp_path / "v.avi", 5)})
    for number in (5, 6, 150, 20, 19, 204, 100):
        found = grey_of(pictures.jpeg("Tower/001", number))
        assert found == pytest.approx(number - 5, abs=3)
    assert pictures.size("Tower/001") == (64.0, 48.0)
    assert not pictures.has("Tower/001", 4)
    assert pictures.jpeg("Tower/001", 400) is None
    assert pictures.jpeg("elsewhere", 5) is None


def test_images_are_found_by_their_numbers_only(tmp_path: Path) -> None:
    for number in (1, 7):
        cv2.imwrite(str(tmp_path / f"{number}.png"), np.full((10, 20, 3), number * 20, np.uint8))
    files = {number: tmp_path / f"{number}.png" for number in (1, 7)}
    pictures = MediaPictures({KEY: ImageFiles(tmp_path, files)})
    assert grey_of(pictures.jpeg("Tower/001", 7)) == pytest.approx(140, abs=3)
    assert not pictures.has("Tower/001", 2)
    assert pictures.jpeg("Tower/001", 2) is None


def test_a_picture_is_made_to_fit(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (720, 1280, 3), dtype=np.uint8)
    cv2.imwrite(str(tmp_path / "1.png"), noise)
    pictures = MediaPictures({KEY: ImageFiles(tmp_path, {1: tmp_path / "1.png"})})
    data = pictures.jpeg("Tower/001", 1, most_bytes=40_000)
    assert data is not None
    assert len(data) <= 40_000
    assert pictures.jpeg("Tower/001", 1, most_bytes=100) is None

"""Frames are counted by decoding, and a missing OpenCV gives an error with advice."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.requirements import missing

from vidscore_evaluators.errors import MissingExtraError, SpecificationError
from vidscore_evaluators.formats.manifest import read_manifest
from vidscore_evaluators.formats.video import VideoSize, measure_images, measure_video


@pytest.fixture
def opencv() -> Any:
    try:
        import cv2
    except ImportError:
        missing("OpenCV")
    return cv2


def write_video(opencv: Any, path: Path, frame_count: int) -> Path:
    code = opencv.VideoWriter_fourcc(*"MJPG")
    writer = opencv.VideoWriter(str(path), code, 25.0, (64, 48))
    for index in range(frame_count):
        writer.write(np.full((48, 64, 3), index * 10, dtype=np.uint8))
    writer.release()
    return path


def test_a_video_has_the_frames_that_were_written(opencv: Any, tmp_path: Path) -> None:
    assert measure_video(write_video(opencv, tmp_path / "a.avi", 7)) == VideoSize(7, 64, 48)


def test_frames_that_a_container_claims_but_lacks_are_not_counted(
    opencv: Any, tmp_path: Path
) -> None:
    path = write_video(opencv, tmp_path / "a.avi", 9)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    try:
        counted = measure_video(path).frame_count
    except SpecificationError:
        return  # This build of OpenCV cannot open it at all.
    assert 0 < counted < 9


def test_images_of_a_folder_are_counted_and_other_files_are_not(
    opencv: Any, tmp_path: Path
) -> None:
    for name in ("0.png", "1.png", "2.jpg"):
        opencv.imwrite(str(tmp_path / name), np.zeros((20, 30, 3), dtype=np.uint8))
    (tmp_path / "notes.txt").write_text("no image")
    (tmp_path / ".hidden.png").write_bytes(b"")
    assert measure_images(tmp_path) == VideoSize(3, 30, 20)


def test_a_manifest_contains_the_counted_frames(opencv: Any, tmp_path: Path) -> None:
    write_video(opencv, tmp_path / "a.avi", 5)
    path = tmp_path / "manifest.toml"
    path.write_text('[[sequences]]\nname = "a"\nvideo = "a.avi"\n')
    assert read_manifest(path).sequences[0].frame_count == 5


@pytest.mark.usefixtures("opencv")
@pytest.mark.parametrize("measure", [measure_video, measure_images])
def test_a_missing_video_is_refused(tmp_path: Path, measure: Any) -> None:
    with pytest.raises(SpecificationError, match="not found"):
        measure(tmp_path / "nothing")


@pytest.mark.usefixtures("opencv")
def test_a_folder_without_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecificationError, match="no image"):
        measure_images(tmp_path)


@pytest.mark.usefixtures("opencv")
def test_a_file_that_is_not_a_video_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.avi"
    path.write_bytes(b"no video at all")
    with pytest.raises(SpecificationError, match="no frame that can be decoded"):
        measure_video(path)


@pytest.mark.parametrize("measure", [measure_video, measure_images])
def test_without_opencv_the_error_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measure: Any
) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'vidscore\[video\]'"):
        measure(tmp_path)

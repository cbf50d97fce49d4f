"""Count the frames of videos and image folders with OpenCV, by decoding them.

Containers often state wrong numbers, and only frames that a detector could have seen count.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from msgspec import Struct

from vidscore_evaluators.errors import Fault, MissingExtraError, SpecificationError

MAXIMUM_PIXELS = 1 << 28
"""Maximum number of pixels of an image: 16,384 by 16,384."""

_OPENCV_SETTINGS = {
    "OPENCV_IO_MAX_IMAGE_PIXELS": str(MAXIMUM_PIXELS),
    "OPENCV_LOG_LEVEL": "SILENT",
    "OPENCV_FFMPEG_LOGLEVEL": "-8",
}
"""OpenCV reads these once, at import; a user's own settings stay."""


class VideoSize(Struct, frozen=True):
    """Size of a video.

    Attributes:
        frame_count: Number of frames that could be decoded, or of images.
        width: Width of the first image in pixels.
        height: Height of the first image in pixels.
    """

    frame_count: int
    width: int
    height: int


def measure_video(path: Path) -> VideoSize:
    """Decode a video file.

    Raises:
        MissingExtraError: If OpenCV is not installed.
        SpecificationError: If the file is not a video with a frame.
    """
    cv2 = load_opencv()
    if not path.is_file():
        raise _error(path, "file not found", "")
    capture = cv2.VideoCapture(str(path))
    try:
        count, shape = 0, (0, 0)
        while True:
            decoded, image = capture.read()
            if not decoded:
                break
            shape = image.shape[:2] if count == 0 else shape
            count += 1
    finally:
        capture.release()
    if count == 0:
        raise _error(path, "no frame that can be decoded", "a video that OpenCV can read")
    return VideoSize(count, width=int(shape[1]), height=int(shape[0]))


def measure_images(folder: Path) -> VideoSize:
    """Count the files of a folder that are images of a kind that OpenCV can read.

    Raises:
        MissingExtraError: If OpenCV is not installed.
        SpecificationError: If the folder has no images, or the first one is broken.
    """
    cv2 = load_opencv()
    if not folder.is_dir():
        raise _error(folder, "folder not found", "")
    files = sorted(
        path
        for path in folder.iterdir()
        if path.is_file() and not path.name.startswith(".") and cv2.haveImageReader(str(path))
    )
    if not files:
        raise _error(folder, "no image", "images that OpenCV can read")
    first = cv2.imread(str(files[0]))
    if first is None:
        raise _error(files[0], "a broken image", "an image that OpenCV can read")
    return VideoSize(len(files), width=int(first.shape[1]), height=int(first.shape[0]))


def load_opencv() -> Any:
    """Import OpenCV, with our own limit of image size and without its own messages.

    Raises:
        MissingExtraError: If it is not installed.
    """
    for name, value in _OPENCV_SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import cv2  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        raise MissingExtraError("videos and images", "OpenCV", "video") from None
    return cv2


def _error(path: Path, found: str, expected: str) -> SpecificationError:
    return SpecificationError([Fault(found, expected, source=str(path))])

"""Destinations of pictures: files in a folder, or one video."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Protocol, Self

import cv2
import numpy as np

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._format import file_name
from vidscore_evaluators.render.style import PAPER, Image

CODEC = "mp4v"
"""MPEG-4 part 2, which every build of OpenCV can write."""

FRAME_DIGITS = 6
"""Minimum number of digits of the frame number in a file name."""

_ENCODINGS = {"png": ".png", "jpeg": ".jpg"}


class PictureWriter(Protocol):
    """Receives pictures one after the other."""

    def write(self, key: SequenceKey, number: int, picture: Image) -> None:
        """Write the picture of a frame."""
        ...


class FolderWriter:
    """Writes each picture as a file: ``domain/sequence/000123.png``.

    Args:
        folder: An existing folder.
        image_format: ``png`` or ``jpeg``.
    """

    def __init__(self, folder: Path, image_format: str) -> None:
        self._folder = folder
        self._format = image_format

    def write(self, key: SequenceKey, number: int, picture: Image) -> None:
        """Write a file.

        Raises:
            InputError: If the sequence's name cannot be a folder name.
            OSError: If the file cannot be written.
        """
        path = self._folder / picture_file(key, number, self._format)
        path.parent.mkdir(parents=True, exist_ok=True)
        _, encoded = cv2.imencode(path.suffix, picture)
        path.write_bytes(encoded.tobytes())


def picture_file(key: SequenceKey, number: int, image_format: str) -> str:
    """``Tower/001/000012.png``: path of the picture of a frame in its folder.

    Raises:
        InputError: If a name cannot be a folder name.
    """
    parts = [
        file_name(name, field)
        for name, field in ((key.domain, "domain"), (key.sequence, "sequence"))
        if name
    ]
    return "/".join([*parts, f"{number:0{FRAME_DIGITS}d}{_ENCODINGS[image_format]}"])


class VideoWriter:
    """Writes pictures as the frames of a video, which has the size of the first picture.

    A picture of another size is scaled to fit, without changing its aspect ratio.

    Args:
        path: The file, whose name ends with .mp4.
        frames_per_s: Frame rate.
    """

    def __init__(self, path: Path, frames_per_s: float) -> None:
        self._path = path
        self._frames_per_s = frames_per_s
        self._size = (0, 0)
        self._count = 0
        self._writer: cv2.VideoWriter | None = None

    def __enter__(self) -> Self:
        """The file is created with the first picture."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Finish the file.

        Raises:
            OSError: If frames are missing, because there was no space for them.
        """
        if self._writer is None:
            return
        self._writer.release()
        if kind is None and self._written() != self._count:
            raise OSError(
                errno.ENOSPC, "the video could not be written completely", str(self._path)
            )

    def write(self, key: SequenceKey, number: int, picture: Image) -> None:
        """Write a frame.

        Raises:
            InputError: If a video cannot contain such frames.
        """
        del key, number
        if self._writer is None:
            self._size = picture.shape[1], picture.shape[0]
            code = cv2.VideoWriter.fourcc(*CODEC)
            self._writer = cv2.VideoWriter(
                str(self._path), cv2.CAP_FFMPEG, code, self._frames_per_s, self._size
            )
            if not self._writer.isOpened():
                found = f"pictures of {self._size[0]} x {self._size[1]} pixels"
                expected = "pictures that a video can have"
                advice = "--scale makes them smaller, and a folder takes any"
                raise InputError([Fault(found, expected, advice=advice)])
        self._writer.write(fitted(picture, *self._size))
        self._count += 1

    def _written(self) -> int:
        capture = cv2.VideoCapture(str(self._path))
        try:
            return int(capture.get(cv2.CAP_PROP_FRAME_COUNT))
        finally:
            capture.release()


def fitted(picture: Image, width: int, height: int) -> Image:
    """The picture in the middle of a canvas, as large as possible."""
    if picture.shape[:2] == (height, width):
        return picture
    scale = min(width / picture.shape[1], height / picture.shape[0])
    wide = max(1, min(width, round(picture.shape[1] * scale)))
    high = max(1, min(height, round(picture.shape[0] * scale)))
    canvas = np.full((height, width, 3), PAPER, dtype=np.uint8)
    left, top = (width - wide) // 2, (height - high) // 2
    resized = cv2.resize(picture, (wide, high), interpolation=cv2.INTER_AREA)
    canvas[top : top + high, left : left + wide] = resized
    return canvas

"""Sources of the frames of a sequence: images, a video, or a blank canvas.

Frames of images are identified by their names (`vidscore_evaluators.formats._images`), those of a
video by their order, starting at its first frame. Images are read one at a time, videos from start
to end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import SequenceKey, frame_name, sequence_name
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._images import frame_of_name
from vidscore_evaluators.formats.video import MAXIMUM_PIXELS, measure_video
from vidscore_evaluators.names import counted
from vidscore_evaluators.render.style import BLANK, Image

IMAGE_SUFFIXES = frozenset(
    (".bmp", ".jpeg", ".jpg", ".jp2", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
)
"""File name suffixes of images."""

VIDEO_SUFFIXES = frozenset((".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".webm"))
"""File name suffixes of videos in a folder."""

IMAGE_FOLDERS = ("", "img1", "images")
"""Folders of a sequence that may contain its images, in the layouts of benchmarks."""

_JPEG_START = b"\xff\xd8\xff"
_JPEG_END = b"\xff\xd9"
_JPEG_TAIL_BYTES = 1 << 16
"""Search range for the end of a JPEG image; some programs append data after it."""

FRAMES_PER_S = 25.0
"""Frame rate of a video that does not state one."""


class SequenceMedia(Protocol):
    """The frames of one sequence."""

    def faults(self, key: SequenceKey, numbers: IntArray) -> list[Fault]:
        """Faults for frames that are certainly missing, of ascending frame numbers."""
        ...

    def images(self, key: SequenceKey, numbers: IntArray) -> Iterator[Image]:
        """The frames with ascending numbers.

        Raises:
            InputError: If one is missing or cannot be read.
        """
        ...

    @property
    def frames_per_s(self) -> float | None:
        """Frame rate, or None if unknown."""
        ...


class Blank(Struct, frozen=True):
    """A canvas without a picture.

    Attributes:
        width: Its width in pixels.
        height: Its height in pixels.
    """

    width: int
    height: int

    frames_per_s = None

    def faults(self, key: SequenceKey, numbers: IntArray) -> list[Fault]:
        """A fault if the canvas is too large."""
        del numbers
        if self.width * self.height <= MAXIMUM_PIXELS:
            return []
        found = f"an image of {self.width} x {self.height} pixels for {sequence_name(key)}"
        return [Fault(found, f"at most {MAXIMUM_PIXELS} pixels")]

    def images(self, key: SequenceKey, numbers: IntArray) -> Iterator[Image]:
        """The same canvas for each frame."""
        del key
        canvas = np.full((self.height, self.width, 3), BLANK, dtype=np.uint8)
        for _ in range(len(numbers)):
            yield canvas


class ImageFiles(Struct, frozen=True, eq=False):
    """Image files by frame number.

    Attributes:
        folder: Their folder, for messages.
        files: File by frame number.
    """

    folder: Path
    files: Mapping[int, Path]

    frames_per_s = None

    def faults(self, key: SequenceKey, numbers: IntArray) -> list[Fault]:
        """Faults for frames without an image."""
        return [
            Fault(f"no image of {frame_name(key, number)}", "", source=str(self.folder))
            for number in numbers.tolist()
            if number not in self.files
        ]

    def images(self, key: SequenceKey, numbers: IntArray) -> Iterator[Image]:
        """The images, one at a time."""
        del key
        for number in numbers.tolist():
            yield read_image(self.files[number])


class Video(Struct, frozen=True):
    """A video file.

    Attributes:
        path: The file.
        first_frame: Number of its first frame.
    """

    path: Path
    first_frame: int

    @property
    def frames_per_s(self) -> float | None:
        """Frame rate, or None if the video states no usable one."""
        with self._opened() as capture:
            said = float(capture.get(cv2.CAP_PROP_FPS))
        return said if 0.1 <= said <= 1000.0 else None

    def faults(self, key: SequenceKey, numbers: IntArray) -> list[Fault]:
        """Faults for frames before the first or, if the video states its length, after the last."""
        first, last = int(numbers[0]), int(numbers[-1])
        if first < self.first_frame:
            return [self._lacks(key, first, f"its first frame is {self.first_frame}")]
        with self._opened() as capture:
            if not capture.isOpened():
                return [Fault("no video that OpenCV can read", "", source=str(self.path))]
            claimed = int(capture.get(cv2.CAP_PROP_FRAME_COUNT))
        if claimed > last - self.first_frame:
            return []
        count = measure_video(self.path).frame_count  # the number in a container is often wrong
        lacking = numbers[numbers >= self.first_frame + count]
        return [] if not len(lacking) else [self._too_short(key, int(lacking[0]), count)]

    def images(self, key: SequenceKey, numbers: IntArray) -> Iterator[Image]:
        """The frames, decoded from the start of the video."""
        with self._opened() as capture:
            width, height = (
                capture.get(side) for side in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT)
            )
            if width * height > MAXIMUM_PIXELS:
                found = f"frames of {width:.0f} x {height:.0f} pixels"
                expected = f"at most {MAXIMUM_PIXELS} pixels"
                raise InputError([Fault(found, expected, source=str(self.path))])
            passed = 0
            for number in numbers.tolist():
                while passed <= number - self.first_frame:
                    if not capture.grab():
                        raise InputError([self._too_short(key, number, passed)])
                    passed += 1
                decoded, image = capture.retrieve()
                if not decoded:
                    raise InputError([self._too_short(key, number, passed - 1)])
                yield _coloured(image)

    @contextmanager
    def _opened(self) -> Iterator[cv2.VideoCapture]:
        capture = cv2.VideoCapture(str(self.path.resolve()))
        try:
            yield capture
        finally:
            capture.release()

    def _too_short(self, key: SequenceKey, number: int, count: int) -> Fault:
        frames = counted(count, "frame") if count else "no frame"
        return self._lacks(key, number, f"{frames} can be decoded, from {self.first_frame} on")

    def _lacks(self, key: SequenceKey, number: int, why: str) -> Fault:
        return Fault(
            f"no {frame_name(key, number)}: {why}",
            "",
            source=str(self.path),
            advice="--first-frame says which number the first frame of a video has",
        )


def find_media(
    path: Path,
    keys: Iterable[SequenceKey],
    first_frames: Mapping[SequenceKey, int],
    files: Mapping[SequenceKey, Mapping[int, str]],
) -> dict[SequenceKey, SequenceMedia]:
    """Find the media of sequences.

    A video belongs to a single sequence. In a folder, each sequence has a folder or a video of its
    name, with or without its domain, or all have images in that folder whose names begin with the
    sequence's name. Images of a single sequence may have any prefix.

    Args:
        path: A video file, or a folder.
        keys: The sequences.
        first_frames: Number of the first frame of each sequence's video.
        files: Names of the images of each sequence by frame, if the truth contains them.

    Raises:
        InputError: If sequences have no media; lists every one.
    """
    wanted = list(keys)
    if path.is_file():
        if len(wanted) > 1:
            several = f"one video for {len(wanted)} sequences"
            expected = "one sequence, which --sequence chooses, or a folder with a video for each"
            raise InputError([Fault(several, expected, source=str(path))])
        return {key: Video(path, first_frames[key]) for key in wanted}
    if not path.is_dir():
        problem = "neither a video nor a folder" if path.exists() else "file or folder not found"
        raise InputError([Fault(problem, "", source=str(path))])
    own = _images_in(path)
    found = {
        key: _named(path, files.get(key, {}))
        or _of_sequence(path, key, first_frames[key])
        or _prefixed(path, own, key, first_frames[key], alone=len(wanted) == 1)
        for key in wanted
    }
    faults = [
        Fault(
            f"no images and no video of sequence {sequence_name(key)}",
            "a folder or a video of its name, or images whose names begin with it",
            source=str(path),
        )
        for key, media in found.items()
        if media is None
    ]
    if faults:
        raise InputError(faults)
    return {key: media for key, media in found.items() if media is not None}


def read_image(path: Path) -> Image:
    """Read an image.

    Raises:
        InputError: If it cannot be read, is broken or too large.
    """
    try:
        whole = _is_whole(path)
    except OSError as error:
        found = f"cannot be read: {(error.strerror or '').lower()}"
        raise InputError([Fault(found, "", source=str(path))]) from None
    if not whole:
        raise InputError([Fault("a truncated image", "a complete one", source=str(path))])
    try:
        image = cv2.imread(str(path), cv2.IMREAD_COLOR)
    except cv2.error:
        image = None
    if image is None:
        found = "an image that is broken or too large"
        expected = f"one of at most {MAXIMUM_PIXELS} pixels that OpenCV can read"
        raise InputError([Fault(found, expected, source=str(path))])
    return image.astype(np.uint8, copy=False)


def _is_whole(path: Path) -> bool:
    """Whether a JPEG is complete; OpenCV shows some truncated ones and refuses others.

    Raises:
        OSError: If the file cannot be read.
    """
    with path.open("rb") as file:
        if file.read(len(_JPEG_START)) != _JPEG_START:
            return True
        file.seek(max(0, path.stat().st_size - _JPEG_TAIL_BYTES))
        return _JPEG_END in file.read()


def _coloured(image: cv2.typing.MatLike) -> Image:
    if image.ndim == 2:
        image = cv2.cvtColor(image, cv2.COLOR_GRAY2BGR)
    return image.astype(np.uint8, copy=False)


def _images_in(folder: Path) -> list[Path]:
    """The images of a folder, by name."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() in IMAGE_SUFFIXES and not file.name.startswith(".")
    )


def _named(folder: Path, names: Mapping[int, str]) -> ImageFiles | None:
    """Images whose names the truth contains, possibly without folders that are absent here."""
    found = {}
    for number, name in names.items():
        places = (folder / name, folder / Path(name).name)
        file = next((place for place in places if _is_within(place, folder)), None)
        if file is not None:
            found[number] = file
    return ImageFiles(folder, found) if found else None


def _is_within(file: Path, folder: Path) -> bool:
    """Whether a file exists and is in this folder, whatever its name."""
    return file.is_file() and file.resolve().is_relative_to(folder.resolve())


def _of_sequence(folder: Path, key: SequenceKey, first_frame: int) -> SequenceMedia | None:
    """The folder or video named after a sequence."""
    for place in dict.fromkeys((folder.joinpath(*filter(None, key)), folder / key.sequence)):
        if not key.sequence or not place.resolve().is_relative_to(folder.resolve()):
            continue
        if place.is_dir():
            for below in IMAGE_FOLDERS:
                images = _images_in(place / below) if (place / below).is_dir() else []
                if images:
                    return ImageFiles(place / below, _numbered(images, first_frame))
        videos = [place.with_name(place.name + suffix) for suffix in sorted(VIDEO_SUFFIXES)]
        for file in (place, *videos):
            if file.is_file() and file.suffix.lower() in VIDEO_SUFFIXES:
                return Video(file, first_frame)
    return None


def _prefixed(
    folder: Path, images: list[Path], key: SequenceKey, first_frame: int, *, alone: bool
) -> ImageFiles | None:
    """Images whose names begin with a sequence's; else, for a single sequence, any images."""
    told = {file: frame_of_name(file.stem) for file in images}
    mine = [file for file, frame in told.items() if frame and frame[0].sequence == key.sequence]
    if mine:
        return ImageFiles(folder, _numbered(mine, first_frame))
    prefixes = {frame[0].sequence for frame in told.values() if frame is not None}
    if alone and images and len(prefixes) <= 1:
        return ImageFiles(folder, _numbered(images, first_frame))
    return None


def _numbered(images: list[Path], first_frame: int) -> dict[int, Path]:
    """Images by the number at the end of their names, or by their order if one has no number."""
    frames = [frame_of_name(file.stem) for file in images]
    if any(frame is None for frame in frames):
        return dict(enumerate(images, start=first_frame))
    return {frame[1]: file for frame, file in zip(frames, images, strict=True) if frame is not None}

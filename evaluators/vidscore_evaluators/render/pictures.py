"""Single frames of media as JPEG, in any order, for pages that show one frame at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np

from vidscore_evaluators.annotations import SequenceKey, sequence_name
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.render.media import ImageFiles, SequenceMedia, Video, read_image
from vidscore_evaluators.render.style import Image

KEPT = 32
"""Number of pictures in the cache, those that were used last."""

QUALITY = 85
_COARSER = (85, 75, 60, 45, 30)

MOST_WIDTH = 1920
"""Wider images are reduced, because no page shows more."""

_STEPS = 90
"""Maximum number of frames that are decoded to move forward; farther frames are sought."""


class MediaPictures:
    """Pictures by name of the sequence and number of the frame; thread-safe.

    Args:
        media: Media of each sequence.
    """

    def __init__(self, media: Mapping[SequenceKey, SequenceMedia]) -> None:
        self._media = {sequence_name(key): (key, own) for key, own in media.items()}
        self._videos: dict[str, _OpenVideo] = {}
        self._sizes: dict[str, tuple[float, float] | None] = {}
        self._kept: OrderedDict[tuple[str, int], Image | None] = OrderedDict()
        self._lock = threading.Lock()

    def has(self, sequence: str, number: int) -> bool:
        """Whether a frame has a picture."""
        if sequence not in self._media:
            return False
        _, media = self._media[sequence]
        if isinstance(media, ImageFiles):
            return number in media.files
        return isinstance(media, Video) and number >= media.first_frame

    def size(self, sequence: str) -> tuple[float, float] | None:
        """Width and height of the pictures of a sequence; None without pictures."""
        if sequence not in self._sizes:
            self._sizes[sequence] = self._size(sequence)
        return self._sizes[sequence]

    def jpeg(self, sequence: str, number: int, most_bytes: int | None = None) -> bytes | None:
        """A picture, or None.

        Args:
            sequence: Name of the sequence.
            number: Number of the frame.
            most_bytes: Upper bound on its size, met by a smaller picture of lower quality; None for
                no bound. If even the lowest quality does not fit, the result is None.
        """
        image = self._image(sequence, number)
        if image is None:
            return None
        if most_bytes is None:
            return _encoded(_narrowed(image, MOST_WIDTH), QUALITY)
        for width in (960, 640, 320):
            narrowed = _narrowed(image, width)
            for quality in _COARSER:
                data = _encoded(narrowed, quality)
                if len(data) <= most_bytes:
                    return data
        return None

    def _size(self, sequence: str) -> tuple[float, float] | None:
        if sequence not in self._media:
            return None
        _, media = self._media[sequence]
        if isinstance(media, ImageFiles):
            number = min(media.files, default=0)
        else:
            number = media.first_frame if isinstance(media, Video) else 0
        image = self._image(sequence, number)
        return None if image is None else (float(image.shape[1]), float(image.shape[0]))

    def _image(self, sequence: str, number: int) -> Image | None:
        if not self.has(sequence, number):
            return None
        with self._lock:
            place = (sequence, number)
            if place not in self._kept:
                self._kept[place] = self._read(sequence, number)
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(place)
            return self._kept[place]

    def _read(self, sequence: str, number: int) -> Image | None:
        _, media = self._media[sequence]
        if isinstance(media, ImageFiles):
            try:
                return read_image(media.files[number])
            except InputError:
                return None
        if not isinstance(media, Video):
            return None
        if sequence not in self._videos:
            self._videos[sequence] = _OpenVideo(media.path)
        return self._videos[sequence].frame(number - media.first_frame)


class _OpenVideo:
    """A video that stays open at the frame after the one that was read last."""

    def __init__(self, path: Path) -> None:
        self._path = str(path.resolve())
        self._capture = cv2.VideoCapture(self._path)
        self._next = 0

    def frame(self, place: int) -> Image | None:
        """The frame at an index from 0; None if it cannot be decoded."""
        if not 0 <= place - self._next <= _STEPS:
            self._go_to(place)
        while self._next < place:
            if not self._capture.grab():
                return None
            self._next += 1
        decoded, image = self._capture.read()
        self._next += 1
        if not decoded:
            return None
        return image.astype(np.uint8, copy=False)

    def _go_to(self, place: int) -> None:
        """Seek to a frame; if the container cannot, start again from the first frame."""
        self._capture.set(cv2.CAP_PROP_POS_FRAMES, place)
        if int(self._capture.get(cv2.CAP_PROP_POS_FRAMES)) == place:
            self._next = place
            return
        self._capture.release()
        self._capture = cv2.VideoCapture(self._path)
        self._next = 0


def _narrowed(image: Image, width: int) -> Image:
    if image.shape[1] <= width:
        return image
    height = max(1, round(image.shape[0] * width / image.shape[1]))
    smaller = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
    return smaller.astype(np.uint8, copy=False)


def _encoded(image: Image, quality: int) -> bytes:
    encoded, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return data.tobytes() if encoded else b""

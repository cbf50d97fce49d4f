"""Map a feed's sensors and times to a benchmark's sequences and frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.feeds.frames import FeedFrame, Unit
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

ANY = "*"
"""Key of the sequence for every sensor and topic without its own."""

_SHAPES = ("box", "point", "corners")


class FrameMap(Struct, frozen=True):
    """How the frames of a source are named.

    Attributes:
        sequences: Sequence by sensor or topic; if empty, each sensor is a sequence.
        rate_hz: Frames per second, if frame numbers are computed from times.
        start_s: Time of the first frame, on the feed's clock.
        first_frame: Number of the first frame.
        size_px: Width and height of the truth's images.
    """

    sequences: Mapping[str, str] = field(default_factory=dict)
    rate_hz: float | None = None
    start_s: float = 0.0
    first_frame: int = 0
    size_px: tuple[float, float] | None = None

    def line(self, frame: FeedFrame, topic: str) -> dict[str, Any]:
        """A frame as an object of JSON lines.

        Args:
            frame: The frame.
            topic: The source's name of the place that it came from.

        Raises:
            InputError: With everything that is missing from both the feed and the map.
        """
        faults: list[Fault] = []
        sequence = self._sequence(frame, topic, faults)
        number = self._number(frame, faults)
        objects = frame.objects
        if frame.unit is Unit.FRACTION:
            objects = self._in_pixels(frame, faults)
        if faults:
            raise InputError(faults)
        line: dict[str, Any] = {"domain": frame.domain} if frame.domain else {}
        line |= {"sequence": sequence, "frame": number}
        if frame.time_s is not None:
            line["time_s"] = frame.time_s
        return line | {"objects": objects}

    def named(self, frames: Annotations, topics: Sequence[str]) -> Annotations:
        """Name frames like `line`, given frames with sensors as their sequences.

        Args:
            frames: The frames, in pixels.
            topics: The source's name of the place that each came from.

        Raises:
            ValueError: If a frame cannot be named; `line` gives the reason.
        """
        keys, own = self._keys(frames, topics)
        numbers = frames.frame_numbers
        if self.rate_hz is not None:
            if frames.frame_times_s is None:
                raise ValueError
            since_start = np.rint((frames.frame_times_s - self.start_s) * self.rate_hz)
            if not (np.abs(since_start) <= MAXIMUM_FRAME_NUMBER).all():  # NaN fails, too
                raise ValueError
            numbers = since_start.astype(np.int64)
        numbers = numbers + self.first_frame
        if (numbers < 0).any() or (numbers > MAXIMUM_FRAME_NUMBER).any():
            raise ValueError
        return replace(
            frames,
            sequences=keys,
            frame_sequences=own,
            frame_numbers=numbers,
            frame_flags=np.zeros_like(frames.frame_flags),
            frame_arrivals_s=None,
        )

    def _keys(
        self, frames: Annotations, topics: Sequence[str]
    ) -> tuple[tuple[SequenceKey, ...], IntArray]:
        """The table of sequences, and each frame's row in it."""
        if not self.sequences:
            return frames.sequences, frames.frame_sequences
        rows: dict[SequenceKey, int] = {}
        row_of: dict[tuple[int, str], int] = {}
        own = list(zip(frames.frame_sequences.tolist(), topics, strict=True))
        for sensor, topic in dict.fromkeys(own):
            domain, name = frames.sequences[sensor]
            sequence = self._sequence_of(name, topic)
            if sequence is None:
                raise ValueError
            row_of[sensor, topic] = rows.setdefault(SequenceKey(domain, sequence), len(rows))
        return tuple(rows), np.array([row_of[one] for one in own], dtype=np.int64)

    def _sequence_of(self, sensor: str | None, topic: str) -> str | None:
        if not self.sequences:
            return sensor or topic or None
        for name in (sensor, topic, ANY):
            if name is not None and name in self.sequences:
                return self.sequences[name]
        return None

    def _sequence(self, frame: FeedFrame, topic: str, faults: list[Fault]) -> str:
        sequence = self._sequence_of(frame.sensor, topic)
        if sequence is not None:
            return sequence
        found = f"the sensor {frame.sensor!r}" if frame.sensor else "no sensor"
        advice = "give it a sequence in the source's table of sequences"
        faults.append(Fault(found, "one with a sequence", field="sequence", advice=advice))
        return ""

    def _number(self, frame: FeedFrame, faults: list[Fault]) -> int:
        number, advice = frame.number, "give the source a rate_hz and a start_s"
        if self.rate_hz is not None:
            number, advice = None, "leave rate_hz out, if frames have numbers"
            if frame.time_s is not None:
                place = (frame.time_s - self.start_s) * self.rate_hz
                if not abs(place) <= MAXIMUM_FRAME_NUMBER:  # NaN fails, too
                    expected = f"a time within {MAXIMUM_FRAME_NUMBER} frames of start_s"
                    faults.append(Fault(f"{frame.time_s:g} s", expected, field="time_s"))
                    return 0
                number = round(place)
        if number is None:
            found = "no number of the frame" if self.rate_hz is None else "no time of the frame"
            faults.append(Fault(found, "one", field="frame", advice=advice))
            return 0
        if number + self.first_frame < 0:
            found = f"frame {number + self.first_frame}"
            advice = "start_s is the time of the first frame"
            faults.append(Fault(found, "0 or more", field="frame", advice=advice))
        return number + self.first_frame

    def _in_pixels(self, frame: FeedFrame, faults: list[Fault]) -> list[dict[str, Any]]:
        size = self.size_px or frame.size_px
        if size is None:
            advice = "give the source the size of the images"
            fault = Fault("fractions of the image", "pixels", field="objects", advice=advice)
            faults.append(fault)
            return []
        return [_scaled(entry, size) for entry in frame.objects]


def _scaled(entry: Mapping[str, Any], size: tuple[float, float]) -> dict[str, Any]:
    scaled = dict(entry)
    for shape in _SHAPES:
        if shape in entry:
            scaled[shape] = [value * size[row % 2] for row, value in enumerate(entry[shape])]
    return scaled

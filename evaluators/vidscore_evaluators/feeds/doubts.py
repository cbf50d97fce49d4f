"""Doubts about a feed, judged by its frames before they are scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.feeds.blocks import FeedBlock, numbers_by_sequence
from vidscore_evaluators.feeds.delivered import is_even
from vidscore_evaluators.feeds.frames import Unsaid

MOST_MISSING = 0.1
"""Fraction of the frames that may be missing before they count as gaps."""

FEWEST_FRAMES = 10
"""Minimum number of frames for doubts about gaps, confidences and coordinates."""

_MOST_KEPT = 4096


class Doubt(StrEnum):
    """A doubt about a feed, by the name with which users accept it."""

    GAPS = "gaps"
    CHANGES_ONLY = "changes-only"
    NO_CONFIDENCE = "no-confidence"
    CONSTANT_CONFIDENCE = "constant-confidence"
    PUBLISHING_TIMES = "publishing-times"
    NORMALISED_COORDINATES = "normalised-coordinates"
    RESOLUTION = "resolution"
    MISSING_FRAMES = "missing-frames"
    NO_EMPTY_FRAMES = "no-empty-frames"
    INTEGER_COORDINATES = "integer-coordinates"


HARMLESS = frozenset({Doubt.MISSING_FRAMES, Doubt.NO_EMPTY_FRAMES, Doubt.INTEGER_COORDINATES})
"""Doubts that are only reported; any other may make a score wrong, so it must be accepted."""


class Finding(NamedTuple):
    """A doubt about a feed, and the observation behind it."""

    doubt: Doubt
    text: str


class _Span(Struct):
    """The frames of a sequence: first, last and latest number, and the number of frames."""

    first: int
    last: int
    latest: int
    frames: int = 1


class FeedWatch(Struct):
    """Collects the frames of a source, and finds doubts about them.

    Attributes:
        by_time: Whether frame numbers are computed from times.
        size_px: Width and height of the truth's images, if known.
    """

    by_time: bool = False
    size_px: tuple[float, float] | None = None
    frames: int = 0
    _unsaid: set[Unsaid] = field(default_factory=set)
    _spans: dict[SequenceKey, _Span] = field(default_factory=dict)
    _steps: Counter[int] = field(default_factory=Counter)
    _empty: int = 0
    _objects: int = 0
    _without: int = 0
    _confidences: set[float] = field(default_factory=set)
    _fractional: bool = False
    _is_unit: bool = True
    _greatest: list[float] = field(default_factory=lambda: [0.0, 0.0])
    _sizes: set[tuple[float, float]] = field(default_factory=set)

    def add(self, block: FeedBlock) -> None:
        """Add frames, as the benchmark names them."""
        frames = block.frames
        self.frames += frames.frame_count
        self._unsaid |= block.unsaid
        if len(self._sizes) < _MOST_KEPT:
            self._sizes |= block.sizes_px
        for key, _, numbers in numbers_by_sequence(frames):
            self._add_numbers(key, numbers)
        self._empty += int((frames.object_counts == 0).sum())
        if frames.object_count:
            self._add_objects(frames, in_pixels=not block.in_fractions)

    def _add_numbers(self, key: SequenceKey, numbers: Sequence[int]) -> None:
        span = self._spans.get(key)
        if span is None:
            if len(self._spans) >= _MOST_KEPT:
                return
            first, *numbers = numbers
            span = self._spans[key] = _Span(first, first, first)
        if not numbers:
            return
        step = numbers[0] - span.latest
        if is_even(span.latest, step, numbers):
            self._add_step(step, len(numbers))
        else:
            for before, number in pairwise([span.latest, *numbers]):
                self._add_step(number - before, 1)
        span.first, span.last = min(span.first, *numbers), max(span.last, *numbers)
        span.latest = numbers[-1]
        span.frames += len(numbers)

    def _add_step(self, step: int, count: int) -> None:
        if step > 0 and (len(self._steps) < _MOST_KEPT or step in self._steps):
            self._steps[step] += count

    def _add_objects(self, frames: Annotations, *, in_pixels: bool) -> None:
        known = frames.confidences[~np.isnan(frames.confidences)]
        self._objects += frames.object_count
        self._without += frames.object_count - len(known)
        if len(known) and len(self._confidences) < 2:
            self._confidences |= {float(known.min()), float(known.max())}
        values = frames.coordinates
        if not self._fractional:
            self._fractional = bool((np.floor(values) != values).any())
        if self._is_unit:
            self._is_unit = in_pixels and bool(np.abs(values).max() <= 1)
        greatest = values.reshape(-1, 2).max(axis=0)
        self._greatest = np.maximum(self._greatest, greatest).tolist()

    def findings(self) -> list[Finding]:
        """Every doubt about the frames so far, the worst first."""
        enough = self.frames >= FEWEST_FRAMES
        found = {
            Doubt.CHANGES_ONLY: "the feed is silent while nothing changes"
            if Unsaid.EVERY_FRAME in self._unsaid
            else "",
            Doubt.PUBLISHING_TIMES: "frames are numbered by times, and the feed's times are not "
            "those of frames"
            if self.by_time and Unsaid.FRAME_TIME in self._unsaid
            else "",
            Doubt.GAPS: self._gaps() if enough and self._has_gaps else "",
            Doubt.NO_CONFIDENCE: f"{self._without} of {self._objects} objects have none"
            if self._without
            else "",
            Doubt.CONSTANT_CONFIDENCE: f"every object has {next(iter(self._confidences), 0.0):g}"
            if enough and self._objects > 1 and not self._without and len(self._confidences) == 1
            else "",
            Doubt.NORMALISED_COORDINATES: "all coordinates are from -1 to 1"
            if enough and self._objects and self._is_unit
            else "",
            Doubt.RESOLUTION: self._resolution(),
            Doubt.MISSING_FRAMES: self._gaps() if not self._has_gaps else "",
            Doubt.NO_EMPTY_FRAMES: "no frame is without an object, and the feed leaves such out"
            if enough and not self._empty and Unsaid.EMPTY_FRAMES in self._unsaid
            else "",
            Doubt.INTEGER_COORDINATES: "all coordinates are integers"
            if enough and self._objects and not self._fractional
            else "",
        }
        return [Finding(doubt, text) for doubt, text in found.items() if text]

    @property
    def _spanned(self) -> int:
        """Number of frames from the first to the last of each sequence."""
        return sum(span.last - span.first + 1 for span in self._spans.values())

    @property
    def _missing(self) -> int:
        """Number of frames that are missing between others, in any order of arrival."""
        return self._spanned - sum(span.frames for span in self._spans.values())

    @property
    def _period(self) -> int:
        """The step between more than half of successive frames; 1 if there is none."""
        step, count = max(self._steps.items(), key=lambda entry: entry[1], default=(1, 0))
        return step if 2 * count > self._steps.total() else 1

    @property
    def _has_gaps(self) -> bool:
        return self._missing > MOST_MISSING * self._spanned

    def _gaps(self) -> str:
        if not self._missing:
            return ""
        period = f"; only one frame in {self._period} is present" if self._period > 1 else ""
        return f"frames are missing between others: {self._missing}{period}"

    def _resolution(self) -> str:
        if self.size_px is None:
            return ""
        width, height = self.size_px
        others = sorted(self._sizes - {self.size_px})
        if others:
            found = f"{others[0][0]:g} x {others[0][1]:g}"
            return (
                f"the feed's images have {found} pixels, those of the truth {width:g} x {height:g}"
            )
        if self._greatest[0] > width * 1.5 or self._greatest[1] > height * 1.5:
            x, y = self._greatest
            return f"coordinates reach {x:g}, {y:g} in images of {width:g} x {height:g} pixels"
        return ""


def refused(findings: Collection[Finding], accepted: Collection[str]) -> list[Finding]:
    """Findings that may make a score wrong and that were not accepted."""
    return [
        finding
        for finding in findings
        if finding.doubt not in HARMLESS and finding.doubt.value not in accepted
    ]

"""BenchmarkSpec: what files alone cannot say about a benchmark.

Domains with their class lists, sequences with their frames, and the evaluators that judge. The
same type is the command line's manifest (TOML), the first message of a scoring stream (proto)
and a hosted benchmark's definition. Its one form in plain dictionaries serves TOML and JSON:
`spec_to_dict` and `vidscore_evaluators.specification_reading.spec_from_dict` are inverse to each
other. What a specification does to truth is in `vidscore_evaluators.evaluated_frames`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.arrays import BoolArray, IntArray, expand_runs

MAXIMUM_FRAMES = 10_000_000
"""Frames that one specification may name in all; a larger number is surely a mistake."""


@dataclass(frozen=True, slots=True)
class FrameRanges:
    """A set of frame numbers, as ascending inclusive ranges that neither touch nor overlap."""

    ranges: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, ranges: Sequence[tuple[int, int]] | IntArray) -> FrameRanges:
        """Bring any ranges into the one form.

        Raises:
            ValueError: If a range is negative or ends before it starts.
        """
        wrong = "frames that are not negative, first before last"
        try:
            bounds = np.array(ranges, dtype=np.int64).reshape(-1, 2)
        except OverflowError:
            raise ValueError(wrong) from None
        first, last = bounds[np.argsort(bounds[:, 0], kind="stable")].T
        if ((first < 0) | (first > last)).any():
            raise ValueError(wrong)
        last = np.maximum.accumulate(last)
        begins = np.ones(len(first), dtype=np.bool_)
        begins[1:] = first[1:] > last[:-1] + 1
        ends = np.roll(begins, -1)  # the range before one that begins is the end of another
        return cls(tuple(zip(first[begins].tolist(), last[ends].tolist(), strict=True)))

    def __len__(self) -> int:
        """Number of frames."""
        return sum(last - first + 1 for first, last in self.ranges)

    def numbers(self) -> IntArray:
        """Every frame number, ascending."""
        first, last = np.array(self.ranges, dtype=np.int64).reshape(-1, 2).T
        return expand_runs(first, last - first + 1)

    def contains(self, numbers: IntArray) -> BoolArray:
        """Whether each of (F,) frame numbers is in the set."""
        bounds = np.array(self.ranges, dtype=np.int64).reshape(-1, 2)
        row = np.searchsorted(bounds[:, 0], numbers, side="right") - 1
        if len(bounds) == 0:
            return np.zeros(len(numbers), dtype=np.bool_)
        inside: BoolArray = (row >= 0) & (numbers <= bounds[row, 1])
        return inside


@dataclass(frozen=True, slots=True)
class DomainSpec:
    """A domain and, where it is given, the classes that are scored in it."""

    name: str
    classes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SequenceSpec:
    """One video.

    Attributes:
        name: Its name within the domain.
        domain: Its domain, empty where there is one only.
        frame_count: Number of its frames, numbered from `first_frame` on.
        first_frame: Number of its first frame.
        frames: The frames that are evaluated; None for all of `frame_count`, and where that is
            None too, for those that the truth lists.
        dont_care_frames: Frames that are left out of every count.
        image_width: Width of the image in pixels.
        image_height: Height of the image in pixels.
    """

    name: str
    domain: str = ""
    frame_count: int | None = None
    first_frame: int = 0
    frames: FrameRanges | None = None
    dont_care_frames: FrameRanges = FrameRanges()
    image_width: int | None = None
    image_height: int | None = None

    @property
    def key(self) -> SequenceKey:
        """Domain and name."""
        return SequenceKey(self.domain, self.name)

    @property
    def evaluated_frames(self) -> FrameRanges | None:
        """Frames that are evaluated; None where the truth's list decides."""
        if self.frames is not None or self.frame_count is None:
            return self.frames
        if self.frame_count == 0:
            return FrameRanges()
        return FrameRanges(((self.first_frame, self.first_frame + self.frame_count - 1),))


@dataclass(frozen=True, slots=True)
class EvaluatorSpec:
    """An evaluator by name, with the parameters that differ from its defaults."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BenchmarkSpec:
    """A benchmark: domains, sequences and evaluators, all optional."""

    title: str = ""
    evaluators: tuple[EvaluatorSpec, ...] = ()
    domains: tuple[DomainSpec, ...] = ()
    sequences: tuple[SequenceSpec, ...] = ()

    @property
    def evaluated_frame_count(self) -> int:
        """Frames that it says are evaluated, whatever the truth lists."""
        evaluated = (sequence.evaluated_frames for sequence in self.sequences)
        return sum(len(frames) for frames in evaluated if frames is not None)

    def classes_of(self, domain: str) -> tuple[str, ...] | None:
        """Classes that are scored in a domain; None where the specification does not say."""
        for entry in self.domains:
            if entry.name == domain:
                return entry.classes
        return None


def spec_to_dict(spec: BenchmarkSpec) -> dict[str, Any]:
    """The specification as dictionaries, lists, texts and numbers; what is unset is left out."""
    return _without_unset(
        {
            "title": spec.title or None,
            "evaluators": [
                _without_unset({"name": entry.name, "parameters": _plain(entry.parameters) or None})
                for entry in spec.evaluators
            ]
            or None,
            "domains": [
                _without_unset({"name": entry.name, "classes": _listed(entry.classes)})
                for entry in spec.domains
            ]
            or None,
            "sequences": [_sequence_to_dict(entry) for entry in spec.sequences] or None,
        }
    )


def _sequence_to_dict(sequence: SequenceSpec) -> dict[str, Any]:
    frames, dont_care = sequence.frames, sequence.dont_care_frames
    return _without_unset(
        {
            "domain": sequence.domain or None,
            "name": sequence.name,
            "frame_count": sequence.frame_count,
            "first_frame": sequence.first_frame or None,
            "frames": None if frames is None else [list(pair) for pair in frames.ranges],
            "dont_care_frames": [list(pair) for pair in dont_care.ranges] or None,
            "image_width": sequence.image_width,
            "image_height": sequence.image_height,
        }
    )


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in parameters.items()
    }


def _listed(values: tuple[str, ...] | None) -> list[str] | None:
    return None if values is None else list(values)


def _without_unset(entries: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entries.items() if value is not None}

"""BenchmarkSpec: the facts about a benchmark that its files do not state.

Domains with their labels, sequences with their frames, and the evaluators. The same type is the
command line's manifest (TOML), the first message of a scoring stream (proto) and part of a hosted
benchmark's definition. `vidscore_evaluators.convert` converts it to and from the one plain form of
TOML and JSON; `vidscore_evaluators.alignment` applies it to truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.arrays import BoolArray, IntArray, expand_runs
from vidscore_evaluators.convert import Read, converted, from_dict, rules_of, to_dict
from vidscore_evaluators.errors import Fault, SpecificationError
from vidscore_evaluators.names import checked_name
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

MAXIMUM_FRAMES = 10_000_000
"""Maximum number of frames of a specification; a larger number is surely a mistake."""

MAXIMUM_IMAGE_SIDE_PX = 2**31 - 1
"""Largest width and height of an image: what 32 bits on the wire hold."""


def image_size_of(width: float | None, height: float | None) -> tuple[int, int] | None:
    """Sides of an image in whole pixels, as a file gives them; None where no image has these."""
    sides = int(width or 0), int(height or 0)
    return sides if all(1 <= side <= MAXIMUM_IMAGE_SIDE_PX for side in sides) else None


_UP_TO = f"frames up to {MAXIMUM_FRAME_NUMBER}"


class FrameRanges(Struct, frozen=True):
    """A set of frame numbers, as ascending inclusive ranges that neither touch nor overlap."""

    ranges: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, ranges: Sequence[tuple[int, int]] | IntArray) -> FrameRanges:
        """Normalise any ranges.

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
        ends = np.roll(begins, -1)  # a range ends where the next one begins
        return cls(tuple(zip(first[begins].tolist(), last[ends].tolist(), strict=True)))

    def __len__(self) -> int:
        """Number of frames."""
        return sum(last - first + 1 for first, last in self.ranges)

    def numbers(self) -> IntArray:
        """Every frame number, ascending."""
        first, last = np.array(self.ranges, dtype=np.int64).reshape(-1, 2).T
        return expand_runs(first, last - first + 1)

    def intersection(self, other: FrameRanges) -> FrameRanges:
        """The frames that are in both sets."""
        both = [
            (max(first, begin), min(last, end))
            for first, last in self.ranges
            for begin, end in other.ranges
        ]
        return FrameRanges.of([(first, last) for first, last in both if first <= last])

    def contains(self, numbers: IntArray) -> BoolArray:
        """Whether each of (F,) frame numbers is in the set."""
        bounds = np.array(self.ranges, dtype=np.int64).reshape(-1, 2)
        row = np.searchsorted(bounds[:, 0], numbers, side="right") - 1
        if len(bounds) == 0:
            return np.zeros(len(numbers), dtype=np.bool_)
        inside: BoolArray = (row >= 0) & (numbers <= bounds[row, 1])
        return inside


def required_name(value: object) -> str:
    """A name that is not empty; a ValueError says what was expected."""
    text = checked_name(value)
    if not text:
        raise ValueError("a name that is not empty")
    return text


def _integer(minimum: int, maximum: int) -> Read:
    def convert(value: object) -> int:
        if isinstance(value, np.integer):
            value = int(value)
        if type(value) is not int or not minimum <= value <= maximum:
            raise ValueError(f"an integer from {minimum} to {maximum}")
        return value

    return convert


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("an array")
    return value


def label_names(value: object) -> tuple[str, ...]:
    """Labels, each once; an integer means its digits, as it does in data."""
    entries = [str(entry) if type(entry) is int else entry for entry in _list(value)]
    names = tuple(required_name(entry) for entry in entries)
    if len({name.casefold() for name in names}) < len(names):
        raise ValueError("labels that differ in more than case")
    return names


def read_ranges(value: object) -> FrameRanges:
    """Frame ranges of a file, or the (N, 2) array of a message; a ValueError says what is wrong."""
    if not isinstance(value, np.ndarray):
        return FrameRanges.of(_pairs(value))
    if (value > MAXIMUM_FRAME_NUMBER).any():
        raise ValueError(_UP_TO)
    return FrameRanges.of(value)


def _pairs(value: object) -> list[tuple[int, int]]:
    pairs = []
    for entry in _list(value):
        pair = [entry, entry] if isinstance(entry, int) else entry
        if (
            not isinstance(pair, list)
            or [type(number) for number in pair] != [int, int]
        ):  # fmt: skip
            raise ValueError("frame numbers or [first, last] pairs")
        if pair[1] > MAXIMUM_FRAME_NUMBER:
            raise ValueError(_UP_TO)
        pairs.append((pair[0], pair[1]))
    return pairs


def _parameters(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("an object of parameters")
    # Arrays become tuples, as in every parameters class, so that equal ones compare equal.
    return {key: tuple(entry) if isinstance(entry, list) else entry for key, entry in value.items()}


def list_ranges(frames: object) -> object:
    """Inverse of `read_ranges`; a value of another type is returned as it is."""
    if isinstance(frames, FrameRanges):
        return [list(pair) for pair in frames.ranges]
    return _listed(frames)


def _listed(values: object) -> object:
    if isinstance(values, np.ndarray):
        return values.tolist()
    return list(values) if isinstance(values, tuple) else values


def _list_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in parameters.items()
    }


_FRAME = _integer(0, MAXIMUM_FRAME_NUMBER)
_IMAGE_SIDE = _integer(1, MAXIMUM_IMAGE_SIDE_PX)


@dataclass(frozen=True, slots=True)
class DomainSpec:
    """A domain and, if given, the labels that are scored in it."""

    name: str
    classes: tuple[str, ...] | None = converted(None, read=label_names, write=_listed)


@dataclass(frozen=True, slots=True)
class SequenceSpec:
    """One video.

    Attributes:
        name: Its name within the domain.
        domain: Its domain, empty if there is only one.
        frame_count: Number of its frames, numbered from `first_frame` on.
        first_frame: Number of its first frame.
        frames: The frames that are evaluated. None for all of `frame_count`; if that is None too,
            for those that the truth lists.
        dont_care_frames: Frames that are left out of every count.
        image_width: Width of the image in pixels.
        image_height: Height of the image in pixels.
    """

    name: str = converted(read=required_name)
    domain: str = converted("", leading=True)
    frame_count: int | None = converted(None, read=_FRAME)
    first_frame: int = converted(0, read=_FRAME)
    frames: FrameRanges | None = converted(None, read=read_ranges, write=list_ranges)
    dont_care_frames: FrameRanges = converted(FrameRanges(), read=read_ranges, write=list_ranges)
    image_width: int | None = converted(None, read=_IMAGE_SIDE)
    image_height: int | None = converted(None, read=_IMAGE_SIDE)

    @property
    def key(self) -> SequenceKey:
        """Domain and name."""
        return SequenceKey(self.domain, self.name)

    @property
    def evaluated_frames(self) -> FrameRanges | None:
        """Frames that are evaluated; None for those that the truth lists."""
        if self.frames is not None or self.frame_count is None:
            return self.frames
        if self.frame_count == 0:
            return FrameRanges()
        return FrameRanges(((self.first_frame, self.first_frame + self.frame_count - 1),))


@dataclass(frozen=True, slots=True)
class EvaluatorSpec:
    """An evaluator by name, with the parameters that differ from its defaults."""

    name: str = converted(read=required_name)
    parameters: Mapping[str, Any] = converted({}, read=_parameters, write=_list_parameters)


@dataclass(frozen=True, slots=True)
class BenchmarkSpec:
    """A benchmark; every field is optional.

    Attributes:
        title: Title for people.
        evaluators: Evaluators and presets that score.
        domains: Domains that need a description.
        sequences: Sequences that need one.
        classes: Labels that are scored in every domain that lists none; None if unspecified.
    """

    title: str = ""
    evaluators: tuple[EvaluatorSpec, ...] = converted((), unique=("name",))
    domains: tuple[DomainSpec, ...] = converted((), unique=("name",))
    sequences: tuple[SequenceSpec, ...] = converted((), unique=("domain", "name"))
    classes: tuple[str, ...] | None = converted(None, read=label_names, write=_listed)

    @property
    def evaluated_frame_count(self) -> int:
        """Number of frames that it evaluates; frames that only the truth lists do not count."""
        evaluated = (sequence.evaluated_frames for sequence in self.sequences)
        return sum(len(frames) for frames in evaluated if frames is not None)

    def classes_of(self, domain: str) -> tuple[str, ...] | None:
        """Labels that are scored in a domain; None if unspecified."""
        for entry in self.domains:
            if entry.name == domain and entry.classes is not None:
                return entry.classes
        return self.classes

    @property
    def listed_labels(self) -> tuple[str, ...]:
        """Every label that it lists, each once, as it is first written."""
        lists = [self.classes or (), *(entry.classes or () for entry in self.domains)]
        return tuple(dict.fromkeys(label for labels in lists for label in labels))


SPECIFICATION_KEYS = tuple(rules_of(BenchmarkSpec))
"""Keys of a specification."""


def spec_from_dict(document: Mapping[str, Any], *, source: str | None = None) -> BenchmarkSpec:
    """Inverse of `vidscore_evaluators.convert.to_dict`.

    A range of frames may also be one number; many may be an array of (N, 2) bounds.

    Args:
        document: The specification as dictionaries.
        source: Name of the file that it came from, for messages.

    Raises:
        SpecificationError: With every unknown key, wrong type, repeated name and impossible number.
    """
    spec = from_dict(BenchmarkSpec, document, source)
    total = spec.evaluated_frame_count
    if total > MAXIMUM_FRAMES:
        expected = f"at most {MAXIMUM_FRAMES} frames in total"
        fault = Fault(f"{total} frames", expected, source=source, field="sequences")
        raise SpecificationError([fault])
    return spec


def checked_spec(given: BenchmarkSpec | None) -> BenchmarkSpec:
    """Check a specification made in Python as `spec_from_dict` does; an empty one for None.

    Raises:
        SpecificationError: As for `spec_from_dict`.
    """
    return BenchmarkSpec() if given is None else spec_from_dict(to_dict(given))

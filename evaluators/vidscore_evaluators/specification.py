"""BenchmarkSpec: what files alone cannot say about a benchmark.

Domains with their class lists, sequences with their frames, and the evaluators that judge. The
same type is the command line's manifest (TOML), the first message of a scoring stream (proto)
and a hosted benchmark's definition. Its one form in plain dictionaries serves TOML and JSON:
`spec_to_dict` and `vidscore_evaluators.specification.spec_from_dict` are inverse to each
other. What a specification does to truth is in `vidscore_evaluators.alignment`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.arrays import BoolArray, IntArray, expand_runs
from vidscore_evaluators.errors import Fault, SpecificationError
from vidscore_evaluators.names import checked_name, name_advice
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

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


# --- Read a BenchmarkSpec out of dictionaries (TOML or JSON) and report every fault at once.

Converter = Callable[[object], Any]

SHOWN_RANGES = 20
"""Ranges of which a message shows as much as it has room for."""

_UP_TO = f"frames up to {MAXIMUM_FRAME_NUMBER}"

MAXIMUM_IMAGE_SIDE_PX = 2**31 - 1
"""The greatest width and height of an image: what 32 bits on the wire hold."""


def spec_from_dict(document: Mapping[str, Any], *, source: str | None = None) -> BenchmarkSpec:
    """Inverse of `vidscore_evaluators.specification.spec_to_dict`.

    A range of frames may also be written as one number; many may be an array of (N, 2) bounds.

    Args:
        document: The specification as dictionaries.
        source: Name of the file it came from, for error messages.

    Raises:
        SpecificationError: With every unknown key, wrong type, repeated name and impossible number.
    """
    reader = _Reader(source)
    fields = reader.table(document, "", _SPEC_FIELDS)
    evaluators = reader.entries(fields.get("evaluators", []), "evaluators", _EVALUATOR_FIELDS)
    domains = reader.entries(fields.get("domains", []), "domains", _DOMAIN_FIELDS)
    sequences = reader.entries(fields.get("sequences", []), "sequences", _SEQUENCE_FIELDS)
    reader.refuse_repeats("domains", [(entry.get("name"),) for entry in domains])
    reader.refuse_repeats(
        "sequences", [(entry.get("domain", ""), entry.get("name")) for entry in sequences]
    )
    reader.refuse_repeats("evaluators", [(entry.get("name"),) for entry in evaluators])
    reader.raise_faults()
    spec = BenchmarkSpec(
        title=fields.get("title", ""),
        evaluators=tuple(EvaluatorSpec(**entry) for entry in evaluators),
        domains=tuple(DomainSpec(**entry) for entry in domains),
        sequences=tuple(SequenceSpec(**entry) for entry in sequences),
    )
    _refuse_too_many_frames(reader, spec)
    return spec


class _Reader:
    """Collects faults while tables are read."""

    def __init__(self, source: str | None) -> None:
        self._source = source
        self._faults: list[Fault] = []

    def fault(self, field: str, found: str, expected: str, advice: str | None = None) -> None:
        fault = Fault(found, expected, source=self._source, field=field, advice=advice)
        self._faults.append(fault)

    def raise_faults(self) -> None:
        if self._faults:
            raise SpecificationError(self._faults)

    def table(self, document: object, path: str, fields: Mapping[str, Converter]) -> dict[str, Any]:
        if not isinstance(document, Mapping):
            self.fault(path or "the whole", _shown(document), "a table")
            return {}
        read: dict[str, Any] = {}
        for key, value in document.items():
            place = f"{path}.{key}" if path else str(key)
            if key not in fields:
                self.fault(place, "unknown key", "", name_advice(str(key), fields))
                continue
            try:
                read[key] = fields[key](value)
            except ValueError as error:
                self.fault(place, _shown(value), str(error))
        return read

    def entries(
        self, documents: list[object], path: str, fields: Mapping[str, Converter]
    ) -> list[dict[str, Any]]:
        tables = []
        for index, document in enumerate(documents):
            place = f"{path}[{index}]"
            table = self.table(document, place, fields)
            if isinstance(document, Mapping) and "name" not in document:
                self.fault(f"{place}.name", "missing", "")
            tables.append(table)
        return tables

    def refuse_repeats(self, path: str, names: list[tuple[Any, ...]]) -> None:
        seen: set[tuple[Any, ...]] = set()
        for index, name in enumerate(names):
            if name in seen and None not in name:
                self.fault(f"{path}[{index}].name", _shown(name[-1]), "a name that stands once")
            seen.add(name)


def _refuse_too_many_frames(reader: _Reader, spec: BenchmarkSpec) -> None:
    total = spec.evaluated_frame_count
    if total > MAXIMUM_FRAMES:
        reader.fault("sequences", f"{total} frames", f"at most {MAXIMUM_FRAMES} frames in all")
    reader.raise_faults()


def _shown(value: object) -> str:
    shown = value[:SHOWN_RANGES].tolist() if isinstance(value, np.ndarray) else value
    return repr(shown)[:80]


def _name(value: object) -> str:
    text = checked_name(value)
    if not text:
        raise ValueError("a name that is not empty")
    return text


def _whole(minimum: int, maximum: int) -> Converter:
    def convert(value: object) -> int:
        if type(value) is not int or not minimum <= value <= maximum:
            raise ValueError(f"a whole number from {minimum} to {maximum}")
        return value

    return convert


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("an array")
    return value


def _names(value: object) -> tuple[str, ...]:
    """Class names; a whole number stands for its digits, as it does in data."""
    entries = [str(entry) if type(entry) is int else entry for entry in _list(value)]
    names = tuple(_name(entry) for entry in entries)
    if len({name.casefold() for name in names}) < len(names):
        raise ValueError("class names that differ in more than case")
    return names


def _ranges(value: object) -> FrameRanges:
    """Frames as a file or a message has them: of a message they are an array."""
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
        raise ValueError("a table of parameters")
    # Arrays become tuples, as in every parameters class, so that equal ones compare equal.
    return {key: tuple(entry) if isinstance(entry, list) else entry for key, entry in value.items()}


_SPEC_FIELDS: Mapping[str, Converter] = {
    "title": checked_name,
    "evaluators": _list,
    "domains": _list,
    "sequences": _list,
}
SPECIFICATION_KEYS = tuple(_SPEC_FIELDS)
"""Keys of a specification."""

_EVALUATOR_FIELDS: Mapping[str, Converter] = {"name": _name, "parameters": _parameters}
_DOMAIN_FIELDS: Mapping[str, Converter] = {"name": checked_name, "classes": _names}
_SEQUENCE_FIELDS: Mapping[str, Converter] = {
    "name": _name,
    "domain": checked_name,
    "frame_count": _whole(0, MAXIMUM_FRAME_NUMBER),
    "first_frame": _whole(0, MAXIMUM_FRAME_NUMBER),
    "frames": _ranges,
    "dont_care_frames": _ranges,
    "image_width": _whole(1, MAXIMUM_IMAGE_SIDE_PX),
    "image_height": _whole(1, MAXIMUM_IMAGE_SIDE_PX),
}

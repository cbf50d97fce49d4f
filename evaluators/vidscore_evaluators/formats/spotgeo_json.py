"""spotGEO JSON: one array with an entry for each frame, for truth and detections alike.

``[{"sequence_id": 1, "frame": 1, "num_objects": 2, "object_coords": [[x, y], [x, y]]}, ...]``, as
the spotGEO challenge distributes its annotations and takes submissions. ``num_objects`` is the
number of coordinates, no (sequence, frame) comes twice, and detections have an entry for exactly
the frames of the truth. What values may be (image size, objects a frame, five frames) are rules
of the evaluator.

The usual text is read as flat columns (`vidscore_evaluators.formats.spotgeo_text`). Others are
parsed and checked as whole columns; only where something is wrong are entries looked at one by
one, to say what.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import (
    NO_TRACK,
    POINT,
    Annotations,
    SequenceKey,
    Side,
)
from vidscore_evaluators.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.fault_list import FaultList
from vidscore_evaluators.formats.files import read_bytes
from vidscore_evaluators.formats.json_text import (
    KeyTwice,
    is_whole,
    no_garbage_collection,
    parse_json,
    show_value,
    type_name,
    with_repeated_keys,
)
from vidscore_evaluators.formats.packed import InputPath
from vidscore_evaluators.formats.source import (
    Format,
    PairReading,
    Places,
    Reading,
    ReadLimits,
    Source,
    listed_names,
    sequence_name,
)
from vidscore_evaluators.formats.spotgeo_text import GREATEST_WHOLE, KEYS, read_flat_columns
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.validation import MAXIMUM_COORDINATE_PX, MAXIMUM_FRAME_NUMBER

NAME = "spotgeo-json"
_EXPECTED = "a JSON file in the form of the spotGEO challenge"
_COORDINATE = f"a number from -{MAXIMUM_COORDINATE_PX:g} to {MAXIMUM_COORDINATE_PX:g}"


def read(path: InputPath, side: Side, limits: ReadLimits) -> Reading:
    """Read a file.

    Raises:
        InputError: If there is no such file, it is no JSON, or no array.
    """
    del side
    data = read_bytes(path, _EXPECTED, limits).removeprefix(codecs.BOM_UTF8)
    name = str(path)
    with no_garbage_collection():
        entries, positions, faults, skipped = _read_entries(data, name)
    source = Source(
        annotations=entries.annotations(),
        name=name,
        format=NAME,
        places=Places((name,), np.zeros_like(positions), positions, "entry"),
    )
    return Reading(source, faults, skipped)


def _read_entries(data: bytes, name: str) -> tuple[_Entries, IntArray, FaultList, int]:
    """Columns of the entries that keep the rules, their indices, and what is wrong with others."""
    flat = _flat_entries(data)
    if flat is not None:
        return flat, np.arange(len(flat.frames), dtype=np.int64), FaultList(), 0
    document = parse_json(data, name)
    if not isinstance(document, list):
        raise InputError([Fault(type_name(document), "an array of entries", source=name)])
    faults, positions = FaultList(), np.arange(len(document), dtype=np.int64)
    try:
        _require(_holds_numbers_alone(data, len(document)))
        entries = _Entries.of(document)
    except ValueError:
        positions = _explain(with_repeated_keys(data, document), name, faults)
        entries = _Entries.of([document[index] for index in positions.tolist()])
    return entries, positions, faults, len(document) - len(positions)


def pair(truth: Source, detections: Source, known: frozenset[SequenceKey]) -> PairReading:
    """Hold detections to exactly the frames of the truth."""
    del known
    faults = FaultList()
    if _frames_in_order(truth) == _frames_in_order(detections):
        return PairReading(detections, faults)
    wanted, given = _frame_keys(truth.annotations), _frame_keys(detections.annotations)
    here, there = set(given), set(wanted)
    missing = [key for key in wanted if key not in here]
    for key in missing:
        expected = "one entry for each frame of the truth"
        faults.add(Fault(f"no entry for {_frame_name(*key)}", expected, source=detections.name))
    extra = np.array([key not in there for key in given], dtype=np.bool_)
    for row in np.flatnonzero(extra).tolist():
        faults.add(_place_of(detections, row, _frame_name(*given[row]), "a frame of the truth"))
    if missing:
        names = listed_names([_frame_name(*key) for key in missing])
        message = f"frames without an entry count as without detections: {names}"
        warning = ReportWarning("missing_detection_frames", message, len(missing))
        detections = replace(detections, warnings=(*detections.warnings, warning))
    if extra.any():
        unknown = frozenset(detections.annotations.sequences) - {*truth.annotations.sequences}
        detections = detections.without_frames(extra, unknown)
    return PairReading(detections, faults, int(extra.sum()))


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a file is a JSON array, of objects if of anything."""
    del path
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    return text.startswith(b"[") and text[1:].lstrip()[:1] in (b"", b"{", b"]")


# --- whole columns ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Entries:
    """The columns of E well-formed entries with N objects."""

    sequence_ids: IntArray
    frames: IntArray
    counts: IntArray
    coordinates: FloatArray

    @classmethod
    def of(cls, document: list[Any]) -> _Entries:
        """The columns of entries whose values are numbers, and arrays and objects of them.

        Raises:
            ValueError: If an entry breaks a rule.
        """
        try:
            ids, frames, counts, lists = ([entry[key] for entry in document] for key in KEYS)
            counted = _whole_column(counts)
            entries = cls(
                sequence_ids=_whole_column(ids),
                frames=_whole_column(frames),
                counts=counted,
                coordinates=_coordinates(lists, counted),
            )
        except (KeyError, TypeError, OverflowError):
            raise ValueError from None
        entries.check_values()
        return entries

    def check_values(self) -> None:
        _require((self.frames >= 0) & (self.frames <= MAXIMUM_FRAME_NUMBER))
        _require(np.abs(self.sequence_ids) <= GREATEST_WHOLE)
        _require(np.abs(self.coordinates) <= MAXIMUM_COORDINATE_PX)
        _require(self._stand_once())

    def _stand_once(self) -> bool:
        ids, frames = self.sequence_ids, self.frames
        rising = (ids[1:] > ids[:-1]) | ((ids[1:] == ids[:-1]) & (frames[1:] > frames[:-1]))
        if rising.all():
            return True
        order = np.lexsort((frames, ids))
        return len(run_starts(ids[order], frames[order])) == len(ids)

    def annotations(self) -> Annotations:
        ids, frame_sequences = np.unique(self.sequence_ids, return_inverse=True)
        count = len(self.coordinates)
        return Annotations(
            sequences=tuple(map(SequenceKey, repeat(""), map(str, ids.tolist()))),
            labels=("",),
            frame_sequences=frame_sequences.reshape(-1).astype(np.int64),
            frame_numbers=self.frames,
            frame_flags=np.zeros(len(self.frames), dtype=np.uint8),
            frame_starts=starts_from_counts(self.counts),
            coordinates=self.coordinates,
            label_indices=np.zeros(count, dtype=np.int64),
            confidences=np.ones(count),
            track_ids=np.full(count, NO_TRACK, dtype=np.int64),
            flags=np.zeros(count, dtype=np.uint8),
        )


def _whole_column(values: list[Any]) -> IntArray:
    column = np.array(values) if values else np.zeros(0, dtype=np.int64)
    _require(column.dtype == np.int64 and column.ndim == 1)
    return column


def _coordinates(lists: list[Any], counts: IntArray) -> FloatArray:
    """(N, 2) coordinates of all entries, one after the other."""
    _require(set(map(type, lists)) <= {list})
    _require(np.fromiter(map(len, lists), dtype=np.int64, count=len(lists)) == counts)
    pairs = list(chain.from_iterable(lists))
    _require(set(map(len, pairs)) <= {POINT})
    numbers = list(chain.from_iterable(pairs))
    return np.fromiter(numbers, dtype=np.float64, count=len(numbers)).reshape(-1, POINT)


def _require(holds: BoolArray | bool) -> None:
    if not np.all(holds):
        raise ValueError


def _flat_entries(data: bytes) -> _Entries | None:
    """Entries in the usual text that keep every rule; None for all others."""
    columns = read_flat_columns(data)
    if columns is None:
        return None
    entries = _Entries(*columns)
    try:
        entries.check_values()
    except ValueError:
        return None
    return entries


# --- parsing ---------------------------------------------------------------------------------


def _holds_numbers_alone(data: bytes, entry_count: int) -> bool:
    """Whether there can be nothing but numbers, arrays and `entry_count` objects of `KEYS`.

    In such a file all quotes are those of the keys; a text, a key more or a key twice would need
    others. ``true`` and ``null`` have a u that the keys do not account for, ``false`` has an l.
    """
    keys = "".join(f'"{key}"' for key in KEYS)
    buffer = np.frombuffer(data, dtype=np.uint8)
    return all(
        np.count_nonzero(buffer == ord(letter)) == entry_count * keys.count(letter)
        for letter in '"ul'
    )


# --- entry by entry --------------------------------------------------------------------------


def _explain(document: list[Any], name: str, faults: FaultList) -> IntArray:
    """Add a fault for all that is wrong; return the indices of the entries that are right."""
    seen: set[tuple[int, int]] = set()
    good = []
    for index, entry in enumerate(document):
        found = list(_entry_problems(entry))
        if not found:
            key = (entry["sequence_id"], entry["frame"])
            if key in seen:
                text = f"frame {key[1]} of sequence {key[0]} again"
                found.append(("frame", text, "each frame once"))
            seen.add(key)
        for field, text, expected in found:
            faults.add(Fault(text, expected, source=name, entry=index, field=field))
        if not found:
            good.append(index)
    return np.array(good, dtype=np.int64)


_Problem = tuple[str | None, str, str]
"""Field, what was found, what was expected."""


def _entry_problems(entry: object) -> Iterator[_Problem]:
    if not isinstance(entry, dict):
        yield None, type_name(entry), "an object with the keys " + ", ".join(KEYS)
        return
    if isinstance(entry, KeyTwice):
        yield None, "a key twice", "each key once"
    for key in KEYS:
        if key not in entry:
            yield key, "nothing", "the keys " + ", ".join(KEYS)
    for key in entry:
        if key not in KEYS:
            yield None, f"the key {show_value(key)}", "no other keys than " + ", ".join(KEYS)
    bounds = {"sequence_id": (-GREATEST_WHOLE, GREATEST_WHOLE), "frame": (0, MAXIMUM_FRAME_NUMBER)}
    for key, (least, greatest) in bounds.items():
        if key in entry and not is_whole(entry[key], least, greatest):
            yield key, show_value(entry[key]), f"a whole number from {least} to {greatest}"
    if "object_coords" in entry:
        yield from _coordinate_problems(entry["object_coords"])
    if "object_coords" in entry and "num_objects" in entry:
        yield from _count_problems(entry["num_objects"], entry["object_coords"])


def _count_problems(count: object, coordinates: object) -> Iterator[_Problem]:
    length = len(coordinates) if isinstance(coordinates, list) else 0
    if not is_whole(count, length, length):
        yield "num_objects", show_value(count), f"{length}, the number of coordinates"


def _coordinate_problems(coordinates: object) -> Iterator[_Problem]:
    if not isinstance(coordinates, list):
        yield "object_coords", show_value(coordinates), "an array of [x, y] pairs"
        return
    for index, pair_ in enumerate(coordinates):
        field = f"object_coords[{index}]"
        if not isinstance(pair_, list) or len(pair_) != POINT:
            yield field, show_value(pair_), "an [x, y] pair"
            continue
        for value in pair_:
            if type(value) not in (int, float) or not abs(value) <= MAXIMUM_COORDINATE_PX:
                yield field, show_value(value), _COORDINATE


# --- pairs -----------------------------------------------------------------------------------


def _frame_keys(annotations: Annotations) -> list[tuple[SequenceKey, int]]:
    return [
        (annotations.sequences[sequence], number)
        for sequence, number in zip(
            annotations.frame_sequences.tolist(), annotations.frame_numbers.tolist(), strict=True
        )
    ]


def _frames_in_order(source: Source) -> tuple[tuple[SequenceKey, ...], bytes, bytes]:
    """Equal for sources of the same frames, whose tables hold the same names in one order."""
    annotations = source.annotations
    sequences, numbers = annotations.frame_sequences, annotations.frame_numbers
    order = np.lexsort((numbers, sequences))
    return annotations.sequences, sequences[order].tobytes(), numbers[order].tobytes()


def _frame_name(key: SequenceKey, number: int) -> str:
    return f"frame {number} of sequence {sequence_name(key)}"


def _place_of(source: Source, row: int, found: str, expected: str) -> Fault:
    fault = Fault(found, expected, source=source.name, entry=row)
    return fault if source.places is None else source.places.located(fault, row)


FORMAT = Format(
    name=NAME,
    title="spotGEO: a JSON array with an entry for each frame",
    matches=matches,
    read=read,
    pair=pair,
    first_frame=1,
)

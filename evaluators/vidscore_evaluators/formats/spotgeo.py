"""spotGEO JSON: one array with an entry for each frame, for truth and detections alike.

``[{"sequence_id": 1, "frame": 1, "num_objects": 2, "object_coords": [[x, y], [x, y]]}, ...]``, as
the spotGEO challenge distributes its annotations and takes submissions. ``num_objects`` is the
number of coordinates, no (sequence, frame) occurs twice, and detections have an entry for exactly
the frames of the truth. Bounds on values (image size, objects per frame, five frames) are rules of
the evaluator.

Programs write the keys of this format in one order, so a compiled loop can read the numbers in one
pass over the bytes. Any other text is parsed and checked as whole columns. Only if something is
wrong are entries checked one by one, to report it.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

import numpy as np
import orjson
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import (
    NO_TRACK,
    POINT,
    Annotations,
    SequenceKey,
    Side,
    frame_keys,
    frame_name,
)
from vidscore_evaluators.arrays import FloatArray, IntArray, require, run_starts, starts_from_counts
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import InputPath, read_bytes
from vidscore_evaluators.formats._format import (
    Capacity,
    Format,
    WriteOptions,
    Writer,
    refuse_unknown_frames,
)
from vidscore_evaluators.formats._heads import SPOTGEO
from vidscore_evaluators.formats._json import (
    DuplicateKey,
    is_integer,
    mark_duplicate_keys,
    no_garbage_collection,
    parse_json,
    show_value,
    type_name,
)
from vidscore_evaluators.formats._table import EXPECTED_COORDINATE, parse_integer
from vidscore_evaluators.formats.source import (
    FaultList,
    Files,
    PairReading,
    Reading,
    ReadLimits,
    Source,
    SourcePositions,
    listed_names,
)
from vidscore_evaluators.kernels.reading import count_bytes, parse_spotgeo
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.validation import MAXIMUM_COORDINATE_PX, MAXIMUM_FRAME_NUMBER

NAME = SPOTGEO
KEYS = ("sequence_id", "frame", "num_objects", "object_coords")
GREATEST_INTEGER = 2**53 - 1
"""Largest integer up to which binary64 represents every integer exactly."""

_EXPECTED = "a JSON file in the form of the spotGEO challenge"
_BOUNDS = {
    "sequence_id": (-GREATEST_INTEGER, GREATEST_INTEGER),
    "frame": (0, MAXIMUM_FRAME_NUMBER),
}

_Frame = tuple[SequenceKey, int]
"""Sequence and number."""


def read(path: InputPath, side: Side, limits: ReadLimits) -> Reading:
    """Read a file.

    Raises:
        InputError: If there is no such file, or it is not JSON, or not an array.
    """
    del side
    data = read_bytes(path, _EXPECTED, limits).removeprefix(codecs.BOM_UTF8)
    name = str(path)
    entries = parse_usual_text(data)
    if entries is not None and entries.keep_rules():
        count = len(entries.frames)
        return Reading(entries.source(name, np.arange(count, dtype=np.int64)))
    with no_garbage_collection():
        return _read_document(data, name)


def _read_document(data: bytes, name: str) -> Reading:
    """Parse a document and keep the valid entries."""
    document = parse_json(data, name)
    if not isinstance(document, list):
        raise InputError([Fault(type_name(document), "an array of entries", source=name)])
    faults, left_out = FaultList(), dict[int, _Frame | None]()
    positions = np.arange(len(document), dtype=np.int64)
    try:
        require(_holds_numbers_alone(data, len(document)))
        entries = Entries.of(document)
    except ValueError:
        left_out = _explain(mark_duplicate_keys(data, document), name, faults)
        positions = np.delete(positions, list(left_out))
        entries = Entries.of([document[index] for index in positions.tolist()])
    source = replace(entries.source(name, positions), left_out=left_out)
    return Reading(source, faults, len(left_out))


def pair(truth: Source, detections: Source, known: frozenset[SequenceKey]) -> PairReading:
    """Check detections against exactly the frames of the truth.

    An entry that was left out still counts as an entry. If its frame is unreadable, it may belong
    to any frame without an entry.
    """
    del known
    if not detections.left_out and _frames_in_order(truth) == _frames_in_order(detections):
        return PairReading(detections)
    faults = FaultList()
    wanted, given = frame_keys(truth.annotations), frame_keys(detections.annotations)
    here, there = set(given), set(wanted)
    missing = [key for key in wanted if key not in here]
    faults.extend(_without_entry(missing, detections))
    for place, frame in detections.left_out.items():
        if frame is not None and frame not in there:
            text, expected = frame_name(*frame), "a frame of the truth"
            faults.add(Fault(text, expected, source=detections.name, entry=place))
    extra = np.array([key not in there for key in given], dtype=np.bool_)
    for row in np.flatnonzero(extra).tolist():
        faults.add(_located(detections, row, frame_name(*given[row]), "a frame of the truth"))
    if missing:
        names = listed_names([frame_name(*key) for key in missing])
        message = f"frames without an entry count as without detections: {names}"
        warning = ReportWarning("missing_detection_frames", message, len(missing))
        detections = replace(detections, warnings=(*detections.warnings, warning))
    if extra.any():
        unknown = frozenset(detections.annotations.sequences) - {*truth.annotations.sequences}
        detections = detections.without_frames(extra, unknown)
    return PairReading(detections, faults, int(extra.sum()))


def _without_entry(missing: list[_Frame], detections: Source) -> Iterator[Fault]:
    """A fault for each frame without an entry, if unreadable entries are fewer than such frames."""
    of_entries = list(detections.left_out.values())
    unread, known = of_entries.count(None), set(of_entries)
    absent = [frame for frame in missing if frame not in known]
    if len(absent) <= unread:
        return
    expected = "one entry for each frame of the truth"
    advice = "an entry whose sequence_id or frame cannot be read may be of it" if unread else None
    for frame in absent:
        text = f"no entry for {frame_name(*frame)}"
        yield Fault(text, expected, source=detections.name, advice=advice)


# --- whole columns ---------------------------------------------------------------------------


class Entries(Struct, frozen=True, eq=False):
    """The columns of E well-formed entries with N objects."""

    sequence_ids: IntArray
    frames: IntArray
    counts: IntArray
    coordinates: FloatArray

    @classmethod
    def of(cls, document: list[Any]) -> Entries:
        """The columns of entries whose values are numbers, and arrays and objects of them.

        Raises:
            ValueError: If an entry breaks a rule.
        """
        try:
            ids, frames, counts, lists = ([entry[key] for entry in document] for key in KEYS)
            counted = _integer_column(counts)
            entries = cls(
                sequence_ids=_integer_column(ids),
                frames=_integer_column(frames),
                counts=counted,
                coordinates=_coordinates(lists, counted),
            )
        except (KeyError, TypeError, OverflowError):
            raise ValueError from None
        require(entries.keep_rules())
        return entries

    def keep_rules(self) -> bool:
        """Whether values are within bounds and no frame occurs twice."""
        return (
            bool(((self.frames >= 0) & (self.frames <= MAXIMUM_FRAME_NUMBER)).all())
            and bool((np.abs(self.sequence_ids) <= GREATEST_INTEGER).all())
            and bool((np.abs(self.coordinates) <= MAXIMUM_COORDINATE_PX).all())
            and self._are_distinct()
        )

    def _are_distinct(self) -> bool:
        ids, frames = self.sequence_ids, self.frames
        rising = (ids[1:] > ids[:-1]) | ((ids[1:] == ids[:-1]) & (frames[1:] > frames[:-1]))
        if rising.all():
            return True
        order = np.lexsort((frames, ids))
        return len(run_starts(ids[order], frames[order])) == len(ids)

    def source(self, name: str, positions: IntArray) -> Source:
        """The source, from the entries' places in their array."""
        ids, frame_sequences = np.unique(self.sequence_ids, return_inverse=True)
        count = len(self.coordinates)
        annotations = Annotations(
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
        places = SourcePositions((name,), np.zeros_like(positions), positions, "entry")
        return Source(annotations, name, NAME, places)


def _integer_column(values: list[Any]) -> IntArray:
    column = np.array(values) if values else np.zeros(0, dtype=np.int64)
    require(column.dtype == np.int64 and column.ndim == 1)
    return column


def _coordinates(lists: list[Any], counts: IntArray) -> FloatArray:
    """(N, 2) coordinates of all entries, one after the other."""
    require(set(map(type, lists)) <= {list})
    require(np.fromiter(map(len, lists), dtype=np.int64, count=len(lists)) == counts)
    pairs = list(chain.from_iterable(lists))
    require(set(map(len, pairs)) <= {POINT})
    numbers = list(chain.from_iterable(pairs))
    return np.fromiter(numbers, dtype=np.float64, count=len(numbers)).reshape(-1, POINT)


def parse_usual_text(data: bytes) -> Entries | None:
    """The entries of a text with its keys in the usual order; None for any other text.

    Args:
        data: UTF-8 without a byte order mark.
    """
    text = np.frombuffer(data + b"\0", dtype=np.uint8)
    # Room for the largest possible number; untouched memory costs nothing.
    braces, brackets = (count_bytes(text, len(text), ord(character)) for character in "{[")
    ids, frames, counts = np.empty((3, braces), dtype=np.int64)
    coordinates = np.empty((brackets, POINT))
    found = parse_spotgeo(text, len(data), ids, frames, counts, coordinates)
    if found < 0:
        return None
    points = coordinates[: int(counts[:found].sum())]
    return Entries(ids[:found], frames[:found], counts[:found], points)


def _holds_numbers_alone(data: bytes, entry_count: int) -> bool:
    """Whether there can only be numbers, arrays and `entry_count` objects with `KEYS`.

    In such a file all quotes belong to the keys; a string, another key or a duplicate key would
    need more. ``true`` and ``null`` have a u that the keys do not account for, ``false`` an l.
    """
    keys = "".join(f'"{key}"' for key in KEYS)
    text = np.frombuffer(data, dtype=np.uint8)
    return all(
        count_bytes(text, len(text), ord(letter)) == entry_count * keys.count(letter)
        for letter in '"ul'
    )


# --- entry by entry --------------------------------------------------------------------------


def _explain(document: list[Any], name: str, faults: FaultList) -> dict[int, _Frame | None]:
    """Add every fault; return the places of the entries to leave out, with the frame of each."""
    named: set[_Frame | None] = set()
    used: set[_Frame | None] = set()
    left_out: dict[int, _Frame | None] = {}
    for index, entry in enumerate(document):
        found, frame = list(_entry_problems(entry)), _frame_of(entry)
        # Of several entries of one frame, the first without another problem is used.
        if found or frame in used:
            left_out[index] = frame
        else:
            used.add(frame)
        if frame is not None and frame in named:
            found.append(("frame", f"{frame_name(*frame)} again", "each frame once"))
        named.add(frame)
        for field, text, expected in found:
            faults.add(Fault(text, expected, source=name, entry=index, field=field))
    return left_out


def _frame_of(entry: object) -> _Frame | None:
    """The frame of an entry; None if it is unreadable."""
    if not isinstance(entry, dict) or isinstance(entry, DuplicateKey):
        return None
    if not all(is_integer(entry.get(key), *bounds) for key, bounds in _BOUNDS.items()):
        return None
    return SequenceKey("", str(entry["sequence_id"])), entry["frame"]


_Problem = tuple[str | None, str, str]
"""Field, the found, the expected."""


def _entry_problems(entry: object) -> Iterator[_Problem]:
    if not isinstance(entry, dict):
        yield None, type_name(entry), "an object with the keys " + ", ".join(KEYS)
        return
    if isinstance(entry, DuplicateKey):
        yield None, "a duplicate key", "each key once"
    for key in KEYS:
        if key not in entry:
            yield key, "nothing", "the keys " + ", ".join(KEYS)
    for key in entry:
        if key not in KEYS:
            yield None, f"the key {show_value(key)}", "no other keys than " + ", ".join(KEYS)
    for key, (least, greatest) in _BOUNDS.items():
        if key in entry and not is_integer(entry[key], least, greatest):
            yield key, show_value(entry[key]), f"an integer from {least} to {greatest}"
    if "object_coords" in entry:
        yield from _coordinate_problems(entry["object_coords"])
    if "object_coords" in entry and "num_objects" in entry:
        yield from _count_problems(entry["num_objects"], entry["object_coords"])


def _count_problems(count: object, coordinates: object) -> Iterator[_Problem]:
    length = len(coordinates) if isinstance(coordinates, list) else 0
    if not is_integer(count, length, length):
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
                yield field, show_value(value), EXPECTED_COORDINATE


# --- both sides ------------------------------------------------------------------------------


def _frames_in_order(source: Source) -> tuple[tuple[SequenceKey, ...], bytes, bytes]:
    """Equal for sources with the same frames and the same order of sequences."""
    annotations = source.annotations
    sequences, numbers = annotations.frame_sequences, annotations.frame_numbers
    order = np.lexsort((numbers, sequences))
    return annotations.sequences, sequences[order].tobytes(), numbers[order].tobytes()


def _located(source: Source, row: int, found: str, expected: str) -> Fault:
    fault = Fault(found, expected, source=source.name, entry=row)
    return fault if source.positions is None else source.positions.located(fault, row)


# --- writing ---------------------------------------------------------------------------------


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    del side
    starts, points = annotations.frame_starts.tolist(), annotations.coordinates.tolist()
    # Detections need an entry for each frame of the truth.
    own_frames = frame_keys(annotations)
    frames = [] if options.truth is None else frame_keys(options.truth)
    found: dict[tuple[SequenceKey, int], list[list[float]]] = {key: [] for key in frames}
    if options.truth is not None:
        refuse_unknown_frames(own_frames, found)
    for row, key in enumerate(own_frames):
        found[key] = points[starts[row] : starts[row + 1]]
    entries = sorted(
        (_sequence_id(key.sequence), number, own) for (key, number), own in found.items()
    )
    document = [
        dict(zip(KEYS, (sequence, number, len(own), own), strict=True))
        for sequence, number, own in entries
    ]
    return {"": orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)}


def _sequence_id(name: str) -> int:
    number = parse_integer(name)
    if number is None or str(number) != name:
        raise InputError([Fault(repr(name), "an integer", field="sequence")])
    return number


FORMAT = Format(
    name=NAME,
    title="spotGEO: a JSON array with an entry for each frame",
    read=read,
    writer=Writer(
        folder=False,
        capacity=dict.fromkeys(Side, Capacity(arities=(POINT,), classes=False, confidences=False)),
        write=_write,
    ),
    pair=pair,
    first_frame=1,
)

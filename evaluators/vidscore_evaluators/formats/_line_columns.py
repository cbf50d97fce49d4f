"""Frames of many lines as whole columns, and a record of the frames that have come."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import orjson

from vidscore_evaluators.annotations import (
    BOX,
    NO_TRACK,
    QUADRILATERAL,
    Annotations,
    FrameFlag,
    SequenceKey,
    known_times,
)
from vidscore_evaluators.arrays import (
    BoolArray,
    FlagArray,
    FloatArray,
    IntArray,
    starts_from_counts,
)
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats._file_masks import masks_of_entries
from vidscore_evaluators.formats._heads import FRAME_KEYS
from vidscore_evaluators.formats._line_rules import (
    MAXIMUM_NUMBERS,
    MAXIMUM_OBJECTS,
    NUMBER_NAME,
    OBJECT_FLAGS,
    OBJECT_KEYS,
    SHAPES,
    flat_corners,
    integer_of,
    name_of,
)
from vidscore_evaluators.formats._times import ARRIVAL, COLUMN
from vidscore_evaluators.formats.generic import FRAME_FLAG
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.validation import (
    MAXIMUM_COORDINATE_PX,
    MAXIMUM_FRAME_NUMBER,
    MAXIMUM_TIME_S,
)


class SeenFrames:
    """The frames of a possibly endless stream, as runs of successive numbers."""

    def __init__(self) -> None:
        self._runs: dict[SequenceKey, tuple[list[int], list[int]]] = {}

    def add(self, key: SequenceKey, number: int) -> bool:
        """Add a frame; returns whether it is new."""
        firsts, lasts = self._runs.setdefault(key, ([], []))
        after = bisect_right(firsts, number)
        if after and lasts[after - 1] >= number:
            return False
        follows = after > 0 and lasts[after - 1] == number - 1
        precedes = after < len(firsts) and firsts[after] == number + 1
        if follows and precedes:
            lasts[after - 1] = lasts.pop(after)
            del firsts[after]
        elif follows:
            lasts[after - 1] = number
        elif precedes:
            firsts[after] = number
        else:
            firsts.insert(after, number)
            lasts.insert(after, number)
        return True


_NUMBERS = {int, float}
_NAMES = {int, float, str}
_NO_WORDS: list[str] = []
_FRAME_FLAGS = {FRAME_FLAG: int(FrameFlag.DONT_CARE)}
_BETWEEN = b",true,\n"
"""Joins lines into one array. No string of JSON continues over the end of a line, no key is a
literal, and no array of a frame may contain a boolean."""


MOST_JOINED_BYTES = 1 << 24
"""Maximum number of bytes of lines that are joined for parsing; longer lines gain nothing by it."""


def documents_of_lines(lines: Sequence[bytes]) -> list[Any]:
    """The documents of many lines, parsed together in half the time of one by one.

    Args:
        lines: At least one line, each without its end; none is blank.

    Raises:
        ValueError: If the result would not be certain, because a line is not a JSON object, or may
            end in another line, or has a boolean; or if the lines are too long. Parse each by
            itself then.
    """
    _require(sum(map(len, lines)) <= MOST_JOINED_BYTES)
    text = b"[" + _BETWEEN.join(lines) + b"]"
    # Otherwise, lines that are invalid alone might pass together, for as many others.
    _require(text.count(b"true") == len(lines) - 1)
    try:
        documents = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise ValueError from None
    _require(len(documents) == 2 * len(lines) - 1)
    _require_types(documents[1::2], {bool})
    return documents[::2]  # type: ignore[no-any-return]


def columns_of_lines(
    frames: Sequence[Any], arity: int | None, unknown_confidence: float = 1.0
) -> Annotations:
    """The frames of lines as annotations, in their order.

    Args:
        frames: The document of each line.
        arity: Coordinates of objects in earlier lines; None if there were none.
        unknown_confidence: Confidence of objects that have none.

    Raises:
        ValueError: If a line breaks a rule; `line_faults` says which.
    """
    try:
        return _columns(frames, arity, unknown_confidence)
    except (KeyError, TypeError, OverflowError, InputError):
        raise ValueError from None


def _columns(frames: Sequence[Any], arity: int | None, unknown_confidence: float) -> Annotations:
    _require_types(frames, {dict})
    _require(set().union(*frames) <= set(FRAME_KEYS))
    lists = [frame["objects"] for frame in frames]
    _require_types(lists, {list})
    counts = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    _require((counts <= MAXIMUM_OBJECTS).all())
    objects = list(chain.from_iterable(lists))
    _require_types(objects, {dict})
    keys: set[str] = set().union(*objects)
    _require(keys <= set(OBJECT_KEYS))
    sequences, frame_sequences = _sequences(frames)
    numbers = _integers([frame["frame"] for frame in frames])
    _require((numbers >= 0).all() and (numbers <= MAXIMUM_FRAME_NUMBER).all())
    labels, label_indices = _labels(objects, keys)
    coordinates, masks = _shapes(objects, keys, arity)
    starts = starts_from_counts(counts)
    if masks is not None:
        first = np.repeat(starts[:-1], counts)
        _require((masks.sizes == masks.sizes[first]).all())
    return Annotations(
        sequences=sequences,
        labels=labels,
        frame_sequences=frame_sequences,
        frame_numbers=numbers,
        frame_flags=_flags([frame.get("flags", _NO_WORDS) for frame in frames], _FRAME_FLAGS),
        frame_starts=starts,
        coordinates=coordinates,
        label_indices=label_indices,
        confidences=_confidences(objects, keys, unknown_confidence),
        track_ids=_tracks(objects, keys),
        flags=_object_flags(objects, keys),
        columns=_numbers_by_name(objects) if "numbers" in keys else {},
        frame_times_s=_seconds([frame.get(COLUMN) for frame in frames]),
        frame_arrivals_s=_seconds([frame.get(ARRIVAL) for frame in frames]),
        masks=masks,
    )


def _sequences(frames: Sequence[Any]) -> tuple[tuple[SequenceKey, ...], IntArray]:
    domains, domain_of = _names([frame.get("domain", "") for frame in frames])
    names, name_of_frame = _names([frame["sequence"] for frame in frames])
    _require("" not in names)
    pairs, index = np.unique(domain_of * len(names) + name_of_frame, return_inverse=True)
    keys = (divmod(pair, len(names)) for pair in pairs.tolist())
    table = tuple(SequenceKey(domains[domain], names[name]) for domain, name in keys)
    return table, index.reshape(-1).astype(np.int64)


def _names(values: list[Any]) -> tuple[tuple[str, ...], IntArray]:
    """The distinct names, and the index of each value's name; an integer stands for its digits."""
    _require_types(values, _NAMES)
    index: dict[str, int] = {}
    row_of: dict[Any, int] = {}
    for value in dict.fromkeys(values):
        name = name_of(value)
        if name is None:
            raise ValueError
        row_of[value] = index.setdefault(name, len(index))
    rows = np.fromiter(map(row_of.__getitem__, values), dtype=np.int64, count=len(values))
    return tuple(index), rows


def _labels(objects: list[Any], keys: Collection[str]) -> tuple[tuple[str, ...], IntArray]:
    if "label" not in keys:
        return ("",) if objects else (), np.zeros(len(objects), dtype=np.int64)
    return _names(_values(objects, "label", ""))


def _values(objects: list[Any], name: str, default: object) -> list[Any]:
    """The values of a key that some objects have."""
    try:
        return list(map(itemgetter(name), objects))
    except KeyError:
        return [entry.get(name, default) for entry in objects]


def _confidences(objects: list[Any], keys: Collection[str], unknown: float) -> FloatArray:
    if "confidence" not in keys:
        return np.full(len(objects), unknown)
    try:
        return _finite(list(map(itemgetter("confidence"), objects)))
    except KeyError:
        confidences = _finite([entry.get("confidence", 1.0) for entry in objects])
        confidences[["confidence" not in entry for entry in objects]] = unknown
        return confidences


def _shapes(
    objects: list[Any], keys: set[str], arity: int | None
) -> tuple[FloatArray, Masks | None]:
    """Coordinates, and masks if all objects have one; a mask alone has its bounding box."""
    if "mask" not in keys:
        return _coordinates(objects, keys, arity), None
    _require(keys & set(SHAPES) <= {"box"} and arity in (None, BOX))
    masked = np.array(["mask" in entry for entry in objects], dtype=np.bool_)
    boxed = np.array(["box" in entry for entry in objects], dtype=np.bool_)
    _require((masked | boxed).all())
    masks = masks_of_entries([entry["mask"] for entry in objects if "mask" in entry])
    boxes = np.empty((len(objects), BOX))
    boxes[masked] = masks.boxes()
    boxes[boxed] = _coordinates([entry for entry in objects if "box" in entry], {"box"}, BOX)
    return boxes, masks if masked.all() else None


def _coordinates(objects: list[Any], keys: set[str], arity: int | None) -> FloatArray:
    [shape, *others] = keys & set(SHAPES) or {_shape_of(arity)}
    _require(not others and (not objects or arity in (None, SHAPES[shape])))
    values = list(map(itemgetter(shape), objects))
    if SHAPES[shape] == QUADRILATERAL:
        values = [flat_corners(value) for value in values]
    _require_types(values, {list})
    _require(set(map(len, values)) <= {SHAPES[shape]})
    flat = _finite(list(chain.from_iterable(values)))
    _require((np.abs(flat) <= MAXIMUM_COORDINATE_PX).all())
    return flat.reshape(-1, SHAPES[shape])


def _shape_of(arity: int | None) -> str:
    return next(name for name, size in SHAPES.items() if size == (arity or BOX))


def _integers(values: list[Any]) -> IntArray:
    if set(map(type, values)) <= {int}:
        return np.fromiter(values, dtype=np.int64, count=len(values))
    integers = [integer_of(value) for value in values]
    _require_types(integers, {int})
    return np.array(integers, dtype=np.int64)


def _finite(values: list[Any]) -> FloatArray:
    _require_types(values, _NUMBERS)
    numbers = np.fromiter(values, dtype=np.float64, count=len(values))
    _require(np.isfinite(numbers).all())
    return numbers


def _seconds(values: list[Any]) -> FloatArray | None:
    if set(values) <= {None}:
        return None
    seconds = _finite_or_nan(values)
    _require(not ((seconds < 0) | (seconds > MAXIMUM_TIME_S)).any())
    return known_times(seconds)


def _finite_or_nan(values: list[Any]) -> FloatArray:
    """Numbers; None becomes NaN."""
    known = [value is not None for value in values]
    numbers = np.full(len(values), np.nan)
    numbers[known] = _finite([value for value in values if value is not None])
    return numbers


def _tracks(objects: list[Any], keys: Collection[str]) -> IntArray:
    values = _values(objects, "track", None) if "track" in keys else []
    if set(map(type, values)) <= {type(None)}:
        return np.full(len(objects), NO_TRACK, dtype=np.int64)
    known = [NO_TRACK if value is None else value for value in values]
    tracks = _integers(known)
    _require((tracks >= NO_TRACK).all())
    return tracks


def _object_flags(objects: list[Any], keys: set[str]) -> FlagArray:
    if "flags" not in keys:
        return np.zeros(len(objects), dtype=np.uint8)
    return _flags([entry.get("flags", _NO_WORDS) for entry in objects], OBJECT_FLAGS)


def _flags(words: list[Any], bits: Any) -> FlagArray:
    flags = np.zeros(len(words), dtype=np.uint8)
    _require_types(words, {list})
    for row, entry in enumerate(words):
        for word in entry:
            flags[row] |= np.uint8(bits[word])
    return flags


def _numbers_by_name(objects: list[Any]) -> dict[str, FloatArray]:
    given = [entry.get("numbers", {}) for entry in objects]
    _require_types(given, {dict})
    names = dict.fromkeys(chain.from_iterable(given))
    _require(max(map(len, given)) <= MAXIMUM_NUMBERS)
    _require(all(NUMBER_NAME.fullmatch(name) for name in names))
    return {name: _finite_or_nan([entry.get(name) for entry in given]) for name in names}


def _require_types(values: Sequence[Any], types: set[type]) -> None:
    _require(set(map(type, values)) <= types)


def _require(holds: BoolArray | bool | np.bool_) -> None:
    if not holds:
        raise ValueError

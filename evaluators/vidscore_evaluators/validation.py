"""Validation of columns and confidences from outside input; every fault is reported.

`build_annotations` checks the values of each column, that columns fit each other, and that a batch
has each frame once; `vidscore_evaluators.live` checks the latter across batches.

If only their order counts, confidences are any finite numbers; some evaluators need numbers from 0
to 1. A `ConfidenceScale` maps other scores, such as logits. It is monotone, so order does not
change, and it maps each number by itself, so that a stream, a part and a whole get the same
numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import ArrayLike, DTypeLike

from vidscore_evaluators.annotations import (
    ARITIES,
    BOX,
    NO_TRACK,
    Annotations,
    FrameFlag,
    ObjectFlag,
    SequenceKey,
    known_times,
    sequence_name,
)
from vidscore_evaluators.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.errors import Fault, InputError, ParameterError
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.names import checked_name, counted

MAXIMUM_FRAME_NUMBER = 2**53 - 1
"""Largest frame number: JSON readers that use floats would change a larger one."""

MAXIMUM_COORDINATE_PX = 1e9
"""Largest absolute coordinate: areas of larger boxes would lose their meaning."""

MAXIMUM_TIME_S = 1e11
"""Maximum time of a frame, in the year 5138. The present in milliseconds exceeds it."""

EXPECTED_TIME = f"seconds from 0 to {MAXIMUM_TIME_S:g}"

FAULTS_PER_COLUMN = 1000
"""Maximum number of faults per column, so that millions of bad numbers do not list as many."""


_KNOWN_BITS = {kind: int(sum(kind)) for kind in (FrameFlag, ObjectFlag)}
"""All bits of each kind of flags; cached, since summing takes longer than checking some columns."""

_KINDS = {
    "b": "booleans",
    "c": "complex numbers",
    "M": "dates",
    "m": "durations",
    "S": "strings",
    "U": "strings",
}
"""Content of non-numeric arrays, by numpy's kind."""


class Columns(Struct, frozen=True):
    """Unchecked columns of a batch; the attributes are those of the wire's AnnotationBatch.

    An empty optional column means its default, as on the wire.

    Attributes:
        arity: Coordinates per object.
        sequences: Table of (domain, sequence).
        frame_sequences: (F,) rows of `sequences`.
        frame_numbers: (F,) frame numbers.
        object_counts: (F,) objects in each frame.
        coordinates: (N * arity,) or (N, arity) coordinates.
        labels: Table of class labels; optional.
        frame_flags: (F,) bits of `FrameFlag`; optional.
        label_indices: (N,) rows of `labels`; optional.
        confidences: (N,) confidences; optional.
        track_ids: (N,) track identities; optional.
        object_flags: (N,) bits of `ObjectFlag`; optional.
        columns: Further (N,) columns by name; optional.
        frame_times_s: (F,) seconds at which the frames were captured, NaN if unknown; optional.
        masks: Masks of the N objects, each already checked; None for none.
    """

    arity: int
    sequences: Sequence[tuple[str, str]]
    frame_sequences: ArrayLike
    frame_numbers: ArrayLike
    object_counts: ArrayLike
    coordinates: ArrayLike
    labels: Sequence[str] = ()
    frame_flags: ArrayLike = ()
    label_indices: ArrayLike = ()
    confidences: ArrayLike = ()
    track_ids: ArrayLike = ()
    object_flags: ArrayLike = ()
    columns: Mapping[str, ArrayLike] = field(default_factory=dict)
    frame_times_s: ArrayLike = ()
    masks: Masks | None = None


def build_annotations(columns: Columns, source: str | None = None) -> Annotations:
    """Check columns and build annotations from them.

    Args:
        columns: The columns.
        source: Name of the batch in error messages.

    Raises:
        InputError: With every fault; `field` is the column, `entry` the row.
    """
    return _Builder(columns, source).build()


class _Builder:
    """Checks one batch in stages; the first stage with faults ends the checks."""

    def __init__(self, columns: Columns, source: str | None) -> None:
        self._columns = columns
        self._source = source
        self._faults: list[Fault] = []
        self._unreadable: set[str] = set()
        self._defaults: set[str] = set()

    def build(self) -> Annotations:
        given = self._columns
        sequences, labels = self._sequences(), self._labels()
        numbers = self._whole("frame_numbers", given.frame_numbers)
        frame_count = None if "frame_numbers" in self._unreadable else len(numbers)
        frame_sequences = self._whole("frame_sequences", given.frame_sequences, frame_count)
        frame_flags = self._flags("frame_flags", given.frame_flags, frame_count, FrameFlag)
        times_s = self._number("frame_times_s", given.frame_times_s, frame_count, np.nan)
        counts = self._whole("frame_object_counts", given.object_counts, frame_count)
        coordinates = self._coordinates(counts)
        self._raise_faults()
        object_count = len(coordinates)
        built = Annotations(
            sequences=sequences,
            labels=labels,
            frame_sequences=frame_sequences,
            frame_numbers=numbers,
            frame_flags=frame_flags,
            frame_starts=starts_from_counts(counts),
            coordinates=coordinates,
            label_indices=self._whole("label_indices", given.label_indices, object_count, 0),
            confidences=self._number("confidences", given.confidences, object_count, 1.0),
            track_ids=self._whole("track_ids", given.track_ids, object_count, NO_TRACK),
            flags=self._flags("object_flags", given.object_flags, object_count, ObjectFlag),
            columns={
                name: self._number(f"columns.{name}", values, object_count)
                for name, values in given.columns.items()
                if self._is_name("columns", name)
            },
            frame_times_s=None if "frame_times_s" in self._defaults else known_times(times_s),
            masks=self._masks(counts),
        )
        self._check_values(built)
        self._raise_faults()
        self._refuse_repeated_frames(built)
        self._raise_faults()
        return built

    def _sequences(self) -> tuple[SequenceKey, ...]:
        keys = []
        given: Sequence[object] = self._columns.sequences
        for row, key in enumerate(given):
            if not isinstance(key, (tuple, list)) or len(key) != 2:
                self._fault("sequences", _shown(key), "a pair of domain and sequence", row)
            elif all(self._is_name("sequences", name, row) for name in key):
                keys.append((row, SequenceKey(*key)))
        self._refuse_repeats("sequences", [(row, sequence_name(key), key) for row, key in keys])
        return tuple(key for _, key in keys)

    def _labels(self) -> tuple[str, ...]:
        labels = [
            (row, label, label)
            for row, label in enumerate(self._columns.labels)
            if self._is_name("labels", label, row)
        ]
        self._refuse_repeats("labels", labels)
        return tuple(label for _, label, _ in labels) or ("",)

    def _check_values(self, built: Annotations) -> None:
        numbers = built.frame_numbers
        outside = (numbers < 0) | (numbers > MAXIMUM_FRAME_NUMBER)
        self._refuse("frame_numbers", outside, numbers, f"0 to {MAXIMUM_FRAME_NUMBER}")
        self._refuse_rows("frame_sequences", built.frame_sequences, len(built.sequences))
        if built.frame_times_s is not None:
            wrong = wrong_times(built.frame_times_s)
            self._refuse("frame_times_s", wrong, built.frame_times_s, EXPECTED_TIME)
        flat = built.coordinates.reshape(-1)
        fits = np.abs(flat) <= MAXIMUM_COORDINATE_PX
        expected = f"a number from -{MAXIMUM_COORDINATE_PX:g} to {MAXIMUM_COORDINATE_PX:g}"
        self._refuse("coordinates", ~fits, flat, expected)
        if "label_indices" not in self._defaults:
            self._refuse_rows("label_indices", built.label_indices, len(built.labels))
        if "confidences" not in self._defaults:
            confidences = built.confidences
            self._refuse("confidences", ~np.isfinite(confidences), confidences, "a finite number")
        if "track_ids" not in self._defaults:
            tracks = built.track_ids
            self._refuse("track_ids", tracks < NO_TRACK, tracks, "-1 (no track), 0 or more")
        for name, column in built.columns.items():
            self._refuse(f"columns.{name}", np.isinf(column), column, "a finite number, or NaN")

    def _refuse_repeated_frames(self, built: Annotations) -> None:
        if built.frame_count < 2:
            return
        order = np.lexsort((built.frame_numbers, built.frame_sequences))
        first = run_starts(built.frame_sequences[order], built.frame_numbers[order])
        repeated = np.ones(built.frame_count, dtype=np.bool_)
        repeated[first] = False
        for row in np.sort(order[repeated])[:FAULTS_PER_COLUMN].tolist():
            found = f"{built.frame_name(row)} again"
            self._fault("frame_numbers", found, "each frame once", row)

    def _coordinates(self, counts: IntArray) -> AnyArray:
        """The (N, arity) coordinates, if their number agrees with the counts."""
        arity: Any = self._columns.arity
        if not isinstance(arity, int) or arity not in ARITIES:
            whole = type(arity) is int
            found = f"{counted(arity, 'coordinate')} per object" if whole else _shown(arity)
            self._fault("geometry", found, "2, 4 or 8")
            return np.zeros((0, 0))
        flat = self._number("coordinates", self._columns.coordinates, width=arity)
        if "coordinates" in self._unreadable:
            return np.zeros((0, arity))
        # Check each count first: counts from outside may be so large that their sum overflows.
        most = len(flat) // arity
        expected = f"0 to {most}, the objects of {counted(len(flat), 'coordinate')}"
        self._refuse("frame_object_counts", (counts < 0) | (counts > most), counts, expected)
        if not self._faults and int(counts.sum()) * arity != len(flat):
            wanted = int(counts.sum()) * arity
            self._fault("coordinates", counted(len(flat), "value"), counted(wanted, "value"))
        return np.zeros((0, arity)) if self._faults else flat.reshape(-1, arity)

    def _masks(self, counts: IntArray) -> Masks | None:
        """The masks, if each object is a box with a mask, and those of a frame have one size."""
        masks: Any = self._columns.masks
        if not isinstance(masks, Masks):
            if masks is not None:
                self._fault("masks", _shown(masks), "masks as columns, or none")
            return None
        object_count = int(counts.sum())
        if masks.count != object_count or self._columns.arity != BOX:
            objects = f"{counted(object_count, 'object')} of {self._columns.arity} numbers"
            found = f"{counted(masks.count, 'mask')} of {objects}"
            self._fault("masks", found, "a mask for each object, and boxes")
            return None
        first = np.repeat(starts_from_counts(counts)[:-1], counts)
        wrong = np.flatnonzero((masks.sizes != masks.sizes[first]).any(axis=1))
        for row in wrong[:FAULTS_PER_COLUMN].tolist():
            (height, width), (other, another) = masks.sizes[[row, first[row]]].tolist()
            expected = f"{other} by {another}, as the first mask of the frame"
            self._fault("masks", f"{height} by {width}", expected, row)
        return masks

    def _number(
        self,
        name: str,
        values: ArrayLike,
        length: int | None = None,
        default: float | None = None,
        width: int | None = None,
    ) -> AnyArray:
        if length is not None and default is not None and _is_absent(values):
            return self._default(name, length, default, np.float64)
        array = self._row_of_numbers(name, values, "a list of numbers", width)
        if array.dtype == np.float64:
            column = array.copy()
        else:
            with np.errstate(all="ignore"):
                column = array.astype(np.float64)
        return self._fitted(name, column, length, default)

    def _whole(
        self, name: str, values: ArrayLike, length: int | None = None, default: int | None = None
    ) -> AnyArray:
        if length is not None and default is not None and _is_absent(values):
            return self._default(name, length, default, np.int64)
        array = self._row_of_numbers(name, values, "a list of integers")
        if array.dtype.kind == "i":
            column = array.astype(np.int64)
        else:
            with np.errstate(all="ignore"):
                column = array.astype(np.int64)
                # The conversion of the float 2**63 differs between processors.
                wrong = (column != array) | (np.abs(array.astype(np.float64)) >= 2.0**63)
                self._refuse(name, wrong, array, "an integer")
                column[wrong] = 0  # which no other check refuses
        return self._fitted(name, column, length, default)

    def _flags(self, name: str, values: ArrayLike, length: int | None, bits: Any) -> AnyArray:
        if length is not None and _is_absent(values):
            return self._default(name, length, 0, np.uint8)
        flags = self._whole(name, values, length, 0)
        known = _KNOWN_BITS[bits]
        self._refuse(name, (flags & ~known) != 0, flags, f"bits of {known}")
        return (flags & known).astype(np.uint8)

    def _row_of_numbers(
        self, name: str, values: ArrayLike, expected: str, width: int | None = None
    ) -> AnyArray:
        """The values as an array of numbers; empty if they are not numbers."""
        try:
            array = _numbers(values)
            if width is not None and array.ndim == 2 and array.shape[1] != width and array.size:
                raise ValueError(f"rows of {counted(array.shape[1], 'value')}")
            if array.ndim > (1 if width is None else 2):
                raise ValueError(f"an array of {counted(array.ndim, 'dimension')}")
        except ValueError as error:
            self._unreadable.add(name)
            self._fault(name, str(error), expected)
            return np.zeros(0)
        return array.reshape(-1)

    def _default(self, name: str, length: int, default: float, dtype: DTypeLike) -> AnyArray:
        """The default of a column that was left out; it needs no check."""
        self._defaults.add(name)
        column: AnyArray = np.empty(length, dtype=dtype)
        column.fill(default)
        return column

    def _fitted(self, name: str, column: AnyArray, length: int | None, default: Any) -> AnyArray:
        if length is None or len(column) == length:
            return column
        if len(column) == 0 and default is not None:
            return self._default(name, length, default, column.dtype)
        if name not in self._unreadable:
            self._unreadable.add(name)
            self._fault(name, counted(len(column), "value"), counted(length, "value"))
        return np.zeros(length, dtype=column.dtype)

    def _is_name(self, table: str, value: object, row: int | None = None) -> bool:
        try:
            checked_name(value)
        except ValueError as error:
            self._fault(table, _shown(value), str(error), row)
            return False
        return True

    def _refuse_rows(self, name: str, rows: AnyArray, table_length: int) -> None:
        outside = (rows < 0) | (rows >= table_length)
        self._refuse(name, outside, rows, f"a row of a table of {table_length}")

    def _refuse(self, name: str, wrong: BoolArray, values: AnyArray, expected: str) -> None:
        if wrong.any() and name not in self._unreadable:
            for row in np.flatnonzero(wrong)[:FAULTS_PER_COLUMN].tolist():
                self._fault(name, str(values[row]), expected, row)

    def _refuse_repeats(self, name: str, entries: Sequence[tuple[int, str, object]]) -> None:
        seen = set()
        for row, shown, entry in entries:
            if entry in seen:
                self._fault(name, f"{shown} again", "each name once", row)
            seen.add(entry)

    def _fault(self, name: str, found: str, expected: str, row: int | None = None) -> None:
        self._faults.append(Fault(found, expected, source=self._source, entry=row, field=name))

    def _raise_faults(self) -> None:
        if self._faults:
            raise InputError(self._faults)


def wrong_times(times_s: FloatArray) -> BoolArray:
    """(F,) whether the time of a frame is not a number of seconds; NaN, for unknown, is allowed."""
    return (times_s < 0.0) | (times_s > MAXIMUM_TIME_S)


def _is_absent(values: ArrayLike) -> bool:
    """Whether a column was left out."""
    return isinstance(values, tuple) and not values


def _numbers(values: ArrayLike) -> AnyArray:
    """The values as an array of numbers; a ValueError describes what else they are."""
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        raise ValueError("rows of different lengths") from None
    if array.dtype.kind in "SU" or (array.size and array.dtype.kind in _KINDS):
        raise ValueError(_KINDS[array.dtype.kind])
    if array.ndim == 0:
        raise ValueError("a single value")
    if array.dtype.kind in "iuf":
        return array
    if not array.size:
        return np.zeros(0)
    others = {type(value).__name__ for value in array.ravel().tolist()} - {"int", "float"}
    if others:
        raise ValueError(f"values of type {min(others)}")
    raise ValueError("values that do not fit into 64 bits")


def _shown(value: object) -> str:
    return repr(value)[:80]


SIGMOID = "sigmoid"
EXPECTED = "sigmoid, or MIN,MAX such as 0,100"
ADVICE = f"map them with --confidence-scale {SIGMOID}, or MIN,MAX (in Python, confidence_scale)"


class ConfidenceScale(Struct, frozen=True):
    """The logistic function 1 / (1 + exp(-x)), or a linear map of two bounds to 0 and 1.

    Attributes:
        bounds: The scores that map to 0 and 1; None for the logistic function.
    """

    bounds: tuple[float, float] | None = None

    @classmethod
    def parse(cls, text: str) -> ConfidenceScale:
        """Read ``sigmoid`` or ``MIN,MAX``.

        Raises:
            ParameterError: If it is neither, or MIN is not below MAX.
        """
        if text == SIGMOID:
            return cls()
        try:
            least, greatest = map(float, text.split(","))
        except ValueError:
            least = greatest = math.nan
        if not (least < greatest and math.isfinite(greatest - least)):
            raise ParameterError([Fault(repr(text), EXPECTED, field="confidence_scale")])
        return cls((least, greatest))

    def scaled(self, side: Annotations) -> Annotations:
        """Annotations with confidences from 0 to 1.

        Raises:
            InputError: If one lies outside the bounds; `entry` is the frame's row.
        """
        if self.bounds is not None:
            expected = "a number from {:g} to {:g}, as the confidence scale says"
            faults = confidence_faults(side, *self.bounds, expected.format(*self.bounds))
            if faults:
                raise InputError(faults)
        return replace(side, confidences=self._mapped(side.confidences))

    def _mapped(self, confidences: FloatArray) -> FloatArray:
        if self.bounds is not None:
            least, greatest = self.bounds
            return (confidences - least) / (greatest - least)
        # Of the negated magnitude, so that it cannot overflow.
        shrunk = np.exp(-np.abs(np.ascontiguousarray(confidences)))
        return np.where(confidences >= 0.0, 1.0, shrunk) / (1.0 + shrunk)


def confidence_faults(
    side: Annotations, least: float, greatest: float, expected: str, advice: str | None = None
) -> list[Fault]:
    """A fault for the first confidence out of bounds, with the number of further ones.

    Args:
        side: The annotations.
        least: Least confidence.
        greatest: Greatest confidence.
        expected: What the fault expects.
        advice: The remedy.

    Returns:
        At most one fault, whose `entry` is the frame's row.
    """
    confidences = side.confidences
    rows = np.flatnonzero((confidences < least) | (confidences > greatest))
    if len(rows) == 0:
        return []
    frame = int(np.searchsorted(side.frame_starts, rows[0], side="right")) - 1
    others = f" (and {len(rows) - 1} more like it)" if len(rows) > 1 else ""
    found = f"the confidence {confidences[rows[0]]:g} in {side.frame_name(frame)}{others}"
    return [Fault(found, expected, entry=frame, advice=advice)]


def unit_confidence_faults(name: str, side: Annotations) -> list[Fault]:
    """The fault for confidences outside 0 to 1, which evaluator `name` cannot use."""
    return confidence_faults(side, 0.0, 1.0, f"a number from 0 to 1 for {name}", ADVICE)

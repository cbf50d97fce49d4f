"""Build annotations out of columns that came from outside, and report every fault.

What a column holds is checked, and that columns fit each other. That a frame does not come twice
is checked within the batch; across batches it is `vidscore_evaluators.pairing`'s business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vidscore_evaluators.annotations import (
    ARITIES,
    NO_TRACK,
    Annotations,
    FrameFlag,
    ObjectFlag,
    SequenceKey,
)
from vidscore_evaluators.arrays import AnyArray, BoolArray, run_starts, starts_from_counts
from vidscore_evaluators.errors import Fault, InputError

MAXIMUM_FRAME_NUMBER = 2**53 - 1
"""The greatest frame number: a greater one would not survive JSON readers that use floats."""

MAXIMUM_COORDINATE_PX = 1e9
"""The greatest coordinate, either way: areas of greater boxes would lose their meaning."""

FAULTS_A_COLUMN = 1000
"""Faults that one column may list; a batch of millions of bad numbers must not become as many."""


@dataclass(frozen=True)
class Columns:
    """Columns of a batch as they came; the attributes are those of the wire's AnnotationBatch.

    An empty optional column stands for its default, as on the wire.

    Attributes:
        arity: Coordinates an object has.
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


def build_annotations(columns: Columns, source: str | None = None) -> Annotations:
    """Check columns and build annotations from them.

    Args:
        columns: The columns.
        source: What to call the batch in error messages.

    Raises:
        InputError: With every fault; `field` names the column, `entry` the row.
    """
    return _Builder(columns, source).build()


class _Builder:
    """Checks one batch; faults gather, and the first stage that has some ends the checks."""

    def __init__(self, columns: Columns, source: str | None) -> None:
        self._columns = columns
        self._source = source
        self._faults: list[Fault] = []

    def build(self) -> Annotations:
        given = self._columns
        if given.arity not in ARITIES:
            self._fault("geometry", f"{given.arity} coordinates an object", "2, 4 or 8")
        sequences = tuple(SequenceKey(*key) for key in given.sequences)
        labels = tuple(given.labels) or ("",)
        self._refuse_repeats("sequences", sequences)
        self._refuse_repeats("labels", labels)
        numbers = self._whole("frame_numbers", given.frame_numbers)
        frame_count = len(numbers)
        frame_sequences = self._whole("frame_sequences", given.frame_sequences, frame_count)
        counts = self._whole("frame_object_counts", given.object_counts, frame_count)
        self._raise_faults()
        self._refuse("frame_object_counts", counts < 0, counts, "0 or more")
        self._raise_faults()
        object_count = int(counts.sum())
        coordinates = self._coordinates(object_count)
        built = Annotations(
            sequences=sequences,
            labels=labels,
            frame_sequences=frame_sequences,
            frame_numbers=numbers,
            frame_flags=self._flags("frame_flags", given.frame_flags, frame_count, FrameFlag),
            frame_starts=starts_from_counts(counts),
            coordinates=coordinates,
            label_indices=self._whole("label_indices", given.label_indices, object_count, 0),
            confidences=self._number("confidences", given.confidences, object_count, 1.0),
            track_ids=self._whole("track_ids", given.track_ids, object_count, NO_TRACK),
            flags=self._flags("object_flags", given.object_flags, object_count, ObjectFlag),
            columns={
                name: self._number(f"columns.{name}", values, object_count)
                for name, values in given.columns.items()
            },
        )
        self._raise_faults()
        self._check_values(built)
        self._raise_faults()
        return built

    def _check_values(self, built: Annotations) -> None:
        numbers = built.frame_numbers
        outside = (numbers < 0) | (numbers > MAXIMUM_FRAME_NUMBER)
        self._refuse("frame_numbers", outside, numbers, f"0 to {MAXIMUM_FRAME_NUMBER}")
        self._refuse_rows("frame_sequences", built.frame_sequences, len(built.sequences))
        self._refuse_rows("label_indices", built.label_indices, len(built.labels))
        flat = built.coordinates.reshape(-1)
        fits = np.abs(flat) <= MAXIMUM_COORDINATE_PX
        expected = f"a number from -{MAXIMUM_COORDINATE_PX:g} to {MAXIMUM_COORDINATE_PX:g}"
        self._refuse("coordinates", ~fits, flat, expected)
        confidences = built.confidences
        sure = (confidences >= 0.0) & (confidences <= 1.0)
        self._refuse("confidences", ~sure, confidences, "a number from 0 to 1")
        tracks = built.track_ids
        self._refuse("track_ids", tracks < NO_TRACK, tracks, "-1 (no track), 0 or more")
        for name, column in built.columns.items():
            self._refuse(f"columns.{name}", np.isinf(column), column, "a finite number, or NaN")
        if not self._faults:
            self._refuse_repeated_frames(built)

    def _refuse_repeated_frames(self, built: Annotations) -> None:
        order = np.lexsort((built.frame_numbers, built.frame_sequences))
        first = run_starts(built.frame_sequences[order], built.frame_numbers[order])
        repeated = np.ones(built.frame_count, dtype=np.bool_)
        repeated[first] = False
        for row in np.sort(order[repeated])[:FAULTS_A_COLUMN].tolist():
            key = built.sequences[built.frame_sequences[row]]
            name = "/".join(filter(None, key))
            found = f"frame {built.frame_numbers[row]} of sequence {name} again"
            self._fault("frame_numbers", found, "each frame once", row)

    def _coordinates(self, object_count: int) -> AnyArray:
        wanted = object_count * self._columns.arity
        flat = self._number("coordinates", self._columns.coordinates, wanted)
        if len(flat) != wanted:
            return np.zeros((object_count, self._columns.arity))
        return flat.reshape(object_count, self._columns.arity)

    def _number(
        self, name: str, values: ArrayLike, length: int, default: float | None = None
    ) -> AnyArray:
        return self._column(name, values, length, default, np.float64)

    def _whole(
        self, name: str, values: ArrayLike, length: int | None = None, default: int | None = None
    ) -> AnyArray:
        return self._column(name, values, length, default, np.int64)

    def _flags(self, name: str, values: ArrayLike, length: int, bits: Any) -> AnyArray:
        flags = self._whole(name, values, length, 0)
        known = int(sum(bits))
        self._refuse(name, (flags & ~known) != 0, flags, f"bits of {known}")
        return (flags & known).astype(np.uint8)

    def _column(
        self, name: str, values: ArrayLike, length: int | None, default: Any, dtype: Any
    ) -> AnyArray:
        try:
            array = np.asarray(values).reshape(-1)
            column = array.astype(dtype)
            if dtype is np.int64 and array.size and not np.array_equal(column, array):
                raise ValueError
        except (ValueError, TypeError, OverflowError):
            kind = "whole numbers" if dtype is np.int64 else "numbers"
            self._fault(name, "something else", kind)
            return np.zeros(length or 0, dtype=dtype)
        if length is None or len(column) == length:
            return column
        if len(column) == 0 and default is not None:
            return np.full(length, default, dtype=dtype)
        self._fault(name, f"{len(column)} values", f"{length}")
        return np.zeros(length, dtype=dtype)

    def _refuse_rows(self, name: str, rows: AnyArray, table_length: int) -> None:
        outside = (rows < 0) | (rows >= table_length)
        self._refuse(name, outside, rows, f"a row of a table of {table_length}")

    def _refuse(self, name: str, wrong: BoolArray, values: AnyArray, expected: str) -> None:
        for row in np.flatnonzero(wrong)[:FAULTS_A_COLUMN].tolist():
            self._fault(name, str(values[row]), expected, row)

    def _refuse_repeats(self, name: str, table: Sequence[object]) -> None:
        if len(set(table)) < len(table):
            self._fault(name, "a name that stands twice", "each name once")

    def _fault(self, name: str, found: str, expected: str, row: int | None = None) -> None:
        self._faults.append(Fault(found, expected, source=self._source, entry=row, field=name))

    def _raise_faults(self) -> None:
        if self._faults:
            raise InputError(self._faults)

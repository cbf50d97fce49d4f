"""Annotations: truth or detections of many frames as columns, from the wire to the kernels.

Frames are rows of the frame columns; the objects of frame f are the rows
``frame_starts[f]:frame_starts[f + 1]`` of the object columns. Sequences and class labels are
indices into small tables that every batch carries, so a batch is self-contained.

`vidscore_evaluators.alignment` brings two sides into one frame order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntFlag, StrEnum
from itertools import pairwise, repeat
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.arrays import (
    AnyArray,
    BoolArray,
    FlagArray,
    FloatArray,
    IntArray,
    distinct,
    expand_runs,
    marked,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.masks import Masks, concatenate_masks, no_masks

POINT = 2
BOX = 4
QUADRILATERAL = 8
ARITIES = {POINT: "points (x, y)", BOX: "upright boxes (x1, y1, x2, y2)", QUADRILATERAL: "corners"}
"""Shape by number of coordinates: a point, an upright box, or four corners in order."""

NO_TRACK = -1
"""Track id of an object that belongs to no track."""

IMAGES = "images"
"""Sequence of images that belong to no video; their frame numbers are the images' own."""

BOX_AREA = "box_area"
"""Further column: the width times the height of a box, in formats that give these and not the far
corner. NaN if it equals, to the bit, the area computed from the corners."""

BATCH_OVERHEAD_BYTES = 2048
"""Approximate overhead of Python objects per batch; most of the memory of a batch of one frame."""

NAME_OVERHEAD_BYTES = 64
"""Approximate overhead of Python objects per name."""


class Side(StrEnum):
    """The two inputs."""

    TRUTH = "truth"
    DETECTIONS = "detections"


class ObjectFlag(IntFlag):
    """Special kinds of objects; the bits are those of the wire."""

    IGNORE = 1
    """A don't-care object: not ground truth, and a detection of it is not a false positive."""
    CROWD = 2
    """A group of objects under one outline."""
    REGION = 4
    """Not an object but an area in which nothing is scored."""
    DISTRACTOR = 8
    """An object of a class that systems may confuse with the scored one."""


class FrameFlag(IntFlag):
    """Special kinds of frames; the bits are those of the wire."""

    DONT_CARE = 1
    """The frame is left out of every count and average."""


def are_flagged(flags: FlagArray, flag: IntFlag) -> BoolArray:
    """Whether each of some flags has a bit.

    numpy takes ten times as long for a member of an enumeration as for a plain integer.

    Args:
        flags: (N,) bits.
        flag: The bit.
    """
    flagged: BoolArray = (flags & int(flag)) != 0
    return flagged


class SequenceKey(NamedTuple):
    """Identity of one video: its domain (empty if there is only one) and its own name."""

    domain: str
    sequence: str


def key_columns(keys: Sequence[SequenceKey]) -> tuple[list[str], list[str]]:
    """Domains and names of sequences, without the iterator per sequence that `zip` would make."""
    return list(map(itemgetter(0), keys)), list(map(itemgetter(1), keys))


def sequence_name(key: tuple[str, str]) -> str:
    """``Tower/001``; the sequence alone if there is no domain."""
    return "/".join(filter(None, key))


def frame_name(key: tuple[str, str], number: int) -> str:
    """``frame 3 of sequence Tower/001``, for messages; ``frame 3`` of a sequence without a name."""
    name = sequence_name(key)
    return f"frame {number} of sequence {name}" if name else f"frame {number}"


class Annotations(Struct, frozen=True, eq=False):
    """Truth or detections of F frames with N objects, as columns.

    The constructor trusts its arguments; for outside input use
    `vidscore_evaluators.validation.build_annotations`, which checks everything. Columns are never
    modified: a report may compute its digests from them later.

    Attributes:
        sequences: Table of sequence names.
        labels: Table of class labels, as given.
        frame_sequences: (F,) index into `sequences`.
        frame_numbers: (F,) frame numbers, >= 0; each (sequence, frame) once.
        frame_flags: (F,) bits of `FrameFlag`.
        frame_starts: (F + 1,) offsets into the object columns.
        coordinates: (N, 2 | 4 | 8) in pixels: x, y | x1, y1, x2, y2 | x1, y1, ..., x4, y4.
        label_indices: (N,) index into `labels`.
        confidences: (N,) finite numbers, higher is more confident; 1 if a side has none.
        track_ids: (N,) track identities, `NO_TRACK` if there is none.
        flags: (N,) bits of `ObjectFlag`.
        columns: Further (N,) columns by name (area, truncation, occlusion).
        frame_times_s: (F,) seconds at which each frame was captured, on any one clock, NaN if
            unknown; None if no frame has a time. No score depends on them.
        frame_arrivals_s: (F,) seconds at which the answer to each frame arrived, on the clock of
            the truth's times, NaN if unknown; None if none is known. Only streaming
            accuracy uses them; neither the wire nor a fingerprint includes them.
        masks: Masks of the N objects, whose coordinates are then boxes: bounding boxes of the
            masks, or boxes that came with them. None if no object has a mask.
    """

    sequences: tuple[SequenceKey, ...]
    labels: tuple[str, ...]
    frame_sequences: IntArray
    frame_numbers: IntArray
    frame_flags: FlagArray
    frame_starts: IntArray
    coordinates: FloatArray
    label_indices: IntArray
    confidences: FloatArray
    track_ids: IntArray
    flags: FlagArray
    columns: Mapping[str, FloatArray] = field(default_factory=dict)
    frame_times_s: FloatArray | None = None
    frame_arrivals_s: FloatArray | None = None
    masks: Masks | None = None

    @property
    def frame_count(self) -> int:
        """Number of frames F."""
        return len(self.frame_numbers)

    @property
    def object_count(self) -> int:
        """Number of objects N."""
        return len(self.coordinates)

    @property
    def arity(self) -> int:
        """Coordinates per object: 2, 4 or 8."""
        return int(self.coordinates.shape[1])

    @property
    def object_counts(self) -> IntArray:
        """(F,) objects in each frame."""
        counts: IntArray = self.frame_starts[1:] - self.frame_starts[:-1]
        return counts

    @property
    def object_frames(self) -> IntArray:
        """(N,) frame row of each object."""
        return np.arange(self.frame_count, dtype=np.int64).repeat(self.object_counts)

    @property
    def nbytes(self) -> int:
        """Bytes of all columns together."""
        of_masks = 0 if self.masks is None else self.masks.nbytes
        return of_masks + sum(column.nbytes for column in _all_columns(self))

    @property
    def held_bytes(self) -> int:
        """Approximate memory of the batch: columns, names and Python objects."""
        names = [name for key in self.sequences for name in key] + list(self.labels)
        characters = sum(4 * len(name) for name in names)
        return self.nbytes + characters + len(names) * NAME_OVERHEAD_BYTES + BATCH_OVERHEAD_BYTES

    @property
    def used_sequences(self) -> tuple[SequenceKey, ...]:
        """Sequences that have a frame, in the order of the table."""
        used = np.bincount(self.frame_sequences, minlength=len(self.sequences)) > 0
        if used.all():
            return self.sequences
        return tuple(self.sequences[row] for row in used.nonzero()[0].tolist())

    def frame_name(self, row: int) -> str:
        """``frame 3 of sequence Tower/001``, for messages."""
        return frame_name(self.sequences[self.frame_sequences[row]], int(self.frame_numbers[row]))

    def mask_of(self, row: int) -> Masks | None:
        """The mask of an object; None if it has none."""
        return None if self.masks is None else self.masks.run(row, row + 1)

    def take_objects(self, rows: AnyArray) -> Annotations:
        """Keep some objects, and every frame.

        Args:
            rows: (N,) boolean mask, or ascending row indices.
        """
        keep = rows if rows.dtype == np.bool_ else marked(self.object_count, rows)
        if keep.all():
            return self
        kept_before = starts_from_counts(keep)
        return self.gather_objects(np.flatnonzero(keep), kept_before[self.frame_starts])

    def gather_objects(
        self, rows: IntArray | slice, frame_starts: IntArray | None = None
    ) -> Annotations:
        """Take objects in the order of `rows`; the frames stay as they are.

        Args:
            rows: (N,) row indices in any order; or a slice, which gives views of these columns.
            frame_starts: (F + 1,) offset of the first object of each frame in `rows`. None keeps
                the present offsets, for rows that stay in their frames.
        """
        coordinates, masks = self.coordinates, self.masks
        if masks is not None:
            masks = (
                masks.run(rows.start, rows.stop) if isinstance(rows, slice) else masks.take(rows)
            )
        return replace(
            self,
            frame_starts=self.frame_starts if frame_starts is None else frame_starts,
            # `take` copies whole rows; indexing by an array copies number by number.
            coordinates=coordinates[rows]
            if isinstance(rows, slice)
            else coordinates.take(rows, axis=0),
            label_indices=self.label_indices[rows],
            confidences=self.confidences[rows],
            track_ids=self.track_ids[rows],
            flags=self.flags[rows],
            columns={name: column[rows] for name, column in self.columns.items()},
            masks=masks,
        )

    def frame_run(self, start: int, stop: int) -> Annotations:
        """The frames from `start` to `stop` with their objects, as views of these columns."""
        frames = slice(start, stop)
        objects = slice(int(self.frame_starts[start]), int(self.frame_starts[stop]))
        starts = self.frame_starts[start : stop + 1] - objects.start
        return replace(
            self.gather_objects(objects, starts),
            frame_sequences=self.frame_sequences[frames],
            frame_numbers=self.frame_numbers[frames],
            frame_flags=self.frame_flags[frames],
            frame_times_s=_rows_of(self.frame_times_s, frames),
            frame_arrivals_s=_rows_of(self.frame_arrivals_s, frames),
        )

    def take_frames(self, rows: AnyArray) -> Annotations:
        """Keep some frames with their objects, in the order of `rows`.

        Args:
            rows: (F,) boolean mask, or row indices.
        """
        if rows.dtype == np.bool_ and rows.all():
            return self
        chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        starts = self.frame_starts[chosen]
        counts = self.frame_starts[chosen + 1] - starts
        offsets = starts_from_counts(counts)
        return replace(
            self.gather_objects(expand_runs(starts, counts, offsets), offsets),
            frame_sequences=self.frame_sequences[chosen],
            frame_numbers=self.frame_numbers[chosen],
            frame_flags=self.frame_flags[chosen],
            frame_times_s=_rows_of(self.frame_times_s, chosen),
            frame_arrivals_s=_rows_of(self.frame_arrivals_s, chosen),
        )

    def with_tables(
        self, sequences: tuple[SequenceKey, ...], labels: tuple[str, ...]
    ) -> Annotations:
        """The same annotations over other tables, which must contain every name in use."""
        if sequences == self.sequences and labels == self.labels:
            return self
        return replace(
            self,
            sequences=sequences,
            labels=labels,
            frame_sequences=_remap(self.frame_sequences, self.sequences, sequences),
            label_indices=_remap(self.label_indices, self.labels, labels),
        )

    def with_used_tables(self) -> Annotations:
        """The same annotations, without unused names in their tables."""
        sequences = distinct(self.frame_sequences).tolist()
        labels = distinct(self.label_indices).tolist()
        return self.with_tables(
            tuple(self.sequences[row] for row in sequences),
            tuple(self.labels[row] for row in labels),
        )


def empty_annotations(arity: int) -> Annotations:
    """No frames and no objects, of the given arity."""
    none = np.zeros(0, dtype=np.int64)
    return Annotations(
        sequences=(),
        labels=(),
        frame_sequences=none,
        frame_numbers=none,
        frame_flags=np.zeros(0, dtype=np.uint8),
        frame_starts=np.zeros(1, dtype=np.int64),
        coordinates=np.zeros((0, arity)),
        label_indices=none,
        confidences=np.zeros(0),
        track_ids=none,
        flags=np.zeros(0, dtype=np.uint8),
    )


def frame_list(
    sequences: tuple[SequenceKey, ...], frame_sequences: IntArray, numbers: IntArray, arity: int
) -> Annotations:
    """Frames without objects.

    Args:
        sequences: Table of sequence names.
        frame_sequences: (F,) index into `sequences`.
        numbers: (F,) frame numbers.
        arity: Coordinates per object.
    """
    return replace(
        empty_annotations(arity),
        sequences=sequences,
        frame_sequences=frame_sequences.astype(np.int64),
        frame_numbers=numbers.astype(np.int64),
        frame_flags=np.zeros(len(numbers), dtype=np.uint8),
        frame_starts=np.zeros(len(numbers) + 1, dtype=np.int64),
    )


def concatenate(parts: Sequence[Annotations]) -> Annotations:
    """Concatenate the frames of several batches.

    Args:
        parts: At least one batch; all that have objects have the same arity. A named column or
            times that a part lacks become NaN there. Masks are kept if all objects have one.

    Raises:
        ValueError: If there are no parts, or their arities differ.
    """
    if len(parts) == 1:
        return parts[0]
    sequences = tuple(dict.fromkeys(key for part in parts for key in part.sequences))
    labels = tuple(dict.fromkeys(label for part in parts for label in part.labels))
    # Parts without objects take the arity of those that have some.
    arity = next((part.arity for part in sorted(parts, key=lambda one: not one.object_count)), None)
    shared = [with_arity(part, arity).with_tables(sequences, labels) for part in parts]
    names = dict.fromkeys(name for part in parts for name in part.columns)
    counts = [part.frame_count for part in parts]
    return Annotations(
        sequences=sequences,
        labels=labels,
        frame_sequences=np.concatenate([part.frame_sequences for part in shared]),
        frame_numbers=np.concatenate([part.frame_numbers for part in shared]),
        frame_flags=np.concatenate([part.frame_flags for part in shared]),
        frame_starts=starts_from_counts(np.concatenate([part.object_counts for part in shared])),
        coordinates=np.concatenate([part.coordinates for part in shared]),
        label_indices=np.concatenate([part.label_indices for part in shared]),
        confidences=np.concatenate([part.confidences for part in shared]),
        track_ids=np.concatenate([part.track_ids for part in shared]),
        flags=np.concatenate([part.flags for part in shared]),
        columns={name: np.concatenate([_column(part, name) for part in shared]) for name in names},
        frame_times_s=_joined([part.frame_times_s for part in parts], counts),
        frame_arrivals_s=_joined([part.frame_arrivals_s for part in parts], counts),
        masks=_joined_masks(parts),
    )


def known_times(times_s: FloatArray) -> FloatArray | None:
    """Times of frames; None if all are NaN, so that equal frames have equal columns."""
    return None if np.isnan(times_s).all() else times_s


def _joined(parts: Sequence[FloatArray | None], counts: Sequence[int]) -> FloatArray | None:
    """Concatenate the seconds of several batches, given the number of frames of each."""
    if all(part is None for part in parts):
        return None
    return np.concatenate(
        [
            np.full(count, np.nan) if part is None else part
            for part, count in zip(parts, counts, strict=True)
        ]
    )


def _joined_masks(parts: Sequence[Annotations]) -> Masks | None:
    """Concatenate the masks of several batches; None unless every object has one."""
    if any(part.masks is None and part.object_count for part in parts):
        return None
    if all(part.masks is None for part in parts):
        return None
    return concatenate_masks([no_masks() if part.masks is None else part.masks for part in parts])


def _rows_of(times_s: FloatArray | None, rows: IntArray | slice) -> FloatArray | None:
    return None if times_s is None else times_s[rows]


def _column(part: Annotations, name: str) -> FloatArray:
    column = part.columns.get(name)
    return np.full(part.object_count, np.nan) if column is None else column


def _remap(indices: IntArray, old: Sequence[object], new: Sequence[object]) -> IntArray:
    if old == new[: len(old)]:
        return indices
    position = dict(zip(new, range(len(new)), strict=True))
    # A name that is in no row may be absent from the new table; -1 is then never looked up.
    rows = map(position.get, old, repeat(-1))
    return np.fromiter(rows, dtype=np.int64, count=len(old))[indices]


def _all_columns(annotations: Annotations) -> list[AnyArray]:
    return [
        annotations.frame_sequences,
        annotations.frame_numbers,
        annotations.frame_flags,
        annotations.frame_starts,
        annotations.coordinates,
        annotations.label_indices,
        annotations.confidences,
        annotations.track_ids,
        annotations.flags,
        *annotations.columns.values(),
        *([] if annotations.frame_times_s is None else [annotations.frame_times_s]),
        *([] if annotations.frame_arrivals_s is None else [annotations.frame_arrivals_s]),
    ]


def frame_keys(annotations: Annotations) -> list[tuple[SequenceKey, int]]:
    """Sequence and number of every frame in order."""
    return [
        (annotations.sequences[index], number)
        for index, number in zip(
            annotations.frame_sequences.tolist(), annotations.frame_numbers.tolist(), strict=True
        )
    ]


def rows_by_sequence(side: Annotations) -> dict[SequenceKey, IntArray]:
    """Frame rows of each sequence that has any, in the order of the table of sequences."""
    order = np.argsort(side.frame_sequences, kind="stable")
    first = run_starts(side.frame_sequences[order])
    keys = [side.sequences[row] for row in side.frame_sequences[order[first]].tolist()]
    bounds = pairwise([*first.tolist(), len(order)])
    return {key: order[begin:end] for key, (begin, end) in zip(keys, bounds, strict=True)}


def with_arity(frames: Annotations, arity: int | None) -> Annotations:
    """The same frames; if they have no objects, with the given arity."""
    if arity is None or frames.object_count or frames.arity == arity:
        return frames
    return replace(frames, coordinates=np.zeros((0, arity)))

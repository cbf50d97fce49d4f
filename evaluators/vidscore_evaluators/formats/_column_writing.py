"""Writes typed columns: one row per object, and one per frame that needs its own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import NO_TRACK, Annotations, FrameFlag, Side
from vidscore_evaluators.arrays import AnyArray, BoolArray, IntArray
from vidscore_evaluators.data_frames import Column
from vidscore_evaluators.formats._arrow_masks import columns_of_masks
from vidscore_evaluators.formats._format import EVERY_FLAG
from vidscore_evaluators.formats._times import ARRIVAL
from vidscore_evaluators.formats._times import COLUMN as TIME
from vidscore_evaluators.formats.generic import (
    COORDINATES,
    FRAME_FLAG,
    object_words,
    refuse_too_many,
)
from vidscore_evaluators.parquet_tables import GROUP_ROWS

SMALL_GROUP_ROWS = 1 << 13
"""Number of rows from which on a row group ends with its sequence, so that it can be read alone."""


def groups_of(annotations: Annotations) -> Iterator[tuple[int, int]]:
    """First frame and end of each row group, for sorted frames; at least one."""
    rows = rows_of_frames(annotations)
    ends = np.cumsum(rows)
    of_sequence = annotations.frame_sequences
    first, count = 0, annotations.frame_count
    while first < count:
        before = int(ends[first] - rows[first])
        most = max(first + 1, int(np.searchsorted(ends, before + GROUP_ROWS, side="right")))
        least = int(np.searchsorted(ends, before + SMALL_GROUP_ROWS)) + 1
        borders = np.flatnonzero(of_sequence[least:most] != of_sequence[least - 1 : most - 1])
        end = least + int(borders[0]) if len(borders) else most
        yield first, end
        first = end
    if not count:
        yield 0, 0


def _is_listed(annotations: Annotations) -> BoolArray:
    """(F,) whether a frame has its own row: it has no objects, or a flag."""
    marked = (annotations.frame_flags & FrameFlag.DONT_CARE) != 0
    listed: BoolArray = marked | (annotations.object_counts == 0)
    return listed


def rows_of_frames(annotations: Annotations) -> IntArray:
    """(F,) number of rows of each frame."""
    counts: IntArray = annotations.object_counts + _is_listed(annotations)
    return counts


def columns_of(annotations: Annotations, side: Side) -> dict[str, Column]:
    """The columns of a side: one row per object, and one per frame that needs its own.

    Args:
        annotations: Truth or detections.
        side: The side; truth has no confidences.

    Raises:
        InputError: If there are more rows than a reader accepts.
    """
    rows = rows_of_frames(annotations)
    frames = np.repeat(np.arange(annotations.frame_count), rows)
    alone = np.zeros(len(frames), dtype=np.bool_)
    alone[(np.cumsum(rows) - rows)[_is_listed(annotations)]] = True

    def of_objects(values: AnyArray, missing: BoolArray | bool = False) -> Column:
        spread = np.zeros(len(frames), dtype=values.dtype)
        spread[~alone] = values
        gaps = alone.copy()
        gaps[~alone] = missing
        return Column(spread, gaps)

    def of_frames(values: AnyArray) -> Column:
        spread = values[frames]
        return Column(spread, np.isnan(spread))

    keys = annotations.sequences
    sequences = annotations.frame_sequences[frames]
    columns = {
        "domain": Column(sequences, texts=[key.domain for key in keys]),
        "sequence": Column(sequences, texts=[key.sequence for key in keys]),
        "frame": Column(annotations.frame_numbers[frames]),
    }
    for name, seconds in (
        (TIME, annotations.frame_times_s),
        (ARRIVAL, annotations.frame_arrivals_s),
    ):
        if seconds is not None:
            columns[name] = of_frames(seconds)
    unnamed = np.array([not label for label in annotations.labels], dtype=np.bool_)
    labels = annotations.label_indices
    columns["class"] = replace(of_objects(labels, unnamed[labels]), texts=annotations.labels)
    for index, name in enumerate(COORDINATES[annotations.arity]):
        columns[name] = of_objects(annotations.coordinates[:, index])
    if side is Side.DETECTIONS:
        columns["confidence"] = of_objects(annotations.confidences)
    tracks = annotations.track_ids
    columns["track_id"] = of_objects(tracks, tracks == NO_TRACK)
    columns["flags"] = _flags(annotations, frames, alone)
    for name, values in sorted(annotations.columns.items()):
        columns[name] = of_objects(values, np.isnan(values))
    if annotations.masks is not None:
        for name, column in columns_of_masks(annotations.masks).items():
            columns[name] = replace(of_objects(column.values), texts=column.texts)
    refuse_too_many(list(columns))
    return columns


def _flags(annotations: Annotations, frames: IntArray, alone: BoolArray) -> Column:
    """Flags in words: those of the object or, in a frame's own row, those of the frame."""
    bits = np.zeros(len(frames), dtype=np.int64)
    bits[~alone] = annotations.flags
    of_frames = (annotations.frame_flags & FrameFlag.DONT_CARE) != 0
    bits[alone] = len(_OBJECT_WORDS) + of_frames[frames[alone]]
    return Column(bits, np.array([not text for text in _WORDS])[bits], texts=_WORDS)


_OBJECT_WORDS = tuple(object_words(bits) for bits in range(int(EVERY_FLAG) + 1))
_WORDS = (*_OBJECT_WORDS, "", FRAME_FLAG)
"""The words for each value of an object's flags, then for a frame's."""

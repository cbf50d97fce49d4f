"""Turn rows, in any order, into annotations: the rows of a frame become its objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.arrays import (
    BoolArray,
    FlagArray,
    FloatArray,
    IntArray,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.formats.source import Places
from vidscore_evaluators.formats.table import Table, TextColumn


@dataclass(frozen=True, eq=False)
class RowColumns:
    """Columns of N rows; a row lists its frame and may hold an object.

    Attributes:
        sequences: Table of sequences.
        sequence_of_row: (N,) index into `sequences`.
        frame_numbers: (N,) frame of each row.
        frame_flags: (N,) bits of `FrameFlag`; a frame has those of all its rows.
        holds_object: (N,) whether the row holds an object; if not, what follows is not used.
        coordinates: (N, arity) coordinates.
        labels: (N,) class labels.
        confidences: (N,) confidences.
        track_ids: (N,) track identities.
        flags: (N,) bits of `ObjectFlag`.
        columns: Further (N,) columns.
    """

    sequences: tuple[SequenceKey, ...]
    sequence_of_row: IntArray
    frame_numbers: IntArray
    frame_flags: FlagArray
    holds_object: BoolArray
    coordinates: FloatArray
    labels: TextColumn
    confidences: FloatArray
    track_ids: IntArray
    flags: FlagArray
    columns: Mapping[str, FloatArray] = field(default_factory=dict)


def group_rows(rows: RowColumns, table: Table) -> tuple[Annotations, Places]:
    """Build annotations whose frames are in ascending order of sequence and number.

    Args:
        rows: The rows.
        table: Where they stand.

    Returns:
        The annotations, and the place of each frame: that of its first row.
    """
    order = _order(rows)
    sequences, numbers = rows.sequence_of_row[order], rows.frame_numbers[order]
    first = run_starts(sequences, numbers)
    holds = rows.holds_object[order]
    objects = _objects(order, holds)
    labels = rows.labels.take(objects).compact()
    annotations = Annotations(
        sequences=rows.sequences,
        labels=labels.texts,
        frame_sequences=sequences[first],
        frame_numbers=numbers[first],
        frame_flags=_any_flags(rows.frame_flags[order], first),
        frame_starts=_object_starts(holds, first),
        coordinates=rows.coordinates[objects],
        label_indices=labels.codes,
        confidences=rows.confidences[objects],
        track_ids=rows.track_ids[objects],
        flags=rows.flags[objects],
        columns={name: column[objects] for name, column in rows.columns.items()},
    )
    places = first if isinstance(order, slice) else order[first]
    return annotations, Places(
        sources=table.sources,
        source_of_frame=table.source_of_row[places],
        positions=table.positions[places],
        position_name=table.position_name,
    )


def _order(rows: RowColumns) -> IntArray | slice:
    """Row indices by sequence and frame; rows of one frame stay in their order.

    Rows that are in order already are a slice, by which no column is copied.
    """
    sequences, numbers = rows.sequence_of_row, rows.frame_numbers
    same = sequences[1:] == sequences[:-1]
    rising = np.where(same, numbers[1:] >= numbers[:-1], sequences[1:] > sequences[:-1])
    if rising.all():
        return slice(None)
    return np.lexsort((numbers, sequences))


def _objects(order: IntArray | slice, holds: BoolArray) -> IntArray | slice:
    """Those of the ordered rows that hold an object."""
    if isinstance(order, slice):
        return order if holds.all() else np.flatnonzero(holds)
    return order[holds]


def _any_flags(flags: FlagArray, first: IntArray) -> FlagArray:
    if len(first) == 0:
        return flags[:0]
    return np.bitwise_or.reduceat(flags, first)


def _object_starts(holds: BoolArray, first: IntArray) -> IntArray:
    before = starts_from_counts(holds)
    starts: IntArray = before[np.append(first, len(holds))]
    return starts

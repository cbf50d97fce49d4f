"""Annotations from rows in any order: the rows of a frame become its objects."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.annotations import BOX_AREA, Annotations, SequenceKey, known_times
from vidscore_evaluators.arrays import (
    AnyArray,
    BoolArray,
    FlagArray,
    FloatArray,
    IntArray,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.formats._table import RowTable, StringColumn
from vidscore_evaluators.formats._times import times_of_frames
from vidscore_evaluators.formats.source import SourcePositions
from vidscore_evaluators.geometry import box_areas
from vidscore_evaluators.masks import Masks


class RowColumns(Struct, frozen=True, eq=False):
    """Columns of N rows, in any order; a row lists its frame and may contain an object.

    Attributes:
        sequences: Table of sequences.
        sequence_of_row: (N,) index into `sequences`.
        frame_numbers: (N,) frame of each row.
        frame_flags: (N,) bits of `FrameFlag`; a frame has the flags of all its rows.
        holds_object: (N,) whether the row has an object; if not, its later columns are not used.
        coordinates: (N, arity) coordinates.
        labels: (N,) class labels.
        confidences: (N,) confidences.
        track_ids: (N,) track identities.
        flags: (N,) bits of `ObjectFlag`.
        columns: Further (N,) columns.
        frame_times_s: (N,) time of each row's frame, NaN if the row has none; None if no row has
            one.
        frame_arrivals_s: (N,) arrival of the answer to each row's frame, NaN or None likewise.
        masks: Masks of rows that have an object, in any order; None if no row has one.
        mask_rows: (N,) mask of each row.
    """

    sequences: tuple[SequenceKey, ...]
    sequence_of_row: IntArray
    frame_numbers: IntArray
    frame_flags: FlagArray
    holds_object: BoolArray
    coordinates: FloatArray
    labels: StringColumn
    confidences: FloatArray
    track_ids: IntArray
    flags: FlagArray
    columns: Mapping[str, FloatArray] = field(default_factory=dict)
    frame_times_s: FloatArray | None = None
    frame_arrivals_s: FloatArray | None = None
    masks: Masks | None = None
    mask_rows: IntArray | None = None


def group_rows(rows: RowColumns, table: RowTable) -> tuple[Annotations, SourcePositions]:
    """Build annotations whose frames are in ascending order of sequence and number.

    Args:
        rows: The rows.
        table: The rows' places in the files.

    Returns:
        The annotations, and the position of each frame: that of its first row.
    """
    order = _order(rows)
    sequences, numbers = rows.sequence_of_row[order], rows.frame_numbers[order]
    first = run_starts(sequences, numbers)
    holds = rows.holds_object[order]
    objects = _objects(order, holds)
    labels = rows.labels.take(objects).compact()
    annotations = Annotations(
        sequences=rows.sequences,
        labels=labels.values,
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
        frame_times_s=_of_frames(rows.frame_times_s, order, first),
        frame_arrivals_s=_of_frames(rows.frame_arrivals_s, order, first),
        masks=_masks(rows, objects),
    )
    places = first if isinstance(order, slice) else order[first]
    return annotations, SourcePositions(
        sources=table.sources,
        source_of_frame=table.source_of_row[places],
        positions=table.positions[places],
        position_name=table.position_name,
    )


def _masks(rows: RowColumns, objects: IntArray | slice) -> Masks | None:
    """Masks of the rows that have an object."""
    if rows.masks is None or rows.mask_rows is None:
        return None
    chosen = rows.mask_rows[objects]
    in_order = np.array_equal(chosen, np.arange(rows.masks.count))
    return rows.masks if in_order else rows.masks.take(chosen)


def _of_frames(
    seconds: FloatArray | None, order: IntArray | slice, first: IntArray
) -> FloatArray | None:
    return None if seconds is None else known_times(times_of_frames(seconds[order], first))


def boxes_of_rows(table: RowTable) -> FloatArray:
    """(N, 4) upright boxes of rows with left, top, width and height."""
    left, top, width, height = (table.numbers[name] for name in ("left", "top", "width", "height"))
    boxes = np.empty((len(table), 4))
    boxes[:, 0], boxes[:, 1] = left, top
    np.add(left, width, out=boxes[:, 2])
    np.add(top, height, out=boxes[:, 3])
    return boxes


def given_areas(
    corners: FloatArray, widths: FloatArray, heights: FloatArray
) -> dict[str, FloatArray]:
    """The column `BOX_AREA` of boxes that a format gives as corner and size.

    Args:
        corners: (N, 4) the same boxes as two corners.
        widths: (N,) widths as given.
        heights: (N,) heights as given.

    Returns:
        The column, NaN if rounding makes no difference; empty if it never does.
    """
    given = widths * heights
    differs = given != box_areas(corners)
    return {BOX_AREA: np.where(differs, given, np.nan)} if differs.any() else {}


def with_listed_frames(
    rows: RowColumns,
    table: RowTable,
    frames: tuple[IntArray, IntArray],
    places: tuple[IntArray, IntArray],
    times_s: FloatArray | None = None,
) -> tuple[RowColumns, RowTable]:
    """Put K frames before the rows, as rows without an object, so that they are listed.

    Args:
        rows: The rows.
        table: The rows' places in the files.
        frames: (K,) indices of the frames' sequences, and (K,) numbers of the frames.
        places: (K,) indices of their files, and (K,) positions in these.
        times_s: (K,) times of the frames, NaN if unknown; None if all are unknown.
    """
    count = len(frames[0])
    if count == 0:
        return rows, table

    def padded(column: AnyArray) -> AnyArray:
        return np.concatenate([np.zeros((count, *column.shape[1:]), dtype=column.dtype), column])

    listed = replace(
        rows,
        sequence_of_row=np.concatenate([frames[0], rows.sequence_of_row]),
        frame_numbers=np.concatenate([frames[1], rows.frame_numbers]),
        frame_flags=padded(rows.frame_flags),
        holds_object=padded(rows.holds_object),
        coordinates=padded(rows.coordinates),
        labels=StringColumn(padded(rows.labels.codes), rows.labels.values),
        confidences=padded(rows.confidences),
        track_ids=padded(rows.track_ids),
        flags=padded(rows.flags),
        columns={name: padded(column) for name, column in rows.columns.items()},
        mask_rows=None if rows.mask_rows is None else padded(rows.mask_rows),
        frame_times_s=(
            None
            if times_s is None
            else np.concatenate([times_s, np.full(len(rows.frame_numbers), np.nan)])
        ),
    )
    return listed, replace(
        table,
        source_of_row=np.concatenate([places[0], table.source_of_row]),
        positions=np.concatenate([places[1], table.positions]),
    )


def index_frames(
    frames: Collection[tuple[SequenceKey, int]],
) -> tuple[tuple[SequenceKey, ...], IntArray, IntArray]:
    """The sorted sequences of K frames, (K,) index of each frame's sequence, and (K,) numbers."""
    sequences = tuple(sorted({key for key, _ in frames}))
    rank = {key: index for index, key in enumerate(sequences)}
    of_frame = np.array([rank[key] for key, _ in frames], dtype=np.int64)
    return sequences, of_frame, np.array([number for _, number in frames], dtype=np.int64)


def _order(rows: RowColumns) -> IntArray | slice:
    """Row indices sorted by sequence and frame; rows of one frame keep their order.

    If the rows are already sorted, it is a slice, so that no column is copied.
    """
    sequences, numbers = rows.sequence_of_row, rows.frame_numbers
    same = sequences[1:] == sequences[:-1]
    rising = np.where(same, numbers[1:] >= numbers[:-1], sequences[1:] > sequences[:-1])
    if rising.all():
        return slice(None)
    return np.lexsort((numbers, sequences))


def _objects(order: IntArray | slice, holds: BoolArray) -> IntArray | slice:
    """The ordered rows that have an object."""
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

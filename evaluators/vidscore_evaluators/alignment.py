"""Bring truth and detections into one frame order, so that frame f is the same frame in both.

The common order is ascending domain, sequence name and frame number. It does not depend on how
either side came in, which is the first half of "any split and order gives the same bits".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from operator import itemgetter

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.arrays import (
    BoolArray,
    FlagArray,
    IntArray,
    expand_runs,
    marked,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.memo import Memo


@dataclass(frozen=True, eq=False)
class Aligned:
    """Truth and detections over the same F frames, sequences and labels.

    Attributes:
        truth: Truth; its frame columns are those of `detections`.
        detections: Detections.
        listed: (F,) whether the truth lists the frame.
        detected: (F,) whether the detections list the frame.
        memo: What evaluators have worked out of it.
    """

    truth: Annotations
    detections: Annotations
    listed: BoolArray
    detected: BoolArray
    memo: Memo = field(default_factory=Memo, init=False, repr=False)

    def take_frames(self, rows: BoolArray | IntArray) -> Aligned:
        """Keep some frames on both sides."""
        return Aligned(
            truth=self.truth.take_frames(rows),
            detections=self.detections.take_frames(rows),
            listed=self.listed[rows],
            detected=self.detected[rows],
        )


def align(truth: Annotations, detections: Annotations) -> Aligned:
    """Put both sides over the union of their frames, in the common order.

    A frame that one side lacks is there a frame without objects. The flags of a frame are the
    truth's: what a detector says about frames is no fact.

    Args:
        truth: Truth of any frames.
        detections: Detections of any frames, of any arity.

    Returns:
        Both sides over one frame table, one sequence table (sorted) and one label table (sorted).
    """
    sequences = _sorted_keys({*truth.sequences, *detections.sequences})
    labels = tuple(sorted({*truth.labels, *detections.labels}))
    truth = truth.with_tables(sequences, labels)
    detections = detections.with_tables(sequences, labels)
    frames = _union(truth, detections)
    truth_rows, detection_rows = frames.rows_of_truth, frames.rows_of_detections
    flags = np.zeros(frames.count, dtype=np.uint8)
    flags[truth_rows] = truth.frame_flags
    return Aligned(
        truth=_spread(truth, frames, truth_rows, flags),
        detections=_spread(detections, frames, detection_rows, flags),
        listed=marked(frames.count, truth_rows),
        detected=marked(frames.count, detection_rows),
    )


def frames_in(side: Annotations, other: Annotations) -> BoolArray:
    """(F,) whether each frame of a side is one of another side's, too.

    Args:
        side: The frames that are asked for.
        other: The frames that there are.
    """
    sequences = tuple({**dict.fromkeys(side.sequences), **dict.fromkeys(other.sequences)})
    frames = _union(
        side.with_tables(sequences, side.labels), other.with_tables(sequences, other.labels)
    )
    return marked(frames.count, frames.rows_of_detections)[frames.rows_of_truth]


def _sorted_keys(keys: Iterable[SequenceKey]) -> tuple[SequenceKey, ...]:
    """Sequences in ascending order; texts sort several times faster than tuples of them."""
    by_name = sorted(keys, key=itemgetter(1))
    return tuple(sorted(by_name, key=itemgetter(0)))


@dataclass(frozen=True, eq=False)
class _Frames:
    sequences: IntArray
    numbers: IntArray
    rows_of_truth: IntArray
    rows_of_detections: IntArray

    @property
    def count(self) -> int:
        return len(self.numbers)


def _union(truth: Annotations, detections: Annotations) -> _Frames:
    """Frames of both sides, each once, in the common order, and where each side's went."""
    sequences = np.concatenate([truth.frame_sequences, detections.frame_sequences])
    numbers = np.concatenate([truth.frame_numbers, detections.frame_numbers])
    order = np.lexsort((numbers, sequences))
    sequences, numbers = sequences[order], numbers[order]
    first = run_starts(sequences, numbers)
    group_of_sorted = np.zeros(len(order), dtype=np.int64)
    group_of_sorted[first[1:]] = 1
    group_of_sorted = np.cumsum(group_of_sorted)
    group = np.empty(len(order), dtype=np.int64)
    group[order] = group_of_sorted
    return _Frames(
        sequences=sequences[first],
        numbers=numbers[first],
        rows_of_truth=group[: truth.frame_count],
        rows_of_detections=group[truth.frame_count :],
    )


def _spread(side: Annotations, frames: _Frames, rows: IntArray, flags: FlagArray) -> Annotations:
    """One side over the common frames; `rows` says where each of its frames goes."""
    if len(rows) == frames.count and (rows[1:] > rows[:-1]).all():
        # Its frames are the common ones, in their order.
        return replace(side, frame_flags=flags)
    counts = np.zeros(frames.count, dtype=np.int64)
    counts[rows] = side.object_counts
    starts = np.zeros(frames.count, dtype=np.int64)
    starts[rows] = side.frame_starts[:-1]
    objects = expand_runs(starts, counts)
    return replace(
        side,
        frame_sequences=frames.sequences,
        frame_numbers=frames.numbers,
        frame_flags=flags,
        frame_starts=starts_from_counts(counts),
        coordinates=side.coordinates.take(objects, axis=0),
        label_indices=side.label_indices[objects],
        confidences=side.confidences[objects],
        track_ids=side.track_ids[objects],
        flags=side.flags[objects],
        columns={name: column[objects] for name, column in side.columns.items()},
    )

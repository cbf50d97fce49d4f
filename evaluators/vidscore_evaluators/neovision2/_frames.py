"""The frames that Neovision2 evaluates, including those that neither side lists (section 3.7)."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import FrameFlag, are_flagged
from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.specification import BenchmarkSpec, FrameRanges, SequenceSpec


class FrameSelection(Struct, frozen=True, eq=False):
    """F frames of S sequences, classified.

    Attributes:
        table_rows: (S,) row of each sequence in the table of the annotations, ascending.
        sequences: (F,) sequence of each frame, in 0..S - 1.
        evaluated: (F,) whether a frame is evaluated.
        dont_care: (F,) whether it would be evaluated if it were not a don't-care frame.
        listed_sequences: (S,) whether the truth lists a frame of the sequence.
        evaluated_counts: (S,) evaluated frames, including those that neither side lists.
        dont_care_counts: (S,) don't-care frames, likewise.
    """

    table_rows: IntArray
    sequences: IntArray
    evaluated: BoolArray
    dont_care: BoolArray
    listed_sequences: BoolArray
    evaluated_counts: IntArray
    dont_care_counts: IntArray


def select_frames(
    aligned: Aligned, specification: BenchmarkSpec, *, fill_gaps: bool
) -> FrameSelection:
    """Classify frames.

    Args:
        aligned: Both sides; whole sequences if gaps are filled.
        specification: The benchmark's specification.
        fill_gaps: Whether every frame up to the last listed one of its sequence is evaluated,
            from 0 or from the first frame that the specification names. Sequences whose evaluated
            frames the specification lists or counts are left as they are.
    """
    truth = aligned.truth
    table_rows, sequences = np.unique(truth.frame_sequences, return_inverse=True)
    count = len(table_rows)
    marked = are_flagged(truth.frame_flags, FrameFlag.DONT_CARE)
    considered = aligned.listed
    silent, silent_dont_care = np.zeros((2, count), dtype=np.int64)
    if fill_gaps:
        gaps = _Gaps(aligned, specification, table_rows, sequences)
        considered = considered | gaps.inside
        marked = marked | gaps.dont_care
        silent, silent_dont_care = gaps.silent, gaps.silent_dont_care
    evaluated, dont_care = considered & ~marked, considered & marked
    return FrameSelection(
        table_rows=table_rows,
        sequences=sequences,
        evaluated=evaluated,
        dont_care=dont_care,
        listed_sequences=np.bincount(sequences[aligned.listed], minlength=count) > 0,
        evaluated_counts=np.bincount(sequences[evaluated], minlength=count) + silent,
        dont_care_counts=np.bincount(sequences[dont_care], minlength=count) + silent_dont_care,
    )


class _Gaps:
    """The frames between the first and the last listed frame of each sequence.

    Frames that neither side lists are counted but never created: a truth that lists one frame with
    an enormous number must cost no memory.

    Attributes:
        inside: (F,) whether a frame lies between them.
        dont_care: (F,) whether it is one of the specification's don't-care frames there.
        silent: (S,) frames to evaluate that neither side lists.
        silent_dont_care: (S,) don't-care frames that neither side lists.
    """

    def __init__(
        self,
        aligned: Aligned,
        specification: BenchmarkSpec,
        table_rows: IntArray,
        sequences: IntArray,
    ) -> None:
        """Find the frame range of each sequence, and its don't-care frames."""
        specs = {sequence.key: sequence for sequence in specification.sequences}
        keys = [aligned.truth.sequences[row] for row in table_rows.tolist()]
        chosen = [specs.get(key, SequenceSpec(key.sequence, key.domain)) for key in keys]
        numbers = aligned.truth.frame_numbers
        listed = aligned.listed
        first = np.array([spec.first_frame for spec in chosen], dtype=np.int64)
        last = np.full(len(chosen), -1, dtype=np.int64)
        np.maximum.at(last, sequences[listed], numbers[listed])
        resolved = [spec.evaluated_frames is not None for spec in chosen]
        last = np.where(resolved, -1, last)
        self.inside: BoolArray = (numbers >= first[sequences]) & (numbers <= last[sequences])
        self.dont_care = np.zeros(len(numbers), dtype=np.bool_)
        self.silent_dont_care = np.zeros(len(chosen), dtype=np.int64)
        for row, spec in enumerate(chosen):
            if spec.dont_care_frames.ranges:
                mine = self.inside & (sequences == row)
                mine &= spec.dont_care_frames.contains(numbers)
                self.dont_care |= mine
                within = _length_within(spec.dont_care_frames, int(first[row]), int(last[row]))
                self.silent_dont_care[row] = within - np.count_nonzero(mine)
        mentioned = np.bincount(sequences[self.inside], minlength=len(chosen))
        unlisted = np.maximum(last - first + 1, 0) - mentioned
        self.silent: IntArray = unlisted - self.silent_dont_care


def _length_within(ranges: FrameRanges, first: int, last: int) -> int:
    """Number of frames of a set that lie in first..last."""
    return sum(max(0, min(last, end) - max(first, start) + 1) for start, end in ranges.ranges)

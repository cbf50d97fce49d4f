"""What happened in each frame: numbers of outcomes per frame, for one table of frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.arrays import BoolArray, IntArray, starts_from_counts
from vidscore_evaluators.outcome_table import IndexArray, Outcome, Outcomes

FALSE_ALARMS = (
    Outcome.FALSE_POSITIVE,
    Outcome.DUPLICATE,
    Outcome.MISLOCALISED,
    Outcome.MISCLASSIFIED,
    Outcome.MISLOCALISED_AND_MISCLASSIFIED,
    Outcome.BACKGROUND,
)
"""Outcomes of a detection that counts and is not matched."""


class FrameTable(Struct, frozen=True, eq=False):
    """F frames of S sequences, in the common order.

    Attributes:
        sequences: S sequences, ascending.
        starts: (S + 1,) first frame row of each sequence.
        numbers: (F,) frame numbers, ascending in each sequence.
    """

    sequences: tuple[SequenceKey, ...]
    starts: IntArray
    numbers: IntArray

    @classmethod
    def of(cls, sides: Iterable[Annotations]) -> FrameTable:
        """Every frame that some batch lists, each once."""
        batches = list(sides)
        keys = tuple(
            sorted(
                {
                    side.sequences[row]
                    for side in batches
                    for row in np.unique(side.frame_sequences).tolist()
                }
            )
        )
        place = {key: row for row, key in enumerate(keys)}
        pairs = [
            np.stack(
                [
                    np.array([place.get(key, -1) for key in side.sequences], dtype=np.int64)[
                        side.frame_sequences
                    ],
                    side.frame_numbers,
                ]
            )
            for side in batches
            if side.frame_count
        ]
        if not pairs:
            return cls((), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64))
        sequences, numbers = np.unique(np.concatenate(pairs, axis=1), axis=1)
        return cls(keys, starts_from_counts(np.bincount(sequences, minlength=len(keys))), numbers)

    def __len__(self) -> int:
        """Number of frames F."""
        return len(self.numbers)

    def span(self, sequence: int) -> slice:
        """Rows of the frames of a sequence."""
        return slice(int(self.starts[sequence]), int(self.starts[sequence + 1]))

    def row_of(self, sequence: int, number: int) -> int:
        """Row of the frame with a number, or else of the nearest one before it."""
        span = self.span(sequence)
        place = int(np.searchsorted(self.numbers[span], number, side="right")) - 1
        return int(span.start) + max(0, place)

    def sequence_of(self, row: int) -> int:
        """Sequence of a frame row."""
        return int(np.searchsorted(self.starts, row, side="right")) - 1

    def rows_of(
        self, keys: Sequence[SequenceKey], sequences: IntArray | IndexArray, numbers: IntArray
    ) -> IntArray:
        """(N,) frame rows of frames of this table.

        Args:
            keys: Table of sequences.
            sequences: (N,) index into `keys`.
            numbers: (N,) frame numbers.
        """
        place = {key: row for row, key in enumerate(self.sequences)}
        own = np.array([place.get(key, 0) for key in keys], dtype=np.int64)[sequences]
        span = 1 + max(int(self.numbers.max(initial=0)), int(numbers.max(initial=0)))
        lengths = np.diff(self.starts)
        known = np.repeat(np.arange(len(lengths)), lengths) * span + self.numbers
        rows: IntArray = np.searchsorted(known, own * span + numbers)
        return rows


class FrameCounts(Struct, frozen=True, eq=False):
    """What became of the objects and detections, for each of F frames or F bins.

    Attributes:
        hits: (F,) objects that are found.
        misses: (F,) objects that are not found.
        false_alarms: (F,) detections that count and are not matched.
        id_switches: (F,) matches that change the identity of a track.
    """

    hits: IntArray
    misses: IntArray
    false_alarms: IntArray
    id_switches: IntArray

    @classmethod
    def of(cls, outcomes: Outcomes, frames: FrameTable, rows: IntArray) -> FrameCounts:
        """Count outcomes by frame.

        Args:
            outcomes: N outcomes.
            frames: The frames.
            rows: (N,) frame row of each outcome.
        """
        is_truth = outcomes.of_side(Side.TRUTH)

        def counted(which: BoolArray) -> IntArray:
            return np.bincount(rows[which], minlength=len(frames))

        return cls(
            hits=counted(is_truth & outcomes.are(Outcome.TRUE_POSITIVE)),
            misses=counted(is_truth & outcomes.are(Outcome.FALSE_NEGATIVE)),
            false_alarms=counted(~is_truth & outcomes.are(*FALSE_ALARMS)),
            id_switches=counted(is_truth & outcomes.id_switches),
        )

    def __len__(self) -> int:
        """Number of frames, or bins, F."""
        return len(self.hits)

    @property
    def mistakes(self) -> IntArray:
        """(F,) sums of misses, false alarms and id switches."""
        return self.misses + self.false_alarms + self.id_switches

    def take(self, rows: slice | IntArray) -> FrameCounts:
        """Keep some frames."""
        return FrameCounts(*(column[rows] for column in self.columns()))

    def summed(self, starts: IntArray) -> FrameCounts:
        """Sums over runs of frames.

        Args:
            starts: (B,) ascending first frames of runs that are not empty; the last run continues
                to the end.
        """
        return FrameCounts(*(np.add.reduceat(column, starts) for column in self.columns()))

    def running(self) -> FrameCounts:
        """Cumulative counts: of all frames up to each one."""
        return FrameCounts(*(np.cumsum(column) for column in self.columns()))

    def total(self) -> FrameCounts:
        """Total counts of all frames, as one row."""
        return FrameCounts(*(np.atleast_1d(column.sum()) for column in self.columns()))

    def columns(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """All four columns."""
        return (self.hits, self.misses, self.false_alarms, self.id_switches)

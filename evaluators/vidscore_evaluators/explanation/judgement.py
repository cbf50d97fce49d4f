"""Outcomes of every system by one evaluator at one operating point, by frame and by sequence."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.evaluator import Evaluator, Task
from vidscore_evaluators.figures.frames import FrameCounts, FrameTable
from vidscore_evaluators.figures.timeline import Bins, bin_frames, running_score
from vidscore_evaluators.jobs import outcomes_in_parts
from vidscore_evaluators.outcome_table import OperatingPoint, Outcomes, concatenate_outcomes
from vidscore_evaluators.trust.systems import Contest


class Judged(Struct, frozen=True, eq=False):
    """Outcomes of one system.

    Attributes:
        name: Name of the system.
        outcomes: N outcomes, frame by frame.
        starts: (F + 1,) first outcome of each frame.
        counts: Numbers of events in each of the F frames.
    """

    name: str
    outcomes: Outcomes
    starts: IntArray
    counts: FrameCounts

    def of_frame(self, row: int) -> Outcomes:
        """Outcomes of one frame."""
        return self.outcomes.take(np.arange(self.starts[row], self.starts[row + 1]))


@dataclass(frozen=True, eq=False)
class Judgement:
    """Outcomes of every system.

    Attributes:
        evaluator: The evaluator.
        at: The operating point on its curves.
        frames: The frames.
        systems: One for each system, in their order.
    """

    evaluator: Evaluator[Any]
    at: OperatingPoint
    frames: FrameTable
    systems: tuple[Judged, ...]
    _bins: dict[tuple[int, int], Bins] = field(default_factory=dict, init=False, repr=False)

    @property
    def tracked(self) -> bool:
        """Whether identities count."""
        return self.evaluator.task is Task.TRACKING

    @property
    def score_name(self) -> str:
        """Name of the running score."""
        return "MOTA" if self.tracked else "F1"

    @cached_property
    def by_sequence(self) -> tuple[FrameCounts, ...]:
        """For each system, the numbers of events in each of the S sequences."""
        return tuple(
            one.counts.summed(self.frames.starts[:-1]) if len(self.frames) else one.counts
            for one in self.systems
        )

    @cached_property
    def scores(self) -> tuple[FloatArray, ...]:
        """For each system, the score of each of the S sequences."""
        return tuple(running_score(one, tracked=self.tracked) for one in self.by_sequence)

    @cached_property
    def costs(self) -> FloatArray:
        """(S,) fraction of the first system's mistakes in each sequence; 0 if it has none."""
        mistakes = self.by_sequence[0].mistakes
        costs: FloatArray = mistakes / max(1, int(mistakes.sum()))
        return costs

    @cached_property
    def order(self) -> IntArray:
        """(S,) sequences, sorted by descending cost for the first system."""
        order: IntArray = np.argsort(-self.costs, kind="stable")
        return order

    @cached_property
    def most_false_alarms(self) -> float:
        """False alarms per frame that strips have room for: those of the worst bin of all."""
        most = (
            float((bins.counts.false_alarms / bins.lengths).max())
            for system in range(len(self.systems))
            for bins in (self.bins(system, row) for row in range(len(self.frames.sequences)))
        )
        return max(1e-9, max(most, default=1.0))

    def bins(self, system: int, sequence: int) -> Bins:
        """Bins of a sequence."""
        key = (system, sequence)
        if key not in self._bins:
            span = self.frames.span(sequence)
            own = self.systems[system].counts.take(span)
            numbers = self.frames.numbers[span]
            self._bins[key] = bin_frames(own, numbers, tracked=self.tracked)
        return self._bins[key]

    @cached_property
    def _all_mistakes(self) -> IntArray:
        total: IntArray = np.sum([one.counts.mistakes for one in self.systems], axis=0)
        return total

    @cached_property
    def _mistaken(self) -> IntArray:
        return np.flatnonzero(self._all_mistakes)

    def mistakes(self, system: int | None = None) -> IntArray:
        """(F,) mistakes in each frame, of one system or of all."""
        return self._all_mistakes if system is None else self.systems[system].counts.mistakes

    def worst_frames(self, count: int, system: int | None) -> IntArray:
        """Rows of the frames with the most mistakes, worst first; only frames with mistakes."""
        mistakes = self.mistakes(system)
        order = np.argsort(-mistakes, kind="stable")[:count]
        worst: IntArray = order[mistakes[order] > 0]
        return worst

    def worst_of(self, sequence: int) -> int:
        """Row of the frame of a sequence with the most mistakes; of several, the first."""
        span = self.frames.span(sequence)
        return int(span.start + np.argmax(self.mistakes()[span]))

    def worst_near(self, sequence: int, share: float) -> int:
        """Row of the worst frame in the bin at a position of a sequence, or in its neighbours.

        Args:
            sequence: The sequence.
            share: Position, as a fraction of its length.
        """
        bins = self.bins(0, sequence)
        span = self.frames.span(sequence)
        at = min(len(bins) - 1, int(share * len(bins)))
        last = min(len(bins) - 1, at + 1)
        start = int(span.start) + int(bins.starts[max(0, at - 1)])
        stop = int(span.start) + int(bins.starts[last] + bins.lengths[last])
        return int(start + np.argmax(self.mistakes()[start:stop]))

    def mistake_from(self, row: int, step: int) -> int | None:
        """Row of the next frame with a mistake, over all sequences; None if there is none.

        Args:
            row: Row of a frame.
            step: 1 for the next frame, -1 for the previous one.
        """
        found = self._mistaken
        place = np.searchsorted(found, row, side="right" if step > 0 else "left")
        place = place if step > 0 else place - 1
        return int(found[place]) if 0 <= place < len(found) else None


def judge(
    evaluator: Evaluator[Any],
    contest: Contest,
    frames: FrameTable,
    at: OperatingPoint,
    label: str = "",
) -> Judgement:
    """Get the outcomes of every object from an evaluator.

    Args:
        evaluator: An evaluator that has outcomes.
        contest: Truth and systems.
        frames: Every frame of theirs.
        at: The operating point on its curves.
        label: The only label whose objects and detections are kept; empty for all.

    Raises:
        ParameterError: If it has no outcomes at this point.
    """
    judged = []
    for name, detections in contest.systems.items():
        parts = outcomes_in_parts(evaluator, contest.truth, detections, at)
        rows_in_all = contest.truth.object_count + detections.object_count
        outcomes = evaluator.selection.of_outcomes(concatenate_outcomes(parts, rows_in_all))
        outcomes = outcomes.where(label=label) if label else outcomes
        rows = frames.rows_of(outcomes.sequence_keys, outcomes.sequences, outcomes.frames)
        starts = np.searchsorted(rows, np.arange(len(frames) + 1))
        judged.append(Judged(name, outcomes, starts, FrameCounts.of(outcomes, frames, rows)))
    return Judgement(evaluator, at, frames, tuple(judged))

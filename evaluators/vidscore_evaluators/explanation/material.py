"""Material of an explanation: truth, one or two systems, evaluators, and their reports."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import Annotations, FrameFlag, are_flagged
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.explanation.judgement import Judgement, judge
from vidscore_evaluators.figures.frames import FrameTable
from vidscore_evaluators.outcome_table import OperatingPoint
from vidscore_evaluators.report import Report
from vidscore_evaluators.trust.systems import Contest

KEPT_JUDGEMENTS = 4
"""Maximum number of cached judgements: those of the most recent operating points."""


@dataclass(frozen=True, eq=False)
class Material:
    """One or two systems, scored.

    Attributes:
        contest: Truth of the evaluated frames, and each system's detections by its name.
        evaluators: The evaluators.
        reports: By name of the system, a report for each evaluator.
        frames: Every frame of truth or detections.
        at: The default operating point on the evaluators' curves.
    """

    contest: Contest
    evaluators: tuple[Evaluator[Any], ...]
    reports: Mapping[str, Sequence[Report]]
    frames: FrameTable
    at: OperatingPoint = OperatingPoint()
    _kept: OrderedDict[tuple[str, OperatingPoint, str], Judgement] = field(
        default_factory=OrderedDict, init=False, repr=False
    )
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _places: dict[str, IntArray] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        contest: Contest,
        evaluators: Sequence[Evaluator[Any]],
        reports: Mapping[str, Sequence[Report]],
        at: OperatingPoint = OperatingPoint(),
    ) -> Material:
        """Put the frames of all sides into one table."""
        frames = FrameTable.of([contest.truth, *contest.systems.values()])
        return cls(contest, tuple(evaluators), reports, frames, at)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return tuple(self.contest.systems)

    @cached_property
    def evaluated_frames(self) -> int:
        """Number of frames that count; don't-care frames and frames of detections only do not."""
        flags = self.contest.truth.frame_flags
        return len(flags) - int(np.count_nonzero(are_flagged(flags, FrameFlag.DONT_CARE)))

    @property
    def judges(self) -> tuple[Evaluator[Any], ...]:
        """Evaluators that have outcomes, with the one that sorts mistakes by kind last."""
        able = [one for one in self.evaluators if one.has_outcomes]
        return tuple(sorted(able, key=lambda one: one.name == KINDS_OF_ERROR))

    @property
    def sorter(self) -> Evaluator[Any] | None:
        """The evaluator that sorts mistakes by kind; None if it is not among them."""
        named = (one for one in self.evaluators if one.name == KINDS_OF_ERROR and one.has_outcomes)
        return next(named, None)

    def judge(self, evaluator: Evaluator[Any], at: OperatingPoint, label: str = "") -> Judgement:
        """Outcomes of every object by an evaluator at an operating point; cached.

        Args:
            evaluator: One of `judges`.
            at: The operating point on its curves.
            label: The only label that counts; empty for all.

        Raises:
            ParameterError: If it has no outcomes at this point.
        """
        key = (evaluator.name, at, label)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = judge(evaluator, self.contest, self.frames, at, label)
                while len(self._kept) > KEPT_JUDGEMENTS:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]

    def objects_of(self, side: str | None, row: int) -> slice:
        """Object rows of a frame, in the truth or a system's detections; empty if there are none.

        Args:
            side: Name of the system; None for the truth.
            row: Row of the frame.
        """
        annotations = self.side(side)
        frame = int(self._frame_rows(side)[row])
        if frame < 0:
            return slice(0, 0)
        return slice(int(annotations.frame_starts[frame]), int(annotations.frame_starts[frame + 1]))

    def side(self, side: str | None) -> Annotations:
        """The truth, or the detections of a system."""
        return self.contest.truth if side is None else self.contest.systems[side]

    def time_s(self, row: int) -> float | None:
        """Capture time of a frame, in seconds; None if the truth does not state it."""
        frame = int(self._frame_rows(None)[row])
        times = self.contest.truth.frame_times_s
        if frame < 0 or times is None or np.isnan(times[frame]):
            return None
        return float(times[frame])

    def _frame_rows(self, side: str | None) -> IntArray:
        """(F,) row of each frame in a side; -1 if the side does not list it."""
        name = side or ""
        if name not in self._places:
            annotations = self.side(side)
            places = np.full(len(self.frames), -1, dtype=np.int64)
            rows = self.frames.rows_of(
                annotations.sequences, annotations.frame_sequences, annotations.frame_numbers
            )
            places[rows] = np.arange(annotations.frame_count)
            self._places[name] = places
        return self._places[name]


KINDS_OF_ERROR = "errors"
"""Name of the evaluator that sorts mistakes by kind."""

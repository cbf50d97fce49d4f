"""Streaming accuracy: the answer that a system had given by the time of each frame of the truth.

Li, Wang and Ramanan, "Towards Streaming Perception" (ECCV 2020): the truth of time t is judged
against the last answer that had arrived by t, whichever frame it answers. This selects answers and
is not a measure, so it precedes every evaluator. With a latency budget b, answers that arrive up to
b late count as well, provided that their frames had been captured by t.

`docs/streaming-accuracy.md` has the numbered rules.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct, structs

from vidscore_evaluators.annotations import (
    Annotations,
    FrameFlag,
    SequenceKey,
    Side,
    are_flagged,
    frame_name,
)
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, run_starts
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.names import counted
from vidscore_evaluators.report import Curve, Report, ReportWarning, with_warnings

MAXIMUM_LATENCY_S = 86_400.0
"""Maximum latency of an answer; a longer one means that two clocks differ."""

BUDGET_RANKS = tuple(tenth / 10 for tenth in range(1, 11))
"""Ranks of the latencies that are the budgets of a curve, besides a budget of 0."""

NO_ANSWER = -1

_LATE = "reads_one_frame_earlier"
"""The warning that reports late detections, which is what streaming accuracy measures."""


class StreamingAnswers(Struct, frozen=True, eq=False, dict=True):
    """The frames of a truth that are judged, and the answers to frames, with their arrivals.

    Attributes:
        truth: The evaluated frames of the truth.
        detections: The answers, each to one frame.
        judged: (F,) whether a frame of the truth is judged.
        captures_s: (A,) capture time of the frame of each answer, on the clock of the truth.
        arrivals_s: (A,) arrival time of each answer.
    """

    truth: Annotations
    detections: Annotations
    judged: BoolArray
    captures_s: FloatArray
    arrivals_s: FloatArray

    @classmethod
    def of(cls, truth: Annotations, detections: Annotations) -> StreamingAnswers:
        """Find the capture times of frames, on the clock of the truth, and the arrivals of answers.

        Args:
            truth: The evaluated frames of the truth.
            detections: The answers; their sequences are in the truth.

        Raises:
            InputError: If a time is missing or inconsistent; with every kind of fault.
        """
        judged = ~are_flagged(truth.frame_flags, FrameFlag.DONT_CARE)
        captures_s = _captures(truth, detections)
        arrivals_s = _seconds(detections.frame_arrivals_s, detections.frame_count)
        faults = [
            *_time_faults(Side.TRUTH, truth, judged & np.isnan(_times(truth))),
            *_time_faults(Side.DETECTIONS, detections, np.isnan(captures_s)),
            *_arrival_faults(detections, captures_s, arrivals_s),
        ]
        if faults:
            raise InputError(faults)
        return cls(truth, detections, judged, captures_s, arrivals_s)

    @cached_property
    def latencies_s(self) -> FloatArray:
        """(A,) time from the capture of a frame to the arrival of its answer, sorted."""
        return np.sort(self.arrivals_s - self.captures_s)

    @property
    def budgets_s(self) -> list[float]:
        """Latency budgets of a curve: 0, and the latencies at `BUDGET_RANKS`."""
        return sorted({0.0, *self._at_ranks(BUDGET_RANKS)})

    def chosen(self, budget_s: float) -> IntArray:
        """(F,) row of the answer that judges each frame within a budget; `NO_ANSWER` for none."""
        rows = np.full(self.truth.frame_count, NO_ANSWER, dtype=np.int64)
        times_s = _times(self.truth)
        for frames, answers in self._by_sequence:
            last = last_answers(
                times_s[frames], self.captures_s[answers], self.arrivals_s[answers], budget_s
            )
            rows[frames] = np.where(last < 0, NO_ANSWER, answers[last])
        return rows

    def held(self, budget_s: float) -> Annotations:
        """Detections of the frames of the truth: each has the objects of the chosen answer."""
        rows = self.chosen(budget_s)
        answered = np.flatnonzero(rows >= 0)
        taken = self.detections.take_frames(rows[answered])
        return structs.replace(
            taken,
            frame_numbers=self.truth.frame_numbers[answered],
            frame_flags=np.zeros(len(answered), dtype=np.uint8),
            frame_times_s=None,
            frame_arrivals_s=None,
        )

    def note(self) -> ReportWarning:
        """Note for readers of the scores: what was judged, and how late answers came."""
        rows = self.chosen(0.0)[self.judged]
        waiting = int((rows == NO_ANSWER).sum())
        unused = self.detections.frame_count - len(np.unique(rows[rows >= 0]))
        late = "no answer"
        if len(self.latencies_s):
            p50, p95, p99, most = (f"{one:.6g} s" for one in self._at_ranks((0.5, 0.95, 0.99, 1.0)))
            late = f"latency {p50} at the median, {p95} at 95 %, {p99} at 99 %, {most} at most"
        message = (
            "frames were judged against the last answer that had arrived by their time "
            f"(streaming accuracy): {late}; {waiting} without an answer yet, {unused} of "
            f"{counted(self.detections.frame_count, 'answer')} never used"
        )
        return ReportWarning("streaming_accuracy", message, len(rows))

    @cached_property
    def _by_sequence(self) -> list[tuple[IntArray, IntArray]]:
        """For each sequence that has both, the rows of its judged frames and of its answers.

        Answers are sorted by arrival; those that arrived together, by frame.
        """
        frames = np.flatnonzero(self.judged)
        frames = frames[np.argsort(self.truth.frame_sequences[frames], kind="stable")]
        own = self.detections
        columns = (own.frame_numbers, self.captures_s, self.arrivals_s, own.frame_sequences)
        answers = np.lexsort(columns)
        frames_of = _runs(frames, self.truth)
        answers_of = _runs(answers, own)
        return [(rows, answers_of[key]) for key, rows in frames_of.items() if key in answers_of]

    def _at_ranks(self, ranks: Sequence[float]) -> list[float]:
        """Quantiles of the latencies: the least latency that the given fraction does not exceed."""
        count = len(self.latencies_s)
        places = [max(0, int(np.ceil(rank * count)) - 1) for rank in ranks]
        found: list[float] = self.latencies_s[places].tolist() if count else []
        return found


def last_answers(
    times_s: FloatArray, captures_s: FloatArray, arrivals_s: FloatArray, budget_s: float
) -> IntArray:
    """(F,) row of the last answer that counts at each time; -1 if there is none.

    An answer counts at a time t if its frame was captured by t and it arrives no more than the
    budget after t. All differences are computed in binary64.

    Args:
        times_s: (F,) times of the truth.
        captures_s: (A,) capture time of the frame of each answer.
        arrivals_s: (A,) arrival time of each answer, ascending.
        budget_s: The latency budget.
    """
    counts = np.searchsorted(arrivals_s, times_s + budget_s, side="right")
    bounded = np.append(arrivals_s, np.inf)
    # A sum and a difference may round to different sides of the budget.
    while (more := bounded[counts] - times_s <= budget_s).any():
        counts = counts + more
    while (fewer := (counts > 0) & (bounded[counts - 1] - times_s > budget_s)).any():
        counts = counts - fewer
    rows = counts - 1
    for length, least in reversed(_least_of_runs(captures_s)):
        late = (rows >= 0) & (least[rows] > times_s)
        rows = np.where(late, np.maximum(rows - length, -1), rows)
    return rows


def _least_of_runs(values: FloatArray) -> list[tuple[int, FloatArray]]:
    """For each power of two, the least of that many values up to each one (fewer at the start)."""
    runs, length, least = [], 1, values
    while True:
        runs.append((length, least))
        if length >= len(values):
            return runs
        shifted = np.minimum(least[length:], least[:-length])
        least = np.concatenate([np.minimum.accumulate(values[:length]), shifted])
        length *= 2


def score_online(
    evaluators: Sequence[Evaluator[Any]],
    truth: Annotations,
    detections: Annotations,
    score: Callable[[Annotations], list[Report]],
) -> list[Report]:
    """Score the streaming accuracy of detections with every evaluator.

    Args:
        evaluators: The evaluators.
        truth: The evaluated frames of the truth, with times.
        detections: The detections, with arrivals.
        score: Makes the reports for detections of the frames of the truth.

    Returns:
        A report for each evaluator, with curves of the ranking measures over latency budgets.

    Raises:
        InputError: If a time is missing or inconsistent.
    """
    answers = StreamingAnswers.of(truth, detections)
    by_budget = [score(answers.held(budget_s)) for budget_s in answers.budgets_s]
    return online_reports(evaluators, answers, by_budget)


def online_reports(
    evaluators: Sequence[Evaluator[Any]],
    answers: StreamingAnswers,
    by_budget: Sequence[Sequence[Report]],
) -> list[Report]:
    """Reports of streaming accuracy, from those at each latency budget.

    Args:
        evaluators: The evaluators.
        answers: The answers.
        by_budget: For each budget, the reports of the evaluators, in order.
    """
    note = (answers.note(),)
    return [
        with_warnings(_with_curves(reports, answers.budgets_s, evaluator.ranking), note)
        for evaluator, *reports in zip(evaluators, *by_budget, strict=True)
    ]


def _with_curves(
    reports: Sequence[Report], budgets_s: Sequence[float], ranking: Sequence[str]
) -> Report:
    """The report without a budget, with a curve over the budgets for each ranking measure.

    Its warnings are those of the greatest budget: late answers are not a mistake in the input.
    Skipped frames still cause warnings.
    """
    first, last = reports[0], reports[-1]
    values = [
        {row[:4]: row.value for row in report.rows() if row.measure in ranking}
        for report in reports
    ]
    curves = [
        Curve(
            f"{measure}_by_latency_budget",
            {"latency_budget_s": budgets_s, measure: [found.get(key) for found in values]},
            domain,
            label,
        )
        for key in values[0]
        for domain, label, sequence, measure in [key]
        if sequence is None
    ]
    warnings = tuple(warning for warning in last.warnings if warning.code != _LATE)
    scores = dataclasses.replace(first.scores, curves=(*first.curves, *curves), warnings=warnings)
    return dataclasses.replace(first, scores=scores)


def _runs(rows: IntArray, side: Annotations) -> dict[SequenceKey, IntArray]:
    """Rows of frames by sequence, in ascending order."""
    sequences = side.frame_sequences[rows]
    first = run_starts(sequences)
    return {
        side.sequences[sequences[start]]: run
        for start, run in zip(first.tolist(), np.split(rows, first[1:]), strict=False)
    }


def _times(side: Annotations) -> FloatArray:
    return _seconds(side.frame_times_s, side.frame_count)


def _seconds(seconds: FloatArray | None, count: int) -> FloatArray:
    return np.full(count, np.nan) if seconds is None else seconds


def _captures(truth: Annotations, detections: Annotations) -> FloatArray:
    """(A,) capture time of each frame of the detections: the truth's if known, else their own."""
    sequences = tuple(dict.fromkeys((*truth.sequences, *detections.sequences)))
    known = truth.with_tables(sequences, truth.labels)
    wanted = detections.with_tables(sequences, detections.labels)
    times_s = dict(
        zip(
            zip(known.frame_sequences.tolist(), known.frame_numbers.tolist(), strict=True),
            _times(truth).tolist(),
            strict=True,
        )
    )
    keys = zip(wanted.frame_sequences.tolist(), wanted.frame_numbers.tolist(), strict=True)
    found = np.array([times_s.get(key, np.nan) for key in keys], dtype=np.float64)
    return np.where(np.isnan(found), _times(detections), found)


def _time_faults(side: Side, annotations: Annotations, missing: BoolArray) -> list[Fault]:
    expected = "time_s in every frame that is judged"
    if side is Side.DETECTIONS:
        expected = "time_s of the frame, in the truth or in the detections"
    return _faults(side, annotations, missing, "no time", expected)


def _arrival_faults(
    detections: Annotations, captures_s: FloatArray, arrivals_s: FloatArray
) -> list[Fault]:
    latencies_s = arrivals_s - captures_s
    clock = "arrival_s on the clock of the truth's time_s"
    return [
        *_faults(
            Side.DETECTIONS,
            detections,
            np.isnan(arrivals_s),
            "no arrival",
            "arrival_s of every answer, for streaming accuracy",
        ),
        *_faults(
            Side.DETECTIONS,
            detections,
            latencies_s < 0.0,
            "an arrival before the frame was captured",
            clock,
        ),
        *_faults(
            Side.DETECTIONS,
            detections,
            latencies_s > MAXIMUM_LATENCY_S,
            "an arrival more than a day after the frame was captured",
            clock,
        ),
    ]


def _faults(
    side: Side, annotations: Annotations, wrong: BoolArray, found: str, expected: str
) -> list[Fault]:
    """One fault for all frames of a kind, placed at the first of them."""
    rows = np.flatnonzero(wrong)
    if len(rows) == 0:
        return []
    row = int(rows[0])
    key = annotations.sequences[annotations.frame_sequences[row]]
    others = f" (and {len(rows) - 1} more like it)" if len(rows) > 1 else ""
    place = frame_name(key, int(annotations.frame_numbers[row]))
    return [Fault(f"{found} in {place}{others}", expected, source=side.value)]

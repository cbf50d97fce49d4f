"""Live scores of a submission that still receives, where the policy turns them on.

They move only when a sequence is completed, and never cover fewer frames than the policy allows:
otherwise a team could read the truth of a frame from how its scores move.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from vidscore_evaluators.alignment import frames_in
from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.report import Report
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_server.domain.benchmarks import Benchmarks
from vidscore_server.domain.context import Context
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.policy import Visibility
from vidscore_server.domain.scorer import Scorer, Sides
from vidscore_server.store import Reader, Transaction

REST_FACTOR = 4
"""A live score that took a second rests for so many, so that watching never takes all the time."""

MAXIMUM_KEPT = 1_000


@dataclass(frozen=True, eq=False)
class LiveScore:
    """Reports over the completed sequences of a submission.

    Attributes:
        definition: The benchmark.
        reports: A report for each evaluator; none where too few frames are completed.
        revision: Revision of the truth.
        partial: Whether the truth is not complete.
    """

    definition: Definition
    reports: tuple[Report, ...]
    revision: int
    partial: bool


class State(NamedTuple):
    """What live scores depend on.

    Attributes:
        frame_count: Frames of the submission.
        truth_revision: Revision of the truth.
        benchmark_revision: Revision of the benchmark.
    """

    frame_count: int
    truth_revision: int
    benchmark_revision: int


@dataclass(frozen=True)
class CompletenessCache:
    """Which sequences had frames enough to be complete, the last time that all were read.

    A sequence with fewer frames than are evaluated cannot be complete, and one that has got none
    since then is as complete as it was: so long there is nothing to read.

    Attributes:
        revisions: Of the truth and of the benchmark.
        wanted: Evaluated frames of each sequence.
        enough: Frames of those sequences that have no fewer.
    """

    revisions: tuple[int, int]
    wanted: Mapping[tuple[str, str], int]
    enough: Mapping[tuple[str, str], int]

    def holds(self, state: State, counts: Mapping[tuple[str, str], int]) -> bool:
        """Whether no sequence can have been completed since then.

        Args:
            state: What there is now.
            counts: Frames of each sequence.
        """
        return self.revisions == state[1:] and self.enough == _enough(self.wanted, counts)


@dataclass
class _Kept:
    """The newest live score of a submission, and when the next may be made."""

    lock: asyncio.Lock
    score: LiveScore | None = None
    covers: tuple[int, frozenset[SequenceKey]] = (0, frozenset())
    looked_at: State | None = None
    completeness: CompletenessCache | None = None
    next_time_s: float = 0.0
    charged: bool = False


class LiveScores:
    """Live scores, computed while a client watches.

    Args:
        context: The hosting context.
        benchmarks: Its benchmarks.
        scorer: The scorer.
    """

    def __init__(self, context: Context, benchmarks: Benchmarks, scorer: Scorer) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._scorer = scorer
        self._kept: OrderedDict[SubmissionName, _Kept] = OrderedDict()

    @property
    def kept_count(self) -> int:
        """Submissions whose live scores are kept."""
        return len(self._kept)

    async def newest(self, name: SubmissionName) -> LiveScore | None:
        """The newest live score; None where there is none, or the policy wants none.

        The same object comes again as long as nothing has moved.

        Args:
            name: The submission.
        """
        kept = self._kept.setdefault(name, _Kept(asyncio.Lock()))
        self._kept.move_to_end(name)
        while len(self._kept) > MAXIMUM_KEPT:
            self._kept.popitem(last=False)
        async with kept.lock:
            started_s = asyncio.get_running_loop().time()
            if started_s >= kept.next_time_s:
                await self._move(name, kept)
                ended_s = asyncio.get_running_loop().time()
                kept.next_time_s = ended_s + REST_FACTOR * (ended_s - started_s)
        return kept.score

    async def charge(self, name: SubmissionName) -> None:
        """Note for good that a score of a submission is shown to its team, before it is.

        It counts against the team's quotas from then on, whether it is cancelled or not.

        Args:
            name: The submission.
        """
        kept = self._kept.get(name)
        if kept is not None and kept.charged:
            return
        await self._context.write(partial(_charge, name))
        if kept is not None:
            kept.charged = True

    async def _move(self, name: SubmissionName, kept: _Kept) -> None:
        """Make a new score where a sequence has been completed, or truth has come."""
        looked_at = await self._context.read(lambda reader: self._state(reader, name))
        if looked_at is None or looked_at == kept.looked_at:
            return
        kept.looked_at = looked_at
        if kept.completeness is not None:
            counts = await self._context.read(lambda reader: reader.frame_counts(*name))
            if kept.completeness.holds(looked_at, counts):
                return
        revision = looked_at.truth_revision
        raw = await self._context.read(lambda reader: self._scorer.columns(reader, name, revision))
        kept.completeness, completed = await asyncio.to_thread(_look_through, raw, looked_at)
        if (revision, completed) == kept.covers:
            return
        kept.covers = (revision, completed)
        truth, detections = await asyncio.to_thread(_only, raw, completed)
        reports: list[Report] = []
        if truth.frame_count >= raw.definition.policy.minimum_frames:
            reports = await self._scorer.reports(raw.definition.evaluators, truth, detections)
        kept.score = LiveScore(raw.definition, tuple(reports), revision, raw.partial)

    def _state(self, reader: Reader, name: SubmissionName) -> State | None:
        """Current state that live scores depend on; None where there are none."""
        benchmark = reader.benchmark(name.benchmark)
        submission = reader.submission(*name)
        if benchmark is None or submission is None or benchmark.truth_revision == 0:
            return None
        if self._benchmarks.definition(benchmark).policy.shown is not Visibility.LIVE:
            return None
        return State(submission.frame_count, benchmark.truth_revision, benchmark.revision)


def _charge(name: SubmissionName, transaction: Transaction) -> None:
    record = transaction.submission(*name)
    if record is not None and not record.score_shown:
        transaction.update_submission(replace(record, score_shown=True))


def _look_through(raw: Sides, state: State) -> tuple[CompletenessCache, frozenset[SequenceKey]]:
    """The completeness cache, and the sequences that are complete."""
    truth, _ = raw.to_score(complete=True)
    wanted = _frame_counts(truth)
    enough = _enough(wanted, _frame_counts(raw.detections))
    return CompletenessCache(state[1:], wanted, enough), _completed(raw, truth)


def _frame_counts(side: Annotations) -> dict[tuple[str, str], int]:
    counts = np.bincount(side.frame_sequences, minlength=len(side.sequences)).tolist()
    return {
        (key.domain, key.sequence): count
        for key, count in zip(side.sequences, counts, strict=True)
        if count
    }


def _enough(
    wanted: Mapping[tuple[str, str], int], counts: Mapping[tuple[str, str], int]
) -> dict[tuple[str, str], int]:
    """Counts of the sequences that have as many frames as are wanted, or more."""
    return {key: counts[key] for key, count in wanted.items() if counts.get(key, 0) >= count}


def _completed(raw: Sides, truth: Annotations) -> frozenset[SequenceKey]:
    """Sequences whose truth is whole and whose every frame has been detected in."""
    lacking = ~frames_in(truth, raw.detections)
    if raw.partial:
        counted = _counted(raw.definition.specification)
        of_counted = np.array([key in counted for key in truth.sequences], dtype=np.bool_)
        lacking |= ~frames_in(truth, raw.truth) | ~of_counted[truth.frame_sequences]
    frames = np.bincount(truth.frame_sequences, minlength=len(truth.sequences))
    lacks = np.bincount(truth.frame_sequences[lacking], minlength=len(truth.sequences))
    rows = np.flatnonzero((frames > 0) & (lacks == 0)).tolist()
    return frozenset(truth.sequences[row] for row in rows)


def _counted(specification: BenchmarkSpec) -> set[SequenceKey]:
    """Sequences of which the specification says which frames are evaluated."""
    return {entry.key for entry in specification.sequences if entry.evaluated_frames is not None}


def _only(raw: Sides, sequences: frozenset[SequenceKey]) -> tuple[Annotations, Annotations]:
    """Both sides as they are scored, of some sequences."""
    truth, detections = (_of(side, sequences) for side in raw.to_score(complete=True))
    return truth, detections


def _of(side: Annotations, sequences: frozenset[SequenceKey]) -> Annotations:
    chosen = np.array([key in sequences for key in side.sequences], dtype=np.bool_)
    return side.take_frames(chosen[side.frame_sequences])

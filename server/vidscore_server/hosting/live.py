"""Live scores of a submission that still receives, where the policy turns them on.

They move only when a sequence is completed, and never cover fewer frames than the policy allows:
otherwise a team could read the truth of a frame from how its scores move.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.report import Report
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_server.hosting.benchmarks import Benchmarks
from vidscore_server.hosting.definition import Definition
from vidscore_server.hosting.names import SubmissionName
from vidscore_server.hosting.payloads import frame_names
from vidscore_server.hosting.policy import Visibility
from vidscore_server.hosting.scoring import Scorer, Sides
from vidscore_server.hosting.site import Site
from vidscore_server.store.contract import Reader

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


@dataclass
class _Kept:
    """The newest live score of a submission, and when the next may be made."""

    lock: asyncio.Lock
    score: LiveScore | None = None
    covers: tuple[int, frozenset[SequenceKey]] = (0, frozenset())
    looked_at: tuple[int, int] = (0, 0)
    next_time_s: float = 0.0


class LiveScores:
    """Live scores, made when somebody watches.

    Args:
        site: The server's common ground.
        benchmarks: Its benchmarks.
        scorer: Who scores.
    """

    def __init__(self, site: Site, benchmarks: Benchmarks, scorer: Scorer) -> None:
        """Know none yet."""
        self._site = site
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

    async def _move(self, name: SubmissionName, kept: _Kept) -> None:
        """Make a new score where a sequence has been completed, or truth has come."""
        looked_at = await self._site.read(lambda reader: self._counts(reader, name))
        if looked_at is None or looked_at == kept.looked_at:
            return
        kept.looked_at = looked_at
        revision = looked_at[1]
        raw = await self._site.read(lambda reader: self._scorer.columns(reader, name, revision))
        completed = await asyncio.to_thread(_completed, raw)
        if (revision, completed) == kept.covers:
            return
        kept.covers = (revision, completed)
        truth, detections = await asyncio.to_thread(_only, raw, completed)
        reports: list[Report] = []
        if truth.frame_count >= raw.definition.policy.minimum_frames:
            reports = await self._scorer.reports(raw.definition.evaluators, truth, detections)
        kept.score = LiveScore(raw.definition, tuple(reports), revision, raw.partial)

    def _counts(self, reader: Reader, name: SubmissionName) -> tuple[int, int] | None:
        """Frames of the submission and revision of the truth; None where nothing is live."""
        benchmark = reader.benchmark(name.benchmark)
        submission = reader.submission(*name)
        if benchmark is None or submission is None or benchmark.truth_revision == 0:
            return None
        if self._benchmarks.definition(benchmark).policy.shown is not Visibility.LIVE:
            return None
        return submission.frame_count, benchmark.truth_revision


def _completed(raw: Sides) -> frozenset[SequenceKey]:
    """Sequences whose truth is whole and whose every frame has been detected in."""
    specification = raw.definition.specification
    truth, _ = raw.to_score(complete=True)
    listed = set(frame_names(raw.truth))
    detected = set(frame_names(raw.detections))
    wanted = frame_names(truth)
    lacking = {SequenceKey(*name[:2]) for name in wanted if name not in detected}
    if raw.partial:
        counted = _counted(specification)
        lacking |= {SequenceKey(*name[:2]) for name in wanted if name not in listed}
        lacking |= {key for key in truth.sequences if key not in counted}
    return frozenset({SequenceKey(*name[:2]) for name in wanted} - lacking)


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

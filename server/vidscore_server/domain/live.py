"""Live scores of a submission that still receives, if the policy turns them on.

They change only when a sequence is completed, and never cover fewer frames than the policy allows:
otherwise a team could infer the truth of a frame from the changes.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.report import Report
from vidscore_evaluators.tally import Tally
from vidscore_server.domain.benchmarks import Benchmarks
from vidscore_server.domain.context import Context
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.live_run import (
    Basis,
    CompletenessCache,
    LiveRun,
    News,
    State,
    read_news,
)
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.policy import Visibility
from vidscore_server.domain.scorer import Scorer
from vidscore_server.domain.states import ENDED
from vidscore_server.store import Reader, Transaction

REST_FACTOR = 4
"""A live score rests this many times as long as it took, so that watching leaves capacity."""

MAXIMUM_KEPT = 1_000

MAXIMUM_RUN_BYTES = 256 << 20
"""Maximum bytes of columns and tallies of all submissions; without room, they are read again."""


class LiveScore(Struct, frozen=True, eq=False):
    """Reports over the completed sequences of a submission.

    Attributes:
        definition: The benchmark.
        reports: A report for each evaluator; none if too few frames are completed.
        revision: Revision of the truth.
        partial: Whether the truth is incomplete.
    """

    definition: Definition
    reports: tuple[Report, ...]
    revision: int
    partial: bool


class _Kept(Struct):
    """The newest live score of a submission, and the earliest time of the next.

    `charged` is a basis, because a later submission may have the same name.
    """

    lock: asyncio.Lock
    score: LiveScore | None = None
    covers: tuple[Basis, frozenset[SequenceKey]] | None = None
    looked_at: State | None = None
    completeness: CompletenessCache | None = None
    run: LiveRun | None = None
    next_time_s: float = 0.0
    charged: Basis | None = None


class LiveScores:
    """Live scores, computed while a client watches."""

    def __init__(self, context: Context, benchmarks: Benchmarks, scorer: Scorer) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._scorer = scorer
        self._kept: OrderedDict[SubmissionName, _Kept] = OrderedDict()

    @property
    def kept_count(self) -> int:
        """Number of submissions whose live scores are cached."""
        return len(self._kept)

    def shown(self, reader: Reader) -> list[tuple[SubmissionName, LiveScore]]:
        """The cached scores, of benchmarks whose present policy shows live scores.

        Args:
            reader: A state of the store.
        """
        return [
            (name, kept.score)
            for name, kept in list(self._kept.items())  # another thread may change it
            if kept.score is not None and self._state(reader, name) is not None
        ]

    async def newest(self, name: SubmissionName) -> LiveScore | None:
        """The newest live score; None if there is none, or the policy shows none.

        The same object is returned until the score changes.
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

    def forget(self, name: SubmissionName) -> None:
        """Drop all state of a submission, because it has ended."""
        self._kept.pop(name, None)

    def forget_all(self, benchmark: str) -> None:
        """Drop all state of a benchmark's submissions, because it has changed or was deleted."""
        for name in list(self._kept):
            if name.benchmark == benchmark:
                self.forget(name)

    async def charge(self, name: SubmissionName) -> bool:
        """Record, before a score is shown to its team, that it is shown; False if it must not be.

        From then on the submission counts against the team's quotas, cancelled or not. If it has
        ended while the score was computed, its place may be taken already.
        """
        kept = self._kept.get(name)
        basis = None if kept is None or kept.covers is None else kept.covers[0]
        if kept is not None and basis is not None and kept.charged == basis:
            return True
        is_charged = await self._context.write(partial(_charge, name))
        if kept is not None and is_charged:
            kept.charged = basis
        return is_charged

    async def _move(self, name: SubmissionName, kept: _Kept) -> None:
        """Compute a new score if a sequence has been completed, or truth was uploaded.

        It may be cancelled at any wait: then nothing has changed, and the next call does the work.
        """
        state, found = await self._context.read(lambda reader: self._look(reader, name, kept))
        if state is None:
            kept.run = kept.score = kept.covers = kept.looked_at = None
            return
        if isinstance(found, News):
            try:
                await self._take(kept, state.basis, found)
            except Exception:
                kept.run, kept.looked_at = None, state  # the same would fail again
                raise
            kept.completeness = found.completeness
        elif found is not None:
            kept.completeness = found
        kept.looked_at = state

    async def _take(self, kept: _Kept, basis: Basis, news: News) -> None:
        """Tally the newly completed sequences, and make reports over all completed ones."""
        run, definition = news.run, news.raw.definition
        added: list[Tally] = []
        if news.completed:
            evaluators = definition.evaluators
            added = await self._scorer.tallies(evaluators, news.truth, news.detections)
        run.take(news, added)
        kept.run = run
        self._bound_memory(kept)
        if (basis, run.completed) == kept.covers:
            return
        reports: list[Report] = []
        if run.frame_count >= definition.policy.minimum_frames:
            tallies = await asyncio.to_thread(run.tallies)
            reports = await self._scorer.bounded_reports(definition.evaluators, tallies)
        kept.score = LiveScore(definition, tuple(reports), news.raw.revision, news.raw.partial)
        kept.covers = (basis, run.completed)

    def _bound_memory(self, newest: _Kept) -> None:
        """Drop runs until the others fit, the least recently used first."""
        if newest.run is not None and newest.run.held_bytes > MAXIMUM_RUN_BYTES:
            newest.run = None
        holding = [(kept, kept.run) for kept in self._kept.values() if kept.run is not None]
        held = sum(run.held_bytes for _, run in holding)
        for kept, run in holding:
            if held <= MAXIMUM_RUN_BYTES:
                return
            kept.run = None
            held -= run.held_bytes

    def _look(
        self, reader: Reader, name: SubmissionName, kept: _Kept
    ) -> tuple[State | None, News | CompletenessCache | None]:
        """The present state, and the news since the last look, if they may matter.

        Otherwise the updated completeness cache, if frames were counted.

        Raises:
            LookupError: If the truth is gone.
        """
        state, known = self._state(reader, name), kept.completeness
        if state is None or state == kept.looked_at:
            return state, None
        if known is not None and known.is_early(state):
            return state, None
        counted = None if known is None else known.counted(state, reader.frame_counts(*name))
        if counted is not None:
            return state, counted
        run = kept.run
        if run is not None and run.basis == state.basis:
            news = read_news(self._scorer, reader, name, state, run)
            if not (news.outdated and news.completed):
                return state, news
        return state, read_news(self._scorer, reader, name, state, None)

    def _state(self, reader: Reader, name: SubmissionName) -> State | None:
        """Present inputs of live scores; None if there are no live scores."""
        benchmark = reader.benchmark(name.benchmark)
        state = State.of(benchmark, reader.submission(*name))
        if benchmark is None or state is None:
            return None
        shown = self._benchmarks.definition(benchmark).policy.shown
        return state if shown is Visibility.LIVE else None


def _charge(name: SubmissionName, transaction: Transaction) -> bool:
    record = transaction.submission(*name)
    if record is None or (record.state in ENDED and not record.score_shown):
        return False
    if not record.score_shown:
        transaction.update_submission(replace(record, score_shown=True))
    return True

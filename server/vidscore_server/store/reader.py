"""Queries for benchmarks with their truth, submissions and scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby, islice
from typing import Any, TypeVar

from sqlalchemy import LargeBinary, Select, and_, exists, func, literal, select, tuple_

from vidscore_server.store import tables as t
from vidscore_server.store.appends import select_points
from vidscore_server.store.live import LiveReader
from vidscore_server.store.lookups import find_benchmark, find_scores, find_streams, find_submission
from vidscore_server.store.records import (
    BatchRecord,
    BenchmarkRecord,
    FrameName,
    Holdings,
    ReleaseRecord,
    ScoreDrawsRecord,
    ScoreRecord,
    StreamRecord,
    SubmissionKey,
    SubmissionRecord,
    SubmissionState,
    TiersRecord,
    TruthRevisionRecord,
)
from vidscore_server.store.site_reader import HAS_FRAMES, SiteReader, newest_first
from vidscore_server.store.tables import from_microseconds, to_microseconds

Name = TypeVar("Name")

FRAMES_PER_QUERY = 500
"""Maximum frames per query, because SQLite bounds the variables of a statement."""

NAMES_PER_QUERY = 200
"""Maximum submissions per query, with two variables each."""

OPEN_STATES = (SubmissionState.OPEN.value, SubmissionState.RECEIVING.value)


class Reader(LiveReader, SiteReader):
    """One consistent state of the store; getters return None for missing rows."""

    def benchmark(self, benchmark: str) -> BenchmarkRecord | None:
        """One benchmark."""
        return find_benchmark(self._connection, benchmark)

    def benchmarks(self, after: str, limit: int) -> list[BenchmarkRecord]:
        """Benchmarks with names after `after`, sorted by name."""
        name = t.benchmarks.c.benchmark
        wanted = (name > after) & ~t.IS_HIDDEN
        query = select(t.benchmarks).where(wanted).order_by(name).limit(limit)
        return self._all(query, BenchmarkRecord)

    def benchmark_revisions(self) -> dict[str, tuple[datetime, int]]:
        """Creation time and record revision of each benchmark, by name."""
        c = t.benchmarks.c
        query = select(c.benchmark, c.create_time, c.revision).where(~t.IS_HIDDEN)
        rows = self._connection.execute(query)
        return {name: (from_microseconds(time), revision) for name, time, revision in rows}

    def has_hidden(self) -> bool:
        """Whether rows of deleted benchmarks, or of data being loaded, are stored."""
        return self._connection.execute(select(exists().where(t.IS_HIDDEN))).scalar_one()

    def truth_revision(self, benchmark: str, revision: int) -> TruthRevisionRecord | None:
        """One revision of a benchmark's truth."""
        query = self._truth_revisions(benchmark).where(t.truth_revisions.c.revision == revision)
        return self._one(query, TruthRevisionRecord)

    def truth_revisions(
        self, benchmark: str, before: int | None, limit: int
    ) -> list[TruthRevisionRecord]:
        """Revisions with numbers below `before` (None: all), newest first."""
        number = t.truth_revisions.c.revision
        query = self._truth_revisions(benchmark).order_by(number.desc()).limit(limit)
        if before is not None:
            query = query.where(number < before)
        return self._all(query, TruthRevisionRecord)

    def truth_payloads(self, benchmark: str, revision: int) -> Iterator[bytes]:
        """Batches of a revision, in the order of their insertion."""
        query = (
            select(t.truth_batches.c.payload)
            .join(t.truth_revisions, t.truth_revisions.c.id == t.truth_batches.c.truth_revision_id)
            .join(t.benchmarks, t.benchmarks.c.id == t.truth_revisions.c.benchmark_id)
            .where(t.benchmarks.c.benchmark == benchmark, t.truth_revisions.c.revision == revision)
            .order_by(t.truth_batches.c.position)
        )
        return (bytes(payload) for (payload,) in self._streamed(query))

    def submission(self, benchmark: str, submission: str) -> SubmissionRecord | None:
        """One submission."""
        found = find_submission(self._connection, benchmark, submission)
        return None if found is None else found[0]

    def submissions(
        self,
        benchmark: str,
        team: str | None,
        after: tuple[datetime, str] | None,
        limit: int,
        state: SubmissionState | None = None,
    ) -> list[SubmissionRecord]:
        """Submissions of a benchmark, of one team or all, newest first, then by name.

        Drafts, without frames, are not included.

        Args:
            benchmark: The benchmark.
            team: The team; None for all.
            after: (create_time, submission) of the last one on the page before.
            limit: Maximum number of records.
            state: The state; None for any.
        """
        query = self._submissions().where(t.benchmarks.c.benchmark == benchmark, HAS_FRAMES)
        if team is not None:
            query = query.where(t.submissions.c.team == team)
        if state is not None:
            query = query.where(t.submissions.c.state == state.value)
        key = (t.submissions.c.create_time, t.submissions.c.submission)
        return self._all(newest_first(query, *key, after).limit(limit), SubmissionRecord)

    def submissions_in(self, states: Iterable[SubmissionState]) -> list[SubmissionRecord]:
        """Submissions of all benchmarks in one of these states, oldest state first."""
        wanted = [state.value for state in states]
        query = self._submissions_present().where(t.submissions.c.state.in_(wanted))
        ordered = query.order_by(t.submissions.c.state_time, t.submissions.c.id)
        return self._all(ordered, SubmissionRecord)

    def queue(
        self, states: Iterable[SubmissionState], after: tuple[datetime, str, str] | None, limit: int
    ) -> list[SubmissionRecord]:
        """Submissions of all benchmarks in the given states, oldest state first, then by name.

        Args:
            states: The states.
            after: (state_time, benchmark, submission) of the last one on the page before.
            limit: Maximum number of records.
        """
        key = (t.submissions.c.state_time, t.benchmarks.c.benchmark, t.submissions.c.submission)
        wanted = [state.value for state in states]
        query = self._submissions_present().where(t.submissions.c.state.in_(wanted))
        if after is not None:
            query = query.where(tuple_(*key) > (to_microseconds(after[0]), *after[1:]))
        return self._all(query.order_by(*key).limit(limit), SubmissionRecord)

    def state_counts(self) -> dict[SubmissionState, int]:
        """Number of submissions of all benchmarks, for each state with any."""
        state = t.submissions.c.state
        present = select(state, func.count()).join(t.benchmarks).where(~t.IS_HIDDEN)
        rows = self._connection.execute(present.group_by(state))
        return {SubmissionState(name): int(count) for name, count in rows}

    def submission_revisions(self, names: Iterable[SubmissionKey]) -> dict[SubmissionKey, int]:
        """Revisions of the existing ones of the submissions."""
        key = (t.benchmarks.c.benchmark, t.submissions.c.submission)
        joined = select(*key, t.submissions.c.revision).join(t.benchmarks)
        found: dict[SubmissionKey, int] = {}
        for asked in _chunks(names):
            for benchmark, submission, revision in self._connection.execute(
                joined.where(tuple_(*key).in_(asked))
            ):
                found[benchmark, submission] = revision
        return found

    def shown_outcomes_count(self, benchmark: str, team: str) -> int:
        """Number of scores of a team's submissions whose outcomes were shown to it."""
        query = (
            select(func.count())
            .select_from(t.scores.join(t.submissions).join(t.benchmarks))
            .where(
                t.benchmarks.c.benchmark == benchmark,
                t.submissions.c.team == team,
                t.scores.c.outcomes_shown,
            )
        )
        return int(self._connection.execute(query).scalar_one())

    def holdings(self, benchmark: str, team: str) -> Holdings:
        """Open submissions and stored bytes of a team in a benchmark."""
        is_open = t.submissions.c.state.in_(OPEN_STATES)
        query = (
            select(
                func.count().filter(is_open), func.coalesce(func.sum(t.submissions.c.byte_count), 0)
            )
            .select_from(t.submissions.join(t.benchmarks))
            .where(t.benchmarks.c.benchmark == benchmark, t.submissions.c.team == team)
        )
        open_count, byte_count = self._connection.execute(query).one()
        return Holdings(int(open_count), int(byte_count))

    def cancelled_with_bytes(self, limit: int) -> list[SubmissionKey]:
        """Cancelled submissions whose frames are still stored."""
        query = (
            select(t.benchmarks.c.benchmark, t.submissions.c.submission)
            .join(t.benchmarks)
            .where(
                t.submissions.c.state == SubmissionState.CANCELLED.value,
                t.submissions.c.byte_count > 0,
                ~t.IS_HIDDEN,
            )
            .order_by(t.submissions.c.id)
            .limit(limit)
        )
        found = self._connection.execute(query)
        return [(benchmark, submission) for benchmark, submission in found]

    def streams(self, benchmark: str, submission: str) -> list[StreamRecord]:
        """Append streams of a submission, by name."""
        return self.streams_of(benchmark, [submission]).get(submission, [])

    def streams_of(
        self, benchmark: str, submissions: Iterable[str]
    ) -> dict[str, list[StreamRecord]]:
        """Append streams, by name, of the submissions that have any."""
        return find_streams(self._connection, benchmark, submissions)

    def append_points(
        self, benchmark: str, submission: str, streams: Iterable[str]
    ) -> tuple[SubmissionRecord, dict[str, StreamRecord]] | None:
        """A submission with those of `streams` that exist, by name; None for no such submission."""
        points = select_points(self._connection, benchmark, submission, streams)
        return None if points is None else (points.submission, points.streams)

    def batch_at(
        self, benchmark: str, submission: str, stream: str, offset: int
    ) -> BatchRecord | None:
        """The batch of a stream that holds the frame at `offset`, with an empty payload."""
        c = t.detection_batches.c
        columns = (c.first_offset, c.frame_count, c.digest, c.arrival_time)
        joined = select(*columns).join(t.streams, t.streams.c.id == c.stream_id)
        query = self._of_submission(joined, benchmark, submission, t.streams).where(
            t.streams.c.stream == stream,
            c.first_offset <= offset,
            c.first_offset + c.frame_count > offset,
        )
        return self._one(query, BatchRecord, stream=stream, payload=b"")

    def detection_payloads(
        self, benchmark: str, submission: str, start: int = 0, count: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Payloads and digests of `count` batches, or of all, from index `start` on.

        Batches are sorted by stream and offset.
        """
        c = t.detection_batches.c
        joined = select(c.payload, c.digest).join(t.streams, t.streams.c.id == c.stream_id)
        query = self._of_submission(joined, benchmark, submission, t.streams)
        ordered = query.order_by(t.streams.c.stream, c.first_offset).offset(start).limit(count)
        return ((bytes(payload), bytes(digest)) for payload, digest in self._streamed(ordered))

    def payloads_from(
        self, benchmark: str, submission: str, stream: str, offset: int
    ) -> Iterator[tuple[bytes, bytes]]:
        """Payloads and digests of the batches of a stream from an offset on, in order."""
        c = t.detection_batches.c
        joined = select(c.payload, c.digest).join(t.streams, t.streams.c.id == c.stream_id)
        query = self._of_submission(joined, benchmark, submission, t.streams).where(
            t.streams.c.stream == stream, c.first_offset >= offset
        )
        rows = self._streamed(query.order_by(c.first_offset))
        return ((bytes(payload), bytes(digest)) for payload, digest in rows)

    def stored_frames(
        self, benchmark: str, submission: str, frames: Sequence[FrameName]
    ) -> list[FrameName]:
        """The given `frames` that are stored in any stream of the submission, in order."""
        joined = select(t.sequences.c.domain, t.sequences.c.sequence, t.sequences.c.id)
        query = self._of_submission(joined, benchmark, submission, t.sequences)
        ids = {
            (domain, sequence): number
            for domain, sequence, number in self._connection.execute(query)
        }
        stored: set[FrameName] = set()
        ordered = sorted(frame for frame in frames if frame[:2] in ids)
        for (domain, sequence), group in groupby(ordered, key=lambda frame: frame[:2]):
            numbers = [frame[2] for frame in group]
            found = self._stored_numbers(ids[domain, sequence], numbers)
            stored.update((domain, sequence, number) for number in found)
        return [frame for frame in frames if frame in stored]

    def frame_counts(self, benchmark: str, submission: str) -> dict[tuple[str, str], int]:
        """Number of stored frames of each sequence with any, by domain and name."""
        c = t.sequences.c
        joined = select(c.domain, c.sequence, func.count()).join(
            t.frames, t.frames.c.sequence_id == c.id
        )
        query = self._of_submission(joined, benchmark, submission, t.sequences)
        rows = self._connection.execute(query.group_by(c.id, c.domain, c.sequence))
        return {(domain, sequence): int(count) for domain, sequence, count in rows}

    def chosen_submissions(self, benchmark: str, team: str) -> list[SubmissionRecord]:
        """The submissions that a team has chosen for the final order, by name."""
        query = self._submissions().where(
            t.benchmarks.c.benchmark == benchmark,
            t.submissions.c.team == team,
            t.submissions.c.chosen,
        )
        return self._all(query.order_by(t.submissions.c.submission), SubmissionRecord)

    def scores(
        self,
        benchmark: str,
        submission: str,
        before: int | None,
        limit: int,
        *,
        published_only: bool = False,
    ) -> list[ScoreRecord]:
        """Scores of a submission with numbers below `before` (None: all), newest first."""
        return find_scores(
            self._connection, benchmark, submission, before, limit, published_only=published_only
        )

    def score(self, benchmark: str, submission: str, number: int) -> ScoreRecord | None:
        """One score of a submission."""
        query = self._scores().where(
            t.benchmarks.c.benchmark == benchmark,
            t.submissions.c.submission == submission,
            t.scores.c.number == number,
        )
        return self._one(query, ScoreRecord)

    def scores_under(
        self,
        benchmark: str,
        evaluator: str,
        truth_revision: int,
        configuration: str,
        *,
        reports: bool = True,
    ) -> list[ScoreRecord]:
        """The newest score of each submission under this basis, by submission.

        Reports are empty unless requested, because they are nearly all of the bytes.
        """
        c = t.scores.c
        under = and_(c.truth_revision == truth_revision, c.configuration == configuration)
        return self._newest_scores(benchmark, evaluator, under, reports=reports)

    def published_scores(self, benchmark: str, evaluator: str) -> list[ScoreRecord]:
        """The newest published score of each submission by an evaluator, by submission."""
        return self._newest_scores(benchmark, evaluator, t.scores.c.published)

    def published_elsewhere(
        self, benchmark: str, evaluator: str, truth_revision: int, configuration: str
    ) -> list[ScoreRecord]:
        """The same for submissions without a score under this basis; reports are empty."""
        here = t.scores.alias("here")
        is_here = (
            exists()
            .where(
                here.c.submission_id == t.scores.c.submission_id,
                here.c.evaluator == evaluator,
                here.c.truth_revision == truth_revision,
                here.c.configuration == configuration,
            )
            .correlate(t.scores)
        )
        among = and_(t.scores.c.published, ~is_here)
        return self._newest_scores(benchmark, evaluator, among, reports=False)

    def _newest_scores(
        self, benchmark: str, evaluator: str, among: Any, *, reports: bool = True
    ) -> list[ScoreRecord]:
        newest = (
            select(t.scores.c.submission_id, func.max(t.scores.c.number).label("number"))
            .where(t.scores.c.evaluator == evaluator, among)
            .group_by(t.scores.c.submission_id)
            .subquery()
        )
        query = (
            self._scores(reports=reports)
            .join(
                newest,
                and_(
                    newest.c.submission_id == t.scores.c.submission_id,
                    newest.c.number == t.scores.c.number,
                ),
            )
            .where(t.benchmarks.c.benchmark == benchmark, HAS_FRAMES)
            .order_by(t.submissions.c.submission)
        )
        return self._all(query, ScoreRecord)

    def releases(self, benchmark: str, evaluator: str) -> list[ReleaseRecord]:
        """The last release to each team, by team."""
        query = (
            select(t.releases, t.benchmarks.c.benchmark)
            .join(t.benchmarks)
            .where(t.benchmarks.c.benchmark == benchmark, t.releases.c.evaluator == evaluator)
            .order_by(t.releases.c.team)
        )
        return self._all(query, ReleaseRecord)

    def score_draws(
        self, benchmark: str, submission: str, evaluator: str
    ) -> ScoreDrawsRecord | None:
        """Scores of a submission on draws of sequences; None if there are none."""
        query = self._of_submission(select(t.score_draws), benchmark, submission, t.score_draws)
        return self._one(
            query.where(t.score_draws.c.evaluator == evaluator),
            ScoreDrawsRecord,
            benchmark=benchmark,
            submission=submission,
        )

    def tiers(
        self, benchmark: str, evaluator: str, truth_revision: int, *, exact: bool
    ) -> TiersRecord | None:
        """The newest tiers of a board, under a revision of the truth or an earlier one."""
        c = t.tiers.c
        query = (
            select(t.tiers, t.benchmarks.c.benchmark)
            .join(t.benchmarks)
            .where(t.benchmarks.c.benchmark == benchmark, c.evaluator == evaluator)
            .where(c.truth_revision <= truth_revision, c.exact.is_(exact))
            .order_by(c.truth_revision.desc())
            .limit(1)
        )
        return self._one(query, TiersRecord)

    def _stored_numbers(self, sequence_id: int, numbers: list[int]) -> list[int]:
        found: list[int] = []
        for start in range(0, len(numbers), FRAMES_PER_QUERY):
            asked = numbers[start : start + FRAMES_PER_QUERY]
            query = select(t.frames.c.frame).where(
                t.frames.c.sequence_id == sequence_id, t.frames.c.frame.in_(asked)
            )
            found.extend(self._connection.execute(query).scalars())
        return found

    def _truth_revisions(self, benchmark: str) -> Select[Any]:
        query = select(t.truth_revisions, t.benchmarks.c.benchmark).join(t.benchmarks)
        return query.where(t.benchmarks.c.benchmark == benchmark)

    def _submissions(self) -> Select[Any]:
        return select(t.submissions, t.benchmarks.c.benchmark).join(t.benchmarks)

    def _submissions_present(self) -> Select[Any]:
        """Select the submissions of all visible benchmarks."""
        return self._submissions().where(~t.IS_HIDDEN)

    def _scores(self, *, reports: bool = True) -> Select[Any]:
        columns = [
            column
            if reports or not isinstance(column.type, LargeBinary)
            else literal(None if column.nullable else b"", LargeBinary).label(column.name)
            for column in t.scores.c
        ]
        query = select(*columns, t.submissions.c.submission, t.benchmarks.c.benchmark)
        return query.join(t.submissions, t.submissions.c.id == t.scores.c.submission_id).join(
            t.benchmarks, t.benchmarks.c.id == t.submissions.c.benchmark_id
        )

    def _of_submission(
        self, query: Select[Any], benchmark: str, submission: str, through: Any
    ) -> Select[Any]:
        """Narrow a query over a table that has a `submission_id` to one submission."""
        number = (
            select(t.submissions.c.id)
            .join(t.benchmarks, t.benchmarks.c.id == t.submissions.c.benchmark_id)
            .where(t.benchmarks.c.benchmark == benchmark, t.submissions.c.submission == submission)
        )
        return query.where(through.c.submission_id == number.scalar_subquery())


def _chunks(names: Iterable[Name]) -> Iterator[list[Name]]:
    rest = iter(names)
    while chunk := list(islice(rest, NAMES_PER_QUERY)):
        yield chunk

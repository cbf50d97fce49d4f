"""Reading: the contract's getters as queries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select, tuple_

from vidscore_server.store.contract import FrameName, Reader, Row, SubmissionKey
from vidscore_server.store.failpoints import utc_now
from vidscore_server.store.records import (
    AuditFilter,
    AuditRecord,
    BatchRecord,
    BenchmarkRecord,
    Holdings,
    LeaseRecord,
    OperationRecord,
    ReleaseRecord,
    ScoreBasis,
    ScoreRecord,
    ServingRecord,
    StreamRecord,
    SubmissionRecord,
    SubmissionState,
    TokenRecord,
    TruthRevisionRecord,
)
from vidscore_server.store.sql import dumping
from vidscore_server.store.sql import tables as t
from vidscore_server.store.sql.appending import select_points
from vidscore_server.store.sql.migrating import schema_of
from vidscore_server.store.sql.rows import RecordType, from_microseconds, from_row, to_microseconds

FRAMES_A_QUERY = 500
"""Frames that one query asks for: SQLite bounds the variables of a statement."""

NAMES_A_QUERY = 200
"""Submissions that one query asks for, each by two variables."""

PAYLOADS_AT_ONCE = 4
"""Payloads that are fetched together; each may be as large as a message."""

ENDED_WITHOUT_SCORE = (SubmissionState.FAILED, SubmissionState.CANCELLED)
_HAS_FRAMES = t.submissions.c.frame_count > 0
OPEN_STATES = (SubmissionState.OPEN.value, SubmissionState.RECEIVING.value)
COUNTED_STATES = tuple(state.value for state in SubmissionState if state not in ENDED_WITHOUT_SCORE)


class SqlReader(Reader):
    """A connection's state, read through the contract."""

    def __init__(self, connection: Connection) -> None:
        """Read over a connection, whose transaction decides what is seen."""
        self._connection = connection

    def secret(self) -> bytes:
        """See the contract."""
        query = select(t.site.c.value).where(t.site.c.name == t.SECRET)
        return bytes(self._connection.execute(query).scalar_one())

    def serving(self) -> ServingRecord | None:
        """See the contract."""
        query = select(t.site.c.value).where(t.site.c.name == t.SERVING)
        found = self._connection.execute(query).scalar()
        return None if found is None else ServingRecord(*map(from_microseconds, json.loads(found)))

    def time(self) -> datetime:
        """See the contract."""
        if self._connection.dialect.name != "postgresql":
            return utc_now()  # one process owns it, so its clock is the store's
        now: datetime = self._connection.execute(select(func.clock_timestamp())).scalar_one()
        return now.astimezone(UTC)

    def leases(self) -> list[LeaseRecord]:
        """See the contract."""
        c = t.leases.c
        query = select(t.leases).where(c.end_time > to_microseconds(self.time())).order_by(c.work)
        return self._all(query, LeaseRecord)

    def benchmark(self, benchmark: str) -> BenchmarkRecord | None:
        """See the contract."""
        query = select(t.benchmarks).where(t.benchmarks.c.benchmark == benchmark)
        return self._one(query, BenchmarkRecord)

    def benchmarks(self, after: str, limit: int) -> list[BenchmarkRecord]:
        """See the contract."""
        name = t.benchmarks.c.benchmark
        query = select(t.benchmarks).where(name > after).order_by(name).limit(limit)
        return self._all(query, BenchmarkRecord)

    def benchmark_revisions(self) -> dict[str, tuple[datetime, int]]:
        """See the contract."""
        c = t.benchmarks.c
        rows = self._connection.execute(select(c.benchmark, c.create_time, c.revision))
        return {name: (from_microseconds(time), revision) for name, time, revision in rows}

    def truth_revision(self, benchmark: str, revision: int) -> TruthRevisionRecord | None:
        """See the contract."""
        query = self._truth_revisions(benchmark).where(t.truth_revisions.c.revision == revision)
        return self._one(query, TruthRevisionRecord)

    def truth_revisions(
        self, benchmark: str, before: int | None, limit: int
    ) -> list[TruthRevisionRecord]:
        """See the contract."""
        number = t.truth_revisions.c.revision
        query = self._truth_revisions(benchmark).order_by(number.desc()).limit(limit)
        if before is not None:
            query = query.where(number < before)
        return self._all(query, TruthRevisionRecord)

    def truth_payloads(self, benchmark: str, revision: int) -> Iterator[bytes]:
        """See the contract."""
        query = (
            select(t.truth_batches.c.payload)
            .join(t.truth_revisions, t.truth_revisions.c.id == t.truth_batches.c.truth_revision_id)
            .join(t.benchmarks, t.benchmarks.c.id == t.truth_revisions.c.benchmark_id)
            .where(t.benchmarks.c.benchmark == benchmark, t.truth_revisions.c.revision == revision)
            .order_by(t.truth_batches.c.position)
        )
        return (bytes(payload) for (payload,) in self._streamed(query))

    def submission(self, benchmark: str, submission: str) -> SubmissionRecord | None:
        """See the contract."""
        query = self._submissions().where(
            t.benchmarks.c.benchmark == benchmark, t.submissions.c.submission == submission
        )
        return self._one(query, SubmissionRecord)

    def submissions(
        self, benchmark: str, team: str | None, after: tuple[datetime, str] | None, limit: int
    ) -> list[SubmissionRecord]:
        """See the contract."""
        time, name = t.submissions.c.create_time, t.submissions.c.submission
        query = self._submissions().where(t.benchmarks.c.benchmark == benchmark, _HAS_FRAMES)
        if team is not None:
            query = query.where(t.submissions.c.team == team)
        if after is not None:
            last = to_microseconds(after[0])
            query = query.where(or_(time < last, and_(time == last, name > after[1])))
        return self._all(query.order_by(time.desc(), name).limit(limit), SubmissionRecord)

    def submissions_in(self, states: Iterable[SubmissionState]) -> list[SubmissionRecord]:
        """See the contract."""
        wanted = [state.value for state in states]
        query = self._submissions().where(t.submissions.c.state.in_(wanted))
        ordered = query.order_by(t.submissions.c.state_time, t.submissions.c.id)
        return self._all(ordered, SubmissionRecord)

    def submission_revisions(self, names: Iterable[SubmissionKey]) -> dict[SubmissionKey, int]:
        """See the contract."""
        key = (t.benchmarks.c.benchmark, t.submissions.c.submission)
        joined = select(*key, t.submissions.c.revision).join(t.benchmarks)
        found: dict[SubmissionKey, int] = {}
        for asked in _chunks(names):
            for benchmark, submission, revision in self._connection.execute(
                joined.where(tuple_(*key).in_(asked))
            ):
                found[benchmark, submission] = revision
        return found

    def scored_count(self, benchmark: str, team: str, since: datetime | None) -> int:
        """See the contract."""
        query = (
            select(func.count())
            .select_from(t.submissions.join(t.benchmarks))
            .where(
                t.benchmarks.c.benchmark == benchmark,
                t.submissions.c.team == team,
                or_(t.submissions.c.state.in_(COUNTED_STATES), t.submissions.c.score_shown),
                _HAS_FRAMES,
            )
        )
        if since is not None:
            counted = func.coalesce(t.submissions.c.seal_time, t.submissions.c.state_time)
            query = query.where(counted >= to_microseconds(since))
        return int(self._connection.execute(query).scalar_one())

    def holdings(self, benchmark: str, team: str) -> Holdings:
        """See the contract."""
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
        """See the contract."""
        query = (
            select(t.benchmarks.c.benchmark, t.submissions.c.submission)
            .join(t.benchmarks)
            .where(
                t.submissions.c.state == SubmissionState.CANCELLED.value,
                t.submissions.c.byte_count > 0,
            )
            .order_by(t.submissions.c.id)
            .limit(limit)
        )
        found = self._connection.execute(query)
        return [(benchmark, submission) for benchmark, submission in found]

    def streams(self, benchmark: str, submission: str) -> list[StreamRecord]:
        """See the contract."""
        query = self._of_submission(select(t.streams), benchmark, submission, t.streams)
        return self._all(query.order_by(t.streams.c.stream), StreamRecord)

    def append_points(
        self, benchmark: str, submission: str, streams: Iterable[str]
    ) -> tuple[SubmissionRecord, dict[str, StreamRecord]] | None:
        """See the contract."""
        points = select_points(self._connection, benchmark, submission, streams)
        return None if points is None else (points.submission, points.streams)

    def batch_at(
        self, benchmark: str, submission: str, stream: str, offset: int
    ) -> BatchRecord | None:
        """See the contract."""
        first = t.detection_batches.c.first_offset
        columns = (first, t.detection_batches.c.frame_count, t.detection_batches.c.digest)
        joined = select(*columns).join(t.streams, t.streams.c.id == t.detection_batches.c.stream_id)
        query = self._of_submission(joined, benchmark, submission, t.streams).where(
            t.streams.c.stream == stream,
            first <= offset,
            first + t.detection_batches.c.frame_count > offset,
        )
        return self._one(query, BatchRecord, stream=stream, payload=b"")

    def detection_payloads(
        self, benchmark: str, submission: str, start: int = 0, count: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """See the contract."""
        c = t.detection_batches.c
        joined = select(c.payload, c.digest).join(t.streams, t.streams.c.id == c.stream_id)
        query = self._of_submission(joined, benchmark, submission, t.streams)
        ordered = query.order_by(t.streams.c.stream, c.first_offset).offset(start).limit(count)
        return ((bytes(payload), bytes(digest)) for payload, digest in self._streamed(ordered))

    def stored_frames(
        self, benchmark: str, submission: str, frames: Sequence[FrameName]
    ) -> list[FrameName]:
        """See the contract."""
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
        """See the contract."""
        c = t.sequences.c
        joined = select(c.domain, c.sequence, func.count()).join(
            t.frames, t.frames.c.sequence_id == c.id
        )
        query = self._of_submission(joined, benchmark, submission, t.sequences)
        rows = self._connection.execute(query.group_by(c.id, c.domain, c.sequence))
        return {(domain, sequence): int(count) for domain, sequence, count in rows}

    def scores(
        self,
        benchmark: str,
        submission: str,
        before: int | None,
        limit: int,
        *,
        published_only: bool = False,
    ) -> list[ScoreRecord]:
        """See the contract."""
        query = self._scores().where(
            t.benchmarks.c.benchmark == benchmark, t.submissions.c.submission == submission
        )
        if before is not None:
            query = query.where(t.scores.c.number < before)
        if published_only:
            query = query.where(t.scores.c.published)
        return self._all(query.order_by(t.scores.c.number.desc()).limit(limit), ScoreRecord)

    def score_bases(self, benchmark: str) -> list[ScoreBasis]:
        """See the contract."""
        c = t.scores.c
        joined = select(
            t.submissions.c.submission, c.evaluator, c.truth_revision, c.configuration
        ).join(t.submissions, t.submissions.c.id == c.submission_id)
        query = joined.join(t.benchmarks).where(t.benchmarks.c.benchmark == benchmark)
        return self._all(query.distinct(), ScoreBasis)

    def scores_under(
        self, benchmark: str, evaluator: str, truth_revision: int, configuration: str
    ) -> list[ScoreRecord]:
        """See the contract."""
        c = t.scores.c
        under = and_(c.truth_revision == truth_revision, c.configuration == configuration)
        return self._newest_scores(benchmark, evaluator, under)

    def published_scores(self, benchmark: str, evaluator: str) -> list[ScoreRecord]:
        """See the contract."""
        return self._newest_scores(benchmark, evaluator, t.scores.c.published)

    def failed_rescorings(self, benchmark: str) -> dict[str, str]:
        """See the contract."""
        joined = select(t.submissions.c.submission, t.failed_rescorings.c.basis).join(
            t.submissions, t.submissions.c.id == t.failed_rescorings.c.submission_id
        )
        query = joined.join(t.benchmarks).where(t.benchmarks.c.benchmark == benchmark)
        rows = self._connection.execute(query)
        return {row.submission: row.basis for row in rows}

    def _newest_scores(self, benchmark: str, evaluator: str, among: Any) -> list[ScoreRecord]:
        newest = (
            select(t.scores.c.submission_id, func.max(t.scores.c.number).label("number"))
            .where(t.scores.c.evaluator == evaluator, among)
            .group_by(t.scores.c.submission_id)
            .subquery()
        )
        query = (
            self._scores()
            .join(
                newest,
                and_(
                    newest.c.submission_id == t.scores.c.submission_id,
                    newest.c.number == t.scores.c.number,
                ),
            )
            .where(t.benchmarks.c.benchmark == benchmark, _HAS_FRAMES)
            .order_by(t.submissions.c.submission)
        )
        return self._all(query, ScoreRecord)

    def releases(self, benchmark: str, evaluator: str) -> list[ReleaseRecord]:
        """See the contract."""
        query = (
            select(t.releases, t.benchmarks.c.benchmark)
            .join(t.benchmarks)
            .where(t.benchmarks.c.benchmark == benchmark, t.releases.c.evaluator == evaluator)
            .order_by(t.releases.c.team)
        )
        return self._all(query, ReleaseRecord)

    def token(self, token: str) -> TokenRecord | None:
        """See the contract."""
        return self._one(select(t.tokens).where(t.tokens.c.token == token), TokenRecord)

    def tokens(self, before: tuple[datetime, str] | None, limit: int) -> list[TokenRecord]:
        """See the contract."""
        time, name = t.tokens.c.create_time, t.tokens.c.token
        query = select(t.tokens)
        if before is not None:
            last = to_microseconds(before[0])
            query = query.where(or_(time < last, and_(time == last, name > before[1])))
        return self._all(query.order_by(time.desc(), name).limit(limit), TokenRecord)

    def operation(self, operation: str) -> OperationRecord | None:
        """See the contract."""
        query = select(t.operations).where(t.operations.c.operation == operation)
        return self._one(query, OperationRecord)

    def operations(self, after: str, limit: int) -> list[OperationRecord]:
        """See the contract."""
        name = t.operations.c.operation
        query = select(t.operations).where(name > after).order_by(name).limit(limit)
        return self._all(query, OperationRecord)

    def unfinished_operations(self) -> list[OperationRecord]:
        """See the contract."""
        query = select(t.operations).where(t.operations.c.done.is_(False))
        ordered = query.order_by(t.operations.c.create_time, t.operations.c.operation)
        return self._all(ordered, OperationRecord)

    def audit_records(
        self, before: int | None, limit: int, wanted: AuditFilter = AuditFilter()
    ) -> list[AuditRecord]:
        """See the contract."""
        query = select(t.audit).order_by(t.audit.c.number.desc()).limit(limit)
        return self._all(query.where(*_audit_conditions(before, wanted)), AuditRecord)

    def response(self, caller: str, request_id: str) -> tuple[str, bytes] | None:
        """See the contract."""
        query = select(t.responses.c.digest, t.responses.c.response).where(
            t.responses.c.caller == caller, t.responses.c.request_id == request_id
        )
        row = self._connection.execute(query).one_or_none()
        return None if row is None else (row[0], bytes(row[1]))

    def _stored_numbers(self, sequence_id: int, numbers: list[int]) -> list[int]:
        found: list[int] = []
        for start in range(0, len(numbers), FRAMES_A_QUERY):
            asked = numbers[start : start + FRAMES_A_QUERY]
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

    def _scores(self) -> Select[Any]:
        query = select(t.scores, t.submissions.c.submission, t.benchmarks.c.benchmark)
        return query.join(t.submissions, t.submissions.c.id == t.scores.c.submission_id).join(
            t.benchmarks, t.benchmarks.c.id == t.submissions.c.benchmark_id
        )

    def size_bytes(self) -> int:
        """See the contract."""
        return dumping.size_bytes(self._connection)

    def schema(self) -> str:
        """See the contract."""
        return schema_of(self._connection) or ""

    def is_empty(self) -> bool:
        """See the contract."""
        return dumping.is_empty(self._connection)

    def dump(self, benchmark: str | None) -> Iterator[Row]:
        """See the contract."""
        return dumping.dump_rows(self._connection, benchmark)

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

    def _one(self, query: Select[Any], record: type[RecordType], **given: Any) -> RecordType | None:
        row = self._connection.execute(query).mappings().one_or_none()
        return None if row is None else from_row(record, row, **given)

    def _all(self, query: Select[Any], record: type[RecordType]) -> list[RecordType]:
        return [from_row(record, row) for row in self._connection.execute(query).mappings()]

    def _streamed(self, query: Select[Any]) -> Iterator[Any]:
        """Rows as they come, so that a submission of gigabytes is never in memory at once."""
        options = query.execution_options(yield_per=PAYLOADS_AT_ONCE)
        return iter(self._connection.execute(options))


def _chunks(names: Iterable[SubmissionKey]) -> Iterator[list[SubmissionKey]]:
    rest = iter(names)
    while chunk := list(islice(rest, NAMES_A_QUERY)):
        yield chunk


def _audit_conditions(before: int | None, wanted: AuditFilter) -> Iterator[ColumnElement[bool]]:
    c = t.audit.c
    if before is not None:
        yield c.number < before
    if wanted.resource:
        below = c.resource.startswith(f"{wanted.resource}/", autoescape=True)
        yield (c.resource == wanted.resource) | below
    if wanted.actor:
        yield c.actor == wanted.actor
    if wanted.action:
        yield c.action == wanted.action
    if wanted.since is not None:
        yield c.time >= to_microseconds(wanted.since)
    if wanted.until is not None:
        yield c.time < to_microseconds(wanted.until)

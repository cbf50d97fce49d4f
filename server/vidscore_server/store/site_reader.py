"""Queries for the whole site, and for the counts of boards and quotas.

Tokens, invitations, operations, the audit record and leases belong to the whole site.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, Select, and_, exists, false, func, or_, select

from vidscore_server.runtime import utc_now
from vidscore_server.store import dump
from vidscore_server.store import tables as t
from vidscore_server.store.migrations import schema_of
from vidscore_server.store.records import (
    AuditFilter,
    AuditRecord,
    InvitationRecord,
    LeaseRecord,
    OperationRecord,
    RankedVersion,
    Row,
    ScoredTotals,
    ServingRecord,
    SubmissionRecord,
    SubmissionState,
    TokenRecord,
)
from vidscore_server.store.tables import RecordReader, from_microseconds, to_microseconds

ENDED_WITHOUT_SCORE = (SubmissionState.FAILED, SubmissionState.CANCELLED)
HAS_FRAMES = t.submissions.c.frame_count > 0
COUNTED_STATES = tuple(state.value for state in SubmissionState if state not in ENDED_WITHOUT_SCORE)
_COUNTED = (
    or_(t.submissions.c.state.in_(COUNTED_STATES), t.submissions.c.score_shown),
    HAS_FRAMES,
)

_SEALED_AT = func.coalesce(t.submissions.c.seal_time, t.submissions.c.create_time)


class SiteReader(RecordReader):
    """One consistent state of the store: rows of the site, and counts for boards."""

    def secret(self) -> bytes:
        """The site's secret, 32 random bytes made with the store: the key of published digests."""
        query = select(t.site.c.value).where(t.site.c.name == t.SECRET)
        return bytes(self._connection.execute(query).scalar_one())

    def serving(self) -> ServingRecord | None:
        """Since when the site has served without an outage; None if it never has."""
        query = select(t.site.c.value).where(t.site.c.name == t.SERVING)
        found = self._connection.execute(query).scalar()
        return None if found is None else ServingRecord(*map(from_microseconds, json.loads(found)))

    def time(self) -> datetime:
        """The time by the store's clock, the same for all servers."""
        if self._connection.dialect.name != "postgresql":
            return utc_now()  # one process owns the file, so its clock is the store's
        now: datetime = self._connection.execute(select(func.clock_timestamp())).scalar_one()
        return now.astimezone(UTC)

    def leases(self) -> list[LeaseRecord]:
        """Present leases, by their work."""
        c = t.leases.c
        query = select(t.leases).where(c.end_time > to_microseconds(self.time())).order_by(c.work)
        return self._all(query, LeaseRecord)

    def token(self, token: str) -> TokenRecord | None:
        """One token."""
        return self._one(select(t.tokens).where(t.tokens.c.token == token), TokenRecord)

    def tokens(self, before: tuple[datetime, str] | None, limit: int) -> list[TokenRecord]:
        """Tokens, newest first, then by name; `before` is as `after` in `submissions`."""
        key = (t.tokens.c.create_time, t.tokens.c.token)
        return self._all(newest_first(select(t.tokens), *key, before).limit(limit), TokenRecord)

    def invitation(self, invitation: str) -> InvitationRecord | None:
        """One invitation."""
        query = select(t.invitations).where(t.invitations.c.invitation == invitation)
        return self._one(query, InvitationRecord)

    def invitations(
        self, before: tuple[datetime, str] | None, limit: int
    ) -> list[InvitationRecord]:
        """Invitations, newest first, then by name; `before` is as `after` in `submissions`."""
        key = (t.invitations.c.create_time, t.invitations.c.invitation)
        query = newest_first(select(t.invitations), *key, before)
        return self._all(query.limit(limit), InvitationRecord)

    def operation(self, operation: str) -> OperationRecord | None:
        """One operation."""
        query = select(t.operations).where(t.operations.c.operation == operation)
        return self._one(query, OperationRecord)

    def operations(self, after: str, limit: int) -> list[OperationRecord]:
        """Operations with names after `after`, by name."""
        name = t.operations.c.operation
        query = select(t.operations).where(name > after).order_by(name).limit(limit)
        return self._all(query, OperationRecord)

    def unfinished_operations(self) -> list[OperationRecord]:
        """Operations that are not done, oldest first."""
        query = select(t.operations).where(t.operations.c.done.is_(False))
        ordered = query.order_by(t.operations.c.create_time, t.operations.c.operation)
        return self._all(ordered, OperationRecord)

    def audit_records(
        self, before: int | None, limit: int, wanted: AuditFilter = AuditFilter()
    ) -> list[AuditRecord]:
        """Matching audit records with numbers below `before` (None: all), newest first."""
        query = select(t.audit).order_by(t.audit.c.number.desc()).limit(limit)
        return self._all(query.where(*_audit_conditions(before, wanted)), AuditRecord)

    def audit_of(self, resource: str, since: datetime, limit: int) -> list[AuditRecord]:
        """The newest audit records of a resource and its children, from a time on."""
        c = t.audit.c
        below = (c.resource >= f"{resource}/") & (c.resource < f"{resource}0")  # "0" follows "/"
        found = [
            record
            for among in (c.resource == resource, below)  # each uses the index
            for record in self._all(
                select(t.audit)
                .where(among, c.time >= to_microseconds(since))
                .order_by(c.number.desc())
                .limit(limit),
                AuditRecord,
            )
        ]
        return sorted(found, key=lambda record: record.number, reverse=True)[:limit]

    def response(self, caller: str, request_id: str) -> tuple[str, bytes] | None:
        """Digest of a request, and the response to it."""
        query = select(t.responses.c.digest, t.responses.c.response).where(
            t.responses.c.caller == caller, t.responses.c.request_id == request_id
        )
        row = self._connection.execute(query).one_or_none()
        return None if row is None else (row[0], bytes(row[1]))

    def size_bytes(self) -> int:
        """Size of the database."""
        return dump.size_bytes(self._connection)

    def schema(self) -> str:
        """Revision of the tables; rows fit a store of the same revision."""
        return schema_of(self._connection) or ""

    def is_empty(self) -> bool:
        """Whether the store has only the site's secret."""
        return dump.is_empty(self._connection)

    def dump(self, benchmark: str | None) -> Iterator[Row]:
        """Every row, or the rows of one benchmark, parents first.

        Leases are left out: they are valid only here.
        """
        return dump.dump_rows(self._connection, benchmark)

    # --- Counts for boards and quotas

    def scored_count(self, benchmark: str, team: str, since: datetime | None) -> int:
        """Number of a team's submissions that count as scored, since a time or ever.

        These are submissions with frames that are scored or will be, and those with a score that
        was shown before they ended. A sealed one counts from its seal time, any other from its
        state time.
        """
        query = (
            select(func.count())
            .select_from(t.submissions.join(t.benchmarks))
            .where(
                t.benchmarks.c.benchmark == benchmark,
                t.submissions.c.team == team,
                *_COUNTED,
            )
        )
        if since is not None:
            counted = func.coalesce(t.submissions.c.seal_time, t.submissions.c.state_time)
            query = query.where(counted >= to_microseconds(since))
        return int(self._connection.execute(query).scalar_one())

    def scored_counts(self, benchmark: str, teams: Collection[str]) -> dict[str, int]:
        """`scored_count` of each team with any such submissions."""
        query = self._counted_by_team(benchmark).where(t.submissions.c.team.in_(teams))
        return {team: int(count) for team, count in self._connection.execute(query)}

    def scored_totals(self, benchmark: str) -> ScoredTotals:
        """Totals of the same over all teams."""
        by_team = self._counted_by_team(benchmark).subquery()
        count = by_team.c.count
        query = select(
            func.count(), func.coalesce(func.sum(count), 0), func.coalesce(func.max(count), 0)
        ).select_from(by_team)
        return ScoredTotals(*map(int, self._connection.execute(query).one()))

    def scored_names(self, benchmark: str) -> tuple[str, ...]:
        """Names of the scored submissions with frames, in order of sealing."""
        return tuple(self._connection.execute(_scored_names(benchmark)).scalars())

    def waiting_names(
        self, benchmark: str, bases: Mapping[str, tuple[int, str]], failed: str
    ) -> tuple[str, ...]:
        """The scored submissions that lack a score, except those whose re-scoring failed.

        Args:
            benchmark: The benchmark.
            bases: By evaluator, revision of the truth and configuration of the wanted score.
            failed: The mark of a submission whose scoring under these bases failed.
        """
        s = t.scores.c
        of_submission = s.submission_id == t.submissions.c.id
        lacks = [
            ~exists().where(
                of_submission,
                s.evaluator == evaluator,
                s.truth_revision == truth_revision,
                s.configuration == configuration,
            )
            for evaluator, (truth_revision, configuration) in bases.items()
        ]
        f = t.failed_rescorings.c
        cannot = exists().where(f.submission_id == t.submissions.c.id, f.basis == failed)
        query = _scored_names(benchmark).where(or_(false(), *lacks), ~cannot)
        return tuple(self._connection.execute(query).scalars())

    def newest_scored_truth(self, benchmark: str) -> int:
        """The newest revision of the truth under which anything was scored; 0 for none."""
        query = (
            select(func.coalesce(func.max(t.scores.c.truth_revision), 0))
            .select_from(t.scores.join(t.submissions).join(t.benchmarks))
            .where(t.benchmarks.c.benchmark == benchmark)
        )
        return int(self._connection.execute(query).scalar_one())

    def ranked_versions(
        self, benchmark: str, evaluator: str, truth_revision: int, configuration: str
    ) -> dict[str, RankedVersion]:
        """By scored submission, a version that changes whenever its place on a board may change.

        Args:
            benchmark: The benchmark.
            evaluator: The evaluator that ranks.
            truth_revision: Revision of the truth of the compared scores.
            configuration: Their configuration.
        """
        s = t.scores.c
        newest = (
            select(func.max(s.number))
            .where(
                s.submission_id == t.submissions.c.id,
                s.evaluator == evaluator,
                s.truth_revision == truth_revision,
                s.configuration == configuration,
            )
            .scalar_subquery()
        )
        query = _scored(benchmark, t.submissions.c.submission, t.submissions.c.revision, newest)
        rows = self._connection.execute(query).all()
        return {name: RankedVersion(revision, number) for name, revision, number in rows}

    def _counted_by_team(self, benchmark: str) -> Select[Any]:
        return (
            select(t.submissions.c.team, func.count().label("count"))
            .select_from(t.submissions.join(t.benchmarks))
            .where(t.benchmarks.c.benchmark == benchmark, *_COUNTED)
            .group_by(t.submissions.c.team)
        )

    def board_stamp(self, benchmark: str) -> tuple[int, int, int]:
        """Numbers that change with a benchmark's boards, unless its record's revision does.

        Scores and submissions with frames are only ever added, and each change of a submission
        increments its revision.
        """
        c = t.submissions.c
        of_benchmark = t.benchmarks.c.benchmark == benchmark
        submissions = (
            select(func.count(), func.coalesce(func.sum(c.revision), 0))
            .select_from(t.submissions.join(t.benchmarks))
            .where(of_benchmark, HAS_FRAMES)
        )
        scores = (
            select(func.count())
            .select_from(t.scores.join(t.submissions).join(t.benchmarks))
            .where(of_benchmark)
        )
        count, revisions = self._connection.execute(submissions).one()
        return int(count), int(revisions), int(self._connection.execute(scores).scalar_one())

    def scored_submissions(self, benchmark: str) -> dict[str, SubmissionRecord]:
        """The scored submissions with frames, by name."""
        query = _scored(benchmark, t.submissions, t.benchmarks.c.benchmark)
        return {record.submission: record for record in self._all(query, SubmissionRecord)}


def newest_first(
    query: Select[Any], time: Column[int], name: Column[str], last: tuple[datetime, str] | None
) -> Select[Any]:
    """Rows sorted by time, newest first, then by name; after the last row of a page, if any."""
    if last is not None:
        at = to_microseconds(last[0])
        query = query.where(or_(time < at, and_(time == at, name > last[1])))
    return query.order_by(time.desc(), name)


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


def _scored(benchmark: str, *columns: Any) -> Select[Any]:
    """Select columns of the scored submissions with frames."""
    return (
        select(*columns)
        .select_from(t.submissions.join(t.benchmarks))
        .where(
            t.benchmarks.c.benchmark == benchmark,
            t.submissions.c.state == SubmissionState.SCORED.value,
            HAS_FRAMES,
        )
    )


def _scored_names(benchmark: str) -> Select[Any]:
    names = _scored(benchmark, t.submissions.c.submission)
    return names.order_by(_SEALED_AT, t.submissions.c.submission)

"""Queries for boards: what counts as scored, by team and in all, and whether that has changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Select, exists, false, func, or_, select

from vidscore_server.store import tables as t
from vidscore_server.store.records import (
    RankedVersion,
    ScoredTotals,
    SubmissionRecord,
    SubmissionState,
)
from vidscore_server.store.site_reader import SiteReader
from vidscore_server.store.tables import to_microseconds

ENDED_WITHOUT_SCORE = (SubmissionState.FAILED, SubmissionState.CANCELLED)
HAS_FRAMES = t.submissions.c.frame_count > 0
COUNTED_STATES = tuple(state.value for state in SubmissionState if state not in ENDED_WITHOUT_SCORE)
_COUNTED = (
    or_(t.submissions.c.state.in_(COUNTED_STATES), t.submissions.c.score_shown),
    HAS_FRAMES,
)

_SEALED_AT = func.coalesce(t.submissions.c.seal_time, t.submissions.c.create_time)


class BoardReader(SiteReader):
    """What boards and quotas count."""

    def scored_count(self, benchmark: str, team: str, since: datetime | None) -> int:
        """Submissions of a team that count as scored, since a time or ever.

        These are submissions with frames that are scored or will be, and those of which a score
        was shown before they ended. A sealed one counts from its seal time, another one from its
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
        """Submissions that count as scored, as `scored_count` has them, of those teams with any."""
        query = self._counted_by_team(benchmark).where(t.submissions.c.team.in_(teams))
        return {team: int(count) for team, count in self._connection.execute(query)}

    def scored_totals(self, benchmark: str) -> ScoredTotals:
        """The same of all teams together."""
        by_team = self._counted_by_team(benchmark).subquery()
        count = by_team.c.count
        query = select(
            func.count(), func.coalesce(func.sum(count), 0), func.coalesce(func.max(count), 0)
        ).select_from(by_team)
        return ScoredTotals(*map(int, self._connection.execute(query).one()))

    def scored_names(self, benchmark: str) -> tuple[str, ...]:
        """Names of the submissions with frames that are scored, in the order of their sealing."""
        return tuple(self._connection.execute(_scored_names(benchmark)).scalars())

    def waiting_names(
        self, benchmark: str, bases: Mapping[str, tuple[int, str]], failed: str
    ) -> tuple[str, ...]:
        """Those of them that lack a score, but for those that cannot have one.

        Args:
            benchmark: The benchmark.
            bases: Revision of the truth and configuration by evaluator, of the scores wanted.
            failed: What a submission is noted with that could not be scored under these.
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
        """The newest revision of the truth that anything was scored under; 0 for none."""
        query = (
            select(func.coalesce(func.max(t.scores.c.truth_revision), 0))
            .select_from(t.scores.join(t.submissions).join(t.benchmarks))
            .where(t.benchmarks.c.benchmark == benchmark)
        )
        return int(self._connection.execute(query).scalar_one())

    def ranked_versions(
        self, benchmark: str, evaluator: str, truth_revision: int, configuration: str
    ) -> dict[str, RankedVersion]:
        """What differs once the place of a scored submission on a board may, by submission.

        Args:
            benchmark: The benchmark.
            evaluator: The evaluator that ranks.
            truth_revision: Revision of the truth of the scores that are compared.
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
        """What differs once a board of a benchmark may, but for what its record's revision counts.

        Scores and submissions with frames are only added to, and each change of a submission
        counts its revision up.
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
        """The submissions with frames that are scored, by name."""
        query = _scored(benchmark, t.submissions, t.benchmarks.c.benchmark)
        return {record.submission: record for record in self._all(query, SubmissionRecord)}


def _scored(benchmark: str, *columns: Any) -> Select[Any]:
    """Columns of the submissions with frames that are scored."""
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

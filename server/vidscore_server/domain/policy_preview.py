"""What teams see of their scores now, and after a change of a benchmark.

The change is made, viewed as each team, and undone, all in one transaction: the preview is the real
result, not a model of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from msgspec import Struct, field

from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.report import Report
from vidscore_server.domain.access import Caller
from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.context import Context, Request
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.leaderboard import Board, RankedEntry, ranked_entries
from vidscore_server.domain.private_part import answered_portion
from vidscore_server.domain.release import Released, released_report, sees_board, values_from_json
from vidscore_server.domain.scores import readable, released_step, unpack_score
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.records import BenchmarkRecord, Role, ScoreRecord, SubmissionState


class SeenScores(Struct, frozen=True):
    """What a team sees under one evaluator.

    Attributes:
        submission: Its submission on the board that it sees; empty for none.
        rank: Its rank there; 0 for none.
        values: Its values there.
        score_count: Number of scores that it sees in the report of its newest scored submission.
        curve_count: Number of curves that it sees there.
        outcome_submission_count: Number of submissions whose outcomes it may read.
    """

    submission: str = ""
    rank: int = 0
    values: Mapping[str, float | None] = field(default_factory=dict)
    score_count: int = 0
    curve_count: int = 0
    outcome_submission_count: int = 0


class TeamView(Struct, frozen=True):
    """What a team sees of a benchmark under an evaluator, before and after the change."""

    benchmark: str
    team: str
    evaluator: str
    now: SeenScores
    then: SeenScores


class Preview(Struct, frozen=True):
    """The result that an update would have.

    Attributes:
        record: The changed benchmark.
        to_rescore: Number of submissions that would be scored again.
        views: What teams see, before and after.
    """

    record: BenchmarkRecord
    to_rescore: int
    views: tuple[TeamView, ...]


class _UndoneError(Exception):
    """Rolls back a change after its preview."""

    def __init__(self, preview: Preview) -> None:
        self.preview = preview
        super().__init__("the change was only looked at")


async def preview_update(
    context: Context,
    benchmarks: Benchmarks,
    request: Request,
    record: BenchmarkRecord,
    definition: Definition,
    etag: str,
) -> Preview:
    """Preview an update of a benchmark; nothing is changed.

    Args:
        context: The hosting context.
        benchmarks: The benchmarks of the site.
        request: The request.
        record: The benchmark.
        definition: Its new definition.
        etag: As for `Benchmarks.update`.

    Raises:
        EtagDiffersError: If the benchmark has another etag.
        OvertakenError: As for `Benchmarks.update`.
        NotFoundError: If there is no such benchmark.
        SpecificationError: If a title or name holds control characters.
    """

    def command(transaction: Transaction) -> None:
        present = required_benchmark(transaction, record.benchmark)
        before = benchmarks.definition(present)
        now = seen_by_teams(transaction, present.benchmark, before, request.time)
        changed, to_rescore = benchmarks.change(transaction, request, record, definition, etag)
        after = benchmarks.definition(changed)
        then = seen_by_teams(transaction, present.benchmark, after, request.time)
        nothing = SeenScores()
        views = tuple(
            TeamView(present.benchmark, *key, now.get(key, nothing), then.get(key, nothing))
            for key in sorted(now.keys() | then.keys())
        )
        raise _UndoneError(Preview(changed, to_rescore, views))

    try:
        await context.write(command)
    except _UndoneError as undone:
        return undone.preview
    raise AssertionError("a preview always ends by undoing its change")


def seen_by_teams(
    reader: Reader, benchmark: str, definition: Definition, now: datetime
) -> dict[tuple[str, str], SeenScores]:
    """What each team sees of its own scores, by team and evaluator; a damaged score is left out.

    Args:
        reader: A state of the store.
        benchmark: The benchmark.
        definition: Its definition there.
        now: The time.
    """
    found: dict[tuple[str, str], SeenScores] = {}
    for evaluator in definition.evaluators:
        newest, counts = _newest_of_teams(reader, benchmark, evaluator.name)
        board = Board(benchmark, evaluator)
        everybody = Caller(role=Role.PARTICIPANT)
        sees = sees_board(everybody, definition.policy)
        rows = ranked_entries(reader, definition, board, everybody, now) if sees else []
        shown = _rows_of_teams(rows)
        names = list(definition.ranking(evaluator))
        for team, score in newest.items():
            row = shown.get(team)
            seen = readable(score, partial(_seen_report, definition, evaluator, team, score))
            if seen is None:
                continue
            found[team, evaluator.name] = SeenScores(
                submission="" if row is None else row.entry.submission,
                rank=0 if row is None else row.rank,
                values={} if row is None else dict(zip(names, row.entry.values, strict=True)),
                score_count=sum(1 for _ in seen.rows()),
                curve_count=len(seen.curves),
                outcome_submission_count=(
                    counts[team] if definition.policy.shows_own_outcomes else 0
                ),
            )
    return found


def _seen_report(
    definition: Definition, evaluator: Evaluator[Any], team: str, score: ScoreRecord
) -> Report:
    """The part of a score's report that its team sees."""
    report, submitted = unpack_score(score, answered_portion(definition.policy))
    released = Released(
        values_from_json(score.released), released_step(definition, evaluator, score)
    )
    caller = Caller(role=Role.PARTICIPANT, team=team)
    return released_report(caller, definition, report, released, submitted, str)


def _newest_of_teams(
    reader: Reader, benchmark: str, evaluator: str
) -> tuple[dict[str, ScoreRecord], dict[str, int]]:
    """By team, the published score of its last sealed submission, and its number of submissions."""
    newest: dict[str, tuple[object, ScoreRecord]] = {}
    counts: dict[str, int] = {}
    for score in reader.published_scores(benchmark, evaluator):
        submission = reader.submission(benchmark, score.submission)
        if submission is None or submission.state is not SubmissionState.SCORED:
            continue
        counts[submission.team] = counts.get(submission.team, 0) + 1
        key = (submission.seal_time or submission.create_time, submission.submission)
        if submission.team not in newest or newest[submission.team][0] < key:  # type: ignore[operator]
            newest[submission.team] = (key, score)
    return {team: score for team, (_, score) in newest.items()}, counts


def _rows_of_teams(rows: Iterable[RankedEntry]) -> dict[str, RankedEntry]:
    """The first row of each team that is not disqualified."""
    found: dict[str, RankedEntry] = {}
    for row in rows:
        if not row.entry.disqualification:
            found.setdefault(row.entry.team, row)
    return found

"""Scores as they are kept: written once, never changed; what each releases is fixed with it."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.report_json import report_from_dict, report_to_json
from vidscore_server.hosting.definition import Definition
from vidscore_server.hosting.release import (
    Values,
    released_values,
    values_from_json,
    values_of,
    values_to_json,
)
from vidscore_server.store.contract import Reader, Transaction
from vidscore_server.store.records import ReleaseRecord, ScoreRecord, SubmissionRecord


@dataclass(frozen=True)
class Result:
    """What scoring a submission once gave, ready to be kept.

    Attributes:
        evaluator: The evaluator.
        report: Its report, as it is kept.
        values: Its ranking measures.
        truth_revision: Revision of the truth that it is under.
        partial: Whether the truth was not complete.
        warnings: What is doubtful about the submission now that it has met the truth.
    """

    evaluator: Evaluator[Any]
    report: bytes
    values: dict[str, float | None]
    truth_revision: int
    partial: bool
    warnings: tuple[str, ...] = ()


def make_result(
    definition: Definition,
    evaluator: Evaluator[Any],
    report: Report,
    revision: int,
    *,
    partial: bool,
) -> Result:
    """Prepare a report for keeping."""
    values = values_of(report, list(definition.ranking(evaluator)))
    packed = zlib.compress(report_to_json(report, indent=None).encode())
    return Result(evaluator, packed, values, revision, partial)


def unpack_report(record: ScoreRecord) -> Report:
    """The report of a score."""
    return report_from_dict(json.loads(zlib.decompress(record.report)))


def insert_result(
    transaction: Transaction,
    definition: Definition,
    submission: SubmissionRecord,
    result: Result,
    now: datetime,
) -> ScoreRecord:
    """Keep a score, and note what it releases to its team.

    Args:
        transaction: Where.
        definition: The benchmark.
        submission: The submission.
        result: The score.
        now: The time.
    """
    name = result.evaluator.name
    directions = definition.ranking(result.evaluator)
    best = team_release(transaction, submission.benchmark, name, submission.team)
    released = released_values(definition.policy, best, result.values, directions)
    if released != best:
        _put_release(transaction, submission, name, released, now)
    return insert_score(transaction, submission, result, released, now)


def insert_score(
    transaction: Transaction,
    submission: SubmissionRecord,
    result: Result,
    released: Values,
    now: datetime,
) -> ScoreRecord:
    """Keep a score with what it releases.

    Args:
        transaction: Where.
        submission: The submission.
        result: The score.
        released: The team's released values once the score is there.
        now: The time.
    """
    return transaction.insert_score(
        ScoreRecord(
            benchmark=submission.benchmark,
            submission=submission.submission,
            number=0,
            evaluator=result.evaluator.name,
            truth_revision=result.truth_revision,
            partial=result.partial,
            create_time=now,
            configuration=result.evaluator.identity,
            values=values_to_json(result.values),
            released=values_to_json(released) if released else "",
            report=result.report,
        )
    )


def replay_releases(
    transaction: Transaction, definition: Definition, benchmark: str, now: datetime
) -> None:
    """Work out anew what is released to every team, from the newest scores.

    Args:
        transaction: Where.
        definition: The benchmark.
        benchmark: Its name.
        now: The time.
    """
    for evaluator in definition.evaluators:
        directions = definition.ranking(evaluator)
        scored = [
            (submission, score)
            for score in transaction.current_scores(benchmark, evaluator.name)
            if (submission := transaction.submission(benchmark, score.submission)) is not None
        ]
        best: dict[str, Values] = {}
        for submission, score in sorted(scored, key=lambda pair: sealing_order(pair[0])):
            before = best.get(submission.team, {})
            values = values_from_json(score.values)
            released = released_values(definition.policy, before, values, directions)
            if released != before:
                best[submission.team] = released
                _put_release(transaction, submission, evaluator.name, released, now)


def _put_release(
    transaction: Transaction,
    submission: SubmissionRecord,
    evaluator: str,
    released: Values,
    now: datetime,
) -> None:
    transaction.put_release(
        ReleaseRecord(
            benchmark=submission.benchmark,
            evaluator=evaluator,
            team=submission.team,
            submission=submission.submission,
            values=values_to_json(released),
            release_time=now,
        )
    )


def sealing_order(record: SubmissionRecord) -> tuple[datetime, str]:
    """Sorts submissions in the order in which they were sealed."""
    return (record.seal_time or record.create_time, record.submission)


def team_release(reader: Reader, benchmark: str, evaluator: str, team: str) -> Values:
    """What was last released to a team; empty where nothing was."""
    for record in reader.releases(benchmark, evaluator):
        if record.team == team:
            return values_from_json(record.values)
    return {}

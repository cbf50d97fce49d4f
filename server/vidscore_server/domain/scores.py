"""Stored scores: written once, and published when they get on the board.

A score on the board's basis is published at once, and releases what the policy permits. Any other
is seen by organisers alone until the board moves to its basis; then the Ladder's releases are
recomputed, as if there had been no other board.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.report import Report, report_from_dict, report_to_dict
from vidscore_server.domain.basis import (
    Basis,
    BoardState,
    Key,
    board_state,
    sealing_order,
    shown_basis,
)
from vidscore_server.domain.batches import inflate
from vidscore_server.domain.context import audit_server
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.names import benchmark_name
from vidscore_server.domain.policy import Rescore, SubmittedNames
from vidscore_server.domain.release import (
    Values,
    released_values,
    values_from_json,
    values_of,
    values_to_json,
)
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.records import (
    BenchmarkRecord,
    ReleaseRecord,
    ScoreRecord,
    SubmissionRecord,
)

_SUBMITTED = "submitted"
LEAST_REPORT_BYTES = 16 << 20
"""Bytes that every report may have when it is unpacked."""

GREATEST_COMPRESSION = 64
"""How much larger an unpacked report may be; rows that differ in figures reach a quarter of it."""

MAXIMUM_SCORES = 10_000
"""Most scores of a submission that are looked through."""


@dataclass(frozen=True)
class Result:
    """Result of scoring a submission once, ready to be stored.

    Attributes:
        evaluator: The evaluator.
        report: Its report, as it is kept.
        values: Its ranking measures.
        truth_revision: Revision of the truth that it is under.
        configuration: Evaluator with version, parameters and specification, as a digest.
        partial: Whether the truth was not complete.
        warnings: Doubts about the submission, found with the truth.
    """

    evaluator: Evaluator[Any]
    report: bytes
    values: dict[str, float | None]
    truth_revision: int
    configuration: str
    partial: bool
    warnings: tuple[str, ...] = ()


def make_result(
    definition: Definition,
    evaluator: Evaluator[Any],
    report: Report,
    revision: int,
    *,
    partial: bool,
    submitted: SubmittedNames,
) -> Result:
    """Prepare a report for keeping, with the names that the submission has beside it."""
    values = values_of(report, list(definition.ranking(evaluator)))
    document = report_to_dict(report)
    document[_SUBMITTED] = {
        "domains": sorted(submitted.domains),
        "labels": sorted(submitted.labels),
    }
    packed = zlib.compress(orjson.dumps(document))
    configuration = definition.configurations[evaluator.name]
    return Result(evaluator, packed, values, revision, configuration, partial)


def unpack_report(record: ScoreRecord) -> Report:
    """The report of a score.

    Raises:
        StoreDamagedError: If it is not what was kept, or grows beyond all measure.
    """
    return unpack_score(record)[0]


def unpack_score(record: ScoreRecord) -> tuple[Report, SubmittedNames]:
    """The report of a score, and the names that the submission has; none where it is not kept.

    Raises:
        StoreDamagedError: As for `unpack_report`.
    """
    return report_of(record.report)


def report_of(packed: bytes) -> tuple[Report, SubmittedNames]:
    """A report and names out of their stored form; see `unpack_score`."""
    most = max(LEAST_REPORT_BYTES, GREATEST_COMPRESSION * len(packed))
    document = json.loads(inflate(packed, most))
    names = {kind: frozenset(kept) for kind, kept in document.pop(_SUBMITTED, {}).items()}
    return report_from_dict(document), SubmittedNames(**names)


def submitted_names(detections: Annotations) -> SubmittedNames:
    """Names of the domains and labels that detections have."""
    domains = frozenset(key.domain for key in detections.sequences)
    return SubmittedNames(domains, frozenset(map(str.casefold, detections.labels)))


def ranking_values(score: ScoreRecord, names: Sequence[str]) -> dict[str, float | None]:
    """Ranking measures of a score over everything, also where others ranked when it was made."""
    kept = values_from_json(score.values)
    if not set(names) <= kept.keys():
        kept = values_of(unpack_report(score), names)
    return {name: kept[name] for name in names}


def keep_result(
    transaction: Transaction,
    definition: Definition,
    submission: SubmissionRecord,
    result: Result,
    now: datetime,
) -> None:
    """Store a score; one on the board's basis is published.

    Any other is a change of the benchmark, which makes servers look at its board.

    Args:
        transaction: Where.
        definition: The benchmark.
        submission: The submission.
        result: The score.
        now: The time.
    """
    benchmark = transaction.benchmark(submission.benchmark)
    shown = None if benchmark is None else shown_basis(benchmark)
    name = result.evaluator.name
    key = (result.truth_revision, result.configuration)
    record = ScoreRecord(
        benchmark=submission.benchmark,
        submission=submission.submission,
        number=0,
        evaluator=name,
        truth_revision=result.truth_revision,
        partial=result.partial,
        create_time=now,
        configuration=result.configuration,
        values=values_to_json(result.values),
        released="",
        report=result.report,
        published=False,
    )
    if shown is not None and shown.key(name) == key:
        released = _released_with(transaction, definition, submission, result, now)
        record = replace(record, released=released, published=True)
    elif benchmark is not None:
        transaction.update_benchmark(replace(benchmark, revision=benchmark.revision + 1))
    transaction.insert_score(record)


def move_board(
    transaction: Transaction,
    definition: Definition,
    benchmark: str,
    now: datetime,
    *,
    wanted: Basis | None = None,
    publishing: bool = False,
) -> BoardState | None:
    """Move the board of a benchmark where it may move: in this transaction, all of it.

    Args:
        transaction: Where.
        definition: The benchmark.
        benchmark: Its name.
        now: The time.
        wanted: The basis to show; None for the one that follows from the benchmark.
        publishing: Whether an organiser, who has seen the differences, asks for it.

    Returns:
        Where it stands then; None where there is no such benchmark.
    """
    record = transaction.benchmark(benchmark)
    if record is None:
        return None
    state = board_state(transaction, definition, record, wanted)
    may_move = state.is_ready if publishing else moves_by_itself(definition, state)
    if state.wanted is None or not may_move:
        return state
    for evaluator in definition.evaluators:
        key = state.wanted.key(evaluator.name)
        if key is not None and (state.shown is None or state.shown.key(evaluator.name) != key):
            _publish(transaction, definition, evaluator, benchmark, key, now)
    moved = replace(record, board=state.wanted.to_json(), revision=record.revision + 1)
    transaction.update_benchmark(moved)
    before = "" if state.shown is None else f"{state.shown.truth_revision} -> "
    detail = f"truth revision {before}{state.wanted.truth_revision}"
    audit_server(transaction, now, "board moved", benchmark_name(benchmark), detail)
    return replace(state, shown=state.wanted)


def moves_by_itself(definition: Definition, state: BoardState) -> bool:
    """Whether a board is to move now without an organiser; the first one always does."""
    reviewed = Rescore(definition.policy.rescore) is Rescore.REVIEW and state.shown is not None
    return state.is_ready and not reviewed


def publish_anew(
    transaction: Transaction, definition: Definition, record: BenchmarkRecord, now: datetime
) -> None:
    """Recompute what the scores on a benchmark's board release, by other rules.

    Args:
        transaction: Where.
        definition: The benchmark, with the policy that holds now.
        record: Its record.
        now: The time.
    """
    shown = shown_basis(record)
    for evaluator in definition.evaluators:
        key = None if shown is None else shown.key(evaluator.name)
        if key is not None:
            _publish(transaction, definition, evaluator, record.benchmark, key, now)


def _publish(
    transaction: Transaction,
    definition: Definition,
    evaluator: Evaluator[Any],
    benchmark: str,
    key: Key,
    now: datetime,
) -> None:
    """Publish the scores of an evaluator, in the order in which submissions were sealed."""
    transaction.delete_releases(benchmark, evaluator.name)
    scales = definition.scales(evaluator)
    scored = [
        (submission, score)
        for score in transaction.scores_under(benchmark, evaluator.name, *key)
        if (submission := transaction.submission(benchmark, score.submission)) is not None
    ]
    best: dict[str, Values] = {}
    for submission, score in sorted(scored, key=lambda pair: sealing_order(pair[0])):
        before = best.get(submission.team, {})
        if submission.disqualification:
            transaction.publish_score(score)  # it releases nothing more than it has
            continue
        values = ranking_values(score, list(scales))
        released = released_values(definition.policy, before, values, scales)
        if released != before:
            best[submission.team] = released
            _put_release(transaction, submission, evaluator.name, released, now)
        transaction.publish_score(replace(score, released=_released_text(released)))


def _released_with(
    transaction: Transaction,
    definition: Definition,
    submission: SubmissionRecord,
    result: Result,
    now: datetime,
) -> str:
    """What a score on the board releases; a repeated one releases nothing more."""
    name = result.evaluator.name
    key = (result.truth_revision, result.configuration)
    place = (submission.benchmark, submission.submission)
    for score in transaction.scores(*place, None, MAXIMUM_SCORES, published_only=True):
        if score.evaluator == name and (score.truth_revision, score.configuration) == key:
            return score.released
    scales = definition.scales(result.evaluator)
    best = team_release(transaction, submission.benchmark, name, submission.team)
    if submission.disqualification:
        return _released_text(best)
    released = released_values(definition.policy, best, result.values, scales)
    if released != best:
        _put_release(transaction, submission, name, released, now)
    return _released_text(released)


def _released_text(released: Values) -> str:
    return values_to_json(released) if released else ""


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


def team_release(reader: Reader, benchmark: str, evaluator: str, team: str) -> Values:
    """What was last released to a team; empty where nothing was."""
    for record in reader.releases(benchmark, evaluator):
        if record.team == team:
            return values_from_json(record.values)
    return {}

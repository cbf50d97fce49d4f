"""Publish scores when they get on the board, and release what the policy permits.

A score on the board's basis is published at once, and releases what the policy permits. Only
organisers see any other score until the board moves to its basis; then the Ladder's releases are
recomputed, as if there had been no other board.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from msgspec import structs

from vidscore_evaluators.evaluator import Evaluator
from vidscore_server.domain.basis import (
    Basis,
    BoardState,
    Key,
    board_state,
    sealing_order,
    shown_basis,
)
from vidscore_server.domain.context import audit_server
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.names import benchmark_name
from vidscore_server.domain.policy import Visibility
from vidscore_server.domain.private_part import Portion, answered_portion
from vidscore_server.domain.release import (
    Values,
    released_values,
    shown_values,
    values_from_json,
    values_to_json,
)
from vidscore_server.domain.scores import (
    MAXIMUM_SCORES,
    Result,
    ranking_values,
    readable,
    released_step,
)
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.records import (
    BenchmarkRecord,
    ReleaseRecord,
    ScoreRecord,
    SubmissionRecord,
)


def keep_result(
    transaction: Transaction,
    definition: Definition,
    submission: SubmissionRecord,
    result: Result,
    now: datetime,
) -> None:
    """Store a score; one on the board's basis is published.

    This changes the benchmark's record, which makes servers examine its board and tiers.

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
        released="",
        published=False,
        **_columns(result),
    )
    if shown is not None and shown.key(name) == key:
        released, step = _released_with(transaction, definition, submission, result, now)
        record = structs.replace(record, released=released, released_step=step, published=True)
    transaction.insert_score(record)
    if benchmark is not None:
        transaction.update_benchmark(structs.replace(benchmark, revision=benchmark.revision + 1))


def _columns(result: Result) -> dict[str, Any]:
    """Columns of a score record for the parts of a result."""
    parts = result.parts
    columns: dict[str, Any] = {
        "values": values_to_json(parts[Portion.WHOLE].values),
        "report": parts[Portion.WHOLE].report,
        "estimate": "" if result.estimate is None else values_to_json(result.estimate),
    }
    for portion in (Portion.PUBLIC, Portion.PRIVATE):
        if portion in parts:
            columns[f"{portion}_values"] = values_to_json(parts[portion].values)
            columns[f"{portion}_report"] = parts[portion].report
    return columns


def move_board(
    transaction: Transaction,
    definition: Definition,
    benchmark: str,
    now: datetime,
    *,
    wanted: Basis | None = None,
    publishing: bool = False,
) -> BoardState | None:
    """Move the whole board of a benchmark in this transaction, if it may move.

    Args:
        transaction: The transaction.
        definition: The benchmark.
        benchmark: Its name.
        now: The time.
        wanted: The basis to show; None for the one that follows from the benchmark.
        publishing: Whether an organiser, who has seen the differences, asks for it.

    Returns:
        Its state afterwards; None if there is no such benchmark.
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
    moved = structs.replace(record, board=state.wanted.to_json(), revision=record.revision + 1)
    transaction.update_benchmark(moved)
    before = "" if state.shown is None else f"{state.shown.truth_revision} -> "
    detail = f"truth revision {before}{state.wanted.truth_revision}"
    audit_server(transaction, now, "board moved", benchmark_name(benchmark), detail)
    return structs.replace(state, shown=state.wanted)


def moves_by_itself(definition: Definition, state: BoardState) -> bool:
    """Whether a board moves now without an organiser; a benchmark's first board always does."""
    reviewed = definition.policy.rescore == "review" and state.shown is not None
    return state.is_ready and not reviewed


def publish_anew(
    transaction: Transaction, definition: Definition, record: BenchmarkRecord, now: datetime
) -> None:
    """Recompute what the scores on a benchmark's board release, by changed rules.

    Args:
        transaction: Where.
        definition: The benchmark, with its present policy.
        record: Its record.
        now: The time.
    """
    shown = shown_basis(record)
    for evaluator in definition.evaluators:
        key = None if shown is None else shown.key(evaluator.name)
        if key is not None:
            _publish(transaction, definition, evaluator, record.benchmark, key, now)


def release_what_was_shown(
    transaction: Transaction, definition: Definition, benchmark: str
) -> None:
    """Let each published score release what ``final`` has shown of it, and no further digit.

    Under ``ladder`` a team sees what each of its scores has released, also of those that are not
    on the board any more.

    Args:
        transaction: Where.
        definition: The benchmark under ``final``.
        benchmark: Its name.
    """
    evaluators = {entry.name: entry for entry in definition.evaluators}
    for submission in transaction.scored_submissions(benchmark):
        place = (benchmark, submission)
        for score in transaction.scores(*place, None, MAXIMUM_SCORES, published_only=True):
            evaluator = evaluators.get(score.evaluator)
            kept = readable(score, partial(values_from_json, score.released))
            text = ""
            if evaluator is not None and kept:
                step = released_step(definition, evaluator, score)
                text = _released_text(shown_values(kept, definition.scales(evaluator), step))
            transaction.publish_score(structs.replace(score, released=text))


def _answered_values(
    definition: Definition, score: ScoreRecord, names: Sequence[str]
) -> dict[str, float | None]:
    """Ranking measures of a score that go to the Ladder under the present policy.

    If the policy wants an estimate and the score has none for these measures, they are None.
    """
    if definition.policy.shown is Visibility.BOOTSTRAP:
        kept = values_from_json(score.estimate)
        return {name: kept.get(name) for name in names}
    return ranking_values(score, names, answered_portion(definition.policy))


def _values_to_release(
    definition: Definition,
    submission: SubmissionRecord,
    score: ScoreRecord,
    names: Sequence[str],
) -> Values:
    """Ranking measures of a score that a board is to release under the present policy.

    If the submission is disqualified or the score is damaged, these are the values that it has
    released already; there may be none.
    """
    if not submission.disqualification:
        values = readable(score, partial(_answered_values, definition, score, names))
        if values is not None:
            return values
    kept = readable(score, partial(values_from_json, score.released))
    return {name: kept.get(name) for name in names} if kept else {}


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
    scales, step = definition.scales(evaluator), definition.step(evaluator)
    scored = [
        (submission, score)
        for score in transaction.scores_under(benchmark, evaluator.name, *key)
        if (submission := transaction.submission(benchmark, score.submission)) is not None
    ]
    best: dict[str, Values] = {}
    for submission, score in sorted(scored, key=lambda pair: sealing_order(pair[0])):
        before = best.get(submission.team, {})
        values = _values_to_release(definition, submission, score, list(scales))
        released = (
            released_values(definition.policy, before, values, scales, step) if values else {}
        )
        if released not in ({}, before) and not submission.disqualification:
            best[submission.team] = released
            _put_release(transaction, submission, evaluator.name, released, now)
        text = _released_text(released)
        transaction.publish_score(structs.replace(score, released=text, released_step=step))


def _released_with(
    transaction: Transaction,
    definition: Definition,
    submission: SubmissionRecord,
    result: Result,
    now: datetime,
) -> tuple[str, float]:
    """The values that a score on the board releases, and their step; a repeat releases the same."""
    name = result.evaluator.name
    key = (result.truth_revision, result.configuration)
    place = (submission.benchmark, submission.submission)
    for score in transaction.scores(*place, None, MAXIMUM_SCORES, published_only=True):
        if score.evaluator == name and (score.truth_revision, score.configuration) == key:
            return score.released, released_step(definition, result.evaluator, score)
    scales = definition.scales(result.evaluator)
    best = team_release(transaction, submission.benchmark, name, submission.team)
    step = definition.step(result.evaluator)
    if submission.disqualification:
        return _released_text(best), step
    released = released_values(definition.policy, best, result.answered, scales, step)
    if released != best:
        _put_release(transaction, submission, name, released, now)
    return _released_text(released), step


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
    """The values last released to a team; empty if none were, or they are damaged."""
    for record in reader.releases(benchmark, evaluator):
        if record.team == team:
            return readable(record, partial(values_from_json, record.values)) or {}
    return {}

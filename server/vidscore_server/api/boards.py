"""Leaderboards, and teams' views of their scores, as messages."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_protos.v1 import benchmark_service_pb2 as pb
from vidscore_protos.v1 import organiser_pb2
from vidscore_server.api.convert import write_curve, write_time
from vidscore_server.api.kept_answers import next_change
from vidscore_server.api.requests import page_size_of, read_page_token, write_page_token
from vidscore_server.domain.access import Caller
from vidscore_server.domain.basis import board_state, newest_complete, shown_basis
from vidscore_server.domain.benchmarks import Benchmarks
from vidscore_server.domain.board_rows import (
    KeptBoards,
    RowDetails,
    further_measures,
    public_sequence_count,
    row_details,
)
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.leaderboard import APART, Board, RankedEntry, refuse_unknown_part
from vidscore_server.domain.names import SubmissionName, benchmark_name, read_benchmark
from vidscore_server.domain.policy_preview import SeenScores, TeamView
from vidscore_server.domain.release import sees_board, sees_parts
from vidscore_server.domain.tiers import ShownTiers, shown_tiers
from vidscore_server.errors import NotReleasedError
from vidscore_server.store import Reader

DEFAULT_ROWS = 500
"""Default size of a page: each page takes as long as it takes to look at the whole board."""


def board_page(
    reader: Reader,
    benchmarks: Benchmarks,
    boards: KeptBoards,
    request: pb.GetLeaderboardRequest,
    caller: Caller,
    now: datetime,
) -> tuple[pb.GetLeaderboardResponse, datetime | None]:
    """A page of a board, as the caller may see it, and when time changes it next.

    Args:
        reader: A state of the store.
        benchmarks: The benchmarks.
        boards: Cached boards.
        request: The request.
        caller: The caller.
        now: The time.

    Raises:
        NotFoundError: If there is no such benchmark.
        NotReleasedError: If the board, or the requested part of it, is not released to the caller.
        InputError: If there is no such evaluator, domain or class.
    """
    name = read_benchmark(request.benchmark, "benchmark")
    size = page_size_of(request, DEFAULT_ROWS)
    [start] = read_page_token(request, int) or (0,)
    record = benchmarks.seen(reader, name, caller)
    definition = benchmarks.definition(record)
    board = _board_of(request, name, definition, caller)
    entries = boards.entries(reader, definition, record, board, caller, now)
    if not entries and not board.of_everything:
        refuse_unknown_part(reader, definition, board, caller, now)
    more = start + size < len(entries)
    shown = shown_basis(record)
    totals = reader.scored_totals(name)
    ranking = tuple(definition.ranking(board.evaluator))
    places = list(enumerate(entries))[start : start + size]
    details = row_details(reader, definition, board, caller, places, now)
    counts = reader.scored_counts(name, {ranked.entry.team for _, ranked in places})
    tiers = shown_tiers(reader, record, definition, board, entries, caller, now)
    response = pb.GetLeaderboardResponse(
        rows=[
            _write_row(
                name, ranked, ranking, caller, detail, counts.get(ranked.entry.team, 0), tiers
            )
            for (_, ranked), detail in zip(places, details, strict=True)
        ],
        ranking=ranking,
        further_measures=further_measures(definition, board),
        total_size=len(entries),
        submission_count=totals.submissions,
        most_submissions=totals.most,
        sequence_count=public_sequence_count(definition, caller),
        truth_revision=0 if shown is None else shown.truth_revision,
        newest_truth_revision=newest_complete(reader, record),
        next_page_token=write_page_token(start + size) if more else "",
        tiers_note=tiers.note,
        tiers_stale=tiers.is_stale,
    )
    if caller.is_organiser:
        state = board_state(reader, definition, record)
        response.submissions_to_rescore = len(state.waiting)
        response.publishable = state.is_ready
    return response, next_change(now, record.close_time)


def _board_of(
    request: pb.GetLeaderboardRequest, name: str, definition: Definition, caller: Caller
) -> Board:
    if not sees_board(caller, definition.policy):
        raise NotReleasedError(f"the board of {benchmark_name(name)} is not public")
    board = Board(
        name,
        _evaluator_of(request, definition),
        request.domain if request.HasField("domain") else None,
        request.label if request.HasField("label") else None,
    )
    if not sees_parts(caller, definition, domain=board.domain, label=board.label):
        raise NotReleasedError("scores of single domains and labels are not released")
    return board


def _evaluator_of(request: pb.GetLeaderboardRequest, definition: Definition) -> Evaluator[Any]:
    if not request.evaluator:
        return definition.evaluators[0]
    for evaluator in definition.evaluators:
        if evaluator.name == request.evaluator:
            return evaluator
    expected = " or ".join(evaluator.name for evaluator in definition.evaluators)
    raise InputError([Fault(repr(request.evaluator)[:80], expected, field="evaluator")])


def _write_row(
    benchmark: str,
    ranked: RankedEntry,
    ranking: tuple[str, ...],
    caller: Caller,
    details: RowDetails,
    submission_count: int,
    tiers: ShownTiers,
) -> pb.LeaderboardRow:
    entry = ranked.entry
    tier, probability = tiers.rows.get(entry.submission, (None, None))
    own = caller.is_organiser or (bool(caller.team) and caller.team == entry.team)
    values = {**dict(zip(ranking, entry.values, strict=True)), **details.further}
    return pb.LeaderboardRow(
        rank=ranked.rank,
        team=entry.team,
        submission=str(SubmissionName(benchmark, entry.submission)) if own else "",
        title=entry.title,
        seal_time=write_time(entry.seal_time),
        scores=[pb.LeaderboardScore(measure=name, value=values[name]) for name in values],
        truth_revision=entry.truth_revision,
        evaluator_version=entry.evaluator_version,
        apart=ranked.rank == APART and not entry.disqualification,
        disqualification=entry.disqualification,
        submission_count=submission_count,
        curves=map(write_curve, details.curves),
        tier=tier,
        first_probability=probability,
    )


def write_team_view(view: TeamView) -> organiser_pb2.TeamView:
    """A team's view before and after a change, as a message."""
    return organiser_pb2.TeamView(
        team=view.team,
        evaluator=view.evaluator,
        now=_write_seen(view.benchmark, view.now),
        then=_write_seen(view.benchmark, view.then),
    )


def _write_seen(benchmark: str, seen: SeenScores) -> organiser_pb2.SeenScores:
    name = str(SubmissionName(benchmark, seen.submission)) if seen.submission else ""
    return organiser_pb2.SeenScores(
        submission=name,
        rank=seen.rank,
        values=[
            organiser_pb2.SeenValue(measure=measure, value=value)
            for measure, value in seen.values.items()
        ],
        score_count=seen.score_count,
        curve_count=seen.curve_count,
        outcome_submission_count=seen.outcome_submission_count,
    )

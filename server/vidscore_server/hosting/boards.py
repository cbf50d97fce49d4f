"""Leaderboards out of the store: which scores stand on the board that a caller asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.report import Number, Report
from vidscore_server.access.caller import Caller
from vidscore_server.hosting.definition import Definition
from vidscore_server.hosting.drafts import is_draft
from vidscore_server.hosting.leaderboards import BoardRules, Entry, RankedEntry, Selection, rank
from vidscore_server.hosting.policy import Visibility
from vidscore_server.hosting.release import values_from_json
from vidscore_server.hosting.scores import unpack_report
from vidscore_server.store.contract import Reader
from vidscore_server.store.records import ScoreRecord, SubmissionRecord, SubmissionState

Scores = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Board:
    """What a board shows.

    Attributes:
        benchmark: The benchmark.
        evaluator: Whose scores rank.
        domain: Domain; None for all.
        class_: Class; None for all.
    """

    benchmark: str
    evaluator: Evaluator[Any]
    domain: str | None = None
    class_: str | None = None

    @property
    def of_everything(self) -> bool:
        """Whether it is over all domains and classes."""
        return self.domain is None and self.class_ is None


def ranked_entries(
    reader: Reader, definition: Definition, board: Board, caller: Caller
) -> list[RankedEntry]:
    """The entries of a board in rank order, as the caller may see them.

    Others than organisers see under ``ladder`` what was released; everyone else sees the newest
    scores of an evaluator.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        board: The board.
        caller: Who asks.
    """
    directions = definition.ranking(board.evaluator)
    if not directions:
        return []
    policy = definition.policy
    rules = BoardRules(
        tuple(directions.values()), Selection(policy.selection), policy.earlier_first
    )
    if policy.shown is Visibility.LADDER and not caller.is_organiser:
        found = _released(reader, board)
    else:
        found = _current(reader, board, tuple(directions))
    entries = [
        Entry(
            team=submission.team,
            submission=submission.submission,
            title=submission.title,
            seal_time=submission.seal_time or submission.create_time,
            values=tuple(values.get(name) for name in directions),
        )
        for submission, values in found
    ]
    return rank(entries, rules)


def _released(reader: Reader, board: Board) -> list[tuple[SubmissionRecord, Scores]]:
    found: list[tuple[SubmissionRecord, Scores]] = []
    for release in reader.releases(board.benchmark, board.evaluator.name):
        submission = reader.submission(board.benchmark, release.submission)
        if submission is not None and not is_draft(submission) and board.of_everything:
            found.append((submission, values_from_json(release.values)))
    return found


def _current(
    reader: Reader, board: Board, names: tuple[str, ...]
) -> list[tuple[SubmissionRecord, Scores]]:
    found = []
    for score in reader.current_scores(board.benchmark, board.evaluator.name):
        submission = reader.submission(board.benchmark, score.submission)
        values = _values(score, board, names)
        if (
            submission is not None
            and submission.state is SubmissionState.SCORED
            and values is not None
        ):
            found.append((submission, values))
    return found


def _values(score: ScoreRecord, board: Board, names: tuple[str, ...]) -> Scores | None:
    """Ranking measures of a score; None where its report has no such domain or class."""
    kept = values_from_json(score.values)
    if board.of_everything and set(names) <= kept.keys():
        return kept
    return part_values(unpack_report(score), board, names)


def part_values(report: Report, board: Board, names: tuple[str, ...]) -> Scores | None:
    """Measures of a report for a board; None where the report has no such domain or class."""
    rows: dict[str, Number] = {
        row.measure: row.value
        for row in report.rows()
        if row[:3] == (board.domain, board.class_, None)
    }
    if not set(names) & rows.keys():
        return None
    return {name: _as_float(rows.get(name)) for name in names}


def _as_float(value: Number) -> float | None:
    return None if value is None else float(value)

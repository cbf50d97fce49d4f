"""Leaderboards out of the store: which scores stand on the board that a caller asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vidscore_evaluators.evaluator import Direction, Evaluator
from vidscore_evaluators.report import Number, Report
from vidscore_server.access.caller import Caller
from vidscore_server.hosting.basis import shown_basis, version_of
from vidscore_server.hosting.definition import Definition
from vidscore_server.hosting.drafts import is_draft
from vidscore_server.hosting.leaderboards import (
    BoardRules,
    Entry,
    RankedEntry,
    Selection,
    rank,
    rank_apart,
)
from vidscore_server.hosting.policy import Policy, Visibility
from vidscore_server.hosting.release import shown_values, values_from_json
from vidscore_server.hosting.scores import ranking_values, unpack_report
from vidscore_server.store import Reader
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

    Only scores of what the board shows are compared. Submissions that were on an earlier board and
    have no such score stand apart, after all others. Others than organisers see under ``ladder``
    what was released, and under ``final`` rounded scores, which is what their board ranks.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        board: The board.
        caller: Who asks.
    """
    directions = definition.ranking(board.evaluator)
    record = reader.benchmark(board.benchmark)
    shown = None if record is None else shown_basis(record)
    key = None if shown is None else shown.key(board.evaluator.name)
    if not directions or key is None:
        return []
    policy = definition.policy
    view = BoardView(reader, board, tuple(directions), None if caller.is_organiser else definition)
    comparable = reader.scores_under(board.benchmark, board.evaluator.name, *key)
    names = {score.submission for score in comparable}
    others = [
        score
        for score in reader.published_scores(board.benchmark, board.evaluator.name)
        if score.submission not in names
    ]
    if view.released:
        entries = view.releases({score.submission: score for score in comparable})
    else:
        entries = view.entries(comparable)
    ranked = rank(entries, board_rules(policy, directions))
    return [*ranked, *rank_apart(view.entries(others))]


def board_rules(policy: Policy, directions: Mapping[str, Direction]) -> BoardRules:
    """How a board orders by some measures under a policy."""
    return BoardRules(tuple(directions.values()), Selection(policy.selection), policy.earlier_first)


@dataclass(frozen=True)
class BoardView:
    """What is seen of the scores of a board.

    Attributes:
        reader: A state of the store.
        board: The board.
        names: Ranking measures.
        hidden: The benchmark, where no more is seen than its policy shows; None for all.
    """

    reader: Reader
    board: Board
    names: tuple[str, ...]
    hidden: Definition | None = None

    @property
    def released(self) -> bool:
        """Whether no more is seen than what the Ladder released."""
        return self.hidden is not None and self.hidden.policy.shown is Visibility.LADDER

    def releases(self, scores: Mapping[str, ScoreRecord]) -> list[Entry]:
        """What was last released to each team, by what it stands on."""
        if not self.board.of_everything:
            return []
        return [
            self._entry(score, submission, values_from_json(release.values))
            for release in self.reader.releases(self.board.benchmark, self.board.evaluator.name)
            if (score := scores.get(release.submission)) is not None
            and (submission := self._submission(score)) is not None
        ]

    def entries(self, scores: Iterable[ScoreRecord]) -> list[Entry]:
        """Scores of the submissions that are scored, each as far as it is seen."""
        found = []
        for score in scores:
            submission, values = self._submission(score), self._values(score)
            if submission is not None and values is not None:
                found.append(self._entry(score, submission, values))
        return found

    def _submission(self, score: ScoreRecord) -> SubmissionRecord | None:
        found = self.reader.submission(self.board.benchmark, score.submission)
        if found is None or found.state is not SubmissionState.SCORED or is_draft(found):
            return None
        return found

    def _values(self, score: ScoreRecord) -> Scores | None:
        """Ranking measures of a score; None where it has, or shows, none for the board."""
        if self.released:
            return values_from_json(score.released) or None
        if self.board.of_everything:
            return self._rounded(ranking_values(score, self.names))
        values = part_values(unpack_report(score), self.board, self.names)
        return None if values is None else self._rounded(values)

    def _rounded(self, values: Scores) -> Scores:
        if self.hidden is None or self.hidden.policy.shown is not Visibility.FINAL:
            return values
        return shown_values(self.hidden.policy, values, self.hidden.scales(self.board.evaluator))

    def _entry(self, score: ScoreRecord, submission: SubmissionRecord, values: Scores) -> Entry:
        return Entry(
            team=submission.team,
            submission=submission.submission,
            title=submission.title,
            seal_time=submission.seal_time or submission.create_time,
            values=tuple(values.get(name) for name in self.names),
            truth_revision=score.truth_revision,
            evaluator_version=version_of(score.configuration),
        )


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

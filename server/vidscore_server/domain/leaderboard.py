"""Leaderboards: which submission of a team is on the board, in which order, and who sees what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import Direction, Evaluator
from vidscore_evaluators.report import Number, Report
from vidscore_server.domain.access import Caller
from vidscore_server.domain.basis import shown_basis, version_of
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.policy import Policy, Selection, Visibility
from vidscore_server.domain.private_part import Portion
from vidscore_server.domain.release import final_rows, shown_values, values_from_json
from vidscore_server.domain.scores import (
    kept_values,
    ranking_values,
    released_step,
    unpack_report,
    unpack_score,
)
from vidscore_server.domain.submissions import team_seen
from vidscore_server.store import Reader
from vidscore_server.store.records import ScoreRecord, SubmissionRecord


@dataclass(frozen=True, slots=True)
class Entry:
    """A scored submission.

    Attributes:
        team: Its team.
        submission: Its name.
        title: For people.
        seal_time: When it was sealed.
        values: Ranking measures, first one first; None where undefined.
        truth_revision: Revision of the truth that they are under.
        evaluator_version: Version of the evaluator that they are by.
        chosen: Whether its team has chosen it for the final order.
        score: Number of the score within the submission.
        disqualification: Why it is not ranked; empty where it may be.
    """

    team: str
    submission: str
    title: str
    seal_time: datetime
    values: tuple[float | None, ...]
    truth_revision: int = 0
    evaluator_version: str = ""
    chosen: bool = False
    score: int = 0
    disqualification: str = ""


APART = 0
"""In place of the rank of an entry that cannot be compared with the others."""


@dataclass(frozen=True, slots=True)
class RankedEntry:
    """An entry with its rank, from 1 on; equal entries share one."""

    rank: int
    entry: Entry


@dataclass(frozen=True, slots=True)
class BoardRules:
    """How a board orders.

    Attributes:
        directions: Which way each ranking measure is better.
        selection: Which submission of a team counts.
        earlier_first: Whether of equal scores the one that was sealed first ranks first.
    """

    directions: tuple[Direction, ...]
    selection: Selection = Selection.BEST
    earlier_first: bool = False


def rank(entries: Sequence[Entry], rules: BoardRules) -> list[RankedEntry]:
    """One entry a team, in rank order; an undefined score comes after every defined one.

    Entries of one rank stand in the order of their sealing, then of their names, which says
    nothing about quality: it only makes the order one and the same.
    """
    ordered = sorted(
        _selected(entries, rules), key=lambda entry: (_key(entry, rules), _settled(entry))
    )
    ranked: list[RankedEntry] = []
    for place, entry in enumerate(ordered, start=1):
        tied = ranked and _key(ranked[-1].entry, rules) == _key(entry, rules)
        ranked.append(RankedEntry(ranked[-1].rank if tied else place, entry))
    return ranked


def rank_apart(entries: Sequence[Entry]) -> list[RankedEntry]:
    """Entries that cannot be compared: without ranks, of each team the one that was sealed last."""
    newest = {entry.team: entry for entry in sorted(entries, key=_settled)}
    return [RankedEntry(APART, entry) for entry in sorted(newest.values(), key=_settled)]


def counted(entries: Sequence[Entry], rules: BoardRules, most: int) -> frozenset[str]:
    """The submissions that count for a final order: those that teams chose, or else their first.

    Args:
        entries: All entries, with their scores as the board had them before.
        rules: How that board orders.
        most: How many count of a team that has chosen none.
    """
    by_team: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=_settled):
        by_team.setdefault(entry.team, []).append(entry)
    found: set[str] = set()
    for own in by_team.values():
        if rules.selection is Selection.LATEST:
            first = own[::-1]
        else:
            first = sorted(own, key=lambda entry: _score_key(entry, rules))
        chosen = [entry for entry in own if entry.chosen] or first[:most]
        found.update(entry.submission for entry in chosen)
    return frozenset(found)


def _selected(entries: Sequence[Entry], rules: BoardRules) -> list[Entry]:
    chosen: dict[str, Entry] = {}
    for entry in sorted(entries, key=_settled):
        rival = chosen.get(entry.team)
        if rival is None or _replaces(entry, rival, rules):
            chosen[entry.team] = entry
    return list(chosen.values())


def _replaces(later: Entry, earlier: Entry, rules: BoardRules) -> bool:
    if rules.selection is Selection.LATEST:
        return True
    return _score_key(later, rules) < _score_key(earlier, rules)


def _key(entry: Entry, rules: BoardRules) -> tuple[object, ...]:
    return (_score_key(entry, rules), entry.seal_time if rules.earlier_first else None)


def _score_key(entry: Entry, rules: BoardRules) -> tuple[tuple[bool, float], ...]:
    return tuple(
        (value is None, _signed(value, direction))
        for value, direction in zip(entry.values, rules.directions, strict=True)
    )


def _signed(value: float | None, direction: Direction) -> float:
    if value is None:
        return 0.0
    return -value if direction is Direction.HIGHER else value


def _settled(entry: Entry) -> tuple[datetime, str]:
    return (entry.seal_time, entry.submission)


# --- Boards out of the store

Scores = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Board:
    """The contents of a board.

    Attributes:
        benchmark: The benchmark.
        evaluator: Whose scores rank.
        domain: Domain; None for all.
        label: Class; None for all.
    """

    benchmark: str
    evaluator: Evaluator[Any]
    domain: str | None = None
    label: str | None = None

    @property
    def of_everything(self) -> bool:
        """Whether it is over all domains and classes."""
        return self.domain is None and self.label is None


def ranked_entries(
    reader: Reader, definition: Definition, board: Board, caller: Caller, now: datetime
) -> list[RankedEntry]:
    """The entries of a board in rank order, as the caller may see them.

    Only scores of what the board shows are compared. Submissions that were on an earlier board and
    have no such score stand apart, after all others; disqualified ones come last, one by one,
    without ranks. Others than organisers see under ``ladder``
    what was released, and under ``final`` rounded scores, which is what their board ranks. Where
    sequences are private the board is by all others and, once the benchmark has closed, by the
    private ones: of the submissions that count for the final order, exactly, to everyone.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        board: The board.
        caller: The caller.
        now: The time.
    """
    directions = definition.ranking(board.evaluator)
    record = reader.benchmark(board.benchmark)
    shown = None if record is None else shown_basis(record)
    key = None if shown is None else shown.key(board.evaluator.name)
    if not directions or key is None:
        return []
    policy = definition.policy
    portion = definition.board_portion(now)
    hidden = None if caller.is_organiser else definition
    view = BoardView(reader, board, tuple(directions), hidden, portion)
    comparable = reader.scores_under(board.benchmark, board.evaluator.name, *key, reports=False)
    others = reader.published_elsewhere(board.benchmark, board.evaluator.name, *key)
    if portion is Portion.PRIVATE:
        policy = replace(policy, selection="best")
        comparable, others = (
            counted_scores(reader, definition, board, scores) for scores in (comparable, others)
        )
    if view.released:
        entries = view.releases({score.submission: score for score in comparable})
    else:
        entries = view.entries(comparable)
    ranked = rank(entries, board_rules(policy, directions))
    disqualified = view.entries([*comparable, *others], disqualified=True)
    last = [RankedEntry(APART, entry) for entry in sorted(disqualified, key=_settled)]
    return [*ranked, *rank_apart(view.entries(others)), *last]


def counted_scores(
    reader: Reader, definition: Definition, board: Board, scores: Sequence[ScoreRecord]
) -> list[ScoreRecord]:
    """Those of a board's scores that count for the final order: see `counted`.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        board: The board.
        scores: Scores that are compared, one for each submission.
    """
    directions = definition.ranking(board.evaluator)
    everything = Board(board.benchmark, board.evaluator)
    view = BoardView(reader, everything, tuple(directions), portion=Portion.PUBLIC)
    rules = board_rules(definition.policy, directions)
    names = counted(view.entries(scores), rules, definition.policy.final_submissions)
    return [score for score in scores if score.submission in names]


def board_rules(policy: Policy, directions: Mapping[str, Direction]) -> BoardRules:
    """How a board orders by some measures under a policy."""
    return BoardRules(tuple(directions.values()), Selection(policy.selection), policy.earlier_first)


@dataclass(frozen=True)
class BoardView:
    """The visible part of a board's scores.

    Attributes:
        reader: A state of the store.
        board: The board.
        names: Ranking measures.
        hidden: The benchmark, where no more is seen than its policy shows; None for all.
        portion: The part of the data that the scores are over.
    """

    reader: Reader
    board: Board
    names: tuple[str, ...]
    hidden: Definition | None = None
    portion: Portion = Portion.WHOLE

    @property
    def released(self) -> bool:
        """Whether only values that the Ladder released are visible."""
        return (
            self.hidden is not None
            and self.hidden.policy.shown.is_ladder
            and self.portion is not Portion.PRIVATE
        )

    def releases(self, scores: Mapping[str, ScoreRecord]) -> list[Entry]:
        """The last release of each team, with the score that it came from."""
        if not self.board.of_everything:
            return []
        return [
            self._entry(score, submission, values_from_json(release.values))
            for release in self.reader.releases(self.board.benchmark, self.board.evaluator.name)
            if (score := scores.get(release.submission)) is not None
            and (submission := self._submission(score)) is not None
        ]

    def entries(self, scores: Iterable[ScoreRecord], *, disqualified: bool = False) -> list[Entry]:
        """Scores of the submissions that are scored, each as far as it is seen.

        Args:
            scores: The scores.
            disqualified: Whether those of disqualified submissions are wanted, or of all others.
        """
        found = []
        for score in scores:
            submission = self._submission(score, disqualified=disqualified)
            values = None if submission is None else self._values(score)
            if disqualified and values is None and self.board.of_everything:
                values = {}  # its reason is told, whatever was released of it
            if submission is not None and values is not None:
                found.append(self._entry(score, submission, values))
        return found

    @cached_property
    def _scored(self) -> Mapping[str, SubmissionRecord]:
        """The submissions that may be on the board, by name."""
        return self.reader.scored_submissions(self.board.benchmark)

    def _submission(
        self, score: ScoreRecord, *, disqualified: bool = False
    ) -> SubmissionRecord | None:
        found = self._scored.get(score.submission)
        return found if found and bool(found.disqualification) == disqualified else None

    def _whole(self, score: ScoreRecord) -> ScoreRecord:
        """A score with its report, which boards over everything seldom need."""
        found = self.reader.score(self.board.benchmark, score.submission, score.number)
        return score if score.report or found is None else found

    def _values(self, score: ScoreRecord) -> Scores | None:
        """Ranking measures of a score; None where it has, or shows, none for the board."""
        if self.released:
            return values_from_json(score.released) or None
        if self.board.of_everything:
            if not set(self.names) <= kept_values(score, self.portion).keys():
                score = self._whole(score)
            return self._rounded(score, ranking_values(score, self.names, self.portion))
        report = unpack_report(self._whole(score), self.portion)
        values = part_values(report, self.board, self.names)
        return None if values is None else self._rounded(score, values)

    def _rounded(self, score: ScoreRecord, values: Scores) -> Scores:
        hidden, evaluator = self.hidden, self.board.evaluator
        if hidden is None or hidden.policy.shown is not Visibility.FINAL:
            return values
        if self.portion is Portion.PRIVATE:
            return values
        return shown_values(
            values, hidden.scales(evaluator), released_step(hidden, evaluator, score)
        )

    def _entry(self, score: ScoreRecord, submission: SubmissionRecord, values: Scores) -> Entry:
        return Entry(
            team=submission.team,
            submission=submission.submission,
            title=submission.title,
            seal_time=submission.seal_time or submission.create_time,
            values=tuple(values.get(name) for name in self.names),
            truth_revision=score.truth_revision,
            evaluator_version=version_of(score.configuration),
            chosen=submission.chosen,
            score=score.number,
            disqualification=submission.disqualification,
        )


def part_values(report: Report, board: Board, names: tuple[str, ...]) -> Scores | None:
    """Measures of a report for a board; None where the report has no such domain or class."""
    rows: dict[str, Number] = {
        row.measure: row.value
        for row in report.rows()
        if row[:3] == (board.domain, board.label, None)
    }
    if not set(names) & rows.keys():
        return None
    return {name: _as_float(rows.get(name)) for name in names}


def _as_float(value: Number) -> float | None:
    return None if value is None else float(value)


# --- Parts of a board: domains and labels

NAMES_LISTED = 20
"""Most names that an error lists."""


def refuse_unknown_part(
    reader: Reader, definition: Definition, board: Board, caller: Caller, now: datetime
) -> None:
    """Refuse a domain or class that the benchmark does not have, as far as the caller may know.

    Known is what the specification names, and what has scores in reports that the caller sees.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        board: The board that is asked for.
        caller: The caller.
        now: The time.

    Raises:
        InputError: If it is unknown, with the names of those that are known.
    """
    portion = definition.board_portion(now)
    domains = {entry.name for entry in definition.specification.domains}
    classes = {*definition.listed_labels}
    team, looked_at = team_seen(caller), False
    for score in reader.published_scores(board.benchmark, board.evaluator.name):
        submission = reader.submission(board.benchmark, score.submission)
        if submission is not None and team in {None, submission.team}:
            report, submitted = unpack_score(score, portion)
            final = definition.policy.shown is Visibility.FINAL and not caller.is_organiser
            rows = final_rows(definition, report, submitted, 0.0) if final else report.rows()
            looked_at = True
            domains.update(row.domain for row in rows if row.domain is not None)
            classes.update(row.label for row in rows if row.label is not None)
    asked = (("domain", board.domain, domains), ("label", board.label, classes))
    faults = [
        Fault(repr(name)[:80], _listed(known), field=field)
        for field, name, known in asked
        if name is not None and name not in known and (known or looked_at)
    ]
    if faults:
        raise InputError(faults)


def _listed(names: set[str]) -> str:
    if not names:
        return "none, for single ones have no scores"
    shown = [name[:80] for name in sorted(names)[:NAMES_LISTED]]
    rest = len(names) - len(shown)
    return " or ".join(shown) + (f" or one of {rest} more" if rest else "")

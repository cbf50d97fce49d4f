"""Leaderboards: which submission of a team is on the board, in which order, and who sees what."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

from msgspec import Struct, structs

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import Direction, Evaluator
from vidscore_server.domain.access import Caller
from vidscore_server.domain.basis import Key, shown_basis, version_of
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.policy import Policy, Visibility
from vidscore_server.domain.private_part import Portion
from vidscore_server.domain.release import (
    final_rows,
    knows_part,
    part_values,
    shown_values,
    values_from_json,
)
from vidscore_server.domain.scores import (
    kept_values,
    ranking_values,
    readable,
    released_step,
    unpack_score,
)
from vidscore_server.domain.submissions import team_seen
from vidscore_server.store import Reader
from vidscore_server.store.records import BenchmarkRecord, ScoreRecord, SubmissionRecord


class Entry(Struct, frozen=True):
    """A scored submission.

    Attributes:
        team: Its team.
        submission: Its name.
        title: For people.
        seal_time: When it was sealed.
        values: Ranking measures, first one first; None if undefined.
        truth_revision: Revision of the truth that they are under.
        evaluator_version: Version of the evaluator that they are by.
        chosen: Whether its team has chosen it for the final order.
        score: Number of the score within the submission.
        disqualification: Why it is not ranked; empty if it may be.
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


class RankedEntry(Struct, frozen=True):
    """An entry with its rank, from 1 on; equal entries share one."""

    rank: int
    entry: Entry


class BoardRules(Struct, frozen=True, dict=True):
    """How a board orders entries.

    Attributes:
        directions: Whether higher or lower is better, for each ranking measure.
        selection: Which of a team's submissions counts.
        earlier_first: Whether the submission that was sealed first wins a tie.
    """

    directions: tuple[Direction, ...]
    selection: Literal["best", "latest"] = "best"
    earlier_first: bool = False

    @cached_property
    def higher(self) -> tuple[bool, ...]:
        """Whether higher is better, for each measure."""
        return tuple(direction is Direction.HIGHER for direction in self.directions)


def rank(entries: Sequence[Entry], rules: BoardRules) -> list[RankedEntry]:
    """One entry per team, in rank order; an undefined score comes after every defined one.

    Entries that share a rank are sorted by seal time, then by name. This says nothing about
    quality: it only makes the order deterministic.
    """
    keyed = [
        ((score, entry.seal_time if rules.earlier_first else None), entry)
        for score, entry in _selected(entries, rules)
    ]
    keyed.sort(key=lambda pair: (pair[0], _settled(pair[1])))
    ranked: list[RankedEntry] = []
    before: tuple[object, ...] | None = None
    for place, (key, entry) in enumerate(keyed, start=1):
        ranked.append(RankedEntry(ranked[-1].rank if key == before else place, entry))
        before = key
    return ranked


def rank_apart(entries: Sequence[Entry]) -> list[RankedEntry]:
    """Entries that cannot be compared: the last sealed one of each team, without ranks."""
    newest = {entry.team: entry for entry in sorted(entries, key=_settled)}
    return [RankedEntry(APART, entry) for entry in sorted(newest.values(), key=_settled)]


def counted(entries: Sequence[Entry], rules: BoardRules, most: int) -> frozenset[str]:
    """The submissions that count for a final order: each team's chosen ones, or else its first.

    A team may have chosen more than count: an earlier policy allowed more, or a submission that had
    failed was scored after all.

    Args:
        entries: All entries, with their scores on the board before.
        rules: How that board orders entries.
        most: Maximum number per team.
    """
    by_team: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=_settled):
        by_team.setdefault(entry.team, []).append(entry)
    found: set[str] = set()
    for own in by_team.values():
        if rules.selection == "latest":
            first = own[::-1]
        else:
            first = sorted(own, key=lambda entry: _score_key(entry, rules))
        counting = [entry for entry in first if entry.chosen] or first
        found.update(entry.submission for entry in counting[:most])
    return frozenset(found)


_ScoreKey = tuple[tuple[bool, float], ...]


def _selected(entries: Sequence[Entry], rules: BoardRules) -> list[tuple[_ScoreKey, Entry]]:
    """The entry of each team that counts, with its sort key."""
    chosen: dict[str, tuple[_ScoreKey, Entry]] = {}
    latest = rules.selection == "latest"
    for entry in sorted(entries, key=_settled):
        score, rival = _score_key(entry, rules), chosen.get(entry.team)
        if rival is None or latest or score < rival[0]:
            chosen[entry.team] = score, entry
    return list(chosen.values())


def _score_key(entry: Entry, rules: BoardRules) -> _ScoreKey:
    return tuple(
        [
            (True, 0.0) if value is None else (False, -value if higher else value)
            for value, higher in zip(entry.values, rules.higher, strict=True)
        ]
    )


def _settled(entry: Entry) -> tuple[datetime, str]:
    return (entry.seal_time, entry.submission)


# --- Boards from the store

Scores = Mapping[str, float | None]


class Board(Struct, frozen=True):
    """The contents of a board.

    Attributes:
        benchmark: The benchmark.
        evaluator: The evaluator whose scores rank.
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

    Only scores on the basis that the board shows are compared. Submissions that were on an earlier
    board and have no such score follow after all others, without ranks; disqualified ones come
    last, each on its own, without ranks. Callers other than organisers see released values under
    ``ladder`` and rounded scores under ``final``, and their board ranks these. If some sequences
    are private, the board is over the public ones. Once the benchmark has closed, it is over the
    private ones: exact, for everyone, and only with the submissions that count for the final order
    and, without scores, the disqualified ones.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        board: The board.
        caller: The caller.
        now: The time.
    """
    record = reader.benchmark(board.benchmark)
    key = None if record is None else shown_key(record, definition, board)
    if key is None:
        return []
    view = board_view(reader, definition, board, caller, now)
    comparable = reader.scores_under(board.benchmark, board.evaluator.name, *key, reports=False)
    others = reader.published_elsewhere(board.benchmark, board.evaluator.name, *key)
    if view.portion is Portion.PRIVATE:
        every = view.disqualified(view.candidates([*comparable, *others]))
        out = {entry.submission for entry in every}
        comparable, others = (
            [score for score in scores if score.submission in out]
            + counted_scores(reader, definition, board, scores)
            for scores in (comparable, others)
        )
    return in_order(view, definition, view.candidates(comparable), view.candidates(others))


def shown_key(record: BenchmarkRecord, definition: Definition, board: Board) -> Key | None:
    """Basis of the scores that a board compares; None if it ranks nothing."""
    shown = shown_basis(record)
    if shown is None or not definition.ranking(board.evaluator):
        return None
    return shown.key(board.evaluator.name)


def board_view(
    reader: Reader, definition: Definition, board: Board, caller: Caller, now: datetime
) -> BoardView:
    """The scores of a board that a caller sees; see `ranked_entries`."""
    names = tuple(definition.ranking(board.evaluator))
    hidden = None if caller.is_organiser else definition
    return BoardView(reader, board, names, hidden, definition.board_portion(now))


def in_order(
    view: BoardView,
    definition: Definition,
    candidates: Mapping[str, Candidate],
    others: Mapping[str, Candidate],
) -> list[RankedEntry]:
    """The entries of a board in rank order, from its candidates; see `ranked_entries`.

    Args:
        view: The visible part of the board.
        definition: The benchmark.
        candidates: Submissions with a score on the basis that the board shows, by name.
        others: Submissions that were on an earlier board, by name.
    """
    policy = definition.policy
    if view.portion is Portion.PRIVATE:
        policy = dataclasses.replace(policy, selection="best")
    entries = view.releases(candidates) if view.released else view.seen(candidates)
    ranked = rank(entries, board_rules(policy, definition.ranking(view.board.evaluator)))
    disqualified = view.disqualified(candidates) + view.disqualified(others)
    last = [RankedEntry(APART, entry) for entry in sorted(disqualified, key=_settled)]
    return [*ranked, *rank_apart(view.seen(others)), *last]


def counted_scores(
    reader: Reader, definition: Definition, board: Board, scores: Sequence[ScoreRecord]
) -> list[ScoreRecord]:
    """The scores of a board that count for the final order: see `counted`.

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
    names = counted(view.seen(view.candidates(scores)), rules, definition.policy.final_submissions)
    return [score for score in scores if score.submission in names]


def board_rules(policy: Policy, directions: Mapping[str, Direction]) -> BoardRules:
    """How a board orders entries by the given measures under a policy."""
    return BoardRules(tuple(directions.values()), policy.selection, policy.earlier_first)


class Candidate(NamedTuple):
    """A submission with a score that may be on a board.

    Attributes:
        entry: Its entry on the board.
        is_seen: Whether its values are visible.
    """

    entry: Entry
    is_seen: bool


class BoardView(Struct, frozen=True, dict=True):
    """The visible part of a board's scores.

    Attributes:
        reader: A state of the store.
        board: The board.
        names: Ranking measures.
        hidden: The benchmark, if the caller sees no more than its policy shows; None if all is
            seen.
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

    def releases(self, candidates: Mapping[str, Candidate]) -> list[Entry]:
        """The last release of each team, with the score that it came from."""
        if not self.board.of_everything:
            return []
        return [
            structs.replace(found.entry, values=self._in_rank_order(values))
            for release in self.reader.releases(self.board.benchmark, self.board.evaluator.name)
            if (found := candidates.get(release.submission)) is not None
            and not found.entry.disqualification
            and (values := readable(release, partial(values_from_json, release.values))) is not None
        ]

    def seen(self, candidates: Mapping[str, Candidate]) -> list[Entry]:
        """Entries whose values are visible, except disqualified ones."""
        return [
            found.entry
            for found in candidates.values()
            if found.is_seen and not found.entry.disqualification
        ]

    def disqualified(self, candidates: Mapping[str, Candidate]) -> list[Entry]:
        """Entries of disqualified submissions: shown with their reason, released or not."""
        return [
            found.entry
            for found in candidates.values()
            if found.entry.disqualification and (found.is_seen or self.board.of_everything)
        ]

    def candidates(self, scores: Iterable[ScoreRecord]) -> dict[str, Candidate]:
        """The candidates of scored submissions, by submission."""
        submissions = self._scored
        return {
            score.submission: self.candidate(score, submission)
            for score in scores
            if (submission := submissions.get(score.submission)) is not None
        }

    def candidate(self, score: ScoreRecord, submission: SubmissionRecord) -> Candidate:
        """The candidate for a score; a disqualified one shows none over private sequences."""
        hides = submission.disqualification and self.portion is Portion.PRIVATE
        values = None if hides else readable(score, partial(self._values, score))
        return Candidate(self._entry(score, submission, values or {}), values is not None)

    @cached_property
    def _scored(self) -> Mapping[str, SubmissionRecord]:
        """The submissions that may be on the board, by name."""
        return self.reader.scored_submissions(self.board.benchmark)

    def _whole(self, score: ScoreRecord) -> ScoreRecord:
        """The score with its report, which a board over everything seldom needs."""
        found = self.reader.score(self.board.benchmark, score.submission, score.number)
        return score if score.report or found is None else found

    def _values(self, score: ScoreRecord) -> Scores | None:
        """Ranking measures of a score; None if it has or shows none for the board."""
        if self.released:
            return values_from_json(score.released) or None
        if self.board.of_everything:
            if not set(self.names) <= kept_values(score, self.portion).keys():
                score = self._whole(score)
            return self._rounded(score, ranking_values(score, self.names, self.portion))
        report, submitted = unpack_score(self._whole(score), self.portion)
        hidden, board = self.hidden, self.board
        if hidden is not None and not knows_part(hidden, submitted, board.domain, board.label):
            return None
        values = part_values(report, board.domain, board.label, self.names)
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
            values=self._in_rank_order(values),
            truth_revision=score.truth_revision,
            evaluator_version=version_of(score.configuration),
            chosen=submission.chosen,
            score=score.number,
            disqualification=submission.disqualification,
        )

    def _in_rank_order(self, values: Scores) -> tuple[float | None, ...]:
        return tuple(values.get(name) for name in self.names)


# --- Parts of a board: domains and labels

NAMES_LISTED = 20
"""Maximum number of names that an error lists."""


def refuse_unknown_part(
    reader: Reader, definition: Definition, board: Board, caller: Caller, now: datetime
) -> None:
    """Refuse an unknown domain or class, by the names that the caller may know.

    Known are the names in the specification, and those with scores in reports that the caller sees.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        board: The requested board.
        caller: The caller.
        now: The time.

    Raises:
        InputError: If it is unknown; the error lists the known names.
    """
    portion = definition.board_portion(now)
    domains = {entry.name for entry in definition.specification.domains}
    classes = {*definition.listed_labels}
    team, looked_at = team_seen(caller), False
    for score in reader.published_scores(board.benchmark, board.evaluator.name):
        submission = reader.submission(board.benchmark, score.submission)
        if submission is not None and team in {None, submission.team}:
            unpacked = readable(score, partial(unpack_score, score, portion))
            if unpacked is None:
                continue
            report, submitted = unpacked
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
        return "none, because single ones have no scores"
    shown = [name[:80] for name in sorted(names)[:NAMES_LISTED]]
    rest = len(names) - len(shown)
    return " or ".join(shown) + (f" or one of {rest} more" if rest else "")

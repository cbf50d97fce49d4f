"""Rows of boards: cached in rank order, with details such as measures and curves.

Each call checks in the store whether a cached board is still valid. Scores and submissions with
frames are only ever added, and every other change increments a revision, so that a few sums
suffice, and servers over one database need not notify each other. Only changes are read again:
after a new score, a board of ten thousand submissions reads none of the others.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.report import Curve
from vidscore_server.domain.access import Caller
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.leaderboard import (
    APART,
    Board,
    BoardView,
    Candidate,
    RankedEntry,
    board_view,
    in_order,
    ranked_entries,
    shown_key,
)
from vidscore_server.domain.policy import NameKind, Visibility
from vidscore_server.domain.private_part import Portion
from vidscore_server.domain.release import Values, part_values, released_curves, shown_values
from vidscore_server.domain.scores import readable, released_step, unpack_score
from vidscore_server.runtime import Kept
from vidscore_server.store import Reader
from vidscore_server.store.records import BenchmarkRecord, RankedVersion, ScoreRecord

CURVE_ROWS = 3
"""Number of first rows that have curves. More lines in a picture would hide each other."""


class RowDetails(Struct, frozen=True):
    """Details of a row besides its ranking measures.

    Attributes:
        further: Released measures that do not rank, by name.
        curves: Curves of the board's part.
    """

    further: Mapping[str, float | None] = field(default_factory=dict)
    curves: tuple[Curve, ...] = ()


NOTHING = RowDetails()


def further_measures(definition: Definition, board: Board) -> tuple[str, ...]:
    """Released measures of the board's evaluator that do not rank."""
    known = {measure.name for measure in board.evaluator.measures}
    ranking = definition.ranking(board.evaluator)
    released = dict.fromkeys(definition.policy.released_measures)
    return tuple(name for name in released if name in known and name not in ranking)


def row_details(
    reader: Reader,
    definition: Definition,
    board: Board,
    caller: Caller,
    rows: Sequence[tuple[int, RankedEntry]],
    now: datetime,
) -> list[RowDetails]:
    """Details of the given rows of a board that the caller may see.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        board: The board.
        caller: The caller.
        rows: The rows, each with its place on the whole board, from 0.
        now: The time.
    """
    names = further_measures(definition, board)
    if not names and not definition.policy.releases_curves:
        return [NOTHING] * len(rows)
    portion = definition.board_portion(now)
    found = []
    for place, ranked in rows:
        curves = place < CURVE_ROWS and ranked.rank != APART and definition.policy.releases_curves
        score = None
        is_counted = not ranked.entry.disqualification or portion is not Portion.PRIVATE
        if is_counted and (names or curves):
            score = reader.score(board.benchmark, ranked.entry.submission, ranked.entry.score)
        if score is None:
            found.append(NOTHING)
        else:
            read = partial(_details, definition, board, caller, score, portion, names)
            details = readable(score, read) or NOTHING
            found.append(details if curves else replace(details, curves=()))
    return found


def _details(
    definition: Definition,
    board: Board,
    caller: Caller,
    score: ScoreRecord,
    portion: Portion,
    names: tuple[str, ...],
) -> RowDetails:
    report, submitted = unpack_score(score, portion)
    # Once the benchmark has closed, the final order shows exact scores.
    is_final = portion is Portion.PRIVATE
    step = 0.0 if is_final else released_step(definition, board.evaluator, score)
    part = (board.domain, board.label)
    values: Values = (part_values(report, *part, names) if names else None) or dict.fromkeys(names)
    if definition.policy.shown is Visibility.FINAL and not caller.is_organiser and step:
        values = shown_values(values, definition.scales(board.evaluator), step)
    released = released_curves(definition, report, submitted, step)
    own = tuple(curve for curve in released if (curve.domain, curve.label) == part)
    return RowDetails(values, own)


def public_sequence_count(definition: Definition, caller: Caller) -> int | None:
    """Number of sequences of the complete truth; None if it is missing or hidden."""
    size = definition.truth_size
    if size is None or not (caller.is_organiser or NameKind.SEQUENCES in definition.public_names):
        return None
    return size.sequences


# --- Cached boards

MAXIMUM_KEPT_ROWS = 200_000
"""Maximum number of rows of all cached boards; the least recently used board is dropped first."""

MOST_ONE_BY_ONE = 100
"""If more submissions than these have changed, all are read at once."""


class _Key(NamedTuple):
    benchmark: str
    evaluator: str
    domain: str | None
    label: str | None
    whole: bool


class _Kept(NamedTuple):
    stamp: tuple[object, ...]
    rules: tuple[object, ...]
    versions: Mapping[str, RankedVersion]
    candidates: Mapping[str, Candidate]
    rows: list[RankedEntry]


class KeptBoards:
    """Caches the most recently used boards.

    Args:
        most_one_by_one: Maximum number of changed submissions that are read one by one.
    """

    def __init__(self, most_one_by_one: int = MOST_ONE_BY_ONE) -> None:
        self._most_one_by_one = most_one_by_one
        self._kept: Kept[_Kept] = Kept(MAXIMUM_KEPT_ROWS)
        self._lock = threading.Lock()

    def entries(
        self,
        reader: Reader,
        definition: Definition,
        record: BenchmarkRecord,
        board: Board,
        caller: Caller,
        now: datetime,
    ) -> list[RankedEntry]:
        """The entries of a board in rank order, as `ranked_entries` gives them.

        Args:
            reader: A state of the store.
            definition: The benchmark.
            record: Its record in that state.
            board: The board.
            caller: The caller.
            now: The time.
        """
        place = (board.benchmark, board.evaluator.name, board.domain, board.label)
        key = _Key(*place, whole=caller.is_organiser)
        portion = definition.board_portion(now)  # it changes when the benchmark closes
        stamp = (record.create_time, record.revision, portion, *reader.board_stamp(board.benchmark))
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and kept.stamp == stamp:
            return kept.rows
        rules = (record.create_time, record.definition, record.board, portion)
        if kept is None or kept.rules != rules:
            kept = _Kept((), rules, {}, {}, [])
        if portion is Portion.PRIVATE:  # which submissions of a team count depends on all of them
            rows = ranked_entries(reader, definition, board, caller, now)
            kept = kept._replace(stamp=stamp, rows=rows)
        else:
            view = board_view(reader, definition, board, caller, now)
            kept = self._brought_up_to_date(kept, view, definition, record)._replace(stamp=stamp)
        with self._lock:
            self._kept.put(key, kept, 1 + len(kept.rows) + len(kept.candidates))
        return kept.rows

    def _brought_up_to_date(
        self, kept: _Kept, view: BoardView, definition: Definition, record: BenchmarkRecord
    ) -> _Kept:
        """An updated board, under the same rules."""
        reader, board = view.reader, view.board
        key = shown_key(record, definition, board)
        if key is None:
            return kept._replace(rows=[])
        versions = reader.ranked_versions(board.benchmark, board.evaluator.name, *key)
        changed = {name: at for name, at in versions.items() if kept.versions.get(name) != at}
        if len(changed) > self._most_one_by_one:
            comparable = reader.scores_under(
                board.benchmark, board.evaluator.name, *key, reports=False
            )
            candidates = view.candidates(comparable)
        else:
            same = versions.keys() - changed.keys()
            candidates = {name: one for name, one in kept.candidates.items() if name in same}
            candidates.update(_candidates(view, changed))
        others = {}
        if len(candidates) < len(versions):
            elsewhere = reader.published_elsewhere(board.benchmark, board.evaluator.name, *key)
            others = view.candidates(elsewhere)
        rows = in_order(view, definition, candidates, others)
        return kept._replace(versions=versions, candidates=candidates, rows=rows)


def _candidates(
    view: BoardView, versions: Mapping[str, RankedVersion]
) -> Iterator[tuple[str, Candidate]]:
    """Candidates, read one by one."""
    benchmark = view.board.benchmark
    for name, version in versions.items():
        if version.score is None:
            continue
        submission = view.reader.submission(benchmark, name)
        score = view.reader.score(benchmark, name, version.score)
        if submission is not None and score is not None:
            yield name, view.candidate(score, submission)

"""Leaderboards: which submission of a team stands on the board, and in which order; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from vidscore_evaluators.evaluator import Direction


class Selection(StrEnum):
    """Which submission of a team stands on the board."""

    BEST = "best"
    LATEST = "latest"


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
    """

    team: str
    submission: str
    title: str
    seal_time: datetime
    values: tuple[float | None, ...]
    truth_revision: int = 0
    evaluator_version: str = ""


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

"""A board as tables and sentences, from the plain values of a call."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct

from vidscore_evaluators.explanation.answer import figure, in_words
from vidscore_evaluators.explanation.titles import measure_title
from vidscore_server.web.site.phrases import (
    chance_text,
    counted,
    digits_for,
    listed,
    ordinal,
    running_scores_from,
    sentence,
    time_text,
)

Answer = Mapping[str, Any]
"""The answer of GetLeaderboard, as plain values."""

_MOST_NAMED = 4
"""Maximum number of teams that a sentence names; the others are counted."""


class Cell(Struct, frozen=True):
    """A measure of a row.

    Attributes:
        title: The measure.
        text: Its value, ``undefined``, or a dash if none is shown.
        is_undefined: Whether there is no value.
    """

    title: str
    text: str
    is_undefined: bool


class BoardRow(Struct, frozen=True):
    """A row of the board.

    Attributes:
        rank: Its rank; empty if it is not ranked.
        team: Its team.
        title: Title of the submission.
        url: Path of the submission; empty if the visitor may not see it.
        is_own: Whether it belongs to the visitor's team.
        cells: Its measures, ranking ones first.
        chance: The chance of being first; empty if it is hidden.
        submissions: Number of submissions of the team.
        truth_revision: Revision of the ground truth.
        time: When it was submitted.
        note: Why it is disqualified; empty if it is not.
    """

    rank: str
    team: str
    title: str
    url: str
    is_own: bool
    cells: tuple[Cell, ...]
    chance: str
    submissions: int
    truth_revision: int
    time: str
    note: str


class Group(Struct, frozen=True):
    """Rows under one head.

    Attributes:
        head: Their common property; empty if there is only one group.
        note: Explanation of the head.
        rows: The rows.
        is_ranked: Whether their ranks are meaningful.
    """

    head: str
    note: str
    rows: tuple[BoardRow, ...]
    is_ranked: bool = True


class BoardView(Struct, frozen=True):
    """A board as a page shows it.

    Attributes:
        finding: The main finding of the board, one sentence.
        measures: Titles of the measures, ranking ones first.
        has_chances: Whether chances of being first are shown.
        groups: The rows.
    """

    finding: str
    measures: tuple[str, ...]
    has_chances: bool
    groups: tuple[Group, ...]

    @property
    def column_count(self) -> int:
        """Columns of the table."""
        return 5 + len(self.measures) + self.has_chances


def board_view(answer: Answer, team: str, most: int | None = None) -> BoardView:
    """A page of a board.

    Args:
        answer: The answer of GetLeaderboard, with all rows in tiers.
        team: The visitor's team; empty for none.
        most: Maximum number of rows; None for all.
    """
    rows = answer["rows"][:most]
    names = measures_of(answer)
    chances = [row.get("first_probability") for row in rows]
    told = [chance for chance in chances if chance is not None]
    in_tenths = all(math.isclose(10 * chance, round(10 * chance)) for chance in told)
    digits = {name: digits_for(_values(row).get(name) for row in rows) for name in names}

    def written(row: Answer) -> BoardRow:
        values, chance = _values(row), row.get("first_probability")
        return BoardRow(
            rank=f"{row['rank']}" if row["rank"] and not row["apart"] else "",
            team=row["team"],
            title=row["title"],
            url=f"/{row['submission']}" if row["submission"] else "",
            is_own=bool(team) and row["team"] == team,
            cells=tuple(
                _cell(name, values.get(name), digits[name], of_kind=_kind(row)) for name in names
            ),
            chance="" if chance is None else chance_text(chance, in_tenths=in_tenths),
            submissions=row["submission_count"],
            truth_revision=row["truth_revision"],
            time=time_text(row["seal_time"]),
            note=row.get("disqualification", ""),
        )

    groups = tuple(
        Group(*_head(kind, tier, members, answer), tuple(map(written, members)), kind == _RANKED)
        for (kind, tier), members in _grouped(rows, in_tiers=are_in_tiers(answer))
    )
    return BoardView(finding(answer), tuple(map(measure_title, names)), bool(told), groups)


def measures_of(answer: Answer) -> tuple[str, ...]:
    """Names of the shown measures, ranking ones first."""
    return (*answer["ranking"], *answer["further_measures"])


# --- Groups: tiers, then undefined, incomparable and disqualified rows

_RANKED, _UNDEFINED, _APART = "ranked", "undefined", "apart"
_DISQUALIFIED = "disqualified"


def _kind(row: Answer) -> str:
    if row.get("disqualification"):
        return _DISQUALIFIED
    if row["apart"]:
        return _APART
    first = next(iter(row["scores"]), None)
    return _UNDEFINED if first is None or first["value"] is None else _RANKED


def _grouped(
    rows: Sequence[Answer], *, in_tiers: bool
) -> Iterator[tuple[tuple[str, int | None], list[Answer]]]:
    def key(row: Answer) -> tuple[str, int | None]:
        kind = _kind(row)
        return kind, row.get("tier") if kind == _RANKED and in_tiers else None

    def place(row: Answer) -> float:
        _, tier = key(row)
        return math.inf if tier is None else tier

    for found, members in groupby(sorted(rows, key=place), key):
        yield found, list(members)


def are_in_tiers(answer: Answer) -> bool:
    """Whether the tiers of the ranked rows fit the present board.

    Finished tiers do, though their ranks may overlap. Old tiers do not if newer systems are ranked
    between theirs, or if a tier begins before the tier above it.
    """
    if not answer.get("tiers_stale"):
        return True
    tiers = [row.get("tier") for row in answer["rows"] if _kind(row) == _RANKED]
    known = [tier for tier in tiers if tier is not None]
    begun = list(dict.fromkeys(known))
    return tiers[: len(known)] == known and begun == sorted(begun)


def _head(
    kind: str, tier: int | None, members: Sequence[Answer], answer: Answer
) -> tuple[str, str]:
    """Head of a group, and its explanation."""
    if kind == _APART:
        revision = answer["truth_revision"]
        return (
            "Not comparable",
            f"not ranked until scored again on truth revision {revision} by the present rules",
        )
    if kind == _DISQUALIFIED:
        return "Disqualified", "not ranked, by decision of the organisers"
    if kind == _UNDEFINED:
        return "Undefined", "last in every order"
    sizes = _tier_sizes(answer)
    if tier is None:
        return ("Further systems", "in no tier") if sizes and are_in_tiers(answer) else ("", "")
    return f"{ordinal(tier).capitalize()} tier", _alike(len(members), sizes[tier])


def _tier_sizes(answer: Answer) -> Counter[int]:
    return Counter(row["tier"] for row in answer["rows"] if row.get("tier") is not None)


def _alike(shown: int, count: int) -> str:
    """Explanation of a tier of which only some systems are shown."""
    if count == 1:
        return "stands alone"
    if shown == count:
        return f"these {in_words(count)} cannot be told apart"
    these = "this one" if shown == 1 else f"these {in_words(shown)}"
    return f"{these} and {in_words(count - shown)} more cannot be told apart"


def tiers_text(answer: Answer) -> str:
    """Explanation of a board's tiers, or why there are none, as sentences; empty for none."""
    note = answer.get("tiers_note", "")
    if not are_in_tiers(answer):
        return "There are no tiers at the moment: they are being computed, because systems are new."
    if not note:
        return ""
    ranked = [row for row in answer["rows"] if _kind(row) == _RANKED]
    tiers = [row["tier"] for row in ranked if row.get("tier") is not None]
    said = [sentence(note)]
    if ranked and not tiers and ranked[0]["rank"] > 1:
        said.insert(0, "No row of this page is in a tier.")
    if tiers != sorted(tiers):
        said.append(
            "A tier holds all systems whose difference to its best one is not significant, so "
            "ranks of neighbouring tiers may overlap."
        )
    if answer.get("tiers_stale"):
        said.append("Newer ones are being computed.")
    return " ".join(said)


# --- The finding


def finding(answer: Answer) -> str:
    """The main finding of a page of a board, one sentence."""
    if not answer["rows"]:
        return "No submission is on the board yet."
    rows = [row for row in answer["rows"] if _kind(row) == _RANKED]
    if not rows:
        return "No submission has a defined score here."
    first = [row for row in rows if row["rank"] == 1]
    if not first:
        return f"{counted(answer['total_size'], 'row').capitalize()} are on the board."
    name = answer["ranking"][0]
    value = figure(_values(first[0])[name], digits_for(_values(row)[name] for row in rows))
    in_tiers = are_in_tiers(answer)
    return _leaders(first, rows, f"{value} in {measure_title(name)}", in_tiers=in_tiers)


def _leaders(first: Sequence[Answer], rows: Sequence[Answer], said: str, *, in_tiers: bool) -> str:
    """The leaders, and the teams that do not differ significantly from them."""
    teams = [row["team"] for row in first]
    if len(teams) > 1:
        return f"{_named(teams)} share the first rank with {said}."
    tier = first[0].get("tier") if in_tiers else None
    rivals = [row["team"] for row in rows if tier is not None and row.get("tier") == tier][1:]
    if rivals:
        return f"{teams[0]} leads with {said}, but cannot be told apart from {_named(rivals)}."
    return f"{teams[0]} leads with {said}."


def _named(teams: Sequence[str]) -> str:
    if len(teams) <= _MOST_NAMED:
        return listed(teams)
    named = teams[: _MOST_NAMED - 1]
    return f"{', '.join(named)} and {in_words(len(teams) - len(named))} more"


def _values(row: Answer) -> dict[str, float | None]:
    return {score["measure"]: score["value"] for score in row["scores"]}


def _cell(name: str, value: float | None, digits: int, *, of_kind: str) -> Cell:
    # A disqualified row is shown for its reason; it may have no score that the board shows.
    text = "\u2013" if value is None and of_kind == _DISQUALIFIED else figure(value, digits)
    return Cell(measure_title(name), text, value is None)


# --- Reliability of a board


def weaknesses(benchmark: Answer, answer: Answer, *, closed: bool = False) -> list[str]:
    """Weaknesses of a board, in sentences.

    Args:
        benchmark: The benchmark as plain values.
        answer: The answer of GetLeaderboard.
        closed: Whether the benchmark has closed.
    """
    shown, newest = answer["truth_revision"], answer["newest_truth_revision"]
    if newest > shown > 0:  # number of sequences and step are those of the newest truth
        facts = [
            f"It shows revision {shown} of the ground truth until it moves to revision {newest}."
        ]
    else:
        facts = [
            *_sequences_told(benchmark, answer, closed=closed),
            *_step_told(benchmark, closed=closed),
        ]
    return [*facts, *_answers_told(benchmark, answer), *_left_out(answer)]


def _sequences_told(benchmark: Answer, answer: Answer, *, closed: bool) -> Iterator[str]:
    private = benchmark.get("private_sequence_count") or 0
    if private and closed:
        few = _FEW if private < _FEW_SEQUENCES else ""
        yield f"This is the final order, over {counted(private, 'private sequence')}.{few}"
        return
    count = answer["sequence_count"]  # without private sequences
    if count is None:
        yield "The benchmark does not tell how many sequences it has."
    else:
        kind = "public sequence" if private else "sequence"
        yield f"The scores are over {counted(count, kind)}.{_FEW if count < _FEW_SEQUENCES else ''}"
    if private:
        verb = "decides" if private == 1 else "decide"
        yield (
            f"{counted(private, 'private sequence').capitalize()} {verb} the final order: no "
            "score over private sequences has been shown so far."
        )


_FEW_SEQUENCES = 30
"""Number of sequences below which other videos may well change the order."""

_FEW = " So few say little about other videos."


def _step_told(benchmark: Answer, *, closed: bool) -> Iterator[str]:
    policy = benchmark["policy"]
    step = benchmark.get("ladder_step_in_force") or policy["ladder_step"]
    final = closed and benchmark.get("private_sequence_count")  # it is released exactly
    if policy["visibility"] == "live" and not closed:
        yield (
            "Teams see running scores of what they send, "
            f"{running_scores_from(policy)}: each reveals something of the ground truth."
        )
    elif policy["visibility"] != "live" and not final:
        yield f"Scores are released in steps of {step:g}: smaller differences are not shown."


def _answers_told(benchmark: Answer, answer: Answer) -> Iterator[str]:
    total, most = answer["submission_count"], answer["most_submissions"]
    if not total:
        return
    budget = benchmark["submission_budget"]
    may = f", of {budget:,} that a team may have" if budget else ", and there is no limit"
    verb = "counts" if total == 1 else "count"
    yield (
        f"{counted(total, 'submission').capitalize()} {verb} as scored; the busiest team has "
        f"{most:,}{may}. More tries gain a little by luck alone."
    )


def _left_out(answer: Answer) -> Iterator[str]:
    kinds = [_kind(row) for row in answer["rows"]]
    apart, undefined = kinds.count(_APART), kinds.count(_UNDEFINED)
    out = kinds.count(_DISQUALIFIED)
    parts = []
    if apart:
        parts.append(f"{in_words(apart)} could not be scored by the present truth and rules")
    if undefined:
        parts.append(f"{in_words(undefined)} {'is' if undefined == 1 else 'are'} undefined")
    if out:
        parts.append(f"{in_words(out)} {'is' if out == 1 else 'are'} disqualified")
    if parts:
        count = apart + undefined + out
        verb = "is" if count == 1 else "are"
        yield f"{counted(count, 'row').capitalize()} here {verb} not compared: {listed(parts)}."

"""Invariants of boards and releases, recomputed independently of the rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal

import orjson
from tests.campaigns.simulation.memory import State
from tests.campaigns.simulation.rules import Rules
from tests.campaigns.simulation.scoring import value_of
from tests.campaigns.simulation.servers import BENCHMARK

from vidscore_server.domain.leaderboard import RankedEntry
from vidscore_server.domain.private_part import Portion
from vidscore_server.store.records import ScoreRecord, SubmissionState

MEASURE = "f1"
STEP = 0.01
Basis = tuple[int, str] | None
"""Truth revision and configuration of the scores on the board; None while there is none."""


class ReleaseLaws:
    """Checks boards and releases.

    Args:
        rules: Rules of the world.
        time: The store's clock.
        broken: Receives the violations.
    """

    def __init__(
        self, rules: Rules, time: Callable[[], datetime], broken: Callable[[str], None]
    ) -> None:
        self._rules = rules
        self._time = time
        self._break = broken
        self._policy = rules.definition.policy
        self._best: dict[str, float] = {}

    def committed(self, before: State, after: State) -> None:
        """Check a commit that may have changed scores or the board."""
        old, shown = _shown(before), _shown(after)
        if old != shown:
            self._moved(old, shown, before, after)
            self._best = {}
            new = self._under(shown, after)
        else:
            new = [
                score
                for key, score in after.scores.items()
                if score.published and key not in before.scores
            ]
        for score in new:
            self._released(score, after)
        for score in after.scores.values():
            if score.published and before.scores.get(_key(score)) is not score:
                self._published(score, shown)
        for (_, _, team), record in after.releases.items():
            found = orjson.loads(record.values)[MEASURE]
            if found != self._best.get(team):
                self._break(f"{found} is released to {team}, expected {self._best.get(team)}")

    def looked_at(self, entries: Sequence[RankedEntry], begun: datetime) -> None:
        """Check a board as a team saw it.

        Args:
            entries: The board.
            begun: When the team asked.
        """
        closed = self._rules.close_time is not None and self._rules.close_time <= self._time()
        for entry in (ranked.entry for ranked in entries):
            [value] = entry.values
            rounded = value is None or value == _rounded(value)
            if not rounded and not (closed and self._policy.keeps_private):
                self._break(f"{entry.team} sees {value} of {entry.submission} at {begun}")

    def is_at_rest(self, state: State) -> bool:
        """Whether the board shows the newest complete truth, or waits for an organiser."""
        newest = max(
            (number for (_, number), one in state.truth.items() if one.complete), default=0
        )
        scored = [
            name for name, one in state.submissions.items() if one.state is SubmissionState.SCORED
        ]
        if not newest or not scored:
            return True
        under = {_key(one)[:2] for one in state.scores.values() if one.truth_revision == newest}
        if any(name not in under and name not in state.failed for name in scored):
            return False
        shown = _shown(state)
        return shown is not None and (
            shown[0] == newest or self._policy.rescore == "review" or not under
        )

    def _moved(self, old: Basis, shown: Basis, before: State, after: State) -> None:
        """A board moves once all its scores are there, and without an organiser only if it may."""
        if shown is None:
            self._break("the board is gone")
            return
        there = {one.submission for one in after.scores.values() if _basis(one) == shown}
        for (_, name), record in after.submissions.items():
            scored = record.state is SubmissionState.SCORED
            if scored and name not in there and (BENCHMARK, name) not in after.failed:
                self._break(f"the board moved to {shown[0]} before {name} was scored again")
        told = [record.action for record in after.audit[len(before.audit) :]]
        if old is not None and self._policy.rescore == "review" and "publish" not in told:
            self._break(f"the board moved to {shown[0]} and nobody has published it")

    def _under(self, shown: Basis, state: State) -> list[ScoreRecord]:
        """The newest score of each submission on the board, sorted by time of sealing."""
        found = {
            _key(score)[:2]: score
            for score in sorted(state.scores.values(), key=lambda score: score.number)
            if _basis(score) == shown
        }
        records = [(state.submissions[name], score) for name, score in found.items()]
        records.sort(
            key=lambda pair: (pair[0].seal_time or pair[0].create_time, pair[1].submission)
        )
        return [score for _, score in records]

    def _released(self, score: ScoreRecord, state: State) -> None:
        """What a score reveals to its team; a repeated score reveals nothing."""
        team = state.submissions[_key(score)[:2]].team
        again = any(
            other.number < score.number and _basis(other) == _basis(score) and other.published
            for key, other in state.scores.items()
            if key[:2] == _key(score)[:2]
        )
        portion = Portion.PUBLIC if self._policy.keeps_private else Portion.WHOLE
        value = value_of(score.submission, score.truth_revision, portion)
        best = self._best.get(team)
        if self._policy.shown.is_ladder:
            if not again and (best is None or value - best >= STEP):
                self._best[team] = _rounded(value)
        elif not again:
            self._best[team] = value

    def _published(self, score: ScoreRecord, shown: Basis) -> None:
        if _basis(score) != shown:
            self._break(
                f"score {score.number} of {score.submission} was published under truth "
                f"{score.truth_revision} while the board shows {shown and shown[0]}"
            )


def _rounded(value: float) -> float:
    return float(Decimal(str(value)).quantize(Decimal(str(STEP)), ROUND_HALF_EVEN))


def _key(score: ScoreRecord) -> tuple[str, str, int]:
    return (score.benchmark, score.submission, score.number)


def _basis(score: ScoreRecord) -> tuple[int, str]:
    return (score.truth_revision, score.configuration)


def _shown(state: State) -> Basis:
    record = state.benchmarks.get(BENCHMARK)
    if record is None or not record.board:
        return None
    board = orjson.loads(record.board)
    [configuration] = board["configurations"].values()
    return (board["truth_revision"], configuration)

"""An attack on a board: submit again and again, and keep each change that the board rewards.

The attacker's systems are all equally good: on each sequence they score 0.5 plus noise. The
attacker changes its detections in a quarter of the sequences, submits, and looks at all that the
board shows its team: score, rank, tier, probability of being first. If something improved and
nothing got worse, it continues from the changed system. Its gain is the score of its last system
above 0.5 on the sequences that decide. On other sequences there would be no gain.

Scores are means over sequences. The rest is the server's own code: it releases scores, ranks the
board, computes tiers and decides who sees them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.trust.resampling import draw_sequences
from vidscore_evaluators.trust.tiers import resample_count, share_apart
from vidscore_server.domain.access import Caller
from vidscore_server.domain.definition import Definition, definition_from_dict
from vidscore_server.domain.leaderboard import Board, BoardRules, Entry, board_rules, rank
from vidscore_server.domain.policy import TruthSize, Visibility
from vidscore_server.domain.portions import bootstrap_times
from vidscore_server.domain.private_part import Portion
from vidscore_server.domain.release import released_values, shown_values
from vidscore_server.domain.tier_updates import compare
from vidscore_server.domain.tiers import DRAWS, SEED, BoardTiers, Draws, tier_plan, visible_rows
from vidscore_server.store.records import Role

SKILL = 0.5
"""Mean score of every system on a sequence."""

SPREAD = 0.1
"""Standard deviation of a system's score on one sequence."""

CHANGED_FRACTION = 0.25
"""Fraction of the sequences in which the attacker changes its detections."""

OBJECTS_PER_SEQUENCE = 100
"""With the number of sequences, it determines the default budget of a benchmark."""

RIVALS = 3
TEAM = "mallory"
ATTACKER = Caller("tokens/mallory", Role.PARTICIPANT, TEAM)
ORGANISER = Caller("tokens/host", Role.ORGANISER)
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
MEASURE = "f1"


@dataclass(frozen=True)
class Setting:
    """How a benchmark protects itself.

    Attributes:
        policy: The keys of its policy.
        private_share: Fraction of the sequences that are private: they decide the final order,
            and their scores are not shown before.
        by_sequence: Whether the attacker sees a score of each sequence, as under `live`.
        leaky: Whether the board shows exact tiers and probabilities of unreleased submissions.
            Servers show these only to organisers.
    """

    policy: Mapping[str, Any] = field(default_factory=dict)
    private_share: float = 0.0
    by_sequence: bool = False
    leaky: bool = False


class Seen(NamedTuple):
    """What the board shows the attacker; each number is greater if it is better."""

    value: float
    rank: float
    tier: float
    probability: float


class Arena:
    """A benchmark under attack.

    Args:
        setting: How it protects itself.
        sequences: Number of sequences.
        seed: Seed of all scores.
    """

    def __init__(self, setting: Setting, sequences: int, seed: int) -> None:
        self.setting = setting
        self._seed = seed
        self.random = np.random.default_rng([seed, sequences])
        self.sequences = sequences
        self.public = sequences - round(setting.private_share * sequences)
        self.definition = _definition(setting.policy, sequences)
        self._evaluator: Evaluator[Any] = self.definition.evaluators[0]
        self._keys = [SequenceKey("", f"{row:04}") for row in range(self.public)]
        self._times = draw_sequences(self._keys, DRAWS, SEED)
        self._systems: dict[str, FloatArray] = {}
        self._released: Mapping[str, float | None] = {}
        self._standing: Entry | None = None
        self._tiers: BoardTiers | None = None
        self._count = 0
        self._rivals = [self._rival(number) for number in range(RIVALS)]

    @property
    def budget(self) -> int:
        """Submissions that the default policy allows a team."""
        return self.definition.submission_budget

    @property
    def step(self) -> float:
        """The step to which scores are released."""
        return self.definition.step(self._evaluator)

    def system(self) -> FloatArray:
        """Scores of a new system on each sequence."""
        scores: FloatArray = np.clip(self.random.normal(SKILL, SPREAD, self.sequences), 0.0, 1.0)
        return scores

    def changed(self, system: FloatArray) -> FloatArray:
        """The same system with other detections in some sequences."""
        count = max(1, round(CHANGED_FRACTION * self.sequences))
        rows = self.random.choice(self.sequences, count, replace=False)
        scores = system.copy()
        scores[rows] = self.system()[rows]
        return scores

    def decisive(self, system: FloatArray) -> float:
        """The score of a system on the sequences that decide."""
        of_all = self.public == self.sequences
        return float(system.mean() if of_all else system[self.public :].mean())

    def submit(self, system: FloatArray) -> Seen:
        """Submit a system, and look at the board after its tiers are computed."""
        self._count += 1
        name = f"{TEAM}-{self._count}"
        entry = self._entry(TEAM, name, system, self._count)
        policy, scales = self.definition.policy, self.definition.scales(self._evaluator)
        values = {MEASURE: entry.values[0]}
        if policy.shown.is_ladder:
            if policy.shown is Visibility.BOOTSTRAP:
                values = {MEASURE: self._estimate(name, system)}
            released = released_values(policy, self._released, values, scales, self.step)
            if released != self._released or self._standing is None:
                self._standing = replace(entry, values=tuple(released.values()))
            self._released = released
            value = self._standing.values[0]
        else:
            shown = shown_values(values, scales, self.step)
            value = shown[MEASURE] if policy.shown is Visibility.FINAL else values[MEASURE]
            new = replace(entry, values=(value,))
            both = [new] if self._standing is None else [self._standing, new]
            [chosen] = rank(both, self._rules)
            self._standing = chosen.entry
        own = replace(self._standing, submission=name) if self.setting.leaky else self._standing
        return self._look(value or 0.0, own)

    @property
    def _rules(self) -> BoardRules:
        return board_rules(self.definition.policy, self.definition.ranking(self._evaluator))

    def _look(self, value: float, own: Entry) -> Seen:
        """What the board shows if the attacker has this entry on it."""
        entries = rank([*self._rivals, own], self._rules)
        board = Board("b", self._evaluator)
        plan = tier_plan(self.definition, board, (1, "f1 1 x"), entries, Portion.WHOLE, exact=False)
        if self._tiers is None or self._tiers.digest != plan.digest:
            drawn = {place: self._draws(self._systems[place]) for place, _ in plan.places}
            self._tiers = compare(plan, drawn)
        caller = ORGANISER if self.setting.leaky else ATTACKER
        tier, probability = visible_rows(self.definition, self._tiers, caller)[own.submission]
        [place] = [one.rank for one in entries if one.entry.team == TEAM]
        return Seen(value, -place, -tier, probability or 0.0)

    def _rival(self, number: int) -> Entry:
        name = f"rival-{number}"
        return self._entry(name, name, self.system(), 0)

    def _entry(self, team: str, name: str, system: FloatArray, minutes: int) -> Entry:
        value = float(system[: self.public].mean())
        self._systems[name] = system
        return Entry(team, name, "", NOON + timedelta(minutes=minutes), (value,))

    def _estimate(self, name: str, system: FloatArray) -> float:
        """The estimate that a server releases under ``bootstrap`` instead of the mean."""
        times = bootstrap_times(f"{self._seed} {name}", self._keys)
        return float(np.average(system[: self.public], weights=times))

    def _draws(self, system: FloatArray) -> Draws:
        values = (self._times @ system[: self.public] / self.public).tolist()
        resamples = min(resample_count([self.public]), DRAWS)
        apart = share_apart([self.public])
        return Draws(self.public, resamples, {MEASURE: values}, apart=apart)


def gain(setting: Setting, sequences: int, submissions: int, seed: int) -> float:
    """The gain of an attack.

    Args:
        setting: How the benchmark protects itself.
        sequences: Number of sequences.
        submissions: Number of the attacker's submissions; 0: as many as the default policy allows.
        seed: Seed of all scores.
    """
    arena = Arena(setting, sequences, seed)
    kept = arena.system()
    seen = arena.submit(kept)
    for _ in range((submissions or arena.budget) - 1):
        tried = arena.changed(kept)
        now = arena.submit(tried)
        if setting.by_sequence:
            kept = np.maximum(kept, tried)  # the attacker learns the score of each sequence
        elif now != seen and all(after >= before for before, after in zip(seen, now, strict=True)):
            kept, seen = tried, now
    return arena.decisive(kept) - SKILL


def gains(setting: Setting, sequences: int, submissions: int, seeds: Iterable[int]) -> list[float]:
    """Gains of several attacks, each with its own seed; see `gain`."""
    return [gain(setting, sequences, submissions, seed) for seed in seeds]


def _definition(policy: Mapping[str, Any], sequences: int) -> Definition:
    document = {"evaluators": [{"name": MEASURE}], "policy": dict(policy)}
    size = TruthSize(OBJECTS_PER_SEQUENCE * sequences, sequences)
    return replace(definition_from_dict(document), truth_size=size)

"""How far a team gets above the true score if it learns nothing but what the board shows.

All of its systems are equally good: the score of a sequence is a normal number with a mean of 0.5
and a standard deviation of 0.1, and the score of the board is their mean. Each submission draws a
quarter of its sequences anew, and keeps them if the board has improved. Everything above 0.5 is
overfitting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.evaluator import Direction
from vidscore_server.domain.ladder import Scale, Values, release
from vidscore_server.domain.policy import TruthSize, default_step
from vidscore_server.domain.portions import bootstrap_times

SPREAD, MEAN = 0.1, 0.5
OBJECTS_EACH = 100
RUNS = 40

SCALES = (Scale(Direction.HIGHER),)


@dataclass(frozen=True)
class Rules:
    """The rules of a board.

    Attributes:
        step: Step to which it releases, by the number of its sequences; 0 releases everything.
        estimates: Whether it releases estimates.
        private: Whether half of the sequences are private and decide the final order.
    """

    step: Callable[[int], float]
    estimates: bool = False
    private: bool = False


def from_truth(sequences: int) -> float:
    """The default step."""
    return default_step(TruthSize(OBJECTS_EACH * sequences, sequences))


POLICIES = {
    "every score, exactly": Rules(lambda _: 0.0),
    "`ladder`, step 0.01": Rules(lambda _: 0.01),
    "`ladder`, default step": Rules(from_truth),
    "`bootstrap`, default step": Rules(from_truth, estimates=True),
    "`ladder`, half private: the final order": Rules(from_truth, private=True),
}


def gain(rules: Rules, sequences: int, submissions: int) -> float:
    """How far the final score on the board is above the true one; mean over runs."""
    return float(np.mean([_gain(rules, sequences, submissions, run) for run in range(RUNS)]))


def _gain(rules: Rules, sequences: int, submissions: int, run: int) -> float:
    random = np.random.default_rng((sequences, submissions, run))
    public = sequences // 2 if rules.private else sequences
    step = rules.step(public)
    kept = random.normal(MEAN, SPREAD, sequences)
    best: Values | None = None
    for number in range(submissions):
        tried = kept.copy()
        changed = random.permutation(sequences)[: max(1, sequences // 4)]
        tried[changed] = random.normal(MEAN, SPREAD, len(changed))
        told = _score(tried[:public], rules, f"{run}/{number}")
        released = release(best, (told,), SCALES, step)
        if released is not None:
            best, kept = released, tried
    return float(np.mean(kept[public:] if rules.private else kept)) - MEAN


def _score(scores: FloatArray, rules: Rules, key: str) -> float:
    if not rules.estimates:
        return float(np.mean(scores))
    times = bootstrap_times(key, [SequenceKey("", f"{row}") for row in range(len(scores))])
    return float(np.average(scores, weights=times))


SEQUENCES = (6, 20, 50)
SUBMISSIONS = (50, 500)


def table() -> list[str]:
    """The rows of the table in `docs/hidden-truth.md`."""
    head = " | ".join(f"{sequences} sequences" for sequences in SEQUENCES)
    rows = [f"| what the board shows | {head} |", "| --- " * (len(SEQUENCES) + 1) + "|"]
    for name, rules in POLICIES.items():
        cells = [
            " / ".join(f"{gain(rules, sequences, count):.2f}" for count in SUBMISSIONS)
            for sequences in SEQUENCES
        ]
        rows.append(f"| {name} | {' | '.join(cells)} |".replace("-0.00", "0.00"))
    return rows

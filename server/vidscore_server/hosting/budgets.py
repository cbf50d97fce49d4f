"""Budgets: how many scores of hidden truth a team may be shown before they tell of the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass

from vidscore_server.hosting.policy import FROM_TRUTH, Policy, Visibility

GAIN = 0.2
"""What all answers together may bring a team beyond chance, by the bound of `default_budget`."""

SMALLEST_BUDGET = 5
"""So many at least, for fewer are of no use to a team; holds until the truth is complete."""

SMALLEST_LIVE_BUDGET = 3
"""The same where scores are live: each submission has an answer for every sequence."""

LARGEST_BUDGET = 1000


@dataclass(frozen=True, slots=True)
class TruthSize:
    """How much a complete truth has.

    Attributes:
        objects: Objects in all frames.
        sequences: Sequences.
    """

    objects: int
    sequences: int


def default_budget(objects: int, sequences: int, *, least: int = SMALLEST_BUDGET) -> int:
    """Submissions in all that a team may have scored on a hidden truth, unless its organiser says.

    A holdout of n independent samples that answers k adaptive questions, each with its score, can
    be overfitted by about sqrt(k / n): Blum and Hardt, "The Ladder: A Reliable Leaderboard for
    Machine Learning Competitions" (ICML 2015), section 4, give an attack that does it; Dwork,
    Feldman, Hardt, Pitassi, Reingold and Roth, "The reusable holdout: Preserving validity in
    adaptive data analysis" (Science 349, 2015), the bound for answering from the samples as they
    are. With a gain of at most g this allows k = g^2 n questions, one for every 25 samples where
    g is 0.2. The Ladder allows more, but takes a bounded score and samples that are independent.

    Objects are not: those of a sequence are often the same thing, frame after frame. Independent
    samples are at most as many as objects, and at least as many as sequences with any; n is the
    geometric mean of both, because the truth itself does not say how alike its frames are.

    Args:
        objects: Objects that one shown score is of.
        sequences: Sequences that it is of.
        least: Fewest that are of use.

    Returns:
        From `least` to `LARGEST_BUDGET`.
    """
    samples = math.sqrt(objects * min(objects, sequences))
    return min(max(least, math.floor(GAIN**2 * samples)), LARGEST_BUDGET)


def budget_of(policy: Policy, size: TruthSize | None) -> int:
    """Submissions in all that a team may have scored; 0 for any number.

    Where scores are live, each sequence has scores of its own: what one answer is of is a
    sequence then.

    Args:
        policy: The benchmark's policy.
        size: Size of the newest complete truth; None while there is none.
    """
    if policy.submissions_in_all != FROM_TRUTH:
        return policy.submissions_in_all
    size = size or TruthSize(0, 0)
    if policy.shown is Visibility.LIVE:
        objects = size.objects // max(1, size.sequences)
        return default_budget(objects, 1, least=SMALLEST_LIVE_BUDGET)
    return default_budget(size.objects, size.sequences)

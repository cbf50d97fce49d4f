"""Tiers of a ranking: which systems cannot be told apart, and how probable each is to be first.

Systems are scored on the same draws of sequences, as in `vidscore_evaluators.trust.resampling`. A
tier begins with the best system left, and takes all that are left and not significantly worse:
those than which the best one is better with a probability below (1 + coverage) / 2, which is where
a two-sided interval of the paired difference ends. Sources of the method: B. Efron and R.
Tibshirani, "An Introduction to the Bootstrap", 1993; of paired draws for systems: P. Koehn,
"Statistical Significance Tests for Machine Translation Evaluation", 2004.

Readings of this project, each so that few sequences do not look like many:

- Probabilities are shares of the draws and of two more, in which all K systems are alike:
  (share n + 2 / K) / (n + 2). For two systems that is Laplace's rule of succession. They add up to
  1, and none is 0 or 1.
- n is the number of draws, but at most the number of different draws that there are: n sequences
  of one domain have C(2 n - 1, n) of them. Two sequences have three, so that of two systems none
  is first with more than 4/5; fewer than five sequences tell no two systems apart.
- Systems of one rank begin a tier together: another one is left out where it is significantly
  worse than each of them. So nothing depends on the order in which systems are given.
- A draw in which a score is undefined has no part in a difference, and an undefined score is first
  only where all are undefined. Of a tie in a draw each system has half, or its share of the first
  place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import comb, prod
from typing import Any

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.evaluator import Direction, Evaluator
from vidscore_evaluators.trust.resampling import COVERAGE, score_draws
from vidscore_evaluators.trust.systems import Request

ALIKE_DRAWS = 2
"""Draws beside those that were made, in which all systems are alike."""


class Tiers(Struct, frozen=True):
    """Tiers of K systems, in the order in which they were given.

    Attributes:
        numbers: The tier of each system, 1 for the best.
        first_probabilities: How probable it is that each is the first on other sequences.
    """

    numbers: tuple[int, ...]
    first_probabilities: tuple[float, ...]


def find_tiers(
    losses: FloatArray, ranks: Sequence[int], resamples: int, *, coverage: float = COVERAGE
) -> Tiers:
    """Find the tiers of systems that are ranked.

    Args:
        losses: (K, D, M) ranking measures of K systems in D draws, the deciding one first, each
            so that less is better; NaN where one is undefined.
        ranks: Ranks of the systems, 1 for the best; equal ones share one.
        resamples: Number of different draws that there are; see `resample_count`.
        coverage: Two systems are told apart where an interval that holds so large a share of the
            draws of their difference does not hold 0.
    """
    draws = min(losses.shape[1], resamples)
    return Tiers(
        _numbers(losses[:, :, 0], np.asarray(ranks), draws, (1.0 + coverage) / 2.0),
        tuple(_smoothed(_first_shares(losses), draws, len(losses)).tolist()),
    )


def resample_count(sequences: Sequence[SequenceKey]) -> int:
    """Number of different draws of some sequences, within each domain as many as it has.

    Args:
        sequences: The sequences, those of a domain together.
    """
    sizes = [len(list(group)) for _, group in groupby(sequences, lambda key: key.domain)]
    return prod(comb(2 * size - 1, size) for size in sizes)


def _numbers(
    losses: FloatArray, ranks: IntArray, draws: int, significance: float
) -> tuple[int, ...]:
    numbers = np.zeros(len(losses), dtype=np.int64)
    tier = 0
    while (left := np.flatnonzero(numbers == 0)).size:
        tier += 1
        best = left[ranks[left] == ranks[left].min()]
        worse = [_probabilities_worse(losses[left], losses[one], draws) for one in best]
        taken = np.min(worse, axis=0) < significance
        numbers[left[taken]] = tier
        numbers[best] = tier
    return tuple(numbers.tolist())


def _probabilities_worse(losses: FloatArray, best: FloatArray, draws: int) -> FloatArray:
    """(K,) how probable it is that each of K systems is worse than one; half for lack of draws."""
    differences = losses - best
    defined = ~np.isnan(differences)
    wins = (differences > 0.0).sum(axis=1) + 0.5 * (differences == 0.0).sum(axis=1)
    counts = defined.sum(axis=1)
    shares = np.where(counts > 0, wins / np.maximum(counts, 1), 0.5)
    return _smoothed(shares, np.minimum(draws, counts), 2)


def _first_shares(losses: FloatArray) -> FloatArray:
    """(K,) share of the draws in which each of K systems is first; ties share a draw."""
    keys = np.where(np.isnan(losses), np.inf, losses)
    first = np.ones(keys.shape[:2], dtype=np.bool_)
    for measure in range(keys.shape[2]):
        values = np.where(first, keys[:, :, measure], np.inf)
        first &= values == values.min(axis=0)
    shares: FloatArray = (first / first.sum(axis=0)).mean(axis=1)
    return shares


def _smoothed(shares: FloatArray, draws: int | IntArray, systems: int) -> FloatArray:
    smoothed: FloatArray = (shares * draws + ALIKE_DRAWS / systems) / (draws + ALIKE_DRAWS)
    return smoothed


# --- Draws of one system: a job, whose outcomes for several systems are paired later


class DrawsJob(Struct, frozen=True, eq=False):
    """Some draws of one system, to be scored in any process.

    Attributes:
        request: The evaluator.
        tallies: Tallies of S single sequences, as bytes.
        times: (D, S) how often each of them counts in each draw.
        measures: M measures to look at.
    """

    request: Request
    tallies: tuple[bytes, ...]
    times: IntArray
    measures: tuple[str, ...]

    @property
    def evaluator(self) -> str:
        """Name of the evaluator."""
        return self.request.evaluator

    @classmethod
    def of(
        cls,
        evaluator: Evaluator[Any],
        tallies: Sequence[bytes],
        times: IntArray,
        measures: Sequence[str],
    ) -> DrawsJob:
        """The job of an evaluator that is there."""
        return cls(Request.of(evaluator), tuple(tallies), times, tuple(measures))


def run_draws_job(job: DrawsJob) -> FloatArray:
    """(D, M) measures over everything in each draw; NaN where one is undefined."""
    [drawn] = score_draws(job.request.create(), [job.tallies], job.times)
    rows = [[draw.values.get((None, None, name)) for name in job.measures] for draw in drawn]
    values = [[np.nan if value is None else float(value) for value in row] for row in rows]
    return np.array(values, dtype=np.float64).reshape(len(job.times), len(job.measures))


def losses_of(values: FloatArray, directions: Mapping[str, Direction]) -> FloatArray:
    """(..., M) measures, each so that less is better.

    Args:
        values: (..., M) values of M measures.
        directions: Which way each of them is better, in their order.
    """
    lower = [direction is Direction.LOWER for direction in directions.values()]
    losses: FloatArray = values * np.where(lower, 1.0, -1.0)
    return losses

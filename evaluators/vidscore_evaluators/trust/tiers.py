"""Tiers of a ranking: systems that cannot be distinguished, and their probabilities of being first.

Systems are scored on the same draws of sequences, as in `vidscore_evaluators.trust.resampling`. A
tier begins with the best remaining system, and takes all remaining systems that are not
significantly worse: those for which the probability that the best is better is below (1 + coverage)
/ 2, the end of a two-sided interval of the paired difference; the coverage is 0.95. Sources of the
method: B. Efron and R. Tibshirani, "An Introduction to the Bootstrap", 1993; of paired draws for
systems: P. Koehn, "Statistical Significance Tests for Machine Translation Evaluation", 2004.

Readings of this project, each of which prevents few sequences from looking like many:

- Probabilities are fractions of the draws plus two more draws, in which all K systems are alike:
  (share n + 2 / K) / (n + 2). For two systems that is Laplace's rule of succession. They add up to
  1, and none is 0 or 1.
- n is the number of draws, but at most the number of different draws that exist: n sequences of one
  domain have C(2 n - 1, n) of them. Two sequences have three, so that neither of two systems is
  first with more than 4/5.
- A share of draws counts less with few sequences; if the smallest domain has fewer than
  `LEAST_SEQUENCES`, all systems are in one tier. See `vidscore_evaluators.trust.few_sequences`.
- Systems with equal ranks begin a tier together: another system is left out if it is significantly
  worse than each of them. So nothing depends on the order in which systems are given.
- A draw in which a score is undefined is left out of a difference, and an undefined score is first
  only if all are undefined. If systems tie in a draw, they share it equally, as they do the first
  place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, prod
from typing import Any

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.evaluator import Direction, Evaluator
from vidscore_evaluators.trust.draws import score_draws
from vidscore_evaluators.trust.few_sequences import are_enough, share_of
from vidscore_evaluators.trust.resampling import COVERAGE
from vidscore_evaluators.trust.systems import Request

ALIKE_DRAWS = 2
"""Number of additional draws, in which all systems are alike."""

SIGNIFICANCE = (1.0 + COVERAGE) / 2.0
"""Probability of being worse from which on a system is not in the tier of the best."""


class Tiers(Struct, frozen=True):
    """Tiers of K systems, in the given order.

    Attributes:
        numbers: The tier of each system, 1 for the best.
        first_probabilities: Probability that each is first on other sequences.
    """

    numbers: tuple[int, ...]
    first_probabilities: tuple[float, ...]


def find_tiers(
    losses: FloatArray, ranks: Sequence[int], resamples: int, apart: float = SIGNIFICANCE
) -> Tiers:
    """Find the tiers of ranked systems.

    Args:
        losses: (K, D, M) ranking measures of K systems in D draws, the deciding one first, oriented
            so that lower is better; NaN for an undefined one.
        ranks: Ranks of the systems, 1 for the best; equal ones share one.
        resamples: Number of different draws that exist; see `resample_count`.
        apart: Share of the draws from which on a system is worse; see `share_apart`.
    """
    draws = min(losses.shape[1], resamples)
    return Tiers(
        _numbers(losses[:, :, 0], np.asarray(ranks), draws, apart),
        tuple(smoothed(_first_fractions(losses), draws, len(losses)).tolist()),
    )


def resample_count(sizes: Sequence[int]) -> int:
    """Number of different draws of domains of these numbers of sequences, which they keep."""
    return prod(comb(2 * size - 1, size) for size in sizes)


def share_apart(sizes: Sequence[int]) -> float:
    """Share of the draws from which on a system is worse, for domains of so many sequences.

    With too few sequences it is 1, which no share reaches, as two more draws count.
    """
    return share_of(SIGNIFICANCE, sizes) if are_enough(sizes) else 1.0


def _numbers(losses: FloatArray, ranks: IntArray, draws: int, apart: float) -> tuple[int, ...]:
    numbers = np.zeros(len(losses), dtype=np.int64)
    tier = 0
    while (left := np.flatnonzero(numbers == 0)).size:
        tier += 1
        best = left[ranks[left] == ranks[left].min()]
        worse = [_probabilities_worse(losses[left], losses[one], draws) for one in best]
        # Each of the best is in the tier: it is worse than itself with a probability of one half.
        numbers[left[np.min(worse, axis=0) < apart]] = tier
    return tuple(numbers.tolist())


def _probabilities_worse(losses: FloatArray, best: FloatArray, draws: int) -> FloatArray:
    """(K,) probability that each of K systems is worse than one; one half without draws."""
    differences = losses - best
    wins = (differences > 0.0).sum(axis=1) + 0.5 * (differences == 0.0).sum(axis=1)
    counts = (~np.isnan(differences)).sum(axis=1)
    return smoothed(wins / np.maximum(counts, 1), np.minimum(draws, counts), 2)


def _first_fractions(losses: FloatArray) -> FloatArray:
    """(K,) fraction of the draws in which each of K systems is first; ties share a draw."""
    keys = np.where(np.isnan(losses), np.inf, losses)
    first = np.ones(keys.shape[:2], dtype=np.bool_)
    for measure in range(keys.shape[2]):
        values = np.where(first, keys[:, :, measure], np.inf)
        first &= values == values.min(axis=0)
    shares: FloatArray = (first / first.sum(axis=0)).mean(axis=1)
    return shares


def smoothed(shares: FloatArray, draws: int | IntArray, systems: int) -> FloatArray:
    """Probabilities from shares of draws, with `ALIKE_DRAWS` more in which all are alike.

    Args:
        shares: (N,) shares of draws.
        draws: Number of draws, at most `resample_count`.
        systems: Number of systems.
    """
    probabilities: FloatArray = (shares * draws + ALIKE_DRAWS / systems) / (draws + ALIKE_DRAWS)
    return probabilities


# --- Draws of one system: a job whose results for several systems are paired later


class DrawsJob(Struct, frozen=True, eq=False):
    """Some draws of one system, to be scored in any process.

    Attributes:
        request: The evaluator.
        tallies: Tallies of S single sequences; see `pack_parts`.
        times: (D, S) number of times that each of them counts in each draw.
        measures: M measures to compute.
    """

    request: Request
    tallies: bytes
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
        tallies: bytes,
        times: IntArray,
        measures: Sequence[str],
    ) -> DrawsJob:
        """The job for an existing evaluator."""
        return cls(Request.of(evaluator), tallies, times, tuple(measures))


def run_draws_job(job: DrawsJob) -> FloatArray:
    """(D, M) measures over everything in each draw; NaN for an undefined one."""
    [drawn] = score_draws(job.request.create(), [job.tallies], job.times)
    return np.stack([drawn.score((None, None, name)) for name in job.measures], axis=1)


def losses_of(values: FloatArray, directions: Mapping[str, Direction]) -> FloatArray:
    """(..., M) measures, oriented so that lower is better.

    Args:
        values: (..., M) values of M measures.
        directions: The better direction of each of them, in their order.
    """
    lower = [direction is Direction.LOWER for direction in directions.values()]
    losses: FloatArray = values * np.where(lower, 1.0, -1.0)
    return losses

"""Resampling: whether the order of systems would change with other sequences.

The bootstrap answers this. In each domain, as many sequences as it has are drawn with replacement,
and every system is scored on the same draw, from the tallies of single sequences, which add. Source
of the method: B. Efron, "Bootstrap Methods: Another Look at the Jackknife", 1979.

Readings of this project: a sequence that is drawn twice counts as two sequences; intervals lie
between percentiles, which are further out for few sequences, as the share that tells systems apart
is greater (see `vidscore_evaluators.trust.few_sequences`); a draw in which a score is undefined is
left out of its interval; if two systems tie in a draw, each is above the other in half of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import Evaluator, RankKey
from vidscore_evaluators.report import Number
from vidscore_evaluators.runtime import Progress
from vidscore_evaluators.trust.drawn_tallies import pack_parts
from vidscore_evaluators.trust.draws import Key, score_draws, scores_by_key, sequence_tallies
from vidscore_evaluators.trust.few_sequences import (
    are_enough,
    domain_sizes,
    interval_of,
    share_of,
)
from vidscore_evaluators.trust.systems import Contest

DRAWS = 1000
COVERAGE = 0.95


class Interval(Struct, frozen=True):
    """A score, and the interval in which most draws lie.

    Attributes:
        value: The score of all sequences.
        low: Lower end; None if the score is undefined in every draw.
        high: Upper end.
    """

    value: Number
    low: float | None
    high: float | None


class Bootstrap(Struct, frozen=True, eq=False):
    """Ranks and scores of K systems over draws of other sequences.

    Attributes:
        intervals: For each system, an interval for each score.
        above: (K, K) fraction of the draws in which a system ranks above another; ties count half.
        groups: Systems that cannot be distinguished, as rows of `above` sorted by rank: in none of
            their pairs is either above the other with the probability `coverage`.
            With fewer than `LEAST_SEQUENCES`, one group of all. A system may be in several groups.
        draws: Number of draws.
        coverage: Probability that an interval covers a score.
        sequence_count: Number of sequences that were drawn from.
    """

    intervals: tuple[Mapping[Key, Interval], ...]
    above: FloatArray
    groups: tuple[tuple[int, ...], ...]
    draws: int
    coverage: float
    sequence_count: int


def possible_draws(sequences: Sequence[SequenceKey], draws: int) -> int:
    """The number of draws; 0 if each domain has a single sequence, so that no draw differs.

    Args:
        sequences: The sequences, grouped by domain.
        draws: Number of draws that were asked for.
    """
    return draws if max(domain_sizes(sequences), default=0) > 1 else 0


def bootstrap(
    evaluator: Evaluator[Any],
    contest: Contest,
    *,
    draws: int = DRAWS,
    coverage: float = COVERAGE,
    seed: int = 1,
    workers: int = 1,
    progress: Progress | None = None,
) -> Bootstrap:
    """Score systems on draws of their sequences.

    Args:
        evaluator: The evaluator.
        contest: The systems; their truth has at least two sequences.
        draws: Number of draws.
        coverage: Probability that an interval covers a score.
        seed: Seed of the draws.
        workers: Processes to use; the result does not depend on it.
        progress: Called with (steps done, steps in all).

    Raises:
        InputError: If each domain has a single sequence.
    """
    sequences = contest.sequences
    if not possible_draws(sequences, 1):
        raise InputError([Fault("1 sequence in a domain", "two or more for a bootstrap")])
    times = draw_sequences(sequences, draws, seed)
    tallies = list(map(pack_parts, sequence_tallies(evaluator, contest)))
    by_system = score_draws(evaluator, tallies, times, workers=workers, progress=progress)
    overall = [
        scores_by_key(evaluator.scores(evaluator.tally(contest.truth, detections)))
        for detections in contest.systems.values()
    ]
    above = _fractions_above([system.rank_keys for system in by_system])
    intervals = tuple(
        percentile_intervals(values, system.score, coverage, contest)
        for values, system in zip(overall, by_system, strict=True)
    )
    sizes = domain_sizes(sequences)
    apart = share_of(coverage, sizes) if are_enough(sizes) else np.inf
    groups = alike_groups(above, apart)
    return Bootstrap(intervals, above, groups, draws, coverage, len(sequences))


def draw_sequences(sequences: Sequence[SequenceKey], draws: int, seed: int) -> IntArray:
    """(draws, S) number of times that each sequence is drawn; each domain keeps its total.

    Args:
        sequences: S sequences, grouped by domain.
        draws: Number of draws.
        seed: Seed.
    """
    random = np.random.default_rng(seed)
    sizes = domain_sizes(sequences)
    return np.hstack([random.multinomial(size, [1 / size] * size, draws) for size in sizes])


def alike_groups(above: FloatArray, apart: float) -> tuple[tuple[int, ...], ...]:
    """Maximal runs of systems, in rank order, no two of which can be distinguished.

    Args:
        above: (K, K) fraction of the draws in which a system ranks above another.
        apart: Fraction from which two systems are distinguished.
    """
    order = np.argsort(-above.sum(axis=1), kind="stable").tolist()
    runs: list[tuple[int, ...]] = []
    for first in range(len(order)):
        last = first
        while last + 1 < len(order) and all(
            max(above[one, order[last + 1]], above[order[last + 1], one]) < apart
            for one in order[first : last + 1]
        ):
            last += 1
        run = tuple(order[first : last + 1])
        if not runs or not set(run) <= set(runs[-1]):
            runs.append(run)
    return tuple(runs)


def _fractions_above(keys: Sequence[Sequence[RankKey]]) -> FloatArray:
    """(K, K) fraction of the draws in which a system's rank key comes before another's."""
    shares = np.zeros((len(keys), len(keys)))
    for one, first in enumerate(keys):
        for other, second in enumerate(keys):
            halves = sum(
                2 if mine < theirs else mine == theirs
                for mine, theirs in zip(first, second, strict=True)
            )
            shares[one, other] = halves / (2 * len(first))
    return shares


def percentile_intervals(
    overall: Mapping[Key, Number],
    drawn: Callable[[Key], FloatArray],
    coverage: float,
    contest: Contest,
) -> dict[Key, Interval]:
    """An interval for each score, between percentiles of the draws in which it is defined.

    Args:
        overall: Scores of all sequences.
        drawn: A score in each draw; NaN if it is undefined.
        coverage: Probability that an interval covers a score.
        contest: The systems, and the truth whose sequences are drawn.
    """
    sequences = contest.sequences
    sizes = domain_sizes(sequences)
    of_domain = dict(zip(dict.fromkeys(one.domain for one in sequences), sizes, strict=True))
    found = {}
    for key, value in overall.items():
        values, (domain, label, _) = drawn(key), key
        defined = values[~np.isnan(values)]
        own = sizes if domain is None else (of_domain.get(domain, 0),)
        if label is not None and (having := contest.label_sizes.get(label, 0)) < sum(own):
            own = (having,)
        ends = interval_of(defined, coverage, own) if len(defined) else (None, None)
        found[key] = Interval(value, *ends)
    return found

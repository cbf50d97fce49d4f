"""Correction of bootstrap figures for few sequences.

Draws of few sequences differ less than other sequences would: the variance over draws of n of them
is too small by 1/n of it, and it is itself uncertain, as in Student's t. So percentiles are taken
further out, such that intervals of a mean agree with those of Student's t. This is the expanded
percentile interval of T. Hesterberg, "What Teachers Should Know About the Bootstrap", The American
Statistician 69, 2015, which the R package resample uses by default: a probability p of Student's t
with n - 1 degrees of freedom becomes the share of draws Phi(sqrt(n / (n - 1)) t_p).

Readings of this project for several domains: n under the root is the number of sequences of the
smallest domain; degrees of freedom are sequences minus domains, as in stratified samples. A domain
with a single sequence is the same in all draws and does not count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.arrays import FloatArray

LEAST_SEQUENCES = 6
"""Number of sequences below which no two systems are told apart. Of two equal systems, one is
better in all of five sequences in one of 16 cases, more than 5 %; in all of six in one of 32."""


def domain_sizes(sequences: Sequence[SequenceKey]) -> tuple[int, ...]:
    """Number of sequences of each domain.

    Args:
        sequences: The sequences, grouped by domain.
    """
    return tuple(len(list(group)) for _, group in groupby(sequences, lambda key: key.domain))


def are_enough(sizes: Sequence[int]) -> bool:
    """Whether systems can be told apart by domains of these sizes; the smallest decides."""
    return min(sizes, default=0) >= LEAST_SEQUENCES


def share_of(probability: float, sizes: Sequence[int]) -> float:
    """The share of draws that stands for a probability on other sequences.

    Args:
        probability: From 0 to 1.
        sizes: Number of sequences of each domain that are drawn from.
    """
    from scipy.special import ndtr, stdtrit  # noqa: PLC0415 - servers start without scipy

    stretch, freedom = _stretch_and_freedom(sizes)
    return float(ndtr(stretch * stdtrit(freedom, probability))) if freedom else probability


def probabilities_of(shares: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """The probabilities on other sequences for which shares of draws stand.

    Args:
        shares: (N,) shares of draws.
        sizes: Number of sequences of each domain that are drawn from.
    """
    from scipy.special import ndtri, stdtr  # noqa: PLC0415 - servers start without scipy

    stretch, freedom = _stretch_and_freedom(sizes)
    found: FloatArray = stdtr(freedom, ndtri(shares) / stretch) if freedom else shares
    return found


def interval_of(values: FloatArray, coverage: float, sizes: Sequence[int]) -> tuple[float, float]:
    """The percentiles between which a figure would lie on other sequences.

    Args:
        values: (D,) the figure in each of D draws.
        coverage: Probability that it lies between them.
        sizes: Number of sequences of each domain that are drawn from.
    """
    tail = 100.0 * share_of((1.0 - coverage) / 2.0, sizes)
    low, high = np.percentile(values, [tail, 100.0 - tail]).tolist()
    return low, high


def _stretch_and_freedom(sizes: Sequence[int]) -> tuple[float, int]:
    """By how much intervals are widened, and degrees of freedom; 0 if no draw differs."""
    differing = [size for size in sizes if size > 1]
    if not differing:
        return 1.0, 0
    fewest = min(differing)
    return math.sqrt(fewest / (fewest - 1)), sum(differing) - len(differing)

"""Rankings: ranks with ties, and how far two rankings are apart.

Scores come as dissimilarities: the less the better, NaN where undefined, which ranks last.
"""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.arrays import FloatArray, IntArray


def ranks(dissimilarities: FloatArray) -> IntArray:
    """Rank of each system, 1 for the best; equal ones share the least rank of theirs.

    Args:
        dissimilarities: (..., K) dissimilarities of K systems.

    Returns:
        (..., K) ranks.
    """
    values = _undefined_last(dissimilarities)
    better = values[..., np.newaxis, :] < values[..., :, np.newaxis]
    placed: IntArray = 1 + better.sum(axis=-1, dtype=np.int64)
    return placed


def ranks_with_random_ties(dissimilarities: FloatArray, random: np.random.Generator) -> IntArray:
    """Rank of each system, 1 to K, each once: equal ones are put in a random order.

    Args:
        dissimilarities: (..., K) dissimilarities of K systems.
        random: Breaks ties, anew for each of (...).
    """
    values = _undefined_last(dissimilarities)
    order = np.lexsort((random.random(values.shape), values), axis=-1)
    placed = np.empty(values.shape, dtype=np.int64)
    everyone = np.broadcast_to(np.arange(1, values.shape[-1] + 1), values.shape)
    np.put_along_axis(placed, order, everyone, axis=-1)
    return placed


def ranking_errors(dissimilarities: FloatArray) -> FloatArray:
    """Normalised Kendall tau-b error of systems that are given from the truly best to the worst.

    With n0 pairs of systems, Q of them in the wrong order and T of them tied,
    e = (1 - (n0 - T - 2 Q) / sqrt(n0 (n0 - T))) / 2: 0 where all are in the right order, 1 where
    all are in the wrong one, and 0.5 where all are tied. (The paper's Kendall tau distance,
    section 3.2; that it is tau-b is this project's reading.)

    Args:
        dissimilarities: (..., K) dissimilarities of at least two systems.

    Returns:
        (...) errors in [0, 1].
    """
    values = _undefined_last(dissimilarities)
    better, worse = np.triu_indices(values.shape[-1], 1)
    wrong = (values[..., worse] < values[..., better]).sum(axis=-1)
    tied = (values[..., worse] == values[..., better]).sum(axis=-1)
    untied = len(better) - tied
    # Where all are tied the numerator is 0 as well.
    scale = np.sqrt(len(better) * np.maximum(untied, 1.0))
    errors: FloatArray = (1.0 - (untied - 2 * wrong) / scale) / 2.0
    return errors


def kendall_distances(first: FloatArray, second: FloatArray) -> FloatArray:
    """Normalised Kendall distance of two rankings of the same systems, by tau-b: (1 - tau) / 2.

    Where one of the two puts all systems on one rank, tau is taken as 0 and the distance is 0.5;
    where both do, they agree, and it is 0.

    Args:
        first: (..., K) dissimilarities by one criterion.
        second: (..., K) dissimilarities by another.

    Returns:
        (...) distances in [0, 1].
    """
    signs = [_pair_signs(values) for values in (first, second)]
    agreement = (signs[0] * signs[1]).sum(axis=-1)
    untied = [np.abs(sign).sum(axis=-1) for sign in signs]
    scale = np.sqrt(np.maximum(untied[0] * untied[1], 1.0))
    both_tied = (untied[0] == 0) & (untied[1] == 0)
    distances: FloatArray = np.where(both_tied, 0.0, (1.0 - agreement / scale) / 2.0)
    return distances


def _pair_signs(dissimilarities: FloatArray) -> IntArray:
    """(..., pairs) 1 where the second of two systems is worse, -1 where it is better, 0 if tied."""
    values = _undefined_last(dissimilarities)
    first, second = np.triu_indices(values.shape[-1], 1)
    one, other = values[..., first], values[..., second]
    return (one < other).astype(np.int64) - (one > other)


def _undefined_last(dissimilarities: FloatArray) -> FloatArray:
    values: FloatArray = np.where(np.isnan(dissimilarities), np.inf, dissimilarities)
    return values

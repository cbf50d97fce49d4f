"""Indicators of how much a ranking depends on a parameter.

Source: the paper, appendix 2. Readings of this project: systems that tie at a value of the
parameter are put in a random order there, since a rank is otherwise no place; the standard
deviation is that of the whole population (divided by m); values are taken as evenly spaced, so
that sensitivity is in ranks a step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.trust.rankings import ranks_with_random_ties


@dataclass(frozen=True, eq=False)
class Indicators:
    """Means over systems, each of shape (...).

    Attributes:
        switches: R_S: how many other ranks a system has over the values of the parameter.
        distortion: R_std: standard deviation of a system's ranks.
        sensitivity: R_Sen: mean absolute change of a system's rank from a value to the next.
    """

    switches: FloatArray
    distortion: FloatArray
    sensitivity: FloatArray


def indicators(dissimilarities: FloatArray, seed: int) -> Indicators:
    """The three indicators of appendix 2.

    Args:
        dissimilarities: (..., V, K) dissimilarities of K systems at V values of a parameter.
        seed: Seed of the order of ties.
    """
    ranks = ranks_with_random_ties(dissimilarities, np.random.default_rng(seed))
    ordered = np.sort(ranks, axis=-2)
    switches = (np.diff(ordered, axis=-2) != 0).sum(axis=-2)
    steps = np.abs(np.diff(ranks, axis=-2))
    sensitivity = steps.sum(axis=-2) / max(1, steps.shape[-2])
    return Indicators(
        switches=switches.mean(axis=-1),
        distortion=ranks.std(axis=-2).mean(axis=-1),
        sensitivity=sensitivity.mean(axis=-1),
    )

"""Digests of masks: equal masks have equal ones, and what differs, hardly ever."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vidscore_evaluators.arrays import starts_from_counts
from vidscore_evaluators.masks import Masks

DigestArray = NDArray[np.uint64]

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_STEP = np.uint64(0x9E3779B97F4A7C15)


def mask_digests(masks: Masks) -> DigestArray:
    """(N,) digests, each of its mask's size and runs alone.

    Runs are mixed with their places (by splitmix64's finalizer) and summed.

    Args:
        masks: N masks.
    """
    counts = np.diff(masks.starts)
    places = np.arange(len(masks.runs), dtype=np.uint64)
    places -= np.repeat(masks.starts[:-1] - masks.starts[0], counts).astype(np.uint64)
    mixed = _mixed((places << np.uint64(32)) + masks.runs)
    # A sum of a run of numbers modulo 2**64 is a difference of sums.
    before = np.zeros(len(mixed) + 1, dtype=np.uint64)
    np.cumsum(mixed, out=before[1:])
    ends = starts_from_counts(counts)
    sizes = masks.sizes.astype(np.uint64)
    digests: DigestArray = before[ends[1:]] - before[ends[:-1]]
    return _mixed(digests + _mixed((sizes[:, 0] << np.uint64(32)) + sizes[:, 1]))


def _mixed(values: DigestArray) -> DigestArray:
    values = values + _STEP
    values ^= values >> np.uint64(30)
    values *= _FIRST
    values ^= values >> np.uint64(27)
    values *= _SECOND
    values ^= values >> np.uint64(31)
    return values

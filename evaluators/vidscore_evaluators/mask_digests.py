"""Digests of masks: equal masks have equal ones, and what differs, hardly ever."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vidscore_evaluators.kernels import hash_masks
from vidscore_evaluators.masks import Masks

DigestArray = NDArray[np.uint64]


def mask_digests(masks: Masks) -> DigestArray:
    """(N,) digests, each of its mask's size and runs alone."""
    digests: DigestArray = np.empty(masks.count, dtype=np.uint64)
    hash_masks(*masks.contiguous(), np.ascontiguousarray(masks.sizes), masks.count, digests)
    return digests

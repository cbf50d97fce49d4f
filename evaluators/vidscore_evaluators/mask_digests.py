"""Digests of masks: equal masks have equal digests; different masks hardly ever do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vidscore_evaluators.kernels import hash_masks
from vidscore_evaluators.masks import Masks

DigestArray = NDArray[np.uint64]


def mask_digests(masks: Masks) -> DigestArray:
    """(N,) digests, each of its mask's size and runs only; read-only."""

    def work_out() -> DigestArray:
        digests: DigestArray = np.empty(masks.count, dtype=np.uint64)
        sizes = np.ascontiguousarray(masks.sizes)
        hash_masks(*masks.contiguous(), sizes, masks.count, digests)
        return digests

    return masks.once("digests", work_out)

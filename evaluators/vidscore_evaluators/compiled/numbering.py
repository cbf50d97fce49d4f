"""Numbers for keys: what is equal gets one number, and numbers ascend as keys do."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.compiled.library import compiled

_number_keys = compiled("number_keys", np.int64, int, *(np.int64,) * 5)


def numbered(keys: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Number keys without gaps, in ascending order.

    Args:
        keys: (N,) keys, 0 or more.

    Returns:
        The different keys, the number of each of the N, and how often each comes.
    """
    count = len(keys)
    scratch = np.empty((2, 2 * count), dtype=np.int64)
    numbers, different, times = np.empty((3, count), dtype=np.int64)
    found = _number_keys(np.ascontiguousarray(keys), count, *scratch, numbers, different, times)
    return different[:found].copy(), numbers, times[:found].copy()

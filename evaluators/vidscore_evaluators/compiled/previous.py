"""Rows that have the key of an earlier one."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.compiled.library import compiled

_previous_rows = compiled("previous_rows", np.int64, int, int, np.int64, np.int64)


def previous_rows(keys: IntArray, key_count: int) -> IntArray:
    """Find the last row before each that has the same key.

    Args:
        keys: (N,) keys below `key_count`, 0 or more.
        key_count: How many keys there may be.

    Returns:
        (N,) rows, or -1 where a key comes for the first time.

    Raises:
        ValueError: If a key is another.
    """
    previous = np.empty(len(keys), dtype=np.int64)
    last = np.empty(key_count, dtype=np.int64)
    done = _previous_rows(np.ascontiguousarray(keys), len(keys), key_count, last, previous)
    if done < len(keys):
        raise ValueError(f"row {done} has the key {keys[done]}, of keys from 0 to {key_count - 1}")
    return previous

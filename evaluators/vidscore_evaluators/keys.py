"""Integer keys: several columns packed into one key, and keys made codes without gaps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vidscore_evaluators import kernels
from vidscore_evaluators.arrays import LARGEST_KEY, AnyArray, IntArray


def packed_columns(columns: Sequence[IntArray]) -> list[AnyArray]:
    """Some columns packed into one of the same order, which sorts faster.

    Args:
        columns: (N,) arrays, most significant first.

    Returns:
        The packed column; the given ones if their ranges together exceed int64.
    """
    if len(columns) == 0 or len(columns[0]) == 0:
        return list(columns)
    packed = np.zeros(len(columns[0]), dtype=np.int64)
    total = 1
    for column in columns:
        least = int(column.min())
        size = int(column.max()) - least + 1
        if size == 1:
            continue
        total *= size
        if total > LARGEST_KEY:
            return list(columns)
        packed *= size
        packed += column - least
    # 16-bit numbers are radix sorted.
    return [packed.astype(np.uint16) if total <= 1 << 16 else packed]


def factorize(keys: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Factorize keys: codes ascend with the keys, without gaps.

    Args:
        keys: (N,) keys, 0 or more.

    Returns:
        The distinct keys, the code of each of the N, and the count of each distinct key.
    """
    count = len(keys)
    first, second = np.empty((2, 2 * count), dtype=np.int64)
    codes, different, times = np.empty((3, count), dtype=np.int64)
    places = np.empty(kernels.DIGITS, dtype=np.int64)
    found = kernels.factorize_keys(
        np.ascontiguousarray(keys), count, places, first, second, codes, different, times
    )
    return different[:found].copy(), codes, times[:found].copy()

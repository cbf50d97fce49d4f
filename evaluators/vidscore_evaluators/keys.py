"""Integer keys: several columns packed into one key, and keys replaced by codes without gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vidscore_evaluators import kernels
from vidscore_evaluators.arrays import LARGEST_KEY, AnyArray, IntArray, begin_runs


def packed_columns(columns: Sequence[IntArray]) -> list[AnyArray]:
    """Pack columns into one that sorts in the same order, but faster.

    Args:
        columns: (N,) arrays, most significant first.

    Returns:
        The packed column; the given columns if their combined range exceeds int64.
    """
    if len(columns) == 0 or len(columns[0]) == 0:
        return list(columns)
    packed: Any = 0
    total = 1
    for column in columns:
        least = int(column.min())
        size = int(column.max()) - least + 1
        total *= size
        if total > LARGEST_KEY:
            return list(columns)
        packed = packed * size + (column - least)
    # 16-bit numbers are radix sorted.
    return [packed.astype(np.uint16) if total <= 1 << 16 else packed]


def sorted_groups(columns: Sequence[AnyArray]) -> tuple[IntArray, IntArray]:
    """Order that sorts rows by columns, and the start of each group of equal rows in it.

    Only rows that are still equal are sorted by the next column. numpy's fastest sort is used,
    which is not stable: rows that are equal in every column come in any order.

    Args:
        columns: (N,) arrays without NaN, most significant first; N is 1 or more.

    Returns:
        (N,) order, and (G,) ascending positions in it.
    """
    # 16-bit numbers are radix sorted.
    order = np.argsort(columns[0], kind="stable" if columns[0].dtype == np.uint16 else None)
    begins = begin_runs(columns[0][order])
    for column in columns[1:]:
        tied = ~begins
        tied[:-1] |= ~begins[1:]
        places = tied.nonzero()[0]
        if len(places) == 0:
            break
        rows = order[places]
        ranks = _ranks(column[rows])
        keys = np.cumsum(begins)[places] * (int(ranks.max()) + 1) + ranks
        own_order = np.argsort(keys)
        order[places] = rows[own_order]
        begins[places] |= begin_runs(keys[own_order])
    return order, begins.nonzero()[0]


def _ranks(values: AnyArray) -> IntArray:
    """(N,) rank of each number, without gaps; equal numbers share a rank."""
    order = np.argsort(values)
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.cumsum(begin_runs(values[order])) - 1
    return ranks


def factorize(keys: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Factorize keys: codes ascend with the keys, without gaps.

    Args:
        keys: (N,) keys, 0 or more.

    Returns:
        The distinct keys, the code of each of the N keys, and the count of each distinct key.
    """
    count = len(keys)
    first, second = np.empty((2, 2 * count), dtype=np.int64)
    codes, different, times = np.empty((3, count), dtype=np.int64)
    places = np.empty(kernels.DIGITS, dtype=np.int64)
    found = kernels.factorize_keys(
        np.ascontiguousarray(keys), count, places, first, second, codes, different, times
    )
    return different[:found].copy(), codes, times[:found].copy()

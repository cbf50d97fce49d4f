"""Array types and the few index tricks that more than one module needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
FlagArray = NDArray[np.uint8]
AnyArray = NDArray[Any]

LARGEST_KEY = 1 << 62
"""What keys that are made of several numbers stay below, so that int64 holds them."""


def starts_from_counts(counts: AnyArray) -> IntArray:
    """Offsets of consecutive runs: ``[2, 0, 3] -> [0, 2, 2, 5]``.

    Args:
        counts: (K,) run lengths.

    Returns:
        (K + 1,) offsets; run k is ``offsets[k]:offsets[k + 1]``.
    """
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def expand_runs(starts: AnyArray, counts: AnyArray) -> IntArray:
    """Row indices of runs, one after the other: ``starts [5, 1], counts [2, 1] -> [5, 6, 1]``.

    Args:
        starts: (K,) first row of each run.
        counts: (K,) rows in each run.

    Returns:
        (sum of counts,) row indices.
    """
    before = starts_from_counts(counts)
    rows = np.arange(int(before[-1]), dtype=np.int64)
    rows += np.repeat(starts - before[:-1], counts)
    return rows


def run_starts(*sorted_columns: AnyArray) -> IntArray:
    """First row of each group of equal rows in columns that are sorted together.

    Args:
        sorted_columns: (N,) arrays, at least one.

    Returns:
        (G,) ascending row indices; empty where N = 0.
    """
    length = len(sorted_columns[0])
    if length == 0:
        return np.zeros(0, dtype=np.int64)
    changed = np.zeros(length, dtype=np.bool_)
    changed[0] = True
    for column in sorted_columns:
        changed[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(changed)


def packed_columns(columns: Sequence[IntArray]) -> list[IntArray]:
    """Some columns as one that ascends with all of them together, which sorts faster.

    Args:
        columns: (N,) arrays, most significant first.

    Returns:
        The one column; the given ones where there are negative numbers, or numbers so great that
        int64 does not hold what they make together.
    """
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    signed = any(column.min(initial=0) < 0 for column in columns)
    if len(columns) < 2 or signed or math.prod(sizes) > LARGEST_KEY:
        return list(columns)
    packed = columns[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        packed = packed * size + column
    return [packed]

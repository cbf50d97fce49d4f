"""Sums of floats that are exact, so that any split and order gives the same bits.

Every finite binary64 is an integer times 2**-1074. A sum is kept as that integer, a Python int,
and is rounded once, when a report asks for it. Many numbers are added in a compiled loop: fractions
are cut in two halves and summed by group and by sixteen neighbouring exponents in int64, where
nothing can overflow below 2**20 numbers at a time, and only one Python int for each of those is
made.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.compiled.library import compiled
from vidscore_evaluators.compiled.numbering import numbered

SCALE_BITS = 1074
"""Exact sums count units of 2**-SCALE_BITS, the smallest positive binary64."""

# As in `exact.c`.
_HALF_BITS = 26
_EXPONENTS_A_SUM = 16
_SUMS_A_GROUP = 2048 // _EXPONENTS_A_SUM
_VALUES_AT_A_TIME = 1 << 20

BitsArray = NDArray[np.uint64]
"""Binary64 numbers as their bits."""

_exact_sum_keys = compiled("exact_sum_keys", np.uint64, np.int64, int, np.int64)
_add_exactly = compiled("add_exactly", np.uint64, np.int64, int, np.int64, np.int64)


def exact_sums(values: FloatArray, groups: IntArray, group_count: int) -> list[int]:
    """Sum finite floats by group without rounding.

    Args:
        values: (N,) finite binary64.
        groups: (N,) group of each value, in 0..group_count - 1.
        group_count: Number of groups G.

    Returns:
        G integers in units of 2**-1074.

    Raises:
        ValueError: If a value is not finite, or has no group.
    """
    if len(values) != len(groups):
        raise ValueError(f"{len(values)} values and {len(groups)} groups do not go together")
    sums = [0] * group_count
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    groups = np.ascontiguousarray(groups)
    for start in range(0, len(bits), _VALUES_AT_A_TIME):
        some = slice(start, start + _VALUES_AT_A_TIME)
        _add_to(sums, bits[some], groups[some])
    return sums


def _add_to(sums: list[int], values: BitsArray, groups: IntArray) -> None:
    """Add some values to the sums of their groups."""
    count = len(values)
    keys = np.empty(count, dtype=np.int64)
    if _exact_sum_keys(values, groups, count, keys) < 0:
        raise ValueError("an exact sum needs finite numbers")
    keys, numbers, _ = numbered(keys)
    high, low = np.zeros((2, len(keys)), dtype=np.int64)
    _add_exactly(values, numbers, count, high, low)
    for key, high_sum, low_sum in zip(keys.tolist(), high.tolist(), low.tolist(), strict=True):
        group, together = divmod(key, _SUMS_A_GROUP)
        sums[group] += (high_sum << _HALF_BITS) + low_sum << together * _EXPONENTS_A_SUM


def fraction_of(exact: int) -> Fraction:
    """The rational number that an exact sum stands for."""
    return Fraction(exact, 1 << SCALE_BITS)


def to_float(exact: int, count: int = 1) -> float:
    """Round an exact sum, or the mean of `count` numbers that it is the sum of, to binary64."""
    # Python rounds quotients of integers correctly; a fraction would look for common factors first.
    return exact / (count << SCALE_BITS)

"""Sums of floats that are exact, so that any split and order gives the same bits.

Every finite binary64 is an integer times 2**-1074. A sum is kept as that integer, a Python int,
and is rounded once, when a report asks for it. Adding many numbers stays in numpy: mantissas are
cut in two halves and summed by group and by sixteen neighbouring exponents in int64, where
nothing can overflow below 2**20 numbers at a time, and only one Python int for each of those is
made.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from vidscore_evaluators.arrays import FloatArray, IntArray, run_starts

SCALE_BITS = 1074
"""Exact sums count units of 2**-SCALE_BITS, the smallest positive binary64."""

_MANTISSA_BITS = 53
_HALF_BITS = 26
_EXPONENTS_TOGETHER_BITS = 4
_VALUES_AT_A_TIME = 1 << 20
_EXPONENT_SPAN = 4096 >> _EXPONENTS_TOGETHER_BITS


def exact_sums(values: FloatArray, groups: IntArray, group_count: int) -> list[int]:
    """Sum finite floats by group without rounding.

    Args:
        values: (N,) finite binary64.
        groups: (N,) group of each value, in 0..group_count - 1.
        group_count: Number of groups G.

    Returns:
        G integers in units of 2**-1074.

    Raises:
        ValueError: If a value is not finite.
    """
    if not np.isfinite(values).all():
        raise ValueError("an exact sum needs finite numbers")
    sums = [0] * group_count
    some = np.flatnonzero(values)
    for start in range(0, len(some), _VALUES_AT_A_TIME):
        rows = some[start : start + _VALUES_AT_A_TIME]
        _add_to(sums, values[rows], groups[rows])
    return sums


def _add_to(sums: list[int], values: FloatArray, groups: IntArray) -> None:
    """Add some values to the sums of their groups."""
    fractions, exponents = np.frexp(values)
    mantissas = np.ldexp(fractions, _MANTISSA_BITS).astype(np.int64)
    shifted = exponents.astype(np.int64) + SCALE_BITS
    keys = groups * _EXPONENT_SPAN + (shifted >> _EXPONENTS_TOGETHER_BITS)
    above = shifted & ((1 << _EXPONENTS_TOGETHER_BITS) - 1)
    order = np.argsort(keys, kind="stable")
    keys, mantissas, above = keys[order], mantissas[order], above[order]
    first = run_starts(keys)
    high = np.add.reduceat((mantissas >> _HALF_BITS) << above, first)
    low = np.add.reduceat((mantissas & ((1 << _HALF_BITS) - 1)) << above, first)
    groups, together = np.divmod(keys[first], _EXPONENT_SPAN)
    shifts = (together << _EXPONENTS_TOGETHER_BITS) - _MANTISSA_BITS
    columns = (groups.tolist(), high.tolist(), low.tolist(), shifts.tolist())
    for group, high_sum, low_sum, shift in zip(*columns, strict=True):
        mantissa_sum = (high_sum << _HALF_BITS) + low_sum
        # A subnormal's mantissa ends in zeros, so the right shift drops none of its bits; the
        # sum of several is a multiple of the same power of two.
        sums[group] += mantissa_sum << shift if shift >= 0 else mantissa_sum >> -shift


def fraction_of(exact: int) -> Fraction:
    """The rational number that an exact sum stands for."""
    return Fraction(exact, 1 << SCALE_BITS)


def to_float(exact: int, count: int = 1) -> float:
    """Round an exact sum, or the mean of `count` numbers that it is the sum of, to binary64."""
    # Python rounds quotients of integers correctly; a fraction would look for common factors first.
    return exact / (count << SCALE_BITS)

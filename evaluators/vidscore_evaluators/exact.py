"""Sums of floats that are exact, so that any split and order gives the same bits.

Every finite binary64 is an integer times 2**-1074. A sum is kept as that integer, a Python int,
and is rounded once, when a report asks for it. Adding many numbers stays in numpy: mantissas are
cut in two halves and summed by group and exponent in int64, where nothing can overflow below
2**36 numbers, and only one Python int for each group and exponent is made.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from vidscore_evaluators.arrays import FloatArray, IntArray, run_starts

SCALE_BITS = 1074
"""Exact sums count units of 2**-SCALE_BITS, the smallest positive binary64."""

_MANTISSA_BITS = 53
_HALF_BITS = 26
_EXPONENT_SPAN = 4096


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
    fractions, exponents = np.frexp(values)
    mantissas = np.ldexp(fractions, _MANTISSA_BITS).astype(np.int64)
    keys = groups * _EXPONENT_SPAN + (exponents.astype(np.int64) + SCALE_BITS)
    order = np.argsort(keys, kind="stable")
    keys, mantissas = keys[order], mantissas[order]
    first = run_starts(keys)
    if len(first) == 0:
        return sums
    high = np.add.reduceat(mantissas >> _HALF_BITS, first)
    low = np.add.reduceat(mantissas & ((1 << _HALF_BITS) - 1), first)
    for key, high_sum, low_sum in zip(
        keys[first].tolist(), high.tolist(), low.tolist(), strict=True
    ):
        group, shifted = divmod(key, _EXPONENT_SPAN)
        mantissa_sum = (high_sum << _HALF_BITS) + low_sum
        shift = shifted - _MANTISSA_BITS
        # A subnormal's mantissa ends in zeros, so the right shift drops none of its bits; the
        # sum of several is a multiple of the same power of two.
        sums[group] += mantissa_sum << shift if shift >= 0 else mantissa_sum >> -shift
    return sums


def fraction_of(exact: int) -> Fraction:
    """The rational number that an exact sum stands for."""
    return Fraction(exact, 1 << SCALE_BITS)


def to_float(exact: int) -> float:
    """Round an exact sum to the nearest binary64."""
    return float(fraction_of(exact))

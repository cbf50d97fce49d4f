"""Exact sums: floats added up without rounding, so that any split and order gives the same bits.

Every finite binary64 is an integer times 2**-1074. A sum is kept as that integer, and a report
rounds it once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from vidscore_evaluators import kernels
from vidscore_evaluators.arrays import AnyArray, FloatArray, IntArray, run_starts
from vidscore_evaluators.deferred import Deferred

IntegerArray = NDArray[np.object_]
"""Integers of Python."""

SCALE_BITS = 1074
"""Exact sums count units of 2**-SCALE_BITS, the smallest positive binary64."""

_HALF_BITS = 26
"""Bits of a half mantissa, as the kernel splits it."""

_MOST_HIGH = 1 << 35
"""Bound on sums of upper halves, for int64 to hold them joined with the lower ones below 2**62."""

_EXPONENT_CLASSES = 128
"""Number of exponent ranges; the kernel sums the mantissas of each range separately."""

_WORD_BITS = 32


class ExactSums:
    """K exact sums, in units of 2**-1074.

    Sums of one call stay in the kernel's form, and become integers when they are read: a set of
    many sequences is often asked only for its total.
    """

    __slots__ = ("_integers", "_parts")

    def __init__(self, integers: Deferred[IntegerArray], parts: _Parts | None = None) -> None:
        self._integers, self._parts = integers, parts

    @classmethod
    def of_integers(cls, integers: Sequence[int] | IntegerArray) -> ExactSums:
        """Sums given as integers."""
        return cls(Deferred.of(_column(integers)))

    @classmethod
    def of(cls, values: FloatArray, groups: IntArray, group_count: int) -> ExactSums:
        """Sum finite floats by group.

        Mantissas are split into two halves, which are summed in int64 per range of sixteen
        neighbouring exponents. Fewer than 2**20 numbers at a time cannot overflow.

        Args:
            values: (N,) finite binary64.
            groups: (N,) group of each value, in 0..group_count - 1.
            group_count: Number of groups K.

        Raises:
            ValueError: If a value is not finite, or lengths differ.
        """
        if len(values) != len(groups):
            raise ValueError(f"{len(values)} values and {len(groups)} groups do not match")
        values = np.ascontiguousarray(values, dtype=np.float64)
        groups = np.ascontiguousarray(groups, dtype=np.int64)
        # Groups, shifts, upper and lower halves of partial sums; a group may have several.
        sums = np.empty((4, len(values)), dtype=np.int64)
        scratch = np.empty(2 * _EXPONENT_CLASSES, dtype=np.int64)
        count = kernels.add_exactly(values, groups, len(values), scratch, *sums)
        if count < 0:
            raise ValueError("an exact sum needs finite numbers")
        groups, shifts, high, low = sums[:, :count].copy()
        if np.abs(high).max(initial=0) < _MOST_HIGH:
            parts = _Parts(groups, shifts, (high << _HALF_BITS) + low)
        else:
            both = np.concatenate([shifts + _HALF_BITS, shifts])
            parts = _Parts(np.tile(groups, 2), both, np.concatenate([high, low]))
        return cls(Deferred(lambda: parts.put_together(group_count)), parts)

    @property
    def integers(self) -> IntegerArray:
        """(K,) the sums."""
        return self._integers.get()

    def tolist(self) -> list[int]:
        """The sums."""
        values: list[int] = self.integers.tolist()
        return values

    def total(self) -> int:
        """The sum of all."""
        return sum(self.tolist()) if self._parts is None else self._parts.total()

    @property
    def spare_bits(self) -> int:
        """Number of low bits that are 0 in every sum; a lower bound."""
        if self._parts is not None:
            return int(self._parts.shifts.min(initial=SCALE_BITS))
        joined = reduce(or_, self.tolist(), 1 << SCALE_BITS)
        return (joined & -joined).bit_length() - 1

    def take(self, rows: AnyArray) -> ExactSums:
        """Some of the sums, by a mask or by their rows."""
        return ExactSums.of_integers(self.integers[rows])

    def added(self, order: IntArray, first: IntArray) -> ExactSums:
        """Sums of runs of sums.

        Args:
            order: (K,) rows in the order of the runs.
            first: Position in that order at which each run begins.
        """
        ordered = self.integers.take(order)
        if len(first) < len(ordered):
            ordered = np.add.reduceat(ordered, first)
        return ExactSums.of_integers(ordered)


class _Parts(Struct, frozen=True, eq=False):
    """P numbers whose sums by group are exact sums: mantissa times 2**shift.

    Attributes:
        groups: (P,) group of each.
        shifts: (P,) exponent of each, from 0 to 2071.
        mantissas: (P,) mantissas.
    """

    groups: IntArray
    shifts: IntArray
    mantissas: IntArray

    def put_together(self, count: int) -> IntegerArray:
        """(count,) sum of each group."""
        sums = [0] * count
        columns = (self.groups.tolist(), self.shifts.tolist(), self.mantissas.tolist())
        for group, shift, mantissa in zip(*columns, strict=True):
            sums[group] += mantissa << shift
        return _column(sums)

    def total(self) -> int:
        """The sum of all; mantissas of equal exponents are added in two words, without overflow."""
        if not len(self.shifts):
            return 0
        order = self.shifts.astype(np.uint16).argsort(kind="stable")  # a radix sort
        shifts, mantissas = self.shifts[order], self.mantissas[order]
        first = run_starts(shifts)
        high = np.add.reduceat(mantissas >> _WORD_BITS, first)
        low = np.add.reduceat(mantissas & ((1 << _WORD_BITS) - 1), first)
        columns = (shifts[first].tolist(), high.tolist(), low.tolist())
        return sum(
            (upper << _WORD_BITS) + lower << shift
            for shift, upper, lower in zip(*columns, strict=True)
        )


def _column(integers: Sequence[int] | IntegerArray) -> IntegerArray:
    column: IntegerArray = np.empty(len(integers), dtype=np.object_)
    column[:] = integers
    return column


def joined(columns: Iterable[ExactSums]) -> ExactSums:
    """The sums of several columns, one after the other."""
    return ExactSums.of_integers(np.concatenate([column.integers for column in columns]))


def to_float(exact: int, count: int = 1) -> float:
    """An exact sum, divided by `count` for a mean, rounded once to binary64."""
    # Integer division rounds correctly; a Fraction would first search for common factors.
    return exact / (count << SCALE_BITS)

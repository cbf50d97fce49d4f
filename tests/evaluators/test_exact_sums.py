"""Exact sums equal sums of fractions for any numbers, and are rounded once."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vidscore_evaluators import kernels
from vidscore_evaluators.arrays import AnyArray
from vidscore_evaluators.exact_sums import SCALE_BITS, ExactSums, joined, to_float

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
LARGEST = float(np.finfo(np.float64).max)
SMALLEST = 5e-324


def fraction_of(exact: int) -> Fraction:
    """An exact sum as a rational number."""
    return Fraction(exact, 1 << SCALE_BITS)


def _sums(pairs: list[tuple[float, int]], group_count: int) -> list[int]:
    return _exact_sums(pairs, group_count).tolist()


def _exact_sums(pairs: list[tuple[float, int]], group_count: int) -> ExactSums:
    values = np.array([value for value, _ in pairs], dtype=np.float64)
    groups = np.array([group for _, group in pairs], dtype=np.int64)
    return ExactSums.of(values, groups, group_count)


@given(st.lists(st.tuples(FLOATS, st.integers(0, 2)), max_size=30))
@example([(LARGEST, 0), (SMALLEST, 0), (-LARGEST, 0)])
@example([(SMALLEST, 0), (-SMALLEST, 0), (2.0**-1022, 1), (-(2.0**-1022) + SMALLEST, 1)])
@example([(1e16, 0), (1.0, 0), (-1e16, 0)])
@example([(-0.0, 0), (0.0, 1)])
@example([(1.0, 0), (2.0**100, 0), (1.0, 2)])  # As many parts as groups, and two of one group.
@example([(0.1, 0), (-5e300, 1), (SMALLEST, 2)])
def test_each_group_sums_to_the_fraction(pairs: list[tuple[float, int]]) -> None:
    for group, total in enumerate(_sums(pairs, 3)):
        expected = sum((Fraction(value) for value, mine in pairs if mine == group), Fraction(0))
        assert fraction_of(total) == expected


@given(st.lists(st.tuples(FLOATS, st.integers(0, 5)), max_size=30))
@example([(1.0, 0), (-3.5, 1), (2.0**-60, 1)])
@example([(LARGEST, 0), (SMALLEST, 1)])
@example([(1.0, 0), (-(2.0**12), 0), (3.0, 1)])  # Their halves do not fit in one 64-bit integer.
def test_the_total_and_the_parts_of_sums_equal_those_of_their_integers(
    pairs: list[tuple[float, int]],
) -> None:
    """Whether or not they are joined first."""
    integers = _sums(pairs, 6)
    sums, rows, order = _exact_sums(pairs, 6), np.array([4, 0]), np.array([5, 4, 3, 2, 1, 0])
    assert sums.total() == sum(integers)
    assert ExactSums.of_integers(integers).total() == sum(integers)
    assert sums.take(rows).tolist() == [integers[4], integers[0]]
    assert joined([sums, sums.take(rows)]).tolist() == [*integers, integers[4], integers[0]]
    runs = [sum(integers[4:]), sum(integers[1:4]), integers[0]]
    assert sums.added(order, np.array([0, 2, 5])).tolist() == runs
    for one in (sums, ExactSums.of_integers(integers)):
        assert not any(value % (1 << one.spare_bits) for value in integers)


@given(st.lists(FLOATS, max_size=20), st.randoms(use_true_random=False))
def test_order_and_division_do_not_matter(values: list[float], random: object) -> None:
    pairs = [(value, 0) for value in values]
    [whole] = _sums(pairs, 1)
    mixed = pairs.copy()
    random.shuffle(mixed)  # type: ignore[attr-defined]  # a random.Random
    half = len(mixed) // 2
    assert _sums(mixed[:half], 1)[0] + _sums(mixed[half:], 1)[0] == whole


@given(st.lists(st.floats(-1e300, 1e300), max_size=20))
def test_rounding_is_that_of_the_exact_value(values: list[float]) -> None:
    [total] = _sums([(value, 0) for value in values], 1)
    assert to_float(total) == math.fsum(values)


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20))
def test_a_mean_is_rounded_once(values: list[float]) -> None:
    [total] = _sums([(value, 0) for value in values], 1)
    exact_mean = sum(map(Fraction, values), Fraction(0)) / len(values)
    assert to_float(total, len(values)) == float(exact_mean)


def test_a_hundred_thousand_tenths_are_ten_thousand_and_the_exact_remainder() -> None:
    """0.1 is 3602879701896397 / 2**55, so the sum is 100000 times that."""
    count = 100_000
    [total] = ExactSums.of(np.full(count, 0.1), np.zeros(count, dtype=np.int64), 1).tolist()
    assert fraction_of(total) == Fraction(count * 3602879701896397, 2**55)


@pytest.mark.parametrize("exponent", [-8, 13, 18])
def test_a_million_and_one_numbers_with_the_most_bits_do_not_overflow(exponent: int) -> None:
    """2**53 - 1 is the largest significand; 2**18 is the largest power that is summed with 2**3."""
    count = (1 << 20) + 1
    value = math.ldexp((1 << 53) - 1, exponent - 53)
    [total] = ExactSums.of(np.full(count, value), np.zeros(count, dtype=np.int64), 1).tolist()
    assert fraction_of(total) == count * Fraction(value)


def test_the_unit_is_the_smallest_float() -> None:
    assert _sums([(SMALLEST, 0)], 1) == [1]
    assert _sums([(1.0, 0)], 1) == [1 << SCALE_BITS]


def test_groups_without_values_are_zero() -> None:
    assert _sums([], 2) == [0, 0]
    assert _sums([(1.0, 1)], 3) == [0, 1 << SCALE_BITS, 0]


def test_a_sum_over_the_largest_float_is_still_exact() -> None:
    [total] = _sums([(LARGEST, 0), (LARGEST, 0)], 1)
    assert fraction_of(total) == 2 * Fraction(LARGEST)
    with pytest.raises(OverflowError):
        to_float(total)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_infinite_and_nan_values_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        _sums([(1.0, 0), (value, 0)], 1)


def test_values_without_a_group_are_refused() -> None:
    with pytest.raises(ValueError, match="2 values and 1 groups"):
        ExactSums.of(np.ones(2), np.zeros(1, dtype=np.int64), 1)


def test_integers_are_summed_as_floats() -> None:
    sums = ExactSums.of(np.array([3, 4]), np.zeros(2, dtype=np.int64), 1)
    assert sums.tolist() == [7 << SCALE_BITS]


@pytest.mark.parametrize(
    ("integers", "bits"), [([24, 40], 3), ([8, 5], 0), ([0, 0], SCALE_BITS), ([], SCALE_BITS)]
)
def test_spare_bits_of_integers_are_their_common_trailing_zeros(
    integers: list[int], bits: int
) -> None:
    assert ExactSums.of_integers(integers).spare_bits == bits


def test_the_loop_gets_room_for_sums_of_every_exponent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two for every sixteen of the 2,048 exponents of binary64; with less it would overrun."""
    rooms: list[int] = []

    def note_room(_: AnyArray, __: AnyArray, ___: int, scratch: AnyArray, *____: AnyArray) -> int:
        rooms.append(len(scratch))
        return 0

    monkeypatch.setattr(kernels, "add_exactly", note_room)
    ExactSums.of(np.ones(1), np.zeros(1, dtype=np.int64), 1)
    assert min(rooms) >= 2 * 2048 // 16

"""Rows in the order of their keys, beside Python's sort of tuples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.kernels import group_rows

CODES = st.integers(-2, 2) | st.sampled_from([-(2**63), 2**63 - 1])
NUMBERS = st.sampled_from([0.0, 0.5, -1.0, 1e300, float("inf"), -float("inf"), 5e-324])


def _grouped(rows: list[tuple[int, int, float]]) -> tuple[list[int], list[int]]:
    codes = np.array([row[:2] for row in rows], dtype=np.int64).reshape(-1, 2)
    numbers = np.array([row[2:] for row in rows], dtype=np.float64).reshape(-1, 1)
    scratch, order, first = np.empty((3, len(rows)), dtype=np.int64)
    count = group_rows(codes, 2, numbers, 1, len(rows), scratch, order, first)
    return order.tolist(), first[:count].tolist()


@given(st.lists(st.tuples(CODES, CODES, NUMBERS), max_size=40))
def test_rows_are_sorted_by_codes_and_then_by_numbers(rows: list[tuple[int, int, float]]) -> None:
    order, first = _grouped(rows)
    # Python's sort keeps equal rows in their order, too.
    assert order == sorted(range(len(rows)), key=rows.__getitem__)
    ordered = [rows[row] for row in order]
    assert first == [
        row for row in range(len(rows)) if row == 0 or ordered[row] != ordered[row - 1]
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 1000, 1023, 1024, 1025])
def test_any_number_of_rows_is_sorted(count: int) -> None:
    random = np.random.default_rng(count)
    rows = [(int(a), int(b), float(c)) for a, b, c in random.integers(0, 9, (count, 3)).tolist()]
    assert _grouped(rows)[0] == sorted(range(count), key=rows.__getitem__)

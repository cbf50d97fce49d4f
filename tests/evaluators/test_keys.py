"""Keys: several columns packed into one, and numbers for keys, beside sorting them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.arrays import run_starts
from vidscore_evaluators.keys import factorize, packed_columns


@given(st.lists(st.one_of(st.integers(0, 20), st.integers(0, 2**63 - 1)), max_size=30))
def test_keys_are_numbered_in_ascending_order_without_gaps(keys: list[int]) -> None:
    different, numbers, times = factorize(np.array(keys, dtype=np.int64))
    assert different.tolist() == sorted(set(keys))
    assert [different[number] for number in numbers.tolist()] == keys
    assert times.tolist() == [keys.count(key) for key in different.tolist()]


@pytest.mark.parametrize("bits", [1, 10, 11, 12, 22, 23, 44, 63])
@pytest.mark.parametrize("ascending", [False, True])
def test_many_keys_of_any_size_are_numbered_as_sorting_does(bits: int, ascending: bool) -> None:
    keys = np.random.default_rng(bits).integers(0, 2**bits, 50_000)
    keys = np.concatenate([keys, keys[:10_000]])
    keys = np.sort(keys) if ascending else keys
    for found, expected in zip(
        factorize(keys), np.unique(keys, return_inverse=True, return_counts=True), strict=True
    ):
        assert found.tolist() == expected.tolist()


def test_keys_that_are_not_one_after_the_other_in_memory_are_numbered_alike() -> None:
    keys = np.arange(20, dtype=np.int64)
    assert factorize(keys[::-2])[0].tolist() == list(range(1, 20, 2))


NUMBERS = st.one_of(st.integers(0, 3), st.integers(-2, 3), st.integers(0, 2**62))


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=8))
def test_packed_columns_sort_as_the_columns_do(rows: list[tuple[int, int, int]]) -> None:
    columns = [np.array([row[index] for row in rows], dtype=np.int64) for index in range(3)]
    packed = packed_columns(columns)
    order = np.lexsort(packed[::-1])
    assert [rows[place] for place in order.tolist()] == sorted(rows)
    first = run_starts(*(column[order] for column in packed))
    assert len(first) == len(set(rows))


def test_small_columns_become_one() -> None:
    columns = [np.array([2, 0, 1]), np.array([0, 1, 4])]
    assert [column.tolist() for column in packed_columns(columns)] == [[10, 1, 9]]
    assert packed_columns(columns)[0].dtype == np.uint16
    far = [np.array([2, 0, 1]), np.array([0, 1, 1 << 40])]
    assert len(packed_columns(far)) == 1
    assert len(packed_columns([far[1], far[1]])) == 2

"""Keys: several columns packed into one, and dense numbers for keys, compared with sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.arrays import run_starts
from vidscore_evaluators.keys import factorize, packed_columns, sorted_groups


@given(st.lists(st.one_of(st.integers(0, 20), st.integers(0, 2**63 - 1)), max_size=30))
def test_keys_are_numbered_in_ascending_order_without_gaps(keys: list[int]) -> None:
    different, numbers, times = factorize(np.array(keys, dtype=np.int64))
    assert different.tolist() == sorted(set(keys))
    assert [different[number] for number in numbers.tolist()] == keys
    assert times.tolist() == [keys.count(key) for key in different.tolist()]


@pytest.mark.parametrize("bits", [1, 10, 11, 12, 22, 23, 44, 63])
@pytest.mark.parametrize("ascending", [False, True])
def test_many_keys_of_any_size_are_numbered_as_by_sorting(bits: int, ascending: bool) -> None:
    keys = np.random.default_rng(bits).integers(0, 2**bits, 50_000)
    keys = np.concatenate([keys, keys[:10_000]])
    keys = np.sort(keys) if ascending else keys
    for found, expected in zip(
        factorize(keys), np.unique(keys, return_inverse=True, return_counts=True), strict=True
    ):
        assert found.tolist() == expected.tolist()


def test_keys_that_are_not_contiguous_in_memory_are_numbered_the_same() -> None:
    keys = np.arange(20, dtype=np.int64)
    assert factorize(keys[::-2])[0].tolist() == list(range(1, 20, 2))


NUMBERS = st.one_of(st.integers(0, 3), st.integers(-2, 3), st.integers(0, 2**62))


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=8))
def test_packed_columns_sort_like_the_columns(rows: list[tuple[int, int, int]]) -> None:
    columns = [np.array([row[index] for row in rows], dtype=np.int64) for index in range(3)]
    packed = packed_columns(columns)
    order = np.lexsort(packed[::-1])
    assert [rows[place] for place in order.tolist()] == sorted(rows)
    first = run_starts(*(column[order] for column in packed))
    assert len(first) == len(set(rows))


FEW = st.sampled_from([-1.5, -1.0, 0.0, 1e-300, 0.1, 0.1 + 2**-55, 1.0, 2.0**60])


@given(st.lists(st.tuples(st.integers(0, 2), FEW, FEW), min_size=1, max_size=20))
def test_rows_are_sorted_by_one_column_after_the_other(
    rows: list[tuple[int, float, float]],
) -> None:
    kinds, first, second = zip(*rows, strict=True)
    columns = [np.array(kinds, dtype=np.uint16), np.array(first), np.array(second)]
    order, begins = sorted_groups(columns)
    assert sorted(order.tolist()) == list(range(len(rows)))
    assert [rows[place] for place in order.tolist()] == sorted(rows)
    assert [sorted(rows)[place] for place in begins.tolist()] == sorted(set(rows))


@pytest.mark.parametrize("digits", [1, 3, 16])
@pytest.mark.parametrize("kind", [np.uint16, np.int64])
def test_many_rows_are_sorted_as_by_lexsort(digits: int, kind: type) -> None:
    """However many of them are equal in the first columns."""
    random = np.random.default_rng(digits)
    columns = [
        random.integers(0, 5, 30_000).astype(kind),
        np.round(random.random(30_000), digits),
        random.integers(0, 3, 30_000).astype(np.float64),
        random.integers(-9, 9, 30_000).astype(np.float64),
    ]
    order, begins = sorted_groups(columns)
    expected = np.lexsort(columns[::-1])
    for column in columns:
        assert column[order].tolist() == column[expected].tolist()
    assert begins.tolist() == run_starts(*(column[expected] for column in columns)).tolist()


def test_small_columns_become_one() -> None:
    columns = [np.array([2, 0, 1]), np.array([0, 1, 4])]
    assert [column.tolist() for column in packed_columns(columns)] == [[10, 1, 9]]
    assert packed_columns(columns)[0].dtype == np.uint16
    far = [np.array([2, 0, 1]), np.array([0, 1, 1 << 40])]
    assert len(packed_columns(far)) == 1
    assert len(packed_columns([far[1], far[1]])) == 2

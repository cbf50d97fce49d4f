"""Numbers for keys, beside sorting them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.keys import factorize


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

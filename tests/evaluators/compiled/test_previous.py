"""The row before that has the same key, against looking back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.compiled.previous import previous_rows

MOST = 5


@given(st.lists(st.integers(0, MOST - 1), max_size=30))
def test_the_row_before_is_the_last_one_with_the_same_key(keys: list[int]) -> None:
    """As looking back from each row finds it; -1 where there is none."""
    expected = [
        max((before for before in range(row) if keys[before] == key), default=-1)
        for row, key in enumerate(keys)
    ]
    assert previous_rows(np.array(keys, dtype=np.int64), MOST).tolist() == expected


@pytest.mark.parametrize("key", [-1, MOST, 2**62])
def test_a_key_that_may_not_be_is_refused(key: int) -> None:
    """The error names the first row that has one."""
    with pytest.raises(ValueError, match=f"row 1 has the key {key}, of keys from 0 to 4"):
        previous_rows(np.array([0, key, -7]), MOST)

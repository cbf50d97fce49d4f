"""The order in which objects prefer their pairs, against Python's own sorting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.matching import preference_order
from vidscore_evaluators.pairs import Pairs


def pairs_of(left: list[int]) -> Pairs:
    return Pairs(np.array(left, dtype=np.int64), np.arange(len(left), dtype=np.int64))


FEW = st.sampled_from([-0.0, 0.0, 0.25, 0.5])


@given(st.lists(st.tuples(st.integers(0, 3), FEW, st.booleans(), FEW), max_size=120), st.booleans())
def test_pairs_are_sorted_by_object_choice_weight_and_place(
    rows: list[tuple[int, float, bool, float]], placed: bool
) -> None:
    """Pairs that are equal in all of these keep their order."""
    rows.sort(key=lambda row: row[0])
    left = [row[0] for row in rows]
    weights, second, last = ([row[column] for row in rows] for column in (1, 2, 3))

    def key(row: int) -> Any:
        return left[row], second[row], -weights[row], -last[row] if placed else 0.0, row

    found = preference_order(
        pairs_of(left),
        np.array(weights, dtype=np.float64),
        np.array(second, dtype=np.bool_),
        np.array(last, dtype=np.float64) if placed else None,
    )
    assert found.tolist() == sorted(range(len(rows)), key=key)


def test_very_many_pairs_of_one_object_are_ordered() -> None:
    weights = np.random.default_rng(0).permutation(100_000).astype(np.float64)
    found = preference_order(
        pairs_of([7] * len(weights)), weights, np.zeros(len(weights), dtype=np.bool_)
    )
    assert weights[found].tolist() == list(range(len(weights)))[::-1]


def test_unsorted_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="sorted by their left objects"):
        preference_order(pairs_of([1, 0]), np.zeros(2), np.zeros(2, dtype=np.bool_))

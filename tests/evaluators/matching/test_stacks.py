"""Stacks of whole matrices: each matrix is solved by itself."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vidscore_evaluators.matching.stacks import least_cost_columns

STACKS = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(3, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(0, 5).map(float))
)


@given(STACKS)
def test_rows_get_columns_of_their_own_at_the_least_sum(costs: np.ndarray) -> None:
    """As trying every choice of columns says, and as each matrix is solved alone."""
    found = least_cost_columns(costs)
    rows = range(costs.shape[1])
    for index, matrix in enumerate(costs):
        chosen = found[index].tolist()
        assert len(set(chosen)) == len(chosen)
        least = min(
            sum(matrix[row, column] for row, column in zip(rows, columns, strict=True))
            for columns in permutations(range(costs.shape[2]), costs.shape[1])
        )
        assert sum(matrix[row, column] for row, column in zip(rows, chosen, strict=True)) == least
        assert least_cost_columns(matrix[None])[0].tolist() == chosen

"""Assignments: the minimum sum, and among equal ones the same choice as scipy."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

from vidscore_evaluators.matching import CostBlocks, assign

FEW_COSTS = st.sampled_from([0.0, 1.0, 2.0, 0.1 + 0.2, 0.3, 1e6, 3**0.5, 12**0.5, 27**0.5])
"""Costs that often tie, some of them except for the last bit."""


def stacks(most_rows: int, most_more: int) -> st.SearchStrategy[np.ndarray]:
    """Up to three matrices of one shape."""
    shapes = st.tuples(st.integers(1, 3), st.integers(1, most_rows), st.integers(0, most_more))
    return shapes.flatmap(
        lambda shape: arrays(
            np.float64, (shape[0], shape[1], shape[1] + shape[2]), elements=FEW_COSTS
        )
    )


def block_of(matrix: np.ndarray, other: float) -> tuple[CostBlocks, np.ndarray]:
    """A matrix as one block, whose pairs are the cells that do not cost `other`."""
    rows, columns = map(np.ascontiguousarray, np.nonzero(matrix != other))
    height, width = matrix.shape
    blocks = CostBlocks(
        np.array([0, len(rows)]), rows, columns, np.array([height]), np.array([width])
    )
    return blocks, matrix[rows, columns]


@given(stacks(4, 2))
def test_rows_get_their_own_columns_at_the_minimum_sum(costs: np.ndarray) -> None:
    """As by trying every choice of columns, and as by solving each matrix alone."""
    found = assign(costs)
    rows = range(costs.shape[1])
    for index, matrix in enumerate(costs):
        chosen = found[index].tolist()
        assert len(set(chosen)) == len(chosen)
        least = min(
            sum(matrix[row, column] for row, column in zip(rows, columns, strict=True))
            for columns in permutations(range(costs.shape[2]), costs.shape[1])
        )
        total = sum(matrix[row, column] for row, column in zip(rows, chosen, strict=True))
        assert total == pytest.approx(least, rel=1e-12)
        assert assign(matrix[None])[0].tolist() == chosen


@given(stacks(9, 5))
def test_among_equal_sums_the_choice_is_scipys(costs: np.ndarray) -> None:
    """Matrices full of ties, exact ones and ones that rounding makes or breaks."""
    expected = [linear_sum_assignment(matrix)[1].tolist() for matrix in costs]
    assert assign(costs).tolist() == expected


@pytest.mark.parametrize("seed", range(8))
def test_large_matrices_full_of_ties_are_solved_as_by_scipy(seed: int) -> None:
    """60 to 120 rows of few different costs, integers or multiples of 0.1."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(60, 120))
    shape = (rows, rows + int(random.integers(0, 9)))
    whole = random.integers(0, 4 + 9 * seed, size=shape).astype(np.float64)
    costs = whole * (1.0 if seed % 2 else 0.1)
    expected = linear_sum_assignment(costs)[1].tolist()
    assert assign(costs[None])[0].tolist() == expected


@given(stacks(6, 4), FEW_COSTS, st.booleans())
def test_pairs_of_a_block_are_assigned_as_in_its_matrix(
    costs: np.ndarray, other: float, is_tall: bool
) -> None:
    """Wide or tall, as scipy solves the matrix; cells that are not pairs have one cost."""
    for matrix in costs.transpose(0, 2, 1) if is_tall else costs:
        blocks, of_pairs = block_of(matrix, other)
        assigned = blocks.assign(of_pairs, np.array([other]))
        expected = np.zeros(matrix.shape, dtype=bool)
        expected[linear_sum_assignment(matrix)] = True
        assert assigned.tolist() == expected[blocks.rows, blocks.columns].tolist()


def test_blocks_of_all_shapes_are_assigned_as_if_each_were_alone() -> None:
    """400 blocks of up to 12 x 12 in one call, some of them without a pair."""
    random = np.random.default_rng(3)
    shapes = random.integers(1, 13, size=(400, 2))
    matrices = [random.integers(0, 4, size=shape).astype(np.float64) for shape in shapes]
    matrices[::50] = [np.full(matrix.shape, 2.0) for matrix in matrices[::50]]
    blocks, costs = zip(*(block_of(matrix, 2.0) for matrix in matrices), strict=True)
    joined = CostBlocks(
        np.cumsum([0, *(len(block.rows) for block in blocks)]),
        np.concatenate([block.rows for block in blocks]),
        np.concatenate([block.columns for block in blocks]),
        *np.ascontiguousarray(shapes.T),
    )
    found = joined.assign(np.concatenate(costs), np.full(len(blocks), 2.0))
    alone = [
        block.assign(of_pairs, np.array([2.0]))
        for block, of_pairs in zip(blocks, costs, strict=True)
    ]
    assert found.tolist() == np.concatenate(alone).tolist()


def test_empty_input_has_no_assignment() -> None:
    """No matrix, no block."""
    none = np.zeros(0, dtype=np.int64)
    assert assign(np.zeros((0, 2, 3))).shape == (0, 2)
    blocks = CostBlocks(np.zeros(1, dtype=np.int64), none, none, none, none)
    assert blocks.assign(np.zeros(0), np.zeros(0)).tolist() == []


@pytest.mark.parametrize("cost", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("rows", [2, 3, 4])
def test_infinite_and_nan_costs_are_refused(cost: float, rows: int) -> None:
    """The error names the matrix that has them, and not the one before."""
    costs = np.zeros((2, rows, 4))
    costs[1] = cost
    with pytest.raises(ValueError, match="matrix 1"):
        assign(costs)


def test_pairs_outside_their_block_are_refused() -> None:
    """Places from the block's height or width on, and negative ones, are outside its memory."""
    one, sizes = np.array([1.0]), np.array([2])
    for row, column in ((2, 0), (0, 2), (-1, 0), (0, -1)):
        blocks = CostBlocks(np.array([0, 1]), np.array([row]), np.array([column]), sizes, sizes)
        with pytest.raises(ValueError, match="block 0 has pairs outside"):
            blocks.assign(one, one)


def test_blocks_that_do_not_cover_the_pairs_are_refused() -> None:
    """Offsets that do not begin at 0, descend or end elsewhere, and columns of other lengths."""
    zero, sizes = np.zeros(2, dtype=np.int64), np.array([1, 1])
    for starts in ([1, 1, 2], [0, 2, 1], [0, 1, 3], [0, 2]):
        with pytest.raises(ValueError, match=r"do not fall|are not"):
            CostBlocks(np.array(starts), zero, zero, sizes, sizes)
    blocks = CostBlocks(np.array([0, 1, 2]), zero, zero, sizes, sizes)
    with pytest.raises(ValueError, match="a column and a cost"):
        blocks.assign(np.zeros(3), np.zeros(2))


def test_more_rows_than_columns_are_refused() -> None:
    """Three rows cannot each have one of two columns."""
    with pytest.raises(ValueError, match="3 rows cannot have a column each of 2"):
        assign(np.zeros((1, 3, 2)))

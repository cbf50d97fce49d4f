"""One-to-one assignments of least cost: of whole matrices, and of blocks of pairs.

Of equally good assignments it chooses the one of scipy's linear_sum_assignment, which depends on
the matrix alone, on any machine.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, require_groups, run_starts
from vidscore_evaluators.kernels import assign_blocks, assign_matrices
from vidscore_evaluators.keys import factorize


def assign(costs: FloatArray) -> IntArray:
    """Assign a column of its own to every row, at the least sum of costs.

    Args:
        costs: (K, m, n) finite costs of K problems, m from 1 to n.

    Returns:
        (K, m) column of each row. It depends on its own matrix alone, ties included.

    Raises:
        ValueError: If there are more rows than columns, or if costs or sums of them are not finite.
    """
    count, rows, columns = costs.shape
    if rows > columns:
        raise ValueError(f"{rows} rows cannot have a column each of {columns}")
    chosen = np.empty((count, rows), dtype=np.int64)
    solved = assign_matrices(
        np.ascontiguousarray(costs), count, rows, columns, *_scratch(columns), chosen
    )
    if solved < count:
        raise ValueError(f"costs of matrix {solved} are not finite")
    return chosen


class CostBlocks(Struct, frozen=True, eq=False):
    """B matrices of which some cells are pairs, P in all.

    Attributes:
        starts: (B + 1,) offsets of the blocks into the pairs.
        rows: (P,) row of each pair in its block.
        columns: (P,) its column.
        heights: (B,) rows of each block.
        widths: (B,) columns of each block.
    """

    starts: IntArray
    rows: IntArray
    columns: IntArray
    heights: IntArray
    widths: IntArray

    @classmethod
    def of_pairs(cls, blocks: IntArray, left: IntArray, right: IntArray) -> CostBlocks:
        """A row for each left object and a column for each right one, in ascending order.

        Args:
            blocks: (P,) block of each pair, ascending.
            left: (P,) its left object, which is in no other block.
            right: (P,) its right object, likewise.
        """
        starts = np.append(run_starts(blocks), len(blocks))
        rows, heights = _places(blocks, starts, left)
        columns, widths = _places(blocks, starts, right)
        return cls(starts, rows, columns, heights, widths)

    def __post_init__(self) -> None:
        """Refuse offsets that would lead a kernel out of its arrays."""
        if not len(self.starts) - 1 == len(self.heights) == len(self.widths):
            raise ValueError(
                f"{len(self.starts)} offsets are not those of {len(self.heights)} blocks"
            )
        require_groups("pairs", self.rows, self.starts)

    def assign(self, costs: FloatArray, others: FloatArray) -> BoolArray:
        """Assign all rows, or all columns where they are fewer, at the least sum of costs.

        Args:
            costs: (P,) finite cost of each pair.
            others: (B,) cost of every other cell of a block.

        Returns:
            (P,) mask of assigned pairs. It depends on a block alone, ties included.

        Raises:
            ValueError: If costs or sums of them are not finite, or a pair is outside its block.
        """
        if not len(costs) == len(self.rows) == len(self.columns) or len(others) != len(
            self.heights
        ):
            raise ValueError(
                "every pair has a row, a column and a cost, every block its other cost"
            )
        count, most_cells = len(self.heights), int((self.heights * self.widths).max(initial=0))
        longest = int(max(self.heights.max(initial=0), self.widths.max(initial=0)))
        assigned = np.empty(len(costs), dtype=np.bool_)
        solved = assign_blocks(
            *(self.starts, self.rows, self.columns, costs, self.heights, self.widths, others),
            *(count, np.empty(most_cells), *_scratch(longest), longest, assigned),
        )
        if solved < count:
            raise ValueError(f"block {solved} has pairs outside, or costs that are not finite")
        return assigned


def _places(blocks: IntArray, starts: IntArray, objects: IntArray) -> tuple[IntArray, IntArray]:
    """Place of each pair's object among those of its block, and how many each block has."""
    _, numbers, _ = factorize(blocks * (objects.max(initial=0) + 1) + objects)
    first = np.minimum.reduceat(numbers, starts[:-1])
    counts = np.maximum.reduceat(numbers, starts[:-1]) - first + 1
    return numbers - np.repeat(first, np.diff(starts)), counts


def _scratch(columns: int) -> tuple[FloatArray, IntArray]:
    return np.empty(5 * columns), np.empty(6 * columns, dtype=np.int64)

"""Solvers of minimum-cost assignments, and of transport between equal masses.

One-to-one assignments are of whole matrices, or of blocks of pairs. Of equally good ones, the
result is that of scipy's linear_sum_assignment, which depends on the matrix alone, on any machine.

Transport goes from m supply nodes of 1/m to n demand nodes of 1/n, exactly. With g the greatest
common divisor of m and n, every supply is n/g units and every demand m/g units,
so an optimal plan moves whole units. If there are few units, each becomes a row and each unit of
demand a column of an assignment. If there are many, supply nodes are saturated one after the other
along shortest paths, which keeps the plan so far optimal (successive shortest paths, with
potentials as in the Hungarian method). There is no iteration to a tolerance: the plan is optimal up
to the rounding of sums of costs.
"""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, require_groups, run_starts
from vidscore_evaluators.kernels import assign_blocks, assign_matrices, transport_units
from vidscore_evaluators.keys import factorize


def assign(costs: FloatArray) -> IntArray:
    """Assign a different column to every row, at the least sum of costs.

    Args:
        costs: (K, m, n) finite costs of K problems, m from 1 to n.

    Returns:
        (K, m) column of each row. It depends only on its own matrix, ties included.

    Raises:
        ValueError: If there are more rows than columns, or costs or sums of them are not finite.
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
    """B matrices in which some cells are pairs, P in all.

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
        """One row per left object and one column per right object, in ascending order.

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
        """Refuse offsets that would lead a kernel out of bounds."""
        if not len(self.starts) - 1 == len(self.heights) == len(self.widths):
            raise ValueError(
                f"{len(self.starts)} offsets are not those of {len(self.heights)} blocks"
            )
        require_groups("pairs", self.rows, self.starts)

    def assign(self, costs: FloatArray, others: FloatArray) -> BoolArray:
        """Assign all rows, or all columns if there are fewer, at the least sum of costs.

        Args:
            costs: (P,) finite cost of each pair.
            others: (B,) cost of every other cell of a block.

        Returns:
            (P,) mask of assigned pairs. It depends only on the block, ties included.

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
    """Position of each pair's object in its block, and the number of objects of each block."""
    _, numbers, _ = factorize(blocks * (objects.max(initial=0) + 1) + objects)
    first = np.minimum.reduceat(numbers, starts[:-1])
    counts = np.maximum.reduceat(numbers, starts[:-1]) - first + 1
    return numbers - np.repeat(first, np.diff(starts)), counts


def _scratch(columns: int) -> tuple[FloatArray, IntArray]:
    return np.empty(5 * columns), np.empty(6 * columns, dtype=np.int64)


MAX_ASSIGNED_UNITS = 200
"""Number of units up to which units are assigned. Shortest paths are faster, but may choose another
of equally good plans, and round its cost otherwise."""


class Transport(Struct, frozen=True, eq=False):
    """An optimal plan of moving m supplies of mass 1/m to n demands of mass 1/n.

    Attributes:
        cost: The cost, for a total mass of 1.
        supplies: Number of supplies m.
        demands: Number of demands n.
        assigned: (units,) unit of demand that each unit of supply is moved to; None if supply
            nodes were saturated instead.
        saturated: (m, n) units moved; None if units were assigned.
    """

    cost: float
    supplies: int
    demands: int
    assigned: IntArray | None = None
    saturated: IntArray | None = None

    @property
    def flow(self) -> IntArray:
        """(m, n) units moved from each supply to each demand, lcm(m, n) in all."""
        if self.assigned is None:
            assert self.saturated is not None  # noqa: S101 - one of them is there
            return self.saturated
        units = len(self.assigned)
        sources = np.arange(units) // (units // self.supplies)
        cells = sources * self.demands + self.assigned // (units // self.demands)
        flow: IntArray = np.bincount(cells, minlength=self.supplies * self.demands)
        return flow.reshape(self.supplies, self.demands)


def transport(costs: FloatArray) -> Transport:
    """Move m supplies of mass 1/m to n demands of mass 1/n at the least cost.

    Args:
        costs: (m, n) finite costs, 0 or more, of moving a mass of 1; m and n at least 1.

    Raises:
        ValueError: If costs, or sums of them, are not finite.
    """
    supplies, demands = costs.shape
    units = math.lcm(supplies, demands)
    if units <= MAX_ASSIGNED_UNITS:
        table = np.repeat(np.repeat(costs, units // supplies, axis=0), units // demands, axis=1)
        assigned = assign(table[None])[0]
        cost = math.fsum(table[np.arange(units), assigned].tolist()) / units
        return Transport(cost, supplies, demands, assigned=assigned)
    # Each step of a path is a demand node, so fewer of them are better.
    flow = _saturated(costs) if supplies >= demands else _saturated(costs.T).T
    used = flow > 0
    cost = math.fsum((flow[used] * costs[used]).tolist()) / units
    return Transport(cost, supplies, demands, saturated=flow)


def _saturated(costs: FloatArray) -> IntArray:
    """(m, n) units moved from each supply node to each demand node, along shortest paths."""
    supplies, demands = costs.shape
    divisor = math.gcd(supplies, demands)
    flow = np.empty((demands, supplies), dtype=np.int64)
    numbers = np.empty(2 * supplies + 3 * demands)
    places = np.empty(supplies + 4 * demands, dtype=np.int64)
    costs, units, capacity = np.ascontiguousarray(costs), demands // divisor, supplies // divisor
    if not transport_units(costs, supplies, demands, units, capacity, numbers, places, flow):
        raise ValueError("costs, or sums of them, are not finite")
    return flow.T

"""Exact transport between two sets of equal masses: m piles of 1/m to n holes of 1/n.

With g the greatest common divisor of m and n, every pile is n/g grains and every hole takes m/g of
them, so that a best plan moves whole grains. Where there are few grains, each becomes a row and
each place in a hole a column of an assignment. Where there are many, piles are emptied one after
the other along shortest paths, which keeps the plan so far a best one (successive shortest paths,
with potentials as in the Hungarian method). Nothing is iterated to a tolerance: the plan is a best
one up to the rounding of sums of costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.matching.assignment import least_cost_columns

MOST_ASSIGNED_GRAINS = 200
"""Grains up to which an assignment of grains is faster than shortest paths."""

_NOWHERE = -1


def transport_cost(costs: FloatArray) -> float:
    """Least cost of turning m piles of mass 1/m into n holes of mass 1/n.

    Args:
        costs: (m, n) finite costs, 0 or more, of moving a mass of 1; m and n at least 1.

    Returns:
        The cost, for a mass of 1 in all.
    """
    piles, holes = costs.shape
    grains = math.lcm(piles, holes)
    if grains <= MOST_ASSIGNED_GRAINS:
        table = np.repeat(np.repeat(costs, grains // piles, axis=0), grains // holes, axis=1)
        return (
            math.fsum(table[np.arange(grains), least_cost_columns(table[None])[0]].tolist())
            / grains
        )
    # A step of a path is a hole, so that few of them are better.
    plan = _Plan.of(costs if piles >= holes else costs.T)
    for pile in range(len(plan.costs)):
        plan.empty(pile)
    used = plan.moved > 0
    return math.fsum((plan.moved[used] * plan.costs[used]).tolist()) / grains


@dataclass(frozen=True, eq=False)
class _Paths:
    """Shortest paths from a pile, by way of holes and the piles that already fill them.

    Attributes:
        end: The nearest hole with room.
        from_pile: (n,) pile before each hole.
        by_hole: (m,) hole before each pile that was reached.
        hole_lengths: (n,) length of the path to each hole.
        pile_lengths: (m,) length of the path to each pile, infinite where it was not reached.
        settled: (n,) holes whose path is final.
    """

    end: int
    from_pile: IntArray
    by_hole: IntArray
    hole_lengths: FloatArray
    pile_lengths: FloatArray
    settled: BoolArray


@dataclass(frozen=True, eq=False)
class _Plan:
    """What was moved so far, and the potentials that prove it best; its arrays change.

    Attributes:
        costs: (m, n) costs.
        moved: (m, n) grains moved.
        room: (n,) grains that each hole still takes.
        grains: Grains of each pile.
        pile_potentials: (m,) no cost is below the sum of its two potentials, and what is moved
            costs just that.
        hole_potentials: (n,) the other ones.
    """

    costs: FloatArray
    moved: IntArray
    room: IntArray
    grains: int
    pile_potentials: FloatArray
    hole_potentials: FloatArray

    @classmethod
    def of(cls, costs: FloatArray) -> _Plan:
        """The plan in which nothing was moved."""
        piles, holes = costs.shape
        divisor = math.gcd(piles, holes)
        return cls(
            costs=costs,
            moved=np.zeros(costs.shape, dtype=np.int64),
            room=np.full(holes, piles // divisor, dtype=np.int64),
            grains=holes // divisor,
            pile_potentials=np.zeros(piles),
            hole_potentials=costs.min(axis=0),
        )

    def empty(self, pile: int) -> None:
        """Move all grains of a pile, at the least cost of the plan as a whole."""
        left = self.grains
        while left:
            paths = self._paths_from(pile)
            self._raise_potentials(paths)
            left -= self._move_along(paths, pile, left)

    def _paths_from(self, pile: int) -> _Paths:
        """Dijkstra's method on costs less potentials, up to the first hole with room."""
        from_pile = np.full(len(self.room), pile, dtype=np.int64)
        by_hole = np.full(len(self.costs), _NOWHERE, dtype=np.int64)
        hole_lengths = self.costs[pile] - self.pile_potentials[pile] - self.hole_potentials
        pile_lengths = np.full(len(self.costs), np.inf)
        pile_lengths[pile] = 0.0
        settled = np.zeros(len(self.room), dtype=np.bool_)
        while True:
            hole = int(np.where(settled, np.inf, hole_lengths).argmin())
            settled[hole] = True
            if self.room[hole]:
                return _Paths(hole, from_pile, by_hole, hole_lengths, pile_lengths, settled)
            reached = np.flatnonzero((self.moved[:, hole] > 0) & np.isinf(pile_lengths))
            if len(reached):
                pile_lengths[reached], by_hole[reached] = hole_lengths[hole], hole
                self._relax(reached, hole, hole_lengths, from_pile, settled)

    def _relax(
        self,
        reached: IntArray,
        hole: int,
        hole_lengths: FloatArray,
        from_pile: IntArray,
        settled: BoolArray,
    ) -> None:
        """Shorten paths to holes by way of newly reached piles."""
        onward = self.costs[reached] - self.pile_potentials[reached, None] - self.hole_potentials
        nearest = onward.argmin(axis=0)
        lengths = hole_lengths[hole] + onward[nearest, np.arange(len(nearest))]
        shorter = ~settled & (lengths < hole_lengths)
        hole_lengths[shorter] = lengths[shorter]
        from_pile[shorter] = reached[nearest[shorter]]

    def _raise_potentials(self, paths: _Paths) -> None:
        length = paths.hole_lengths[paths.end]
        reached = np.isfinite(paths.pile_lengths)
        self.pile_potentials[reached] += length - paths.pile_lengths[reached]
        self.hole_potentials[paths.settled] -= length - paths.hole_lengths[paths.settled]

    def _move_along(self, paths: _Paths, pile: int, left: int) -> int:
        """Move as many grains along the path to its end as every step of it allows."""
        steps = []
        hole, amount = paths.end, min(left, int(self.room[paths.end]))
        while True:
            source = int(paths.from_pile[hole])
            steps.append((source, hole, 1))
            if source == pile:
                break
            hole = int(paths.by_hole[source])
            steps.append((source, hole, -1))
            amount = min(amount, int(self.moved[source, hole]))
        for source, hole, sign in steps:
            self.moved[source, hole] += sign * amount
        self.room[paths.end] -= amount
        return amount

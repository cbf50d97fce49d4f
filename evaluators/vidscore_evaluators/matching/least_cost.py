"""One-to-one matching with as many pairs as possible and, among those, the least total cost.

A frame is taken apart as far as that is cheap, for all frames at once: stars keep their cheapest
pair; what remains of a frame is done where every object of one side has a cheapest partner of its
own; and only the rest goes to a solver (`assignment`), a matrix for each frame and, in large ones,
for each component.

The answer does not depend on other frames. A formula decides only where its answer is the one best
matching. The solver may have equally good ones to choose from, and then the order of a frame's
objects decides; callers keep them in an order of content, so that it always chooses the same one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, run_starts
from vidscore_evaluators.compiled.numbering import numbered
from vidscore_evaluators.matching.assignment import Blocks
from vidscore_evaluators.matching.components import connected_components
from vidscore_evaluators.matching.gating import Pairs

LARGE_FRAME_CELLS = 1 << 12
"""Cells of a frame's cost matrix above which it is solved component by component."""

_NOBODY = -1


@dataclass(frozen=True, eq=False)
class _Problem:
    """P pairs with their costs, in blocks that share no object.

    Attributes:
        pairs: The pairs; those of one left object are neighbours.
        costs: (P,) cost of each pair.
        blocks: (P,) block of each pair, ascending in 0..block_count - 1.
        block_count: Number of blocks.
    """

    pairs: Pairs
    costs: FloatArray
    blocks: IntArray
    block_count: int

    def take(self, rows: IntArray) -> _Problem:
        """What remains when the other pairs are settled."""
        return _Problem(
            self.pairs.take(rows), self.costs[rows], self.blocks[rows], self.block_count
        )

    def numbered(self) -> _Problem:
        """The same with blocks numbered without gaps."""
        in_use, blocks, _ = numbered(self.blocks)
        return _Problem(self.pairs, self.costs, blocks, len(in_use))


def least_cost_matching(
    pairs: Pairs, costs: FloatArray, frames: IntArray, left_count: int, right_count: int
) -> BoolArray:
    """Match one-to-one: as many pairs as possible, then the least sum of costs.

    Args:
        pairs: P candidate pairs within frames, ascending in `left`.
        costs: (P,) finite costs, 0 or more.
        frames: (P,) frame of each pair, ascending.
        left_count: Objects on the left side; those of a frame stand in an order of content, or
            where they have the same costs in any.
        right_count: Objects on the right side, likewise.

    Returns:
        (P,) which pairs are matched. Sums of costs are compared in binary64: sums that are nearer
        to each other than its rounding count as equal or not as it falls, but always alike.
    """
    matched = _are_lone(pairs, left_count, right_count)
    rest = np.flatnonzero(~matched)
    if len(rest):
        matched[rest] = _match_rest(pairs.take(rest), costs[rest], frames[rest])
    return matched


def _are_lone(pairs: Pairs, left_count: int, right_count: int) -> BoolArray:
    """(P,) pairs neither of whose objects has another, which are matched in any case."""
    lone: BoolArray = np.bincount(pairs.left, minlength=left_count)[pairs.left] == 1
    lone &= np.bincount(pairs.right, minlength=right_count)[pairs.right] == 1
    return lone


def _match_rest(pairs: Pairs, costs: FloatArray, frames: IntArray) -> BoolArray:
    """Match pairs that may stand in each other's way, without the objects that have none."""
    lefts, left_rows, _ = numbered(pairs.left)
    rights, right_rows, _ = numbered(pairs.right)
    partners = np.full(len(lefts), _NOBODY, dtype=np.int64)
    problem = _Problem(Pairs(left_rows, right_rows), costs, frames, 0).numbered()
    for step in (_match_stars, _match_cheapest):
        settled = step(problem, partners, len(rights))
        problem = problem.take(np.flatnonzero(~settled))
    if len(problem.pairs):
        _match_blocks(problem.numbered(), partners, len(rights))
    matched: BoolArray = partners[left_rows] == right_rows
    return matched


def _match_stars(problem: _Problem, partners: IntArray, right_count: int) -> BoolArray:
    """Match stars whose cheapest pair is one alone; tells which pairs that settles."""
    pairs = problem.pairs
    left_degrees = np.bincount(pairs.left, minlength=len(partners))
    right_degrees = np.bincount(pairs.right, minlength=right_count)
    around_left, around_right = _star_pairs(pairs, left_degrees, right_degrees)
    cheapest_of_left, cheapest_of_right = _cheapest(problem, right_count)
    chosen = (around_left & cheapest_of_left) | (around_right & cheapest_of_right)
    left_choices = np.bincount(pairs.left[chosen], minlength=len(partners))
    right_choices = np.bincount(pairs.right[chosen], minlength=right_count)
    settled: BoolArray = (around_left & (left_choices[pairs.left] == 1)) | (
        around_right & (right_choices[pairs.right] == 1)
    )
    chosen &= settled
    partners[pairs.left[chosen]] = pairs.right[chosen]
    return settled


def _star_pairs(
    pairs: Pairs, left_degrees: IntArray, right_degrees: IntArray
) -> tuple[BoolArray, BoolArray]:
    """Tell which pairs belong to stars: one object of one side with any number of the other.

    Args:
        pairs: P pairs.
        left_degrees: Pairs of each left object.
        right_degrees: Pairs of each right object.

    Returns:
        Two (P,) masks: the component is a star around a left object (single pairs are here), and
        around a right object.
    """
    left_ends = left_degrees[pairs.left] == 1
    right_ends = right_degrees[pairs.right] == 1
    ends_of_left = np.bincount(pairs.left[right_ends], minlength=len(left_degrees))
    ends_of_right = np.bincount(pairs.right[left_ends], minlength=len(right_degrees))
    around_left = (ends_of_left == left_degrees)[pairs.left]
    around_right = (ends_of_right == right_degrees)[pairs.right] & ~around_left
    return around_left, around_right


def _match_cheapest(problem: _Problem, partners: IntArray, right_count: int) -> BoolArray:
    """Match blocks where all objects of one side get their cheapest partner.

    Every object of that side is then matched, so that no matching has more pairs, and none costs
    less than the sum of the least costs.
    """
    settled = np.zeros(len(problem.pairs), dtype=np.bool_)
    for cheapest in _cheapest(problem, right_count):
        left = np.bincount(problem.pairs.left[cheapest], minlength=len(partners))
        right = np.bincount(problem.pairs.right[cheapest], minlength=right_count)
        # A partner that is wanted twice, or an object with two cheapest partners.
        doubtful = cheapest & ((left[problem.pairs.left] > 1) | (right[problem.pairs.right] > 1))
        clear = np.ones(problem.block_count, dtype=np.bool_)
        clear[problem.blocks[doubtful]] = False
        clear_pairs = clear[problem.blocks]
        chosen = cheapest & clear_pairs
        partners[problem.pairs.left[chosen]] = problem.pairs.right[chosen]
        settled |= clear_pairs
    return settled


def _cheapest(problem: _Problem, right_count: int) -> tuple[BoolArray, BoolArray]:
    """Which pairs are a cheapest one of their left object, and of their right object."""
    left, right, costs = problem.pairs.left, problem.pairs.right, problem.costs
    if len(left) == 0:
        none = np.zeros(0, dtype=np.bool_)
        return none, none
    first = run_starts(left)
    least_of_left = np.repeat(np.minimum.reduceat(costs, first), np.diff(first, append=len(left)))
    least_of_right = np.full(right_count, np.inf)
    np.minimum.at(least_of_right, right, costs)
    return costs == least_of_left, costs == least_of_right[right]


def _match_blocks(problem: _Problem, partners: IntArray, right_count: int) -> None:
    """Match what no formula on pairs settled, by a cost matrix for each block."""
    blocks = _laid_out(problem)
    large = blocks.heights * blocks.widths > LARGE_FRAME_CELLS
    if large.any():
        problem = _split(problem, large, len(partners), right_count)
        blocks = _laid_out(problem)
    pairs = problem.pairs
    greatest = np.maximum.reduceat(problem.costs, blocks.starts[:-1])
    forbidden = forbidden_costs(greatest, np.minimum(blocks.heights, blocks.widths))
    matched = blocks.assigned_pairs(problem.costs, forbidden)
    partners[pairs.left[matched]] = pairs.right[matched]


def _laid_out(problem: _Problem) -> Blocks:
    return Blocks.of_pairs(problem.blocks, problem.pairs.left, problem.pairs.right)


def _split(problem: _Problem, large: BoolArray, left_count: int, right_count: int) -> _Problem:
    """Take large blocks apart into their components; the others stay whole."""
    in_large = large[problem.blocks]
    components = connected_components(problem.pairs.take(in_large), left_count, right_count)
    blocks = problem.blocks.copy()
    blocks[in_large] = problem.block_count + components.of_pairs
    order = np.argsort(blocks, kind="stable")
    return _Problem(problem.pairs.take(order), problem.costs[order], blocks[order], 0).numbered()


def forbidden_costs(greatest: FloatArray, most_pairs: IntArray) -> FloatArray:
    """Cost of a cell without a pair: more than all pairs that a block can have together.

    One pair more then outweighs any costs. It follows from the block alone, as its answer must,
    and is a power of two: adding one and taking it away again rounds least.

    Args:
        greatest: (B,) greatest cost of a pair in each block.
        most_pairs: (B,) most pairs that a matching of the block can have.
    """
    _, exponents = np.frexp(greatest * most_pairs + 1.0)
    powers: FloatArray = np.ldexp(1.0, exponents)
    return powers

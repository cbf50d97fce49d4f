"""One-to-one matchings and transport, for every evaluator.

- `assign`, `CostBlocks`: complete assignments of least cost, of matrices and of blocks of pairs.
- `match_minimum_cost`: as many pairs as possible and, among those matchings, the least cost.
- `match_maximum`, `match_maximum_in_stages`: sizes of maximum matchings as objects are inserted.
- `match_greedy`: each object of one side takes its first free partner, in `preference_order`.
- `match_maximum_weight`: the greatest sum of weights.
- `transport`: optimal transport between two sets of equal masses.

All frames are matched in one call, each on its own. If a frame has several best matchings, the
order of its objects decides; callers sort objects by content.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from msgspec import Struct

from vidscore_evaluators import kernels
from vidscore_evaluators._solvers import CostBlocks, assign, transport
from vidscore_evaluators.arrays import (
    BoolArray,
    FlagArray,
    FloatArray,
    IntArray,
    marked,
    run_starts,
)
from vidscore_evaluators.keys import factorize
from vidscore_evaluators.pairs import Components, Pairs, connected_components, preference_order

__all__ = [
    "MAX_MATRIX_CELLS",
    "CostBlocks",
    "StagedGains",
    "assign",
    "forbidden_costs",
    "match_greedy",
    "match_maximum",
    "match_maximum_in_stages",
    "match_maximum_weight",
    "match_minimum_cost",
    "preference_order",
    "transport",
]

MAX_MATRIX_CELLS = 1 << 12
"""Number of cells of a frame's cost matrix above which it is solved component by component."""

MAX_COMPONENT_CELLS = 1 << 22
"""Number of cells of a component above which `match_maximum_weight` solves it as a sparse graph."""

_UNMATCHED = -1
_OPEN, _CHOSEN = 0, 1


class _Problem(Struct, frozen=True, eq=False):
    """P pairs with their costs, in blocks that share no objects.

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
        """The problem restricted to some pairs."""
        return _Problem(
            self.pairs.take(rows), self.costs[rows], self.blocks[rows], self.block_count
        )

    def renumbered(self) -> _Problem:
        """The same with blocks numbered without gaps."""
        in_use, blocks, _ = factorize(self.blocks)
        return _Problem(self.pairs, self.costs, blocks, len(in_use))


def match_minimum_cost(
    pairs: Pairs, costs: FloatArray, frames: IntArray, left_count: int, right_count: int
) -> BoolArray:
    """Match one-to-one: as many pairs as possible, then the least sum of costs.

    Every frame is reduced as far as is cheap, all frames at once: star components (one vertex of
    degree > 1) have a closed form; so do blocks in which all objects of one side have different
    cheapest partners. Only the rest goes to the solver, as a matrix per frame or, in large frames,
    per component. A reduction decides only if the best matching is unique.

    Args:
        pairs: P candidate pairs within frames, ascending in `left`.
        costs: (P,) finite costs, 0 or more.
        frames: (P,) frame of each pair, ascending.
        left_count: Objects on the left side; those of a frame are in an order of content.
        right_count: Objects on the right side, likewise.

    Returns:
        (P,) mask of matched pairs. Sums of costs are compared in binary64: tie-breaking within
        rounding is unspecified but deterministic.
    """
    # Isolated edges belong to every best matching.
    matched: BoolArray = np.bincount(pairs.left, minlength=left_count)[pairs.left] == 1
    matched &= np.bincount(pairs.right, minlength=right_count)[pairs.right] == 1
    rest = np.flatnonzero(~matched)
    if len(rest):
        matched[rest] = _match_rest(pairs.take(rest), costs[rest], frames[rest])
    return matched


def _match_rest(pairs: Pairs, costs: FloatArray, frames: IntArray) -> BoolArray:
    """Match the pairs that share objects."""
    lefts, left_rows, _ = factorize(pairs.left)
    rights, right_rows, _ = factorize(pairs.right)
    partners = np.full(len(lefts), _UNMATCHED, dtype=np.int64)
    problem = _Problem(Pairs(left_rows, right_rows), costs, frames, 0).renumbered()
    for step in (_match_stars, _match_cheapest):
        settled = step(problem, partners, len(rights))
        problem = problem.take(np.flatnonzero(~settled))
    if len(problem.pairs):
        _match_blocks(problem.renumbered(), partners, len(rights))
    matched: BoolArray = partners[left_rows] == right_rows
    return matched


def _match_stars(problem: _Problem, partners: IntArray, right_count: int) -> BoolArray:
    """Match star components with a unique cheapest pair; returns the pairs of these stars."""
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
    """Pairs of star components: one object of one side with any number of the other.

    Args:
        pairs: P pairs.
        left_degrees: Pairs of each left object.
        right_degrees: Pairs of each right object.

    Returns:
        Two (P,) masks: stars around a left object (single pairs included), and around a right one.
    """
    left_ends = left_degrees[pairs.left] == 1
    right_ends = right_degrees[pairs.right] == 1
    ends_of_left = np.bincount(pairs.left[right_ends], minlength=len(left_degrees))
    ends_of_right = np.bincount(pairs.right[left_ends], minlength=len(right_degrees))
    around_left = (ends_of_left == left_degrees)[pairs.left]
    around_right = (ends_of_right == right_degrees)[pairs.right] & ~around_left
    return around_left, around_right


def _match_cheapest(problem: _Problem, partners: IntArray, right_count: int) -> BoolArray:
    """Match blocks in which all objects of one side get their cheapest partner.

    Every object of that side is then matched, so no matching has more pairs, and none costs less
    than the sum of the cheapest costs.
    """
    settled = np.zeros(len(problem.pairs), dtype=np.bool_)
    for cheapest in _cheapest(problem, right_count):
        left = np.bincount(problem.pairs.left[cheapest], minlength=len(partners))
        right = np.bincount(problem.pairs.right[cheapest], minlength=right_count)
        # Two objects share a partner, or an object has two cheapest partners.
        doubtful = cheapest & ((left[problem.pairs.left] > 1) | (right[problem.pairs.right] > 1))
        clear = np.ones(problem.block_count, dtype=np.bool_)
        clear[problem.blocks[doubtful]] = False
        clear_pairs = clear[problem.blocks]
        chosen = cheapest & clear_pairs
        partners[problem.pairs.left[chosen]] = problem.pairs.right[chosen]
        settled |= clear_pairs
    return settled


def _cheapest(problem: _Problem, right_count: int) -> tuple[BoolArray, BoolArray]:
    """Masks of the cheapest pairs of each left object, and of each right object."""
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
    """Match the pairs that no reduction settled, with a cost matrix per block."""
    blocks = _laid_out(problem)
    large = blocks.heights * blocks.widths > MAX_MATRIX_CELLS
    if large.any():
        problem = _split(problem, large, len(partners), right_count)
        blocks = _laid_out(problem)
    pairs = problem.pairs
    greatest = np.maximum.reduceat(problem.costs, blocks.starts[:-1])
    forbidden = forbidden_costs(greatest, np.minimum(blocks.heights, blocks.widths))
    matched = blocks.assign(problem.costs, forbidden)
    partners[pairs.left[matched]] = pairs.right[matched]


def _laid_out(problem: _Problem) -> CostBlocks:
    return CostBlocks.of_pairs(problem.blocks, problem.pairs.left, problem.pairs.right)


def _split(problem: _Problem, large: BoolArray, left_count: int, right_count: int) -> _Problem:
    """Split large blocks into their components."""
    in_large = large[problem.blocks]
    components = connected_components(problem.pairs.take(in_large), left_count, right_count)
    blocks = problem.blocks.copy()
    blocks[in_large] = problem.block_count + components.of_pairs
    order = np.argsort(blocks, kind="stable")
    return _Problem(problem.pairs.take(order), problem.costs[order], blocks[order], 0).renumbered()


def forbidden_costs(greatest: FloatArray, most_pairs: IntArray) -> FloatArray:
    """Cost of a cell without a pair: more than the sum of all pairs of a matching of the block.

    One more pair therefore outweighs any costs. It depends on the block only, and is a power of
    two, which keeps rounding least when it is added and subtracted.

    Args:
        greatest: (B,) greatest cost of a pair in each block.
        most_pairs: (B,) maximum number of pairs of a matching of the block.
    """
    _, exponents = np.frexp(greatest * most_pairs + 1.0)
    powers: FloatArray = np.ldexp(1.0, exponents)
    return powers


def match_maximum(
    pairs: Pairs, left_count: int, right_count: int, priorities: FloatArray | None = None
) -> BoolArray:
    """Mark the right objects whose insertion augments the maximum matching.

    Right objects (detections) are inserted in the order of descending priority (confidence). Each
    insertion enlarges the maximum matching by one or not at all, and the sum of these gains over a
    prefix is the size of the maximum matching of that prefix: the sets of right objects that can
    all be matched form a matroid, whose rank grows in this way. One pass therefore gives the number
    of matched objects at every confidence threshold. Left objects of degree one are reduced first.

    Args:
        pairs: Pairs that may be matched.
        left_count: Objects on the left side.
        right_count: Objects on the right side.
        priorities: (right_count,) finite; the greatest is inserted first, and of equal ones the
            smaller row first. By default rows are inserted in order.

    Returns:
        (right_count,) gains. Their sum over the objects of at least some priority is the size of
        the maximum matching of these. Among objects of equal priority, it is unspecified which
        gains.
    """
    gains = np.zeros(right_count, dtype=np.bool_)
    pairs = _reduce_degree_one(pairs, gains, left_count)
    if len(pairs):
        _insert_in_order(pairs, gains, priorities)
    return gains


class StagedGains(Struct, frozen=True, eq=False):
    """Gains of (right_count,) right objects.

    Attributes:
        first: In matchings with the left objects of the first stage only.
        both: In matchings with the left objects of both stages.
    """

    first: BoolArray
    both: BoolArray


def match_maximum_in_stages(
    pairs: Pairs,
    second: BoolArray,
    left_count: int,
    right_count: int,
    priorities: FloatArray | None = None,
) -> StagedGains:
    """Gains in matchings that are maximum over some left objects and, among these, over all.

    Such a matching exists: a maximum matching of the first stage grows along augmenting paths to
    one of all left objects, and no such path leaves a matched left object without a partner. Both
    sizes are therefore those of independent maximum matchings.

    Args:
        pairs: Pairs that may be matched.
        second: (P,) whether the left object of a pair belongs to the second stage.
        left_count: Objects on the left side.
        right_count: Objects on the right side.
        priorities: As for `match_maximum`.
    """
    first = match_maximum(pairs.take(~second), left_count, right_count, priorities)
    if not second.any():
        return StagedGains(first, first)
    return StagedGains(first, match_maximum(pairs, left_count, right_count, priorities))


def _reduce_degree_one(pairs: Pairs, gains: BoolArray, left_count: int) -> Pairs:
    """Match left objects that have one partner.

    In every prefix with the partner, some maximum matching has this pair; in every other, the left
    object is isolated. So the partner gains, and both objects are removed.
    """
    degrees = np.bincount(pairs.left, minlength=left_count)
    taken = marked(len(gains), pairs.right[degrees[pairs.left] == 1])
    gains |= taken
    return pairs.take(~taken[pairs.right])


def _insert_in_order(pairs: Pairs, gains: BoolArray, priorities: FloatArray | None) -> None:
    """Insert right objects one by one, each along an augmenting path if there is one."""
    lefts, left, _ = factorize(pairs.left)
    rights, right, _ = factorize(pairs.right)
    order = np.arange(len(rights), dtype=np.int64)
    if priorities is not None:
        order = np.argsort(-priorities[rights], kind="stable")
    found = np.empty(len(rights), dtype=np.bool_)
    counts = (len(lefts), len(rights))
    scratch = np.empty(len(pairs) + 3 * sum(counts) + 2, dtype=np.int64)
    kernels.incremental_matching(left, right, len(pairs), order, *counts, scratch, found)
    gains[rights] = found


def match_greedy(
    pairs: Pairs, weights: FloatArray, reusable: BoolArray, at_least: float
) -> IntArray:
    """Let each left object, in the order of the pairs, take its first free right object.

    Args:
        pairs: P pairs in `preference_order`.
        weights: (P,) weight of each pair.
        reusable: (all right objects,) whether each may be matched any number of times.
        at_least: Weight below which a pair does not count.

    Returns:
        Rows of the matched pairs, ascending.

    Raises:
        ValueError: If a pair has no weight, or its right object is not among `reusable`.
    """
    count = len(pairs)
    if not len(pairs.right) == len(weights) == count:
        raise ValueError(f"{count} pairs have {len(weights)} weights")
    rows = np.empty(count, dtype=np.int64)
    found = kernels.match_greedy(
        pairs.left,
        pairs.right,
        weights,
        count,
        np.array([at_least]),
        reusable,
        len(reusable),
        np.empty_like(reusable),
        rows,
    )
    if found < 0:
        raise ValueError(f"a pair reaches beyond {len(reusable)} right objects")
    return rows[:found]


def match_maximum_weight(
    pairs: Pairs, weights: FloatArray, left_count: int, right_count: int
) -> BoolArray:
    """The one-to-one matching with the greatest sum of weights.

    Args:
        pairs: P pairs, in canonical order.
        weights: (P,) weights; a pair whose weight is not above 0 is never matched.
        left_count: Objects on the left side.
        right_count: Objects on the right side.

    Returns:
        (P,) mask of matched pairs.

    Raises:
        ValueError: If a pair has no weight, or names an object that does not exist.
    """
    states = _reduce_dominant(pairs, weights, left_count, right_count)
    chosen: BoolArray = states == _CHOSEN
    rows = np.flatnonzero(states == _OPEN)
    if len(rows):
        chosen[rows[_solve_weights(pairs.take(rows), weights[rows])]] = True
    return chosen


def _reduce_dominant(
    pairs: Pairs, weights: FloatArray, left_count: int, right_count: int
) -> FlagArray:
    """Match locally dominant pairs until none is left.

    Take a pair that outweighs its two heaviest competing pairs together. A matching without it has
    at most two pairs on its objects, and gets heavier if the pair replaces them. So every heaviest
    matching has it, and all other pairs of its objects can be removed.

    Returns:
        (P,) whether each pair is open, chosen or removed.
    """
    count = len(pairs)
    if not len(pairs.right) == len(weights) == count:
        raise ValueError(f"{count} pairs have {len(weights)} weights")
    states = np.empty(count, dtype=np.uint8)
    found = kernels.dominant_edges(
        *(pairs.left, pairs.right, weights, count, left_count, right_count),
        np.empty(left_count + right_count, dtype=np.int64),
        *(np.empty(5 * count, dtype=np.int64), np.empty(4 * count), states),
    )
    if found < 0:
        raise ValueError(f"pairs reach beyond {left_count} left and {right_count} right objects")
    return states


def _solve_weights(pairs: Pairs, weights: FloatArray) -> IntArray:
    """Rows of matched pairs, with a solver per component."""
    _, left, _ = factorize(pairs.left)
    _, right, _ = factorize(pairs.right)
    parts = connected_components(Pairs(left, right), int(left.max()) + 1, int(right.max()) + 1)
    order = np.argsort(parts.of_pairs, kind="stable")
    cells = parts.left_counts * parts.right_counts
    is_small = (cells <= MAX_COMPONENT_CELLS)[parts.of_pairs[order]]
    small, large = order[is_small], order[~is_small]
    solved = [_solve_matrices(parts, Pairs(left[small], right[small]), weights[small], small)]
    bounds = np.append(run_starts(parts.of_pairs[large]), len(large)).tolist()
    for begin, end in pairwise(bounds):
        rows = large[begin:end]
        solved.append(rows[_solve_sparse(left[rows], right[rows], weights[rows])])
    return np.concatenate(solved)


def _solve_matrices(
    parts: Components, pairs: Pairs, weights: FloatArray, rows: IntArray
) -> IntArray:
    """The matched ones among rows of whole components, each solved as a matrix of weights."""
    blocks = CostBlocks.of_pairs(parts.of_pairs[rows], pairs.left, pairs.right)
    return rows[blocks.assign(-weights, np.zeros(len(blocks.heights)))]


def _solve_sparse(left: IntArray, right: IntArray, weights: FloatArray) -> IntArray:
    """Rows of matched pairs of one component with thousands of objects, as a sparse graph.

    Each left object gets a right object of its own that means "unmatched", so that a full matching
    exists.
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - slower to import than spotGEO to score
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching  # noqa: PLC0415

    _, rows, _ = factorize(left)
    _, columns, _ = factorize(right)
    height, width = int(rows.max()) + 1, int(columns.max()) + 1
    unmatched = 2.0 * weights.max()
    all_rows = np.arange(height, dtype=np.int64)
    costs = np.concatenate([unmatched - weights, np.full(height, unmatched)])
    places = (np.concatenate([rows, all_rows]), np.concatenate([columns, width + all_rows]))
    # The solver of older scipy versions takes only 32-bit indices.
    narrow = tuple(place.astype(np.int32) for place in places)
    graph = csr_array((costs, narrow), shape=(height, width + height))
    matched_rows, matched_columns = min_weight_full_bipartite_matching(graph)
    partners = np.empty(height, dtype=np.int64)
    partners[matched_rows] = matched_columns
    return np.flatnonzero(partners[rows] == columns)

"""Matchings by weight: greedy, and the one-to-one matching with the greatest sum of weights.

Greedy (`greedy_matching`): left objects choose in ascending order of their rows, each the first
free right object in its order of preference. Optimal (`maximum_weight_matching`): the one-to-one
matching with the greatest sum of weights.

Both work on the pairs of all groups at once. Ties are broken by the order of the rows; with rows in
an order of content, as a `vidscore_evaluators.scene.Scene` has them, nothing depends on the order
of the input. Among equal weights the first right object is chosen (pycocotools takes the last of
its file); among left objects of equal priority in a group the first chooses first.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, run_starts
from vidscore_evaluators.compiled.library import compiled
from vidscore_evaluators.compiled.numbering import numbered
from vidscore_evaluators.matching.assignment import Blocks
from vidscore_evaluators.matching.components import connected_components
from vidscore_evaluators.matching.gating import Pairs

LARGEST_TABLE = 1 << 22
"""Cells up to which a component is laid out as a table; a larger one is solved pair by pair."""

_OPEN, _CHOSEN = 0, 1

StateArray = NDArray[np.uint8]

_greedy_pairs = compiled(
    "greedy_pairs",
    *(np.int64, np.int64, np.float64, int, np.float64, np.bool_, int, np.bool_, np.int64),
)
_dominant = compiled(
    "dominant_pairs",
    *(np.int64, np.int64, np.float64, int, int, int, np.int64, np.int64, np.float64, np.uint8),
)


def preference_order(pairs: Pairs, weights: FloatArray, second_choice: BoolArray) -> IntArray:
    """Sort pairs by left object and, for each, from its best right object to its worst.

    Args:
        pairs: P pairs, sorted by left object and then by right one.
        weights: (P,) weight of each, the greatest best.
        second_choice: (P,) pairs that only come after all others of their left object.

    Returns:
        (P,) rows of the pairs.
    """
    order = np.lexsort((-weights, pairs.left))
    # What is left to sort is nearly sorted, which a stable sort makes use of.
    keys = 2 * pairs.left[order] + second_choice[order]
    return order[np.argsort(keys, kind="stable")]


def greedy_matching(
    pairs: Pairs, weights: FloatArray, reusable: BoolArray, at_least: float
) -> IntArray:
    """Let each left object, in ascending order of its row, take its first free right object.

    Args:
        pairs: P pairs in `preference_order`.
        weights: (P,) weight of each.
        reusable: (right objects,) those that may be taken any number of times.
        at_least: Weight below which a pair does not count.

    Returns:
        Rows of the matched pairs, ascending.
    """
    count = len(pairs)
    if not len(pairs.right) == len(weights) == count:
        raise ValueError(f"{count} pairs have {len(weights)} weights")
    rows = np.empty(count, dtype=np.int64)
    found = _greedy_pairs(
        *(pairs.left, pairs.right, weights, count),
        *(np.array([at_least]), reusable, len(reusable), np.empty_like(reusable), rows),
    )
    if found < 0:
        raise ValueError(f"a pair reaches beyond {len(reusable)} right objects")
    return rows[:found]


def maximum_weight_matching(
    pairs: Pairs, weights: FloatArray, left_count: int, right_count: int
) -> BoolArray:
    """The one-to-one matching with the greatest sum of weights.

    Args:
        pairs: P pairs of any groups.
        weights: (P,) weights; a pair whose weight is not above 0 is never matched.
        left_count: Objects on the left side.
        right_count: Objects on the right side.

    Returns:
        (P,) whether the pair is matched.
    """
    states = _dominant_pairs(pairs, weights, left_count, right_count)
    chosen: BoolArray = states == _CHOSEN
    rows = np.flatnonzero(states == _OPEN)
    if len(rows):
        chosen[rows[_solve(pairs.left[rows], pairs.right[rows], weights[rows])]] = True
    return chosen


def _dominant_pairs(
    pairs: Pairs, weights: FloatArray, left_count: int, right_count: int
) -> StateArray:
    """Match locally dominant pairs, repeatedly.

    Any matching without a pair that outweighs all of its neighbours gets heavier if the pair takes
    the place of the two, at most, that its objects are in. So every heaviest matching has it, and
    the other pairs of its objects can go.

    Returns:
        (P,) whether each pair is matched, out, or open still.
    """
    count = len(pairs)
    if not len(pairs.right) == len(weights) == count:
        raise ValueError(f"{count} pairs have {len(weights)} weights")
    states = np.empty(count, dtype=np.uint8)
    found = _dominant(
        *(pairs.left, pairs.right, weights, count, left_count, right_count),
        np.empty(left_count + right_count, dtype=np.int64),
        *(np.empty(5 * count, dtype=np.int64), np.empty(4 * count), states),
    )
    if found < 0:
        raise ValueError(f"pairs reach beyond {left_count} left and {right_count} right objects")
    return states


def _solve(left: IntArray, right: IntArray, weights: FloatArray) -> IntArray:
    """Matched pairs of those that need a solver, component by component."""
    _, left, _ = numbered(left)
    _, right, _ = numbered(right)
    parts = connected_components(Pairs(left, right), int(left.max()) + 1, int(right.max()) + 1)
    order = np.argsort(parts.of_pairs, kind="stable")
    is_small = (parts.left_counts * parts.right_counts <= LARGEST_TABLE)[parts.of_pairs[order]]
    small, large = order[is_small], order[~is_small]
    tables = Blocks.of_pairs(parts.of_pairs[small], left[small], right[small])
    solved = [small[tables.assigned_pairs(-weights[small], np.zeros(len(tables.heights)))]]
    bounds = np.append(run_starts(parts.of_pairs[large]), len(large)).tolist()
    for begin, end in pairwise(bounds):
        rows = large[begin:end]
        solved.append(rows[_solve_sparse(left[rows], right[rows], weights[rows])])
    return np.concatenate(solved)


def _solve_sparse(left: IntArray, right: IntArray, weights: FloatArray) -> IntArray:
    """The same without a table, of one component of thousands on either side.

    Each row gets a column of its own that means "unmatched", so that all can be matched.
    """
    _, rows, _ = numbered(left)
    _, columns, _ = numbered(right)
    height, width = int(rows.max()) + 1, int(columns.max()) + 1
    unmatched = 2.0 * weights.max()
    all_rows = np.arange(height, dtype=np.int64)
    costs = np.concatenate([unmatched - weights, np.full(height, unmatched)])
    places = (np.concatenate([rows, all_rows]), np.concatenate([columns, width + all_rows]))
    # The solver of older scipy takes indices of 32 bits alone.
    narrow = tuple(place.astype(np.int32) for place in places)
    graph = csr_array((costs, narrow), shape=(height, width + height))
    matched_rows, matched_columns = min_weight_full_bipartite_matching(graph)
    partners = np.empty(height, dtype=np.int64)
    partners[matched_rows] = matched_columns
    return np.flatnonzero(partners[rows] == columns)

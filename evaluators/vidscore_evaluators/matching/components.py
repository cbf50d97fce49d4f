"""Connected components of the graph of candidate pairs, over all frames at once.

Objects are the nodes, pairs the edges. A matching of the whole is a matching of each component,
and most components are so small that a formula solves them. Stars - one object of one side with
any number of the other, single pairs among them - are found from the objects' degrees alone;
only what is left goes through a graph search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components as search_components

from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.compiled.numbering import numbered
from vidscore_evaluators.matching.gating import Pairs


@dataclass(frozen=True, eq=False)
class Components:
    """C components of P pairs; an object without a pair belongs to none.

    Attributes:
        of_pairs: (P,) component of each pair.
        left_counts: (C,) left objects in each component.
        right_counts: (C,) right objects in each component.
        pair_counts: (C,) pairs in each component.
    """

    of_pairs: IntArray
    left_counts: IntArray
    right_counts: IntArray
    pair_counts: IntArray

    @property
    def count(self) -> int:
        """Number of components C."""
        return len(self.pair_counts)


def connected_components(pairs: Pairs, left_count: int, right_count: int) -> Components:
    """Split pairs into connected components.

    Args:
        pairs: Pairs of any frames.
        left_count: Objects on the left side.
        right_count: Objects on the right side.

    Returns:
        The components; each pair's follows from the pairs of its own frame alone, their numbers
        from the order of the pairs.
    """
    left_degrees = np.bincount(pairs.left, minlength=left_count)
    right_degrees = np.bincount(pairs.right, minlength=right_count)
    labels = np.empty(len(pairs), dtype=np.int64)
    left_star, right_star = star_pairs(pairs, left_degrees, right_degrees)
    # A star is named by its centre, what is searched by its number there.
    labels[left_star] = pairs.left[left_star]
    labels[right_star] = left_count + pairs.right[right_star]
    rest = ~(left_star | right_star)
    labels[rest] = left_count + right_count + _searched(pairs.take(rest))
    return _counted(pairs, labels, left_count, right_count)


def star_pairs(
    pairs: Pairs, left_degrees: IntArray, right_degrees: IntArray
) -> tuple[BoolArray, BoolArray]:
    """Tell which pairs belong to stars.

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


def peel(
    pairs: Pairs, left_count: int, right_count: int, rounds: int
) -> tuple[BoolArray, BoolArray]:
    """Match objects that have one partner only, again and again.

    Some maximum-cardinality matching holds every pair that is matched here (an object with one
    possible partner can always be given it), so that only what remains needs a solver. That is
    true of cardinality alone, not of costs.

    Args:
        pairs: P pairs.
        left_count: Objects on the left side.
        right_count: Objects on the right side.
        rounds: Most rounds; a long chain would need a round for every two links.

    Returns:
        Two (P,) masks: pairs that are matched, and pairs that remain.
    """
    matched = np.zeros(len(pairs), dtype=np.bool_)
    remaining = np.arange(len(pairs), dtype=np.int64)
    for _ in range(rounds):
        left, right = pairs.left[remaining], pairs.right[remaining]
        left_ends = np.bincount(left, minlength=left_count)[left] == 1
        right_ends = np.bincount(right, minlength=right_count)[right] == 1
        leaves = np.flatnonzero(left_ends | right_ends)
        if len(leaves) == 0:
            break
        chosen = leaves[_first_of_each(left[leaves], right[leaves], left_count, right_count)]
        matched[remaining[chosen]] = True
        left_taken = np.zeros(left_count, dtype=np.bool_)
        right_taken = np.zeros(right_count, dtype=np.bool_)
        left_taken[left[chosen]] = True
        right_taken[right[chosen]] = True
        remaining = remaining[~(left_taken[left] | right_taken[right])]
    rest = np.zeros(len(pairs), dtype=np.bool_)
    rest[remaining] = True
    return matched, rest


def _first_of_each(left: IntArray, right: IntArray, left_count: int, right_count: int) -> BoolArray:
    """Keep the first of leaf pairs that share an object.

    Each of them ends in an object of its own, so that they share on one side only, and what is
    kept is one-to-one.
    """
    rows = np.arange(len(left), dtype=np.int64)
    first_of_left = np.full(left_count, len(left), dtype=np.int64)
    first_of_right = np.full(right_count, len(left), dtype=np.int64)
    # Written backwards, so that the first of several stays.
    first_of_left[left[::-1]] = rows[::-1]
    first_of_right[right[::-1]] = rows[::-1]
    kept: BoolArray = (first_of_left[left] == rows) & (first_of_right[right] == rows)
    return kept


def _searched(pairs: Pairs) -> IntArray:
    """Component of each pair by graph search, over the objects that have pairs alone."""
    if len(pairs) == 0:
        return np.zeros(0, dtype=np.int64)
    lefts, left = np.unique(pairs.left, return_inverse=True)
    rights, right = np.unique(pairs.right, return_inverse=True)
    node_count = len(lefts) + len(rights)
    edges = (np.ones(len(pairs), dtype=np.int8), (left, len(lefts) + right))
    graph = coo_array(edges, shape=(node_count, node_count))
    _, labels = search_components(graph, directed=False)
    found: IntArray = labels[left].astype(np.int64)
    return found


def _counted(pairs: Pairs, labels: IntArray, left_count: int, right_count: int) -> Components:
    """Number the labels in use from 0 and count what is in each."""
    in_use, of_pairs, pair_counts = numbered(labels)
    count = len(in_use)
    left_component = np.full(left_count, count, dtype=np.int64)
    right_component = np.full(right_count, count, dtype=np.int64)
    left_component[pairs.left] = of_pairs
    right_component[pairs.right] = of_pairs
    return Components(
        of_pairs=of_pairs,
        left_counts=np.bincount(left_component, minlength=count + 1)[:count],
        right_counts=np.bincount(right_component, minlength=count + 1)[:count],
        pair_counts=pair_counts,
    )

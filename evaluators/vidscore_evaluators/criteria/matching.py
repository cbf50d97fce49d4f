"""Who is whose: the two ways in which criteria match detections with references.

Greedy (`greedy_matching`): detections choose in descending confidence, each the most similar
target that is still free. Optimal (`most_similar_matching`): the one-to-one matching with the
greatest sum of similarities.

Both work on the pairs of all groups at once, and both are independent of the order of rows: a
tie is broken by the canonical order of the scene, which is one of content. Among equally similar
targets the first in that order is chosen (pycocotools takes the last of its file); among
detections of equal confidence in a group the first chooses first.
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
from vidscore_evaluators.criteria.candidates import Candidates
from vidscore_evaluators.matching.assignment import Blocks
from vidscore_evaluators.matching.components import Components, connected_components
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


def preference_order(candidates: Candidates, second_choice: BoolArray) -> IntArray:
    """Sort pairs by detection and, for each detection, from its best target to its worst.

    Args:
        candidates: P pairs, sorted by detection and then by target.
        second_choice: (P,) pairs that only come after all others of their detection.

    Returns:
        (P,) rows of the pairs.
    """
    order = np.lexsort((-candidates.similarities, candidates.detections))
    # What is left to sort is nearly sorted, which a stable sort makes use of.
    keys = 2 * candidates.detections[order] + second_choice[order]
    return order[np.argsort(keys, kind="stable")]


def greedy_matching(ordered: Candidates, reusable: BoolArray, at_least: float) -> IntArray:
    """Let each detection, in ascending order of its row, take its first free target.

    Args:
        ordered: P pairs, by detection; within one, from best to worst.
        reusable: (all targets,) targets that may be taken any number of times.
        at_least: Similarity below which a pair does not count.

    Returns:
        Rows of the matched pairs, ascending.
    """
    count = len(ordered)
    if not len(ordered.targets) == len(ordered.similarities) == count:
        raise ValueError(f"{count} pairs have {len(ordered.similarities)} similarities")
    rows = np.empty(count, dtype=np.int64)
    found = _greedy_pairs(
        *(ordered.detections, ordered.targets, ordered.similarities, count),
        *(np.array([at_least]), reusable, len(reusable), np.empty_like(reusable), rows),
    )
    if found < 0:
        raise ValueError(f"there are {len(reusable)} targets, and a pair with another")
    return rows[:found]


def most_similar_matching(
    candidates: Candidates, weights: FloatArray, detection_count: int, target_count: int
) -> BoolArray:
    """The one-to-one matching with the greatest sum of weights.

    Args:
        candidates: P pairs, in canonical order.
        weights: (P,) weights; a pair whose weight is not above 0 is never matched.
        detection_count: Number of detections.
        target_count: Number of targets.

    Returns:
        (P,) whether the pair is matched.
    """
    states = _dominant_pairs(candidates, weights, detection_count, target_count)
    chosen: BoolArray = states == _CHOSEN
    rows = np.flatnonzero(states == _OPEN)
    if len(rows):
        rest = candidates.take(rows)
        chosen[rows[_solve(rest.detections, rest.targets, weights[rows])]] = True
    return chosen


def _dominant_pairs(
    candidates: Candidates, weights: FloatArray, detection_count: int, target_count: int
) -> StateArray:
    """Match pairs that outweigh all that stands against them, again and again.

    Any matching without such a pair gets heavier if the pair takes the place of the two, at most,
    that its detection and its target are in. So every heaviest matching has it, and what else
    its detection and its target might do can go.

    Args:
        candidates: P pairs.
        weights: (P,) weight of each.
        detection_count: Number of detections.
        target_count: Number of targets.

    Returns:
        (P,) whether each pair is matched, out, or open still.
    """
    count = len(candidates)
    if not len(candidates.targets) == len(weights) == count:
        raise ValueError(f"{count} pairs have {len(weights)} weights")
    states = np.empty(count, dtype=np.uint8)
    found = _dominant(
        *(candidates.detections, candidates.targets, weights, count, detection_count, target_count),
        np.empty(detection_count + target_count, dtype=np.int64),
        *(np.empty(5 * count, dtype=np.int64), np.empty(4 * count), states),
    )
    if found < 0:
        raise ValueError(f"pairs reach beyond {detection_count} detections, {target_count} targets")
    return states


def _solve(detections: IntArray, targets: IntArray, weights: FloatArray) -> IntArray:
    """Matched pairs of those that need a solver, component by component."""
    _, left, _ = numbered(detections)
    _, right, _ = numbered(targets)
    parts = connected_components(Pairs(left, right), int(left.max()) + 1, int(right.max()) + 1)
    order = np.argsort(parts.of_pairs, kind="stable")
    is_small = (parts.left_counts * parts.right_counts <= LARGEST_TABLE)[parts.of_pairs[order]]
    small, large = order[is_small], order[~is_small]
    solved = [_solve_tables(parts, left, right, weights, small)]
    bounds = np.append(run_starts(parts.of_pairs[large]), len(large)).tolist()
    for begin, end in pairwise(bounds):
        rows = large[begin:end]
        solved.append(rows[_solve_sparse(left[rows], right[rows], weights[rows])])
    return np.concatenate(solved)


def _solve_tables(
    parts: Components, left: IntArray, right: IntArray, weights: FloatArray, pairs: IntArray
) -> IntArray:
    """Matched pairs of whole components, each laid out as a table of weights."""
    tables = Blocks.of_pairs(parts.of_pairs[pairs], left[pairs], right[pairs])
    return pairs[tables.assigned_pairs(-weights[pairs], np.zeros(len(tables.heights)))]


def _solve_sparse(detections: IntArray, targets: IntArray, weights: FloatArray) -> IntArray:
    """The same without a table, of one component of thousands on either side.

    Each row gets a column of its own that stands for "with nobody", so that all can be matched.
    """
    _, rows, _ = numbered(detections)
    _, columns, _ = numbered(targets)
    height, width = int(rows.max()) + 1, int(columns.max()) + 1
    nobody = 2.0 * weights.max()
    all_rows = np.arange(height, dtype=np.int64)
    costs = np.concatenate([nobody - weights, np.full(height, nobody)])
    places = (np.concatenate([rows, all_rows]), np.concatenate([columns, width + all_rows]))
    # The solver of older scipy takes indices of 32 bits alone.
    narrow = tuple(place.astype(np.int32) for place in places)
    graph = csr_array((costs, narrow), shape=(height, width + height))
    matched_rows, matched_columns = min_weight_full_bipartite_matching(graph)
    partners = np.empty(height, dtype=np.int64)
    partners[matched_rows] = matched_columns
    return np.flatnonzero(partners[rows] == columns)

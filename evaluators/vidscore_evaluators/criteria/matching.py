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
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, run_starts
from vidscore_evaluators.compiled.numbering import numbered
from vidscore_evaluators.criteria.candidates import Candidates
from vidscore_evaluators.matching.assignment import Blocks
from vidscore_evaluators.matching.components import Components, connected_components
from vidscore_evaluators.matching.gating import Pairs

ROUND_OVERHEAD = 8
"""Detections that a round must settle, or it costs more than to go through them one by one."""

PAIRS_A_STEP = 256
"""Open pairs that cost a round as much as one more detection would alone."""

LARGEST_TABLE = 1 << 22
"""Cells up to which a component is laid out as a table; a larger one is solved pair by pair."""


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


def greedy_matching(detections: IntArray, targets: IntArray, reusable: BoolArray) -> IntArray:
    """Let each detection, in ascending order of its row, take its first free target.

    Every round settles, in all groups at once, each detection whose first free target no earlier
    detection can still want. That is nearly all of them in a round or two, and the rest, where
    long chains of detections wait for one another, is gone through one by one.

    Args:
        detections: (P,) detections, ascending; within one, pairs from best to worst.
        targets: (P,) targets.
        reusable: (all targets,) targets that may be taken any number of times.

    Returns:
        Rows of the matched pairs, in no particular order.
    """
    suitor = np.empty(len(reusable), dtype=np.int64)
    taken = np.zeros(len(reusable), dtype=np.bool_)
    settled = np.zeros(int(detections[-1]) + 1 if len(detections) else 0, dtype=np.bool_)
    matched = [np.zeros(0, dtype=np.int64)]
    open_pairs = np.arange(len(detections), dtype=np.int64)
    while len(open_pairs):
        left, right = detections[open_pairs], targets[open_pairs]
        # Written backwards, so that the earliest detection of each target stays.
        suitor[right[::-1]] = left[::-1]
        first = run_starts(left)
        wanted = right[first]
        settles = first[(suitor[wanted] == left[first]) | reusable[wanted]]
        matched.append(open_pairs[settles])
        settled[left[settles]] = True
        taken[right[settles]] = ~reusable[right[settles]]
        open_pairs = open_pairs[~(settled[left] | taken[right])]
        if len(settles) < ROUND_OVERHEAD + len(left) // PAIRS_A_STEP:
            matched.append(_one_by_one(open_pairs, detections, targets, taken, reusable))
            break
    return np.concatenate(matched)


def _one_by_one(
    open_pairs: IntArray,
    detections: IntArray,
    targets: IntArray,
    taken: BoolArray,
    reusable: BoolArray,
) -> IntArray:
    """Go through what is open detection by detection; marks the targets that it takes."""
    matched = []
    bounds = np.append(run_starts(detections[open_pairs]), len(open_pairs)).tolist()
    for first, last in pairwise(bounds):
        pairs = open_pairs[first:last]
        occupied = taken[targets[pairs]]
        best = int(occupied.argmin())
        if not occupied[best]:
            matched.append(pairs[best])
            taken[targets[pairs[best]]] = not reusable[targets[pairs[best]]]
    return np.array(matched, dtype=np.int64)


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
    chosen = np.zeros(len(candidates), dtype=np.bool_)
    rows = np.flatnonzero(weights > 0.0)
    certain, rows = _take_dominant(candidates, weights, rows, (detection_count, target_count))
    chosen[certain] = True
    if len(rows) == 0:
        return chosen
    detections, targets = candidates.detections[rows], candidates.targets[rows]
    parts = connected_components(Pairs(detections, targets), detection_count, target_count)
    star = ((parts.left_counts == 1) | (parts.right_counts == 1))[parts.of_pairs]
    chosen[rows[_best_of_stars(parts.of_pairs, weights[rows], np.flatnonzero(star))]] = True
    solved = _solve_components(parts, detections, targets, weights[rows], np.flatnonzero(~star))
    chosen[rows[solved]] = True
    return chosen


def _take_dominant(
    candidates: Candidates, weights: FloatArray, rows: IntArray, counts: tuple[int, int]
) -> tuple[IntArray, IntArray]:
    """Match pairs that outweigh all that stands against them, again and again.

    Any matching without such a pair gets heavier if the pair takes the place of the two, at most,
    that its detection and its target are in. So every heaviest matching has it, and what else
    its detection and its target might do can go.

    Args:
        candidates: Pairs.
        weights: Weight of each.
        rows: The pairs that may be matched.
        counts: Number of detections, and of targets.

    Returns:
        Rows that are matched, and rows that remain.
    """
    matched = [np.zeros(0, dtype=np.int64)]
    taken = [np.zeros(count, dtype=np.bool_) for count in counts]
    while len(rows):
        heavy = weights[rows]
        sides = (candidates.detections[rows], candidates.targets[rows])
        against = [
            _heaviest_others(heavy, side, count) for side, count in zip(sides, counts, strict=True)
        ]
        dominant = heavy > against[0] + against[1]
        if not dominant.any():
            break
        matched.append(rows[dominant])
        for side, of_side in zip(sides, taken, strict=True):
            of_side[side[dominant]] = True
        rows = rows[~(taken[0][sides[0]] | taken[1][sides[1]])]
    return np.concatenate(matched), rows


def _heaviest_others(weights: FloatArray, nodes: IntArray, count: int) -> FloatArray:
    """The weight of the heaviest other pair of each pair's node; 0 where there is none.

    Args:
        weights: (P,) weights above 0.
        nodes: (P,) node of each pair, below `count`.
        count: Number of nodes.
    """
    heaviest = np.zeros(count)
    np.maximum.at(heaviest, nodes, weights)
    is_heaviest = weights == heaviest[nodes]
    alone = is_heaviest & (np.bincount(nodes[is_heaviest], minlength=count)[nodes] == 1)
    second = np.zeros(count)
    np.maximum.at(second, nodes[~alone], weights[~alone])
    others: FloatArray = np.where(alone, second[nodes], heaviest[nodes])
    return others


def _best_of_stars(components: IntArray, weights: FloatArray, pairs: IntArray) -> IntArray:
    """The heaviest pair of each component, the first of equals; a star has room for one."""
    order = pairs[np.lexsort((pairs, -weights[pairs], components[pairs]))]
    return order[run_starts(components[order])]


def _solve_components(
    parts: Components,
    detections: IntArray,
    targets: IntArray,
    weights: FloatArray,
    pairs: IntArray,
) -> IntArray:
    """Matched pairs of components that need a solver."""
    pairs = pairs[np.argsort(parts.of_pairs[pairs], kind="stable")]
    cells = parts.left_counts * parts.right_counts
    small = cells[parts.of_pairs[pairs]] <= LARGEST_TABLE
    solved = [_solve_tables(parts, detections, targets, weights, pairs[small])]
    large = pairs[~small]
    bounds = np.append(run_starts(parts.of_pairs[large]), len(large)).tolist()
    for begin, end in pairwise(bounds):
        rows = large[begin:end]
        solved.append(rows[_solve_sparse(detections[rows], targets[rows], weights[rows])])
    return np.concatenate(solved)


def _solve_tables(
    parts: Components,
    detections: IntArray,
    targets: IntArray,
    weights: FloatArray,
    pairs: IntArray,
) -> IntArray:
    """Matched pairs of components, each laid out as a table of weights."""
    components = parts.of_pairs[pairs]
    first = run_starts(components)
    tables = Blocks(
        np.append(first, len(pairs)),
        _places(components, detections[pairs]),
        _places(components, targets[pairs]),
        parts.left_counts[components[first]],
        parts.right_counts[components[first]],
    )
    return pairs[tables.assigned_pairs(-weights[pairs], np.zeros(len(first)))]


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


def _places(components: IntArray, nodes: IntArray) -> IntArray:
    """Place of each node among the different nodes of its component, in ascending order."""
    order = np.lexsort((nodes, components))
    sorted_components, sorted_nodes = components[order], nodes[order]
    new = np.zeros(len(order), dtype=np.int64)
    new[run_starts(sorted_components, sorted_nodes)] = 1
    counted = np.cumsum(new) - 1
    first = run_starts(sorted_components)
    base = np.repeat(counted[first], np.diff(np.append(first, len(order))))
    places = np.empty(len(order), dtype=np.int64)
    places[order] = counted - base
    return places

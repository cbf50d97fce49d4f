"""Candidate pairs: pairs of objects whose bounding boxes touch, and their connected components.

One search covers all frames, a chunk at a time, so that memory stays bounded; a gate or a measure
filters the pairs. Matching all frames is matching each component of the graph of pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from msgspec import Struct

from vidscore_evaluators import kernels
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, require_groups
from vidscore_evaluators.kernels import touching_pairs
from vidscore_evaluators.keys import factorize

Gate = Callable[[IntArray, IntArray], BoolArray]
"""Mask of the K pairs that count, from (K,) left rows and (K,) right rows."""

PairMeasure = Callable[[IntArray, IntArray], FloatArray]
"""Values of K pairs, from (K,) left rows and (K,) right rows."""

PAIRS_PER_CHUNK = 1 << 15
"""Number of pairs per chunk: few enough for the processor's cache."""


class BoundingBoxes(Struct, frozen=True, eq=False):
    """Bounding boxes of the N objects of one side, by group; a group is usually a frame.

    Attributes:
        starts: (G + 1,) offsets into the objects; both sides have the same G groups.
        boxes: (N, 4) upright boxes.
    """

    starts: IntArray
    boxes: FloatArray

    @property
    def columns(self) -> tuple[FloatArray, IntArray]:
        """Boxes and offsets for a kernel."""
        return np.ascontiguousarray(self.boxes, dtype=np.float64), self.starts

    def __post_init__(self) -> None:
        """Refuse offsets that would lead a kernel out of bounds."""
        require_groups("boxes", self.boxes, self.starts, 4)


class Pairs(Struct, frozen=True, eq=False):
    """P pairs of a left and a right object of the same frame, each pair once.

    Attributes:
        left: (P,) rows of the left side, ascending.
        right: (P,) rows of the right side, ascending for one left row.
    """

    left: IntArray
    right: IntArray

    def __len__(self) -> int:
        """Number of pairs P."""
        return len(self.left)

    def take(self, rows: BoolArray | IntArray) -> Pairs:
        """Keep some pairs."""
        return Pairs(self.left[rows], self.right[rows])


def gated_pairs(left: BoundingBoxes, right: BoundingBoxes, gate: Gate) -> Pairs:
    """Pairs within a frame whose bounding boxes touch and that pass the gate.

    Args:
        left: Bounding boxes of the left side, widened by the greatest distance of a pair.
        right: Bounding boxes of the right side.
        gate: Mask of the pairs that count.
    """
    return _kept(_touching(left, right), gate)


def self_pairs(side: BoundingBoxes, gate: Gate) -> Pairs:
    """Pairs of two objects of one side and frame that pass the gate, each pair once.

    Args:
        side: Bounding boxes of the side.
        gate: As for `gated_pairs`; left rows are less than right rows.
    """
    return _kept(_touching(side, side, within=True), gate)


def measured_pairs(
    left: BoundingBoxes, right: BoundingBoxes, measure: PairMeasure, at_least: float
) -> tuple[Pairs, FloatArray]:
    """Pairs within a frame whose bounding boxes touch and whose measure is at least some value.

    Args:
        left: Bounding boxes of the left side.
        right: Bounding boxes of the right side.
        measure: The measure.
        at_least: Least value of the measure.

    Returns:
        The pairs, and the value of each.
    """
    values = [np.zeros(0)]

    def gate(left_rows: IntArray, right_rows: IntArray) -> BoolArray:
        found = measure(left_rows, right_rows)
        counts: BoolArray = found >= at_least
        values.append(found[counts])
        return counts

    pairs = gated_pairs(left, right, gate)
    return pairs, np.concatenate(values)


def _kept(chunks: Iterator[Pairs], gate: Gate) -> Pairs:
    none = np.zeros(0, dtype=np.int64)
    kept = [Pairs(none, none)]
    kept.extend(pairs.take(np.flatnonzero(gate(pairs.left, pairs.right))) for pairs in chunks)
    if len(kept) == 2:
        return kept[1]
    return Pairs(
        np.concatenate([pairs.left for pairs in kept]),
        np.concatenate([pairs.right for pairs in kept]),
    )


def _touching(
    left: BoundingBoxes, right: BoundingBoxes, *, within: bool = False
) -> Iterator[Pairs]:
    """All pairs that touch, in chunks of about `PAIRS_PER_CHUNK`, or as large as one group needs.

    Args:
        left: Bounding boxes of the left side.
        right: Bounding boxes of the right side, in the same number of groups.
        within: Whether both are the same side; each pair is then found once.
    """
    group_count = len(right.starts) - 1
    if len(left.starts) != len(right.starts):
        raise ValueError(f"{len(left.starts) - 1} groups cannot be paired with {group_count}")
    largest = int(np.diff(right.starts).max(initial=0))
    # More than the objects of any group, so that most groups need one call.
    capacity = PAIRS_PER_CHUNK + 2 * largest
    scratch = np.empty(3 * largest + 3, dtype=np.int64)
    place = np.zeros(2, dtype=np.int64)
    sides = (*left.columns, *right.columns, group_count)
    while place[0] < group_count:
        rows = np.empty((2, capacity), dtype=np.int64)
        found = touching_pairs(*sides, int(within), place, scratch, capacity, *rows)
        yield Pairs(rows[0, :found], rows[1, :found])


class Components(Struct, frozen=True, eq=False):
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


def component_labels(left: IntArray, right: IntArray, node_count: int) -> IntArray:
    """Label the connected components of a graph.

    scipy.sparse.csgraph does the same, but importing it takes longer than scoring spotGEO.

    Args:
        left: (E,) node at one end of each edge.
        right: (E,) node at the other end.
        node_count: Number of nodes N.

    Returns:
        (N,) the least node of the component of each node.

    Raises:
        ValueError: If an edge does not join two of the N nodes.
    """
    for ends in (left, right):
        least, greatest = ends.min(initial=0), ends.max(initial=-1)
        if len(left) != len(right) or least < 0 or greatest >= node_count:
            raise ValueError(f"edges do not join nodes from 0 to {node_count - 1}")
    labels = np.empty(node_count, dtype=np.int64)
    kernels.component_labels(left, right, len(left), node_count, labels)
    return labels


def connected_components(pairs: Pairs, left_count: int, right_count: int) -> Components:
    """Split pairs into connected components.

    Args:
        pairs: Pairs of any frames.
        left_count: Objects on the left side.
        right_count: Objects on the right side.

    Returns:
        The components. That of a pair depends only on the pairs of its own frame; their numbers
        depend on the order of the pairs.
    """
    labels = component_labels(pairs.left, left_count + pairs.right, left_count + right_count)
    return _counted(pairs, labels[pairs.left], left_count, right_count)


def _counted(pairs: Pairs, labels: IntArray, left_count: int, right_count: int) -> Components:
    """Renumber the labels from 0, and count the objects and pairs of each component."""
    in_use, of_pairs, pair_counts = factorize(labels)
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


def preference_order(
    pairs: Pairs, weights: FloatArray, second_choice: BoolArray, last: FloatArray | None = None
) -> IntArray:
    """Sort pairs by left object and, for each, from its best right object to its worst.

    Args:
        pairs: P pairs, sorted by left object and then by right one.
        weights: (P,) weight of each pair; the greatest is best.
        second_choice: (P,) whether a pair comes after all others of its left object.
        last: (P,) tie-breaker: of pairs of equal weight, the greatest comes first.

    Returns:
        (P,) rows of the pairs.

    Raises:
        ValueError: If the pairs are not sorted.
    """
    order = np.empty(len(pairs), dtype=np.int64)
    status = kernels.preference_order(
        np.ascontiguousarray(pairs.left),
        np.ascontiguousarray(weights),
        np.ascontiguousarray(second_choice),
        np.zeros(len(pairs)) if last is None else np.ascontiguousarray(last),
        len(pairs),
        order,
    )
    if status < 0:
        raise ValueError("pairs must be sorted by their left objects")
    return order

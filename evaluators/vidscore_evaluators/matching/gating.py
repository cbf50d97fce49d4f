"""Candidate pairs: which objects of two sides come into question for each other at all.

The pairs of all frames whose envelopes touch come out of one compiled search, a chunk at a time, so
that memory stays bounded; a gate or a measure keeps what counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, require_groups
from vidscore_evaluators.compiled.library import compiled

Gate = Callable[[IntArray, IntArray], BoolArray]
"""Says of (K,) left rows and (K,) right rows which of the K pairs count."""

Measure = Callable[[IntArray, IntArray], FloatArray]
"""Measures each of K pairs, of (K,) left rows and (K,) right rows."""

PAIRS_PER_CHUNK = 1 << 15
"""Pairs that are given at a time: few enough for the processor's own cache."""

_touching_pairs = compiled(
    "touching_pairs",
    *(np.float64, np.int64, np.float64, np.int64, int, int),
    *(np.int64, np.int64, int, np.int64, np.int64),
)


@dataclass(frozen=True, eq=False)
class Extents:
    """Where the N objects of one side lie, group by group; a group is mostly a frame.

    Attributes:
        starts: (G + 1,) offsets into the objects; both sides have the same G groups.
        boxes: (N, 4) upright boxes around what an object is.
    """

    starts: IntArray
    boxes: FloatArray

    @property
    def columns(self) -> tuple[FloatArray, IntArray]:
        """What a compiled loop wants of them."""
        return np.ascontiguousarray(self.boxes, dtype=np.float64), self.starts

    def __post_init__(self) -> None:
        """Refuse what would lead a compiled loop astray."""
        require_groups("boxes", self.boxes, self.starts, 4)


@dataclass(frozen=True, eq=False)
class Pairs:
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


def gated_pairs(left: Extents, right: Extents, gate: Gate) -> Pairs:
    """Find all pairs of a frame whose extents touch and that pass the gate.

    Args:
        left: Extents of the left side, widened by as much as a pair may lie apart.
        right: Extents of the right side.
        gate: Keeps what counts.
    """
    return _kept(_touching(left, right), gate)


def gated_twins(side: Extents, gate: Gate) -> Pairs:
    """Find all pairs of two objects of one side and frame that pass the gate, each pair once.

    Args:
        side: Extents of the side.
        gate: As for `gated_pairs`; its left rows are less than its right ones.
    """
    return _kept(_touching(side, side, twins=True), gate)


def measured_pairs(
    left: Extents, right: Extents, measure: Measure, at_least: float
) -> tuple[Pairs, FloatArray]:
    """Find all pairs of a frame whose extents touch and that have enough of some measure.

    Args:
        left: Extents of the left side.
        right: Extents of the right side.
        measure: What is measured.
        at_least: Least value of a pair that counts.

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


def _touching(left: Extents, right: Extents, *, twins: bool = False) -> Iterator[Pairs]:
    """All pairs that touch, about `PAIRS_PER_CHUNK` at a time, or as many as a group is large.

    Args:
        left: Extents of the left side.
        right: Extents of the right side, in as many groups.
        twins: Whether both are one side, each pair of which is wanted once.
    """
    group_count = len(right.starts) - 1
    if len(left.starts) != len(right.starts):
        raise ValueError(f"{len(left.starts) - 1} groups cannot be paired with {group_count}")
    largest = int(np.diff(right.starts).max(initial=0))
    # Room for more pairs than a group has objects, so that it is seldom gone on with.
    capacity = PAIRS_PER_CHUNK + 2 * largest
    scratch = np.empty(3 * largest + 3, dtype=np.int64)
    place = np.zeros(2, dtype=np.int64)
    sides = (*left.columns, *right.columns, group_count)
    while place[0] < group_count:
        rows = np.empty((2, capacity), dtype=np.int64)
        found = _touching_pairs(*sides, int(twins), place, scratch, capacity, *rows)
        yield Pairs(rows[0, :found], rows[1, :found])

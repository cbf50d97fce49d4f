"""Candidate pairs: which objects of two sides come into question for each other at all.

The pairs of all frames come out of one call. Each left object gets a window of right objects of
its frame, the windows are unrolled a chunk at a time, so that memory stays bounded, and a gate
keeps what counts. Where there are many pairs, their extents along one axis are compared first, in
whole matrices or, in large frames, by a sweep; that changes nothing but the time, because the gate
sees every pair that overlaps there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    equal_shapes,
    expand_runs,
    packed_columns,
    starts_from_counts,
)

Gate = Callable[[IntArray, IntArray], BoolArray]
"""Says of (K,) left rows and (K,) right rows which of the K pairs count."""

Measure = Callable[[IntArray, IntArray], FloatArray]
"""Measures each of K pairs, of (K,) left rows and (K,) right rows."""

PAIRS_A_CHUNK = 1 << 15
"""Pairs that are unrolled at a time: few enough for the processor's own cache."""

SWEEP_FROM = 8
"""Pairs an object, over all frames, from which comparing extents first costs less than it saves."""

LARGEST_STACKED_CELLS = 1 << 12
"""Pairs of a frame up to which comparing all of them costs less than a sweep."""

CELLS_A_PART = 1 << 16
"""Comparisons of whole matrices that are made at a time."""

STACK_STEP = 4
"""Frames whose numbers of objects differ by less are compared in one stack."""


@dataclass(frozen=True, eq=False)
class Extents:
    """Where the N objects of one side lie along one axis, frame by frame.

    Attributes:
        frame_starts: (F + 1,) offsets into the object columns; both sides have the same F frames.
        low: (N,) least coordinate of each object.
        high: (N,) greatest coordinate of each object; `low` for points.
    """

    frame_starts: IntArray
    low: FloatArray
    high: FloatArray

    @property
    def counts(self) -> IntArray:
        """(F,) objects of each frame."""
        return np.diff(self.frame_starts)

    def stack(self, frames: IntArray, size: int) -> tuple[IntArray, FloatArray, FloatArray]:
        """(K, size) rows, least and greatest coordinates of K frames of at most so many objects.

        Beyond a frame's last object there are rows of others, with coordinates that overlap none.
        """
        starts = self.frame_starts[frames]
        rows = starts[:, None] + np.arange(size)
        beyond = rows >= self.frame_starts[frames + 1][:, None]
        low, high = (values.take(rows, mode="clip") for values in (self.low, self.high))
        low[beyond] = high[beyond] = np.nan
        return rows, low, high


@dataclass(frozen=True, eq=False)
class Pairs:
    """P pairs of a left and a right object of the same frame, each pair once.

    Attributes:
        left: (P,) rows of the left side, ascending.
        right: (P,) rows of the right side, in no particular order for one left row.
    """

    left: IntArray
    right: IntArray

    def __len__(self) -> int:
        """Number of pairs P."""
        return len(self.left)

    def take(self, rows: BoolArray | IntArray) -> Pairs:
        """Keep some pairs."""
        return Pairs(self.left[rows], self.right[rows])


@dataclass(frozen=True, eq=False)
class _Windows:
    """For each left object a run of right objects: ``order[first : first + counts]``.

    Without an order they are rows as they stand.
    """

    order: IntArray | None
    first: IntArray
    counts: IntArray


def gated_pairs(left: Extents, right: Extents, gate: Gate) -> Pairs:
    """Find all pairs of a frame whose extents overlap and that pass the gate.

    Args:
        left: Extents of the left side, widened by as much as a pair may lie apart.
        right: Extents of the right side.
        gate: Keeps what counts; must refuse every pair whose extents do not overlap, since it may
            never be asked about one.

    Returns:
        The pairs that the gate keeps, of all frames.
    """
    pairs = _joined([_kept(part, gate) for part in _overlapping(left, right)])
    if (pairs.left[1:] >= pairs.left[:-1]).all():
        return pairs
    return pairs.take(np.argsort(pairs.left, kind="stable"))


def measured_pairs(
    left: Extents, right: Extents, measure: Measure, at_least: float
) -> tuple[Pairs, FloatArray]:
    """Find all pairs of a frame whose extents overlap and that have enough of some measure.

    Args:
        left: Extents of the left side.
        right: Extents of the right side.
        measure: What is measured; less than `at_least` where extents do not overlap.
        at_least: Least value of a pair that counts.

    Returns:
        The pairs, those of one left object ascending on the right, and the value of each.
    """
    parts, values = [], [np.zeros(0)]
    for part in _overlapping(left, right):
        found = measure(part.left, part.right)
        kept = np.flatnonzero(found >= at_least)
        parts.append(part.take(kept))
        values.append(found[kept])
    pairs, measured = _joined(parts), np.concatenate(values)
    order = np.lexsort(packed_columns([pairs.left, pairs.right])[::-1])
    return pairs.take(order), measured[order]


def gated_twins(side: Extents, gate: Gate) -> Pairs:
    """Find all pairs of two objects of one side and frame that pass the gate, each pair once.

    Args:
        side: Extents of the side.
        gate: As for `gated_pairs`; it must not matter to it which of a pair comes first.

    Returns:
        The pairs that the gate keeps, in no particular order.
    """
    order, windows = _twin_windows(side)
    chunks = (Pairs(order[chunk.left], chunk.right) for chunk in _unrolled(windows))
    return _joined([_kept(chunk, gate) for chunk in chunks])


def _joined(parts: list[Pairs]) -> Pairs:
    if len(parts) == 1:
        return parts[0]
    none = np.zeros(0, dtype=np.int64)
    return Pairs(
        np.concatenate([none, *(pairs.left for pairs in parts)]),
        np.concatenate([none, *(pairs.right for pairs in parts)]),
    )


def _kept(pairs: Pairs, gate: Gate) -> Pairs:
    return pairs.take(np.flatnonzero(gate(pairs.left, pairs.right)))


def _overlapping(left: Extents, right: Extents) -> Iterator[Pairs]:
    """All pairs whose extents overlap, and maybe others, in the way that costs least.

    Few pairs are all given. Of frames with many, those that fit into a stack are compared as
    whole matrices, and larger ones are swept.
    """
    left_counts, right_counts = left.counts, right.counts
    cells = left_counts * right_counts
    if int(cells.sum()) <= SWEEP_FROM * (len(left.low) + len(right.low)):
        yield from _unrolled(_whole_frames(left, right))
        return
    stacked = cells <= LARGEST_STACKED_CELLS
    yield from _compared(left, right, np.flatnonzero(stacked & (cells > 0)))
    if not stacked.all():
        windows = _narrowed(_whole_frames(left, right), left, right)
        windows.counts[np.repeat(stacked, left_counts)] = 0
        yield from _unrolled(windows)


def _whole_frames(left: Extents, right: Extents) -> _Windows:
    """The whole frame as everybody's window."""
    first = np.repeat(right.frame_starts[:-1], left.counts)
    return _Windows(None, first, np.repeat(right.counts, left.counts))


def _compared(left: Extents, right: Extents, frames: IntArray) -> Iterator[Pairs]:
    """Overlapping pairs of some frames, out of whole matrices of comparisons."""
    heights, widths = (-(-side.counts[frames] // STACK_STEP) * STACK_STEP for side in (left, right))
    for places, height, width in equal_shapes(heights, widths, CELLS_A_PART):
        rows, low, high = left.stack(frames[places], height)
        columns, other_low, other_high = right.stack(frames[places], width)
        overlaps = low[:, :, None] <= other_high[:, None, :]
        overlaps &= other_low[:, None, :] <= high[:, :, None]
        cells = np.flatnonzero(overlaps)
        of_rows = cells // width
        of_columns = cells - of_rows * width
        of_columns += columns[:, 0].take(of_rows // height)
        yield Pairs(rows.reshape(-1).take(of_rows), of_columns)


def _twin_windows(side: Extents) -> tuple[IntArray, _Windows]:
    """An order, and for each object of it those that follow it there in its frame, or fewer.

    In the order of their low ends, an object overlaps those that follow until one begins beyond
    its high end, and each pair is found from the one that begins first.
    """
    counts = np.diff(side.frame_starts)
    frame_ends = np.repeat(side.frame_starts[1:], counts)
    order = np.arange(len(side.low), dtype=np.int64)
    first, past = order + 1, frame_ends
    if int(np.dot(counts, counts)) > 2 * SWEEP_FROM * len(side.low):
        least, greatest = side.low.min(), side.low.max()
        offsets = np.repeat(_frame_offsets(len(counts), greatest - least), counts)
        line = offsets + (side.low - least)
        order = np.argsort(line, kind="stable")
        end = offsets + (np.clip(side.high[order], least, greatest) - least)
        past = np.clip(np.searchsorted(line[order], end, side="right"), first, frame_ends)
    return order, _Windows(order, first, past - first)


def _narrowed(windows: _Windows, left: Extents, right: Extents) -> _Windows:
    """Cut every window to the right objects that can overlap along the axis.

    All frames are searched at once along one line on which each has a stretch of its own. Adding
    a frame's offset rounds, but never turns the order of two numbers round, so that no overlap
    is lost: at worst a window is a little too wide, or reaches into the next frame and is cut.
    """
    least, greatest = right.low.min(), right.low.max()
    frame_offsets = _frame_offsets(len(left.frame_starts) - 1, greatest - least)
    left_offsets = np.repeat(frame_offsets, np.diff(left.frame_starts))
    line = np.repeat(frame_offsets, np.diff(right.frame_starts)) + (right.low - least)
    order = np.argsort(line, kind="stable")
    line = line[order]
    # A right object that begins before a left one still overlaps it if it is long enough; lengths
    # are rounded, so a little more is added than all rounding here can take away.
    rounding = 8 * np.finfo(np.float64).eps * max(np.abs(right.low).max(), np.abs(right.high).max())
    reach = np.max(right.high - right.low) + rounding
    begin = left_offsets + (np.clip(left.low - reach, least, greatest) - least)
    end = left_offsets + (np.clip(left.high, least, greatest) - least)
    window_end = windows.first + windows.counts
    first = np.clip(np.searchsorted(line, begin, side="left"), windows.first, window_end)
    past = np.clip(np.searchsorted(line, end, side="right"), first, window_end)
    return _Windows(order, first, past - first)


def _frame_offsets(frame_count: int, length: float) -> FloatArray:
    """Where each frame's stretch of the line begins; longer than `length`, so that none overlap.

    A power of two, because its multiples are exact: however many frames there are, a number of
    one frame never comes to lie beyond the beginning of the next.
    """
    _, exponent = math.frexp(length)
    offsets: FloatArray = np.arange(frame_count, dtype=np.float64) * math.ldexp(1.0, exponent)
    return offsets


def _unrolled(windows: _Windows) -> Iterator[Pairs]:
    """Pairs of the windows, whole windows of about `PAIRS_A_CHUNK` pairs at a time."""
    pair_starts = starts_from_counts(windows.counts)
    left_count = len(windows.counts)
    start = 0
    while start < left_count:
        stop = int(np.searchsorted(pair_starts, pair_starts[start] + PAIRS_A_CHUNK, side="right"))
        stop = min(max(start + 1, stop - 1), left_count)
        counts = windows.counts[start:stop]
        right = expand_runs(windows.first[start:stop], counts)
        yield Pairs(
            np.repeat(np.arange(start, stop, dtype=np.int64), counts),
            right if windows.order is None else windows.order[right],
        )
        start = stop

"""Masks for drawing: pieces of columns, and the outlines around them.

Both are computed from runs by operations on whole arrays, not pixel by pixel. Coordinates are those
of pixel edges: the first pixel of an image goes from 0 to 1.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import AnyArray, BoolArray, IntArray, expand_runs, run_starts
from vidscore_evaluators.masks import Masks


class ColumnPieces(Struct, frozen=True, eq=False):
    """The pixels of masks as P pieces of columns; no two pieces of a mask touch in a column.

    Attributes:
        masks: (P,) mask of each piece, ascending.
        columns: (P,) its column.
        tops: (P,) its first row.
        bottoms: (P,) the row after its last one.
    """

    masks: IntArray
    columns: IntArray
    tops: IntArray
    bottoms: IntArray

    def of(self, wanted: BoolArray) -> ColumnPieces:
        """The pieces of some masks.

        Args:
            wanted: (N,) which of all masks to keep; they keep their numbers.
        """
        kept = wanted[self.masks]
        return ColumnPieces(
            self.masks[kept], self.columns[kept], self.tops[kept], self.bottoms[kept]
        )


class MaskOutlines(Struct, frozen=True, eq=False):
    """Closed outlines around the parts of masks and around their holes.

    Attributes:
        masks: (L,) mask of each outline.
        starts: (L + 1,) offsets into `corners`.
        corners: (C, 2) x and y. From the first corner of an outline, sides are in turn horizontal
            and vertical; the last side returns to the first corner.
    """

    masks: IntArray
    starts: IntArray
    corners: IntArray

    def edges(self) -> tuple[IntArray, IntArray]:
        """(C, 4) sides x1, y1, x2, y2, one after the other, and (C,) the outline of each."""
        following = np.arange(1, len(self.corners) + 1)
        following[self.starts[1:] - 1] = self.starts[:-1]
        loops = np.repeat(np.arange(len(self.masks)), np.diff(self.starts))
        return np.concatenate([self.corners, self.corners[following]], axis=1), loops


def column_pieces(masks: Masks) -> ColumnPieces:
    """Cut the runs of masks at the ends of columns."""
    counts = np.diff(masks.starts)
    owners = np.repeat(np.arange(masks.count, dtype=np.int64), counts)
    ends = np.cumsum(masks.runs.astype(np.int64))
    # Positions in each mask count from its first pixel.
    ends -= np.concatenate([[0], ends])[masks.starts[:-1]][owners]
    are_ones = (np.arange(len(owners)) - masks.starts[owners]) % 2 == 1
    owners, ends = owners[are_ones], ends[are_ones]
    begins = ends - masks.runs[are_ones]
    heights = masks.sizes[owners, 0]
    first = begins // heights
    pieces = (ends - 1) // heights - first + 1
    columns = expand_runs(first, pieces)
    owners, begins, ends, heights = (
        np.repeat(each, pieces) for each in (owners, begins, ends, heights)
    )
    above = columns * heights
    tops, bottoms = np.maximum(begins - above, 0), np.minimum(ends - above, heights)
    return ColumnPieces(owners, columns, tops, bottoms)


def mask_outlines(pieces: ColumnPieces) -> MaskOutlines:
    """Outlines of masks, along the edges of their pixels.

    Pixels that touch only at a corner may have one outline or two.

    The upper and the lower end of a piece are sides of an outline, each from a tail to a head: to
    the right above, to the left below, so that the mask is on the right. Sort the tails and heads
    on the line between two columns: from the first to the second, from the third to the fourth and
    so on, the mask is on one side of the line only. These are the vertical sides, from a head to
    the next tail.
    """
    count = len(pieces.masks)
    left, right = pieces.columns, pieces.columns + 1
    # The tails of all pieces (upper ends, then lower ends), then their heads.
    x = np.concatenate([left, right, right, left])
    y = np.concatenate([pieces.tops, pieces.bottoms, pieces.tops, pieces.bottoms])
    pairs = np.lexsort((y, x, np.tile(pieces.masks, 4))).reshape(-1, 2)
    partners = np.empty(4 * count, dtype=np.int64)
    partners[pairs[:, 0]], partners[pairs[:, 1]] = pairs[:, 1], pairs[:, 0]
    tails, loops = _cycles(partners[2 * count :])
    x, y, owners = x[tails], y[tails], np.tile(pieces.masks, 2)[tails]
    # Without a vertical side between them, two horizontal sides are one: no corner there.
    first = run_starts(loops)
    lengths = np.diff(np.append(first, len(loops)))
    before = np.arange(-1, len(loops) - 1)
    before[first] = first + lengths - 1
    kept = y != y[before]
    x, y, loops = x[kept], y[kept], loops[kept]
    starts = np.append(run_starts(loops), len(loops))
    following = np.arange(1, len(loops) + 1)
    following[starts[1:] - 1] = starts[:-1]
    corners = np.stack([x, y, x[following], y], axis=1).reshape(-1, 2)
    return MaskOutlines(owners[kept][starts[:-1]], 2 * starts, corners)


def _cycles(following: IntArray) -> tuple[AnyArray, AnyArray]:
    """The cycles of a permutation, one after the other.

    Args:
        following: (N,) the successor of each element.

    Returns:
        (N,) elements in the order of their cycles, and the least element of each one's cycle.
    """
    count = len(following)
    least, ahead = np.arange(count), following
    rounds = range(count.bit_length())
    for _ in rounds:  # each round looks twice as far
        least = np.minimum(least, least[ahead])
        ahead = ahead[ahead]
    # Steps from each element to the least of its cycle, where all stop.
    is_least = least == np.arange(count)
    steps = np.where(is_least, 0, 1)
    ahead = np.where(is_least, np.arange(count), following)
    for _ in rounds:
        steps += steps[ahead]
        ahead = ahead[ahead]
    steps[is_least] = count
    order = np.lexsort((-steps, least))
    return order, least[order]

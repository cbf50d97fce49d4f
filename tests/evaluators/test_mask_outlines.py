"""Pieces and outlines of masks, compared with pixels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from tests.evaluators.test_masks import Pixels, images, masks_of

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.mask_outlines import ColumnPieces, column_pieces, mask_outlines
from vidscore_evaluators.masks import no_masks


def windings(corners: IntArray, starts: IntArray, shape: tuple[int, ...]) -> Pixels:
    """Winding number around each pixel: up on its left counts 1, down on its left -1."""
    counts = np.zeros(shape, dtype=np.int64)
    for start, stop in pairwise(starts.tolist()):
        loop = corners[start:stop]
        for (x1, y1), (x2, y2) in zip(loop, np.roll(loop, -1, axis=0), strict=True):
            assert (x1 == x2) != (y1 == y2)
            counts[min(y1, y2) : max(y1, y2), x1:] += np.sign(y1 - y2)
    return counts


@given(images())
def test_pieces_have_the_pixels_of_their_masks(pixels: list[Pixels]) -> None:
    pieces = column_pieces(masks_of(pixels))
    for row, image in enumerate(pixels):
        drawn = np.zeros_like(image)
        own = pieces.of(np.arange(len(pixels)) == row)
        for column, top, bottom in zip(own.columns, own.tops, own.bottoms, strict=True):
            drawn[top:bottom, column] += 1
        assert (own.masks == row).all()
        assert (drawn == image).all()


@given(images())
def test_outlines_go_once_around_each_pixel_of_the_mask_and_around_no_other(
    pixels: list[Pixels],
) -> None:
    outlines = mask_outlines(column_pieces(masks_of(pixels)))
    edges, loops = outlines.edges()
    assert (edges[:, :2] == outlines.corners).all()
    assert (np.sort(outlines.masks) == outlines.masks).all()
    for row, image in enumerate(pixels):
        own = np.flatnonzero(outlines.masks == row)
        mine = np.isin(loops, own)
        starts = np.append(0, np.cumsum(np.diff(outlines.starts)[own]))
        assert (windings(outlines.corners[mine], starts, image.shape) == image).all()


def test_an_outline_has_corners_only_where_it_turns() -> None:
    """An L of three pixels without its lower left one: first across, with the mask to the right.

    A 3 by 3 ring has two outlines.
    """
    corner = np.array([[1, 1], [0, 1]], dtype=np.uint8)
    ring = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]], dtype=np.uint8)
    outlines = mask_outlines(column_pieces(masks_of([corner, ring])))
    first = outlines.corners[: outlines.starts[1]].tolist()
    assert first == [[0, 0], [2, 0], [2, 2], [1, 2], [1, 1], [0, 1]]
    assert outlines.masks.tolist() == [0, 1, 1]
    assert np.diff(outlines.starts).tolist() == [6, 4, 4]


def test_an_empty_list_of_masks_has_no_outlines() -> None:
    pieces = column_pieces(no_masks())
    assert len(pieces.masks) == 0
    assert isinstance(pieces.of(np.zeros(0, dtype=np.bool_)), ColumnPieces)
    assert mask_outlines(pieces).edges()[0].shape == (0, 4)

"""Masks as runs, compared with pycocotools and pixels."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco

from vidscore_evaluators.arrays import AnyArray
from vidscore_evaluators.mask_forms import (
    MAXIMUM_MASK_PIXELS,
    compressed_texts,
    masks_from_compressed,
    masks_from_counts,
)
from vidscore_evaluators.masks import Masks, concatenate_masks, merged, no_masks, shared_areas

Pixels = AnyArray
"""(height, width) of 0s and 1s."""


@st.composite
def images(draw: st.DrawFn) -> list[Pixels]:
    """One to five masks of one size, many of them empty, full or with long runs."""
    height, width = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    made = []
    for _ in range(draw(st.integers(1, 5))):
        bits = draw(st.integers(0, 2 ** (height * width) - 1) | st.sampled_from([0, -1]))
        flat = [bits >> place & 1 for place in range(height * width)]
        made.append(np.array(flat, dtype=np.uint8).reshape(height, width))
    return made


def coco_masks(pixels: list[Pixels]) -> list[Any]:
    return [coco.encode(np.asfortranarray(image)) for image in pixels]


def masks_of(pixels: list[Pixels]) -> Masks:
    sizes = np.array([image.shape for image in pixels], dtype=np.int64)
    return masks_from_compressed([mask["counts"] for mask in coco_masks(pixels)], sizes)


def pixels_of(masks: Masks, row: int) -> Pixels:
    height, width = masks.sizes[row].tolist()
    runs = masks.runs[masks.starts[row] : masks.starts[row + 1]]
    bits = np.repeat(np.arange(len(runs)) % 2, runs)
    return bits.reshape(width, height).T


def in_normal_form(masks: Masks) -> bool:
    inner = np.ones(len(masks.runs), dtype=np.bool_)
    inner[masks.starts[:-1]] = False
    return bool((masks.runs[inner] > 0).all() and (np.diff(masks.starts) > 0).all())


@given(images())
def test_runs_areas_and_boxes_equal_those_of_pycocotools(pixels: list[Pixels]) -> None:
    masks, theirs = masks_of(pixels), coco_masks(pixels)
    assert in_normal_form(masks)
    for row, image in enumerate(pixels):
        assert (pixels_of(masks, row) == image).all()
    assert masks.areas().tolist() == coco.area(theirs).tolist()
    corners = coco.toBbox(theirs)
    corners[:, 2:] += corners[:, :2]
    assert masks.boxes().tolist() == corners.tolist()
    assert compressed_texts(masks) == [mask["counts"].decode() for mask in theirs]


@given(images())
def test_overlaps_equal_those_of_pycocotools_with_and_without_crowds(pixels: list[Pixels]) -> None:
    masks, theirs = masks_of(pixels), coco_masks(pixels)
    rows, others = (grid.reshape(-1) for grid in np.indices((len(pixels),) * 2, dtype=np.int64))
    shared = shared_areas(masks, rows, masks, others)
    areas = masks.areas()
    for is_crowd in (0, 1):
        union = areas[rows] if is_crowd else areas[rows] + areas[others] - shared
        overlaps = np.where(shared > 0, shared / np.maximum(union, 1.0), 0.0)
        expected = np.asarray(coco.iou(theirs, theirs, [is_crowd] * len(pixels)))
        assert overlaps.tolist() == expected.reshape(-1).tolist()


@given(images(), st.data())
def test_the_union_of_groups_has_the_pixels_of_all(
    pixels: list[Pixels], data: st.DataObject
) -> None:
    cuts = data.draw(st.sets(st.integers(1, len(pixels)))) | {0, len(pixels)}
    starts = np.array(sorted(cuts), dtype=np.int64)
    union = merged(masks_of(pixels), starts)
    assert in_normal_form(union)
    assert union.count == len(starts) - 1
    for row, (first, last) in enumerate(pairwise(starts)):
        assert (pixels_of(union, row) == np.any(pixels[first:last], axis=0)).all()


def test_masks_are_taken_sliced_and_joined_by_rows() -> None:
    sizes = np.array([[2, 3], [1, 4], [3, 1]], dtype=np.int64)
    masks = masks_from_counts([[1, 2, 3], [0, 4], [3]], sizes)
    taken = masks.take(np.array([2, 0, 0]))
    assert taken.starts.tolist() == [0, 1, 4, 7]
    assert taken.runs.tolist() == [3, 1, 2, 3, 1, 2, 3]
    assert taken.sizes.tolist() == [[3, 1], [2, 3], [2, 3]]
    assert masks.take(np.array([False, True, False])).runs.tolist() == [0, 4]

    cut = masks.run(1, 3)
    assert cut.runs.base is not None
    assert (cut.starts.tolist(), cut.runs.tolist()) == ([0, 2, 3], [0, 4, 3])
    assert cut.areas().tolist() == [4.0, 0.0]
    assert cut.boxes().tolist() == [[0.0, 0.0, 4.0, 1.0], [0.0, 0.0, 0.0, 0.0]]

    whole = concatenate_masks([masks.run(0, 1), no_masks(), cut])
    assert whole.sizes.tolist() == sizes.tolist()
    assert (whole.starts.tolist(), whole.runs.tolist()) == ([0, 3, 5, 6], masks.runs.tolist())
    assert concatenate_masks([]).count == no_masks().count == 0
    assert whole.nbytes == 6 * 8 + 4 * 8 + 6 * 4


def test_the_largest_masks_are_exact() -> None:
    """Their pixels need more than 16 bits, and differences need all six characters."""
    sizes = np.full((2, 2), 1 << 14, dtype=np.int64)
    full = MAXIMUM_MASK_PIXELS
    masks = masks_from_counts([[0, full], [1, 1, 1, full - 5, 1, 1]], sizes)
    assert masks.areas().tolist() == [full, full - 3]
    rows = np.array([0, 1])
    assert shared_areas(masks, rows, masks, rows[::-1].copy()).tolist() == [full - 3] * 2
    again = masks_from_compressed(compressed_texts(masks), sizes)
    assert again.runs.tolist() == masks.runs.tolist()


@pytest.mark.parametrize(
    ("rows", "error"), [([5], IndexError), ([-1], IndexError), ([1], ValueError)]
)
def test_invalid_pairs_are_refused(rows: list[int], error: type[Exception]) -> None:
    masks = masks_from_counts([[1, 1], [1]], np.array([[1, 2], [1, 1]]))
    with pytest.raises(error):
        shared_areas(masks, np.array([0]), masks, np.array(rows))


def test_values_derived_from_masks_are_computed_once_and_follow_them() -> None:
    """Areas, boxes and digests of taken or sliced masks equal those of the same masks made anew."""
    images = np.zeros((4, 3, 5), dtype=np.uint8)
    images[0, 1:, 2] = images[1, 0, :] = images[3, 2, 1:4] = True
    masks = masks_of(list(images))
    assert masks.areas() is masks.areas()
    assert masks.boxes() is masks.boxes()
    assert masks.digests() is masks.digests()
    rows = np.array([3, 0, 0, -2])
    for part, own in ((masks.take(rows), images[rows]), (masks.run(1, 4), images[1:4])):
        anew = masks_of(list(own))
        assert part.areas().tolist() == own.sum(axis=(1, 2)).tolist()
        assert part.boxes().tolist() == anew.boxes().tolist()
        assert part.digests().tolist() == anew.digests().tolist()
    assert masks.run(1, 4).boxes().tolist() == [[0, 0, 5, 1], [0, 0, 0, 0], [1, 2, 4, 3]]


def test_cached_values_of_masks_are_read_only() -> None:
    masks = masks_of(list(np.ones((2, 3, 5), dtype=np.uint8)))
    for kept in (masks.areas(), masks.boxes(), masks.take(np.array([1])).boxes()):
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 0

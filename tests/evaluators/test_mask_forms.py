"""Masks from runs, texts, polygons and label images, compared with pycocotools; and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco
from tests.evaluators.test_masks import in_normal_form, pixels_of

from vidscore_evaluators import mask_forms
from vidscore_evaluators.arrays import AnyArray
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.mask_forms import (
    MAXIMUM_MASK_PIXELS,
    MAXIMUM_MASK_RUNS,
    MAXIMUM_OUTLINE_PX,
    compressed_texts,
    masks_from_compressed,
    masks_from_counts,
    masks_from_label_image,
    masks_from_polygons,
    masks_from_runs,
)

Polygons = list[list[float]]

coco_of: Any = coco.frPyObjects
merge: Any = coco.merge
"""Typed as Any: their annotations know neither polygons nor lists of runs."""

coordinates = (
    st.integers(-10, 40).map(float)
    | st.integers(-20, 80).map(lambda number: number / 2)
    | st.floats(-10.0, 40.0)
)


@st.composite
def polygons(draw: st.DrawFn) -> Polygons:
    """Polygons that cross themselves, repeat corners and leave the image."""
    made = []
    for _ in range(draw(st.integers(1, 3))):
        corners = draw(st.lists(st.tuples(coordinates, coordinates), min_size=3, max_size=8))
        if draw(st.booleans()):
            corners.append(corners[0])
        made.append([number for corner in corners for number in corner])
    return made


sides = st.integers(1, 32)


@given(st.lists(st.tuples(polygons(), sides, sides), min_size=1, max_size=3))
def test_polygons_become_the_pixels_of_pycocotools(things: list[tuple[Polygons, int, int]]) -> None:
    sizes = np.array([thing[1:] for thing in things], dtype=np.int64)
    masks = masks_from_polygons([thing[0] for thing in things], sizes)
    assert in_normal_form(masks)
    expected = [
        merge(coco_of(parts, height, width))["counts"].decode() for parts, height, width in things
    ]
    assert compressed_texts(masks) == expected


def test_two_overlapping_squares_become_one_mask() -> None:
    """Two squares of 2 by 2 pixels that share one pixel: 7 pixels."""
    squares = [[0.0, 0.0, 2.0, 0.0, 2.0, 2.0, 0.0, 2.0], [1.0, 1.0, 3.0, 1.0, 3.0, 3.0, 1.0, 3.0]]
    masks = masks_from_polygons([squares], np.array([[3, 4]]))
    assert masks.runs.tolist() == [0, 2, 1, 3, 1, 2, 3]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(1, 7))
def test_empty_runs_between_others_are_merged(counts: list[int], height: int) -> None:
    """pycocotools keeps them; the pixels are the same."""
    width = -(-(sum(counts) + 1) // height)
    counts = [*counts, height * width - sum(counts)]
    masks = masks_from_counts([counts], np.array([[height, width]]))
    assert in_normal_form(masks)
    theirs = coco_of({"size": [height, width], "counts": counts}, height, width)
    bits = np.repeat(np.arange(len(counts)) % 2, counts)
    assert (pixels_of(masks, 0).T.reshape(-1) == bits).all()
    again = masks_from_compressed([theirs["counts"]], np.array([[height, width]]))
    assert again.runs.tolist() == masks.runs.tolist()


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_each_value_of_a_label_image_becomes_its_mask(
    height: int, width: int, data: st.DataObject
) -> None:
    flat = data.draw(
        st.lists(st.sampled_from([0, 7, 1005]), min_size=height * width, max_size=height * width)
    )
    image = np.array(flat, dtype=np.uint16).reshape(height, width)
    values, masks = masks_from_label_image(image)
    assert values.tolist() == sorted(set(flat))
    assert in_normal_form(masks)
    for row, value in enumerate(values):
        assert (pixels_of(masks, row) == (image == value)).all()


def faults(error: pytest.ExceptionInfo[InputError]) -> list[tuple[int | None, str | None, str]]:
    return [(fault.entry, fault.field, fault.description) for fault in error.value.faults]


FILLED = "expected runs that fill the size, 6 pixels"


@pytest.mark.parametrize(
    ("counts", "problem"),
    [
        ([], f"found runs of 0 pixels, {FILLED}"),
        ([2, 3], f"found runs of 5 pixels, {FILLED}"),
        ([2, 5], f"found runs of more than 6 pixels, {FILLED}"),
        ([2**61, 2**61], f"found runs of more than 6 pixels, {FILLED}"),
        ([7, -1], f"found runs of more than 6 pixels, {FILLED}"),
        ([-1, 7], "found a run below 0, expected runs of 0 or more"),
        ([6.0], "found other values, expected a list of integers"),
        ([True, 5], "found other values, expected a list of integers"),
        ([2**70], "found other values, expected a list of integers"),
        (["6"], "found other values, expected a list of integers"),
    ],
    ids=repr,
)
def test_invalid_runs_are_faults_of_their_mask(counts: list[int], problem: str) -> None:
    with pytest.raises(InputError) as error:
        masks_from_counts([[6], counts, [0, 6], counts], np.full((4, 2), [2, 3]))
    assert faults(error) == [(1, "counts", problem), (3, "counts", problem)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", f"found runs of 0 pixels, {FILLED}"),
        ("5", f"found runs of 5 pixels, {FILLED}"),
        ("7", f"found runs of more than 6 pixels, {FILLED}"),
        ("O", "found a run below 0, expected runs of 0 or more"),
        ("V", "found a number without its end, expected integers"),
        ("/", "found a character that no number has, expected characters from '0' to 'o'"),
        ("p", "found a character that no number has, expected characters from '0' to 'o'"),
        ("6é", "found a character that no number has, expected characters from '0' to 'o'"),
        ("o" * 20 + "0", f"found runs of more than 6 pixels, {FILLED}"),
    ],
    ids=repr,
)
def test_invalid_texts_are_faults_of_their_mask(text: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        masks_from_compressed(["6", text, b"06"], np.full((3, 2), [2, 3]))
    assert faults(error) == [(1, "counts", problem)]


@given(st.lists(st.text(max_size=12) | st.binary(max_size=40), max_size=3), sides, sides)
def test_any_text_gives_masks_or_a_fault(texts: list[str | bytes], height: int, width: int) -> None:
    sizes = np.full((len(texts), 2), [height, width])
    try:
        masks = masks_from_compressed(texts, sizes)
    except InputError:
        return
    assert in_normal_form(masks)
    for row in range(masks.count):
        assert masks.runs[masks.starts[row] : masks.starts[row + 1]].sum() == height * width


SQUARE = [0.0, 0.0, 2.0, 0.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ([], "found no polygon, expected at least one polygon"),
        ([SQUARE, [*SQUARE, 1.0]], "found an odd number of coordinates, expected x, y, x, y, ..."),
        ([[0.0, 0.0, 2.0, 2.0]], "found fewer corners, expected polygons of at least 3 corners"),
        ([[*SQUARE[:-1], np.nan]], "found another coordinate, expected numbers from"),
        ([[*SQUARE[:-1], 1e300]], "found another coordinate, expected numbers from"),
        (
            [[*SQUARE, MAXIMUM_OUTLINE_PX, 0.0]],
            "found a longer outline, expected outlines of at most",
        ),
    ],
)
def test_invalid_polygons_are_faults_of_their_object(parts: Polygons, problem: str) -> None:
    with pytest.raises(InputError) as error:
        masks_from_polygons([[SQUARE], parts], np.full((2, 2), 9))
    assert [(entry, field) for entry, field, _ in faults(error)] == [(1, "segmentation")]
    assert faults(error)[0][2].startswith(problem)


def test_the_total_length_of_outlines_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each triangle has 6 boundary pixels: of four, the last two are over the bound."""
    monkeypatch.setattr(mask_forms, "MAXIMUM_OUTLINES_PX", 12)
    with pytest.raises(InputError) as error:
        masks_from_polygons([[SQUARE]] * 4, np.full((4, 2), 9))
    expected = "found longer outlines together, expected at most 12 pixels of all outlines"
    assert [(entry, field) for entry, field, _ in faults(error)] == [
        (2, "segmentation"),
        (3, "segmentation"),
    ]
    assert faults(error)[0][2].startswith(expected)
    assert masks_from_polygons([[SQUARE]] * 2, np.full((2, 2), 9)).count == 2


@pytest.mark.parametrize("together_px", [1, 15, 1 << 20])
def test_the_number_of_outlines_traced_at_once_makes_no_difference(
    monkeypatch: pytest.MonkeyPatch, together_px: int
) -> None:
    """Objects of one to three polygons, some of them in several parts of the image."""
    random = np.random.default_rng(4)
    polygons = [
        [random.uniform(-3, 14, 2 * random.integers(3, 7)).tolist() for _ in range(1 + row % 3)]
        for row in range(20)
    ]
    sizes = random.integers(3, 12, (20, 2))
    expected = [
        masks_from_polygons([one], size[None]) for one, size in zip(polygons, sizes, strict=True)
    ]
    monkeypatch.setattr(mask_forms, "_OUTLINES_AT_ONCE_PX", together_px)
    found = masks_from_polygons(polygons, sizes)
    assert found.sizes.tolist() == sizes.tolist()
    for row, one in enumerate(expected):
        runs = found.runs[found.starts[row] : found.starts[row + 1]]
        assert runs.tolist() == one.runs.tolist()


@pytest.mark.parametrize(
    "size", [(0, 3), (3, -1), (1, MAXIMUM_MASK_PIXELS + 1), (1 << 15, 1 << 14), (1 << 40, 1 << 40)]
)
def test_sizes_without_pixels_or_with_too_many_are_faults(size: tuple[int, int]) -> None:
    sizes = np.array([(2, 3), size])
    expected = (
        f"found {size[0]} by {size[1]}, expected height and width of 1 or more, together at most "
        f"{MAXIMUM_MASK_PIXELS} pixels"
    )
    reads: list[Callable[[], object]] = [
        lambda: masks_from_runs(np.array([6, 6]), np.array([1, 1]), sizes),
        lambda: masks_from_compressed(["6", "6"], sizes),
        lambda: masks_from_polygons([[SQUARE]] * 2, sizes),
    ]
    for read in reads:
        with pytest.raises(InputError) as error:
            read()
        assert faults(error) == [(1, "size", expected)]


def test_a_mask_of_too_many_runs_is_a_fault() -> None:
    runs = np.ones(MAXIMUM_MASK_RUNS + 1, dtype=np.uint32)
    with pytest.raises(InputError) as error:
        masks_from_runs(runs, np.array([len(runs)]), np.array([[1, len(runs)]]))
    assert faults(error) == [
        (0, "counts", f"found more runs, expected at most {MAXIMUM_MASK_RUNS} runs")
    ]


@pytest.mark.parametrize("image", [np.zeros((2, 3, 3), dtype=np.uint8), np.zeros((2, 3))])
def test_an_invalid_label_image_is_refused(image: AnyArray) -> None:
    with pytest.raises(InputError, match=r"expected integers of shape \(height, width\)"):
        masks_from_label_image(image)

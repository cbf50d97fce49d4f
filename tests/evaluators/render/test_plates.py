"""Plates overlap no other plate and stay within the picture."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.render.plates import MAXIMUM_PLATES, NO_PLATE, cut, place_plates

NO_BOXES = np.zeros((0, 4))
AREA = np.array([0, 0, 200, 100])

BOXES = st.tuples(
    st.floats(-500, 500), st.floats(-500, 500), st.floats(0, 300), st.floats(0, 300)
).map(lambda box: (box[0], box[1], box[0] + box[2], box[1] + box[3]))


def sizes_of(count: int, *versions: tuple[int, int]) -> IntArray:
    return np.array([versions] * count, dtype=np.int64).reshape(count, len(versions), 2)


@given(st.lists(BOXES, max_size=40), st.integers(5, 120), st.integers(5, 30))
def test_plates_never_share_a_pixel(
    boxes: list[tuple[float, ...]], width: int, height: int
) -> None:
    around = np.array(boxes, dtype=np.float64).reshape(-1, 4)
    sizes = sizes_of(len(boxes), (width, height), (5, height))
    placed = place_plates(sizes, around, around, AREA)
    canvas = np.zeros((100, 200), dtype=np.int64)
    for version, (left, top, right, bottom) in zip(
        placed.versions.tolist(), placed.boxes.tolist(), strict=True
    ):
        if version != NO_PLATE:
            assert (right - left, bottom - top) == ((width, height), (5, height))[version]
            assert 0 <= left < right <= 200
            assert 0 <= top < bottom <= 100
            canvas[top:bottom, left:right] += 1
    assert canvas.max() <= 1


def test_a_plate_is_above_its_object_at_its_left_edge() -> None:
    placed = place_plates(
        sizes_of(1, (30, 10)), np.array([[50.0, 40.0, 90.0, 60.0]]), NO_BOXES, AREA
    )
    assert placed.boxes.tolist() == [[50, 28, 80, 38]]


def test_at_the_upper_edge_of_the_picture_it_is_below() -> None:
    placed = place_plates(
        sizes_of(1, (30, 10)), np.array([[50.0, 5.0, 90.0, 25.0]]), NO_BOXES, AREA
    )
    assert placed.boxes.tolist() == [[50, 27, 80, 37]]


def test_it_avoids_a_small_object() -> None:
    """The place above left would cover it, that above right does not."""
    around = np.array([[50.0, 40.0, 150.0, 60.0]])
    placed = place_plates(sizes_of(1, (30, 10)), around, np.array([[55.0, 30.0, 60.0, 35.0]]), AREA)
    assert placed.boxes.tolist() == [[120, 28, 150, 38]]


def test_the_short_plate_is_used_if_the_long_one_does_not_fit() -> None:
    around = np.array([[10.0, 40.0, 20.0, 60.0]])
    placed = place_plates(sizes_of(1, (300, 10), (20, 10)), around, NO_BOXES, AREA)
    assert placed.versions.tolist() == [1]


def test_a_plate_that_fits_nowhere_is_left_out() -> None:
    around = np.array([[10.0, 40.0, 20.0, 60.0]])
    assert place_plates(sizes_of(1, (300, 10)), around, NO_BOXES, AREA).versions.tolist() == [-1]


def test_the_number_of_plates_is_limited() -> None:
    count = MAXIMUM_PLATES + 5
    around = np.array([[10.0 * row, 50.0, 10.0 * row + 5, 55.0] for row in range(count)])
    area = np.array([0, 0, 10 * count, 100])
    placed = place_plates(sizes_of(count, (5, 5)), around, NO_BOXES, area)
    assert (placed.versions != NO_PLATE).sum() == MAXIMUM_PLATES


def test_a_long_text_is_cut() -> None:
    assert cut("abcdefghij", 10) == "abcdefghij"
    assert cut("abcdefghijk", 10) == "abcdefg..."

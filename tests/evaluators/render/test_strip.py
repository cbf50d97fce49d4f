"""The strip counts the outcomes of the frame's objects, in words and as a bar."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.evaluators.render.scenes import grey, side_of, view_of

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.render.picture import Drawing, draw_frame
from vidscore_evaluators.render.plates import Type
from vidscore_evaluators.render.strip import bar_widths, counts_in_words, draw_strip, strip_height
from vidscore_evaluators.render.style import STYLES, Kind

ANY = (10.0, 10.0, 20.0, 20.0)


def test_the_bar_is_in_proportion() -> None:
    """100 px less two gaps of 2 px: a pixel for each, and 1, 1, 2 quarters of the other 93."""
    assert bar_widths([1, 1, 2], 100, 2) == [24, 24, 48]
    assert bar_widths([3, 0, 1], 100, 2) == [73, 0, 25]
    assert bar_widths([0, 5, 0], 100, 2) == [0, 100, 0]
    assert bar_widths([0, 0, 0], 100, 2) == [0, 0, 0]


@given(st.lists(st.integers(0, 10**9), min_size=3, max_size=3), st.integers(20, 5000))
def test_the_bar_is_full_and_shows_every_count_above_zero(counts: list[int], width: int) -> None:
    widths = bar_widths(counts, width, 2)
    present = sum(count > 0 for count in counts)
    assert [wide > 0 for wide in widths] == [count > 0 for count in counts]
    assert sum(widths) == (width - 2 * (present - 1) if present else 0)


def test_the_bar_of_a_picture_has_the_widths_of_its_counts() -> None:
    """One found, one false alarm: half of 640 px less margins of 12 px and a gap of 2 px each."""
    detections = side_of([ANY, ANY], [Kind.HIT, Kind.FALSE_ALARM])
    view = view_of(side_of([ANY], [Kind.HIT]), detections)
    picture = draw_frame(grey(640, 100), view, Drawing(scale=1.0))
    rows = [
        row for row in picture[100:] if (row == STYLES[Kind.HIT].colour).all(axis=1).sum() > 300
    ]
    assert len(rows) == 8  # 0.6 of capitals of 13 px.
    assert (rows[0] == STYLES[Kind.HIT].colour).all(axis=1).sum() == 307
    assert (rows[0] == STYLES[Kind.FALSE_ALARM].colour).all(axis=1).sum() == 307


def test_words_are_in_the_singular_for_one() -> None:
    counts = dict.fromkeys(Kind, 1)
    assert counts_in_words(counts) == "1 found, 1 false alarm, 1 missed, 1 id switch, 1 ignored"
    assert counts_in_words(dict.fromkeys(Kind, 2)).startswith("2 found, 2 false alarms, 2 missed")
    assert counts_in_words(dict.fromkeys(Kind, 0)) == "nothing"


@pytest.mark.parametrize("width", [1, 2, 16, 100, 300, 640, 4000])
def test_a_strip_of_any_width_can_be_drawn(width: int) -> None:
    type_ = Type.of(13.0)
    image = np.zeros((strip_height(type_), width, 3), dtype=np.uint8)
    draw_strip(image, view_of(side_of([ANY], [Kind.MISS])), type_, without_plate=3)
    assert (image[0] > 240).all()


def test_a_right_to_left_sequence_name_is_left_out() -> None:
    view = view_of(side_of([ANY], [Kind.HIT]))
    unnamed, hebrew = [
        draw_frame(
            grey(640, 100), replace(view, sequence=SequenceKey("", name)), Drawing(scale=1.0)
        )
        for name in ("", "\u05db\u05d1\u05d9\u05e9")
    ]
    assert np.array_equal(unnamed, hebrew)

"""Lines are clipped to the picture and divided into dashes, for any coordinates."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.render.strokes import (
    MARGIN_PX,
    Pen,
    clipped,
    dashes_of,
    edges_of,
    outlines,
    stroke,
)
from vidscore_evaluators.render.style import Kind

COORDINATES = st.floats(-1e15, 1e15, allow_nan=False) | st.floats(-200, 300, allow_nan=False)


def test_an_edge_begins_and_ends_with_a_dash() -> None:
    """110 px are five times dash and gap of 10 px, and a dash."""
    found = dashes_of(np.array([[0.0, 5.0, 110.0, 5.0]]), (10.0, 10.0))
    assert sorted(found[:, [0, 2]].tolist()) == [[20.0 * n, 20.0 * n + 10.0] for n in range(6)]
    assert (found[:, [1, 3]] == 5.0).all()


def test_a_pattern_is_stretched_to_the_edge() -> None:
    """Of 60 px, dash and gap of 10 px and a last dash would be 50 px for two turns: 1.2 times."""
    found = dashes_of(np.array([[0.0, 0.0, 0.0, 60.0]]), (10.0, 10.0))
    assert np.allclose(sorted(found[:, [1, 3]].tolist()), [[0, 12], [24, 36], [48, 60]])


def test_dashes_and_dots_alternate() -> None:
    """A dash of 6, gap 2, dot, gap 2: a turn is 10 px; 26 px are two turns and a dash."""
    found = dashes_of(np.array([[0.0, 0.0, 26.0, 0.0]]), (6.0, 2.0, 0.0, 2.0))
    expected = np.array([[0, 6], [8, 8], [10, 16], [18, 18], [20, 26]])
    assert np.allclose(np.array(sorted(found[:, [0, 2]].tolist())), expected)


def test_an_edge_too_short_for_a_gap_is_drawn_whole() -> None:
    edge = np.array([[3.0, 3.0, 5.0, 3.0]])
    assert dashes_of(edge, (10.0, 10.0)).tolist() == edge.tolist()
    assert edge.tolist()[0] in dashes_of(edge, (0.0, 10.0)).tolist()


def test_an_edge_is_clipped_at_the_margin() -> None:
    edges = np.array(
        [[-1e12, 50.0, 1e12, 50.0], [20.0, 30.0, 40.0, 30.0], [0.0, 900.0, 9.0, 900.0]]
    )
    found = clipped(edges, 100, 100)
    expected = np.array([[-MARGIN_PX, 50.0, 100.0 + MARGIN_PX, 50.0], [20.0, 30.0, 40.0, 30.0]])
    assert np.allclose(found, expected, atol=1e-3)


@given(st.lists(st.tuples(COORDINATES, COORDINATES, COORDINATES, COORDINATES), max_size=20))
def test_clipped_edges_lie_around_the_picture(edges: list[tuple[float, ...]]) -> None:
    found = clipped(np.array(edges, dtype=np.float64).reshape(-1, 4), 100, 80)
    rounding = 1.0  # Of coordinates of 1e15.
    assert (found >= -MARGIN_PX - rounding).all()
    assert (found <= np.array([100, 80, 100, 80]) + MARGIN_PX + rounding).all()


@given(st.lists(st.tuples(COORDINATES, COORDINATES, COORDINATES, COORDINATES), max_size=5))
def test_any_box_can_be_drawn(boxes: list[tuple[float, ...]]) -> None:
    image = np.zeros((60, 80, 3), dtype=np.uint8)
    closed = outlines(np.array(boxes, dtype=np.float64).reshape(-1, 4), Kind.MISS, 9.0)
    stroke(image, edges_of(closed), Pen((1, 2, 3), 3, (0.0, 6.0), 1))


def test_the_edges_of_a_box_go_around_it() -> None:
    closed = outlines(np.array([[1.0, 2.0, 5.0, 8.0]]), Kind.HIT, 9.0)
    assert edges_of(closed).tolist() == [[1, 2, 5, 2], [5, 2, 5, 8], [5, 8, 1, 8], [1, 8, 1, 2]]

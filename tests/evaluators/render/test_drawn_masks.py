"""Drawn masks have the colour, the line and the place that were worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.evaluators.render.scenes import GREY, grey, side_of, view_of

from vidscore_evaluators.arrays import BoolArray
from vidscore_evaluators.mask_forms import masks_from_counts
from vidscore_evaluators.render.areas import area_of_pieces
from vidscore_evaluators.render.picture import Drawing, draw_frame
from vidscore_evaluators.render.scored import SideView
from vidscore_evaluators.render.strokes import dashes_along
from vidscore_evaluators.render.style import STYLES, WHITE, Image, Kind

PLAIN = Drawing(plates=False, scale=1.0)
WIDTH, HEIGHT = 200, 120
BOX = (40.0, 30.0, 160.0, 90.0)

FOUND_HALF = [round(50 + 0.5 * level) for level in (0xB8, 0x6B, 0x0B)]
"""Half of the picture's 100 and half of #0b6bb8, as blue, green and red."""


def masks_of(*images: BoolArray) -> Any:
    counts = []
    for image in images:
        flat = image.T.reshape(-1)
        cuts = np.flatnonzero(np.diff(np.concatenate([[False], flat])))
        counts.append(np.diff(np.concatenate([[0], cuts, [flat.size]])).tolist())
    return masks_from_counts(counts, np.array([image.shape for image in images]))


def u_shape() -> BoolArray:
    """Columns 40 to 159 and rows 30 to 89, without the part right of column 99 in rows 50 to 69."""
    image = np.zeros((HEIGHT, WIDTH), dtype=np.bool_)
    image[30:90, 40:160] = True
    image[50:70, 100:160] = False
    return image


def side(kind: Kind, image: BoolArray | None = None, **columns: Any) -> SideView:
    masks = masks_of(u_shape() if image is None else image)
    return side_of([BOX], [kind], masks=masks, **columns)


def drawn(kind: Kind, image: BoolArray | None = None, drawing: Drawing = PLAIN) -> Image:
    own = side(kind, image)
    view = view_of(truth=own) if kind is Kind.MISS else view_of(detections=own)
    return draw_frame(grey(WIDTH, HEIGHT), view, drawing)


def colour(kind: Kind) -> list[int]:
    return list(STYLES[kind].colour)


@pytest.mark.parametrize("kind", list(Kind))
def test_a_mask_is_filled_by_half_and_its_hole_is_not(kind: Kind) -> None:
    picture = drawn(kind)
    half = [round(50 + 0.5 * level) for level in STYLES[kind].colour]
    assert np.abs(picture[40, 60:140].astype(int) - half).max() <= 1
    assert (picture[58:62, 110:150] == GREY).all()


def test_the_line_follows_the_mask_and_not_its_box() -> None:
    picture = drawn(Kind.HIT)
    for x, y in ((100, 60), (130, 50), (130, 70), (70, 30), (70, 90), (160, 40)):
        assert picture[y, x].tolist() == colour(Kind.HIT), (x, y)
    assert picture[60, 160].tolist() == [GREY] * 3


@pytest.mark.parametrize("kind", [Kind.FALSE_ALARM, Kind.MISS, Kind.IGNORED])
def test_the_line_of_a_mask_has_gaps_that_are_white(kind: Kind) -> None:
    pixels = drawn(kind)[30, 46:155].tolist()
    assert colour(kind) in pixels
    assert max(min(pixel) for pixel in pixels) > 240


def test_a_found_object_has_only_a_line() -> None:
    """Its detection is filled; where only the object is, the picture is unchanged."""
    whole = np.ones((HEIGHT, WIDTH), dtype=np.bool_)
    whole[:, 150:] = False
    partners = np.array([0])
    view = view_of(
        truth=side(Kind.HIT, whole, partners=partners), detections=side(Kind.HIT, partners=partners)
    )
    picture = draw_frame(grey(WIDTH, HEIGHT), view, PLAIN)
    assert np.abs(picture[40, 60].astype(int) - FOUND_HALF).max() <= 1
    assert picture[20, 60].tolist() == [GREY] * 3
    assert np.abs(picture[100, 150].astype(int) - colour(Kind.HIT)).max() <= 32  # 1 px, smooth.


def test_an_empty_mask_shows_its_box() -> None:
    boxed = draw_frame(
        grey(WIDTH, HEIGHT), view_of(detections=side_of([BOX], [Kind.FALSE_ALARM])), PLAIN
    )
    empty = drawn(Kind.FALSE_ALARM, np.zeros((HEIGHT, WIDTH), dtype=np.bool_))
    assert (empty == boxed).all()


def test_a_region_is_hatched_within_its_mask() -> None:
    region = side(Kind.IGNORED, are_regions=np.array([True]))
    picture = draw_frame(grey(WIDTH, HEIGHT), view_of(truth=region), PLAIN)
    inside = picture[36:44, 50:150]
    tinted = [round(55 + 0.45 * level) for level in STYLES[Kind.IGNORED].colour]
    assert 0.15 < (inside == tinted).all(axis=2).mean() < 0.25
    assert (picture[58:62, 110:150] == GREY).all()


def test_a_hidden_kind_has_no_mask() -> None:
    hidden = Drawing(frozenset({Kind.MISS}), plates=False, scale=1.0)
    assert (drawn(Kind.MISS, drawing=hidden)[:HEIGHT] == GREY).all()


def test_a_mask_is_enlarged_pixel_by_pixel() -> None:
    """At 3 times, pixels 5 and 6 of row 2 and pixel 5 of row 3 are squares of 3 by 3."""
    image = np.zeros((10, 12), dtype=np.bool_)
    image[2, 5:7] = image[3, 5] = True
    pieces = side(Kind.HIT, image).pieces
    area = area_of_pieces(pieces, 3.0, grey(36, 30))
    assert (area.left, area.top) == (15, 6)
    assert (area.inside == np.kron([[1, 1], [1, 0]], np.ones((3, 3)))).all()


def test_a_reduced_mask_keeps_its_thin_parts() -> None:
    image = np.zeros((40, 40), dtype=np.bool_)
    image[:, 21] = True
    area = area_of_pieces(side(Kind.HIT, image).pieces, 0.25, grey(10, 10))
    assert (area.left, area.top, area.inside.shape) == (5, 0, (10, 1))
    assert area.inside.all()


def test_the_part_of_a_mask_outside_the_picture_is_cut() -> None:
    image = np.ones((40, 40), dtype=np.bool_)
    area = area_of_pieces(side(Kind.HIT, image).pieces, 1.0, grey(10, 20))
    assert area.inside.shape == (20, 10)
    image[:30, :30] = False
    assert not area_of_pieces(side(Kind.HIT, image).pieces, 1.0, grey(10, 20)).inside.any()


def test_overlapping_masks_of_a_kind_are_blended_once() -> None:
    two = side_of([BOX, BOX], [Kind.HIT, Kind.HIT], masks=masks_of(u_shape(), u_shape()))
    twice = draw_frame(grey(WIDTH, HEIGHT), view_of(detections=two), PLAIN)
    assert np.abs(twice[36:44, 50:150].astype(int) - FOUND_HALF).max() <= 1


def test_dashes_continue_around_corners() -> None:
    """Around a square of 2 by 2, a dash of 3 and a gap of 1 come twice."""
    corners = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
    edges = np.array([(*one, *corners[(row + 1) % 4]) for row, one in enumerate(corners)])
    dashes = dashes_along(edges, np.zeros(4, dtype=np.int64), (3.0, 1.0))
    assert dashes.tolist() == [[0, 0, 2, 0], [2, 0, 2, 1], [2, 2, 0, 2], [0, 2, 0, 1]]


def test_the_line_of_a_mask_has_a_white_casing() -> None:
    column = drawn(Kind.MISS)[20:40, 100].tolist()
    assert list(WHITE) in column

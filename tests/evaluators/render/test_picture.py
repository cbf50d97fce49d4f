"""Drawn frames have the colour, the line and the place that were worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.evaluators.render.scenes import GREY, grey, side_of, view_of

from vidscore_evaluators.render.picture import Drawing, draw_frame
from vidscore_evaluators.render.style import STYLES, WHITE, Image, Kind

PLAIN = Drawing(plates=False, scale=1.0)
BOX = (40.0, 30.0, 160.0, 90.0)
SIZE = (200, 120)

HEX = {
    Kind.HIT: (0x0B, 0x6B, 0xB8),
    Kind.FALSE_ALARM: (0xB8, 0x4A, 0x00),
    Kind.MISS: (0x7A, 0x1F, 0x5C),
    Kind.IGNORED: (0x6A, 0x6D, 0x73),
    Kind.ID_SWITCH: (0x1B, 0x1C, 0x1E),
}
"""Red, green and blue of each kind."""


def bgr(kind: Kind) -> list[int]:
    return list(reversed(HEX[kind]))


def drawn(kind: Kind, coordinates: Any = BOX, arity: int = 4, drawing: Drawing = PLAIN) -> Image:
    side = side_of([coordinates], [kind], arity)
    view = view_of(truth=side) if kind is Kind.MISS else view_of(detections=side)
    return draw_frame(grey(*SIZE), view, drawing)


def nearly(pixels: Image, kind: Kind) -> bool:
    """Whether all pixels have a colour, apart from the casing of smooth thin lines."""
    return bool((np.abs(pixels.astype(int) - bgr(kind)) <= 32).all())


def upper_edge(picture: Image) -> list[list[int]]:
    """Pixels in the middle of the upper line of `BOX`, without its corners."""
    pixels: list[list[int]] = picture[30, 46:155].tolist()
    return pixels


def test_the_line_of_a_found_object_is_solid() -> None:
    assert upper_edge(drawn(Kind.HIT)) == [bgr(Kind.HIT)] * 109


def test_the_line_of_an_id_switch_is_solid_and_thicker() -> None:
    """Lines of 2 px and, at 1.75 times that, of 4 px, each with half a pixel at its sides."""
    assert upper_edge(drawn(Kind.ID_SWITCH)) == [bgr(Kind.ID_SWITCH)] * 109
    widths = [
        (drawn(kind)[20:40, 100] == bgr(kind)).all(axis=1).sum()
        for kind in (Kind.HIT, Kind.ID_SWITCH)
    ]
    assert widths == [3, 5]


@pytest.mark.parametrize("kind", [Kind.FALSE_ALARM, Kind.MISS, Kind.IGNORED])
def test_a_line_with_gaps_is_white_in_them(kind: Kind) -> None:
    pixels = upper_edge(drawn(kind))
    assert bgr(kind) in pixels
    assert max(min(pixel) for pixel in pixels) > 240


def test_dashes_are_longer_than_dots() -> None:
    def longest(kind: Kind) -> int:
        found = "".join("x" if pixel == bgr(kind) else " " for pixel in upper_edge(drawn(kind)))
        return max(map(len, found.split()))

    assert longest(Kind.FALSE_ALARM) >= 6
    assert 1 <= longest(Kind.MISS) <= 4


@pytest.mark.parametrize("kind", list(Kind))
def test_every_line_has_a_white_casing(kind: Kind) -> None:
    column = drawn(kind)[20:40, 100].tolist()
    assert list(WHITE) in column


@pytest.mark.parametrize("kind", [Kind.FALSE_ALARM, Kind.MISS, Kind.IGNORED, Kind.ID_SWITCH])
def test_nothing_changes_away_from_the_line(kind: Kind) -> None:
    picture = drawn(kind)[: SIZE[1]]
    picture[22:39, 32:169] = GREY
    picture[82:99, 32:169] = GREY
    picture[22:99, 32:49] = GREY
    picture[22:99, 152:169] = GREY
    assert (picture == GREY).all()


def test_a_found_object_is_filled_to_a_fifth() -> None:
    """80 % of the picture's 100 and 20 % of #0b6bb8 as blue, green and red."""
    assert drawn(Kind.HIT)[60, 100].tolist() == [
        round(80 + 0.2 * 0xB8),
        round(80 + 0.2 * 0x6B),
        round(80 + 0.2 * 0x0B),
    ]


def test_the_given_image_is_not_changed() -> None:
    image = grey(*SIZE)
    draw_frame(image, view_of(detections=side_of([BOX], [Kind.HIT])))
    assert (image == GREY).all()


def test_a_hidden_kind_is_not_drawn_but_still_counted() -> None:
    hidden = Drawing(frozenset({Kind.FALSE_ALARM}), plates=True, scale=1.0)
    shown = draw_frame(grey(*SIZE), view_of(detections=side_of([BOX], [Kind.FALSE_ALARM])), hidden)
    assert (shown[: SIZE[1]] == GREY).all()
    assert (shown[SIZE[1] :] == bgr(Kind.FALSE_ALARM)).all(axis=2).any()


def test_a_quadrilateral_is_drawn_along_its_own_sides() -> None:
    """A diamond: its corners and the middles of its sides are lines, the box around it is not."""
    picture = drawn(Kind.HIT, (100, 20, 140, 60, 100, 100, 60, 60), 8)
    for x, y in ((120, 40), (120, 80), (80, 80), (80, 40)):
        assert picture[y, x].tolist() == bgr(Kind.HIT)
    assert picture[24, 64].tolist() == [GREY] * 3


@pytest.mark.parametrize("kind", list(Kind))
def test_the_pixel_of_a_point_stays_visible(kind: Kind) -> None:
    picture = drawn(kind, (100, 60), 2)
    assert picture[60, 100].tolist() == [GREY] * 3
    assert (picture[40:80, 80:120] == bgr(kind)).all(axis=2).any()


def test_a_matched_object_is_joined_to_its_detection() -> None:
    truth = side_of([(60, 60)], [Kind.HIT], 2, partners=np.array([0]))
    detections = side_of([(120, 60)], [Kind.HIT], 2, partners=np.array([0]))
    picture = draw_frame(grey(*SIZE), view_of(truth, detections), PLAIN)
    assert nearly(picture[60, 61:106], Kind.HIT)


def test_boxes_that_are_matched_apart_are_joined() -> None:
    """Of 20 by 20 px, with their middles at 30 and 170 px."""
    truth = side_of([(20, 50, 40, 70)], [Kind.HIT], partners=np.array([0]))
    detections = side_of([(160, 50, 180, 70)], [Kind.HIT], partners=np.array([0]))
    picture = draw_frame(grey(*SIZE), view_of(truth, detections), PLAIN)
    assert nearly(picture[60, 45:155], Kind.HIT)


def test_a_region_is_hatched_and_nothing_around_it_changes() -> None:
    region = side_of([BOX], [Kind.IGNORED], are_regions=np.array([True]))
    picture = draw_frame(grey(*SIZE), view_of(truth=region), PLAIN)
    inside = picture[40:80, 50:150]
    tinted = [round(55 + 0.45 * level) for level in bgr(Kind.IGNORED)]
    share = (inside == tinted).all(axis=2).mean()
    assert 0.15 < share < 0.25  # Stripes of 2 px in every 10 px.
    assert ((inside == tinted).all(axis=2) | (inside == GREY).all(axis=2)).all()
    assert (picture[: SIZE[1], 170:] == GREY).all()


def test_a_tail_follows_the_past_of_the_track() -> None:
    side = side_of(
        [BOX],
        [Kind.MISS],
        tails=np.array([[10.0, 10.0], [100.0, 10.0], [180.0, 100.0], [180.0, 60.0]]),
        tail_of=np.array([0, 0, 0, 0]),
        tail_breaks=np.array([True, False, True, False]),
    )
    picture = draw_frame(grey(*SIZE), view_of(truth=side), PLAIN)
    assert nearly(picture[10, 12:99], Kind.MISS)
    assert nearly(picture[62:99, 180], Kind.MISS)
    assert (picture[14:22, 110:150] == GREY).all()  # Between the two parts of the tail.


def test_a_box_of_a_format_that_counts_from_one_is_drawn_from_zero() -> None:
    moved = Drawing(plates=False, scale=1.0, first_pixel=1.0)
    from_one = drawn(Kind.HIT, tuple(side + 1 for side in BOX), drawing=moved)
    assert (from_one == drawn(Kind.HIT)).all()


def test_small_images_are_enlarged_and_large_ones_are_not() -> None:
    """200 px wide: 4 times that is 800, the first multiple of at least 640."""
    assert draw_frame(grey(200, 120), view_of()).shape[1] == 800
    assert draw_frame(grey(700, 120), view_of()).shape[1] == 700
    assert draw_frame(grey(1, 1), view_of()).shape[1] == 16
    assert draw_frame(grey(700, 120), view_of(), Drawing(scale=0.5)).shape[1] == 350


def test_an_enlarged_box_is_drawn_at_its_enlarged_place() -> None:
    enlarged = Drawing(plates=False, scale=2.0)
    picture = drawn(Kind.HIT, (20, 15, 80, 45), drawing=enlarged)
    assert (picture[30, 46:155] == bgr(Kind.HIT)).all()


@pytest.mark.parametrize("size", [(641, 481), (640, 480), (33, 77), (1, 1)])
def test_width_and_height_of_a_picture_are_even(size: tuple[int, int]) -> None:
    picture = draw_frame(grey(*size), view_of(), Drawing(scale=1.0))
    assert picture.shape[0] % 2 == picture.shape[1] % 2 == 0
    # Of an odd width, the last column stands twice; it was black.
    assert (picture[: size[1], -1] == picture[: size[1], 0]).all()


def test_a_plate_has_the_colour_of_its_kind_and_white_text() -> None:
    """Above the box, from its left edge, 1 px of line and 2 px of gap away."""
    side = side_of([BOX], [Kind.FALSE_ALARM])
    picture = draw_frame(grey(*SIZE), view_of(detections=side), Drawing(scale=1.0))
    plate = picture[10:24, 42:80]
    assert (plate == bgr(Kind.FALSE_ALARM)).all(axis=2).any()
    assert (plate == WHITE).all(axis=2).any()


def test_names_may_contain_anything() -> None:
    side = side_of([BOX], [Kind.MISS], names=("0 \x1b[2J\n" + "名" * 300,))
    draw_frame(grey(*SIZE), view_of(truth=side), Drawing(scale=1.0))


def test_every_kind_has_a_style() -> None:
    assert set(STYLES) == set(Kind)
    assert {kind: tuple(reversed(style.colour)) for kind, style in STYLES.items()} == HEX

"""The objects of a frame, drawn over its picture: outlines by outcome, with plates that name them.

What has a mask is filled along it; masks that together are larger than a page should be are boxes.

Coordinates are scaled so that every picture is 960 wide and the same strokes suit all. Colours and
dashes are those of a style sheet, by the classes ``o-tp``, ``o-fp``, ``o-fn``, ``o-ig`` and
``o-sw``; shape and line tell outcomes apart without colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import BOX, POINT
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.figures._text import text_width
from vidscore_evaluators.figures.markup import coordinate, markup_text
from vidscore_evaluators.figures.mask_paths import mask_paths
from vidscore_evaluators.masks import Masks, concatenate_masks

WIDTH = 960.0
"""Width of a picture in its own units."""

MOST_PLATES = 120
"""Beyond so many objects the rest has no plates: they would cover the picture."""

TOO_LARGE = "The masks of this frame are too large for a page; their boxes stand for them."

_POINT_RADIUS = 9.0
_PLATE_HEIGHT = 28.0
_SMALL_HEIGHT = 42.0
_TEXT_SCALE = 20.0 / 12.0

_GLYPHS = {
    "tp": '<circle r="6" fill="#fff"/>',
    "fp": '<path d="M0-7 7 6H-7z" fill="#fff"/>',
    "fn": '<circle r="5.5" fill="none" stroke="#fff" stroke-width="3"/>',
    "ig": '<path d="M-7-2h14v4h-14z" fill="#fff"/>',
    "sw": '<path d="M0-8l8 8-8 8-8-8z" fill="#fff"/>',
    "own": "",
}
"""White shapes of the plates, around (0, 0), by outcome; none where the outcome is not known."""


class Mark(Struct, frozen=True):
    """One object on the picture.

    Attributes:
        kind: ``tp``, ``fp``, ``fn``, ``ig`` or ``sw``; ``own`` where the outcome is not known.
        coordinates: 2, 4 or 8 numbers in pixels of the image.
        number: Its number in the table of objects.
        text: What its plate says after the number.
        row: Id of its row in the table of objects; empty without.
        same: Whether the same became of it in both systems that are compared.
        mask: Its mask; None without one.
    """

    kind: str
    coordinates: Sequence[float]
    number: int
    text: str = ""
    row: str = ""
    same: bool = False
    mask: Masks | None = None


class Region(Struct, frozen=True):
    """An area in which nothing counts.

    Attributes:
        coordinates: 2, 4 or 8 numbers in pixels of the image.
        mask: Its mask; None without one.
    """

    coordinates: Sequence[float]
    mask: Masks | None = None


class Overlay(Struct, frozen=True, eq=False, dict=True):
    """What is drawn over the picture of a frame.

    Attributes:
        width_px: Width of the image.
        height_px: Height of the image.
        marks: Objects; what comes first is drawn on top, and has its plate placed first.
        regions: Areas where nothing counts.
        tails: Paths of tracks, each (P, 2) positions.
        picture: Address of the image, or ``#`` and the id of a symbol of the page that holds it;
            empty where there is none.
    """

    width_px: float
    height_px: float
    marks: Sequence[Mark]
    regions: Sequence[Region] = ()
    tails: Sequence[FloatArray] = ()
    picture: str = ""

    def svg(self, title: str, description: str, name: str) -> str:
        """The picture with everything on it.

        Args:
            title: What it shows.
            description: What is to be seen in it, in sentences.
            name: What its ids begin with, once on a page.
        """
        height = coordinate(self._height)
        own = markup_text(name)
        return (
            f'<svg viewBox="0 0 960 {height}" role="img" aria-labelledby="{own}-title {own}-desc">'
            f'<title id="{own}-title">{markup_text(title)}</title>'
            f'<desc id="{own}-desc">{markup_text(description)}</desc>'
            f"{''.join(self._parts(height, own))}</svg>"
        )

    @property
    def note(self) -> str:
        """What is to be said of the picture; empty where that is nothing."""
        return "" if self._paths is not None else TOO_LARGE

    @cached_property
    def _paths(self) -> dict[int, str] | None:
        """Paths of masks by the place of their mark, or of their region behind all marks.

        None where they are larger than a picture may be.
        """
        drawn = [*(mark.mask for mark in self.marks), *(one.mask for one in self.regions)]
        masks = {place: mask for place, mask in enumerate(drawn) if mask is not None}
        paths = mask_paths(concatenate_masks(list(masks.values())), self._scale)
        return None if paths is None else dict(zip(masks, paths, strict=True))

    def _path(self, place: int) -> str:
        """The path of a mask; empty where the shape of its object is drawn."""
        return (self._paths or {}).get(place, "")

    @property
    def _scale(self) -> float:
        return WIDTH / max(self.width_px, 1.0)

    @property
    def _height(self) -> float:
        return max(1.0, self.height_px) * self._scale

    def _parts(self, height: str, name: str) -> Iterator[str]:
        if self.picture.startswith("#"):
            yield f'<use href="{markup_text(self.picture)}" width="960" height="{height}"/>'
        elif self.picture:
            yield (
                f'<image href="{markup_text(self.picture)}" width="960" height="{height}" '
                'preserveAspectRatio="none"/>'
            )
        for place, region in enumerate(self.regions, len(self.marks)):
            path = self._path(place) or outline(self._scaled(region.coordinates))
            yield f'<path class="region" d="{path}"/>'
        for tail in self.tails:
            points = "L".join(
                f"{coordinate(x)} {coordinate(y)}" for x, y in (tail * self._scale).tolist()
            )
            yield f'<path class="tail" d="M{points}"/>'
        places = {False: _Places(self._height), True: _Places(self._height)}
        drawn = [self._mark(mark, places, index, name) for index, mark in enumerate(self.marks)]
        # Plates lie over all outlines, and those of the first marks over the others.
        yield from (shape for shape, _ in reversed(drawn))
        yield from (plates for _, plates in reversed(drawn))

    def _mark(
        self, mark: Mark, places: dict[bool, _Places], index: int, name: str
    ) -> tuple[str, str]:
        """Its outline and its plates."""
        scaled = self._scaled(mark.coordinates)
        css = f"o-{mark.kind}" + (" same" if mark.same else "")
        path = self._path(index)
        plates = ""
        if index < MOST_PLATES:
            around = _bounds(scaled)
            words = f"{mark.number} {mark.text}".strip()
            plates = _plate(
                mark.kind, words, places[False].find(around, words, _PLATE_HEIGHT), "big"
            )
            small = str(mark.number)
            plates += _plate(
                mark.kind, small, places[True].find(around, small, _SMALL_HEIGHT), "small"
            )
        row = f' data-row="{markup_text(mark.row)}"' if mark.row else ""
        drawn = _masked(path, f"{name}-m{index}") if path else _boxed(outline(scaled))
        return (
            f'<g class="{css}{" mask" if path else ""}"{row}>{drawn}</g>',
            f'<g class="{css}"{row}>{plates}</g>' if plates else "",
        )

    def _scaled(self, coordinates: Sequence[float]) -> list[float]:
        return [value * self._scale for value in coordinates]


def _boxed(shape: str) -> str:
    """The casing of a shape, and the line on it."""
    return f'<path class="case" d="{shape}"/><path class="box" d="{shape}"/>'


def _masked(path: str, name: str) -> str:
    """The same of a mask, whose path is too long to stand there twice."""
    return (
        f'<defs><path id="{name}" d="{path}"/></defs>'
        f'<use class="case" href="#{name}"/><use class="box" href="#{name}"/>'
    )


def outline(coordinates: Sequence[float]) -> str:
    """The path around a point, a box (x1, y1, x2, y2), or four corners."""
    values = [coordinate(value) for value in coordinates]
    if len(values) == POINT:
        radius = coordinate(_POINT_RADIUS)
        left = coordinate(coordinates[0] - _POINT_RADIUS)
        across = coordinate(2 * _POINT_RADIUS)
        around = f"a{radius} {radius} 0 1 0 {across} 0a{radius} {radius} 0 1 0 -{across} 0z"
        return f"M{left} {values[1]}{around}"
    if len(values) == BOX:
        x1, y1, x2, y2 = values
        return f"M{x1} {y1}H{x2}V{y2}H{x1}z"
    corners = zip(values[::2], values[1::2], strict=True)
    return "M" + "L".join(f"{x} {y}" for x, y in corners) + "z"


def _bounds(coordinates: Sequence[float]) -> tuple[float, float, float, float]:
    xs, ys = coordinates[::2], coordinates[1::2]
    room = _POINT_RADIUS if len(coordinates) == POINT else 0.0
    return min(xs) - room, min(ys) - room, max(xs) + room, max(ys) + room


def _plate(kind: str, words: str, place: tuple[float, float, float, float], css: str) -> str:
    x, y, width, height = place
    grown = height / _PLATE_HEIGHT
    glyph = coordinate(x + 15 * grown), coordinate(y + height / 2)
    baseline = coordinate(y + height / 2 + 7.2 * grown)
    return (
        f'<g class="{css}"><rect class="plate" x="{coordinate(x)}" y="{coordinate(y)}" '
        f'width="{coordinate(width)}" height="{coordinate(height)}"/>'
        f'<g transform="translate({glyph[0]} {glyph[1]}) scale({grown * 0.95:.2f})">'
        f"{_GLYPHS[kind]}</g>"
        f'<text x="{coordinate(x + 27 * grown)}" y="{baseline}">{markup_text(words)}</text></g>'
    )


class _Places:
    """Finds each plate a place near its object that covers no other plate."""

    def __init__(self, height: float) -> None:
        self._height = height
        self._taken: list[tuple[float, float, float, float]] = []

    def find(
        self, around: tuple[float, float, float, float], words: str, height: float
    ) -> tuple[float, float, float, float]:
        """x, y, width and height of a plate: above, below or beside the object, else within it."""
        x1, y1, x2, y2 = around
        grown = height / _PLATE_HEIGHT
        width = (27 + 8) * grown + text_width(words) * _TEXT_SCALE * grown * 1.08
        corners = np.array(
            [
                (x1 - 2, y1 - height - 2),
                (x1 - 2, y2 + 2),
                (x2 - width + 2, y1 - height - 2),
                (x2 - width + 2, y2 + 2),
                (x2 + 2, y1 - 2),
                (x1 - width - 2, y1 - 2),
                (x1 - 2, y1 - 2 * height - 4),
                (x1 - 2, y2 + height + 4),
                (x1 + 4, y1 + 4),
            ]
        )
        corners[:, 0] = corners[:, 0].clip(0, max(0.0, WIDTH - width))
        corners[:, 1] = corners[:, 1].clip(0, max(0.0, self._height - height))
        covered = self._covered(corners, width, height)
        x, y = corners[int(np.argmin(covered))].tolist()
        self._taken.append((x, y, x + width, y + height))
        return x, y, width, height

    def _covered(self, corners: FloatArray, width: float, height: float) -> FloatArray:
        """How much of the other plates each place covers."""
        if not self._taken:
            return np.zeros(len(corners))
        taken = np.array(self._taken)[np.newaxis]
        x, y = corners[:, :1], corners[:, 1:]
        across = np.minimum(x + width, taken[..., 2]) - np.maximum(x, taken[..., 0])
        down = np.minimum(y + height, taken[..., 3]) - np.maximum(y, taken[..., 1])
        areas: FloatArray = (across.clip(0) * down.clip(0)).sum(axis=1)
        return areas

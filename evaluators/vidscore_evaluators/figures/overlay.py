"""The objects of a frame, drawn over its image: outlines by outcome, with plates that name them.

Plates never overlap. If there is no room for a whole plate, it shows the number alone; if there is
no room for that either, the object has no plate. In any case, all of it is in the outline's title.

Masks are filled. If all masks together are too large for a page, boxes are drawn in their place.

Coordinates are scaled to pictures whose longer side is 960, so the same strokes suit all. Colours
and dashes are those of a style sheet, by the classes ``o-tp``, ``o-fp``, ``o-fn``, ``o-ig`` and
``o-sw``; shapes and lines distinguish outcomes without colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import BOX, POINT
from vidscore_evaluators.arrays import BoolArray, FloatArray
from vidscore_evaluators.figures._labels import TEXT_SIZE, fitted, text_width
from vidscore_evaluators.figures.markup import coordinate, markup_text
from vidscore_evaluators.mask_outlines import column_pieces, mask_outlines
from vidscore_evaluators.masks import Masks, concatenate_masks
from vidscore_evaluators.names import counted, is_right_to_left

LONGER_SIDE = 960.0
"""Longer side of a picture in its own units."""

LEAST_WIDTH = 320.0
"""Width in the same units that even the highest picture has: there must be room for plates."""

MOST_PLATES = 120
"""Number of objects with plates; more would cover the picture."""

TOO_LARGE = "The masks of this frame are too large for a page; their boxes stand for them."

_FURTHEST = 1e5
"""Largest coordinate in the same units; browsers do not draw a path with very large ones."""

_POINT_RADIUS = 9.0
_PLATE_HEIGHT = 28.0
_SMALL_HEIGHT = 42.0
_TEXT_SCALE = 20.0 / TEXT_SIZE
_LABEL_WIDTH = 170.0
"""Maximum width of a label on a plate, at the size of `TEXT_SIZE`."""

_ORDER = ("fn", "fp", "sw", "ig", "tp", "own")
"""Kinds in the order in which plates are placed: mistakes before hits."""

_GLYPHS = {
    "tp": '<circle r="6" fill="#fff"/>',
    "fp": '<path d="M0-7 7 6H-7z" fill="#fff"/>',
    "fn": '<circle r="5.5" fill="none" stroke="#fff" stroke-width="3"/>',
    "ig": '<path d="M-7-2h14v4h-14z" fill="#fff"/>',
    "sw": '<path d="M0-8l8 8-8 8-8-8z" fill="#fff"/>',
    "own": "",
}
"""White shapes of the plates, around (0, 0), by outcome; none for an unknown outcome."""


Words = tuple[str, ...]
"""Text of a plate: a number, a label and a detail, or the number alone."""

_ISOLATE, _END_OF_ISOLATE = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"


class Mark(Struct, frozen=True):
    """One object on the picture.

    Attributes:
        kind: ``tp``, ``fp``, ``fn``, ``ig`` or ``sw``; ``own`` if the outcome is not known.
        coordinates: 2, 4 or 8 numbers in pixels of the image.
        number: Its number in the table of objects.
        label: Text of its plate after the number.
        detail: Text after the label, such as a confidence.
        row: Id of its row in the table of objects, or empty.
        same: Whether its outcome is the same in both systems that are compared.
        mask: Its mask; None without one.
    """

    kind: str
    coordinates: Sequence[float]
    number: int
    label: str = ""
    detail: str = ""
    row: str = ""
    same: bool = False
    mask: Masks | None = None

    @property
    def words(self) -> Words:
        """Its full text."""
        return str(self.number), self.label, self.detail

    @property
    def plates(self) -> tuple[Words, Words]:
        """Text of its plate if there is room, and if there is not."""
        number = str(self.number)
        return (number, fitted(self.label, _LABEL_WIDTH, strong=True), self.detail), (number,)


class Region(Struct, frozen=True):
    """An area in which nothing is scored.

    Attributes:
        coordinates: 2, 4 or 8 numbers in pixels of the image.
        mask: Its mask; None without one.
    """

    coordinates: Sequence[float]
    mask: Masks | None = None


class Overlay(Struct, frozen=True, eq=False, dict=True):
    """What is drawn over the image of a frame.

    Attributes:
        width_px: Width of the image.
        height_px: Height of the image.
        marks: Objects; earlier ones are on top and, within their kind, get their plates first.
        regions: Areas in which nothing is scored.
        tails: Paths of tracks, each (P, 2) positions.
        picture: URL of the image, or ``#`` and the id of a symbol of the page that holds it;
            empty without an image.
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
            description: What can be seen in it, in sentences.
            name: Prefix of its ids, unique on a page.
        """
        width, height = coordinate(self._width), coordinate(self._height)
        own = markup_text(name)
        return (
            f'<svg viewBox="0 0 {width} {height}" role="img" '
            f'aria-labelledby="{own}-title {own}-desc">'
            f'<title id="{own}-title">{markup_text(title)}</title>'
            f'<desc id="{own}-desc">{markup_text(description)}</desc>'
            f"{''.join(self._parts(width, height, own))}</svg>"
        )

    @property
    def note(self) -> str:
        """Remarks on the picture, as sentences; may be empty."""
        outside = sum(map(self._is_outside, self.marks))
        said = [] if self._paths is not None else [TOO_LARGE]
        if outside:
            lie, their = ("lies", "its number") if outside == 1 else ("lie", "their numbers")
            said.append(
                f"{counted(outside, 'object')} {lie} outside the picture; "
                f"{their} may stand at its edge."
            )
        return " ".join(said)

    def _is_outside(self, mark: Mark) -> bool:
        xs, ys = mark.coordinates[::2], mark.coordinates[1::2]
        across = max(xs) < 0 or min(xs) > self.width_px
        return across or max(ys) < 0 or min(ys) > self.height_px

    @cached_property
    def _paths(self) -> dict[int, str] | None:
        """Paths of masks by position among all marks, followed by all regions.

        None if they are larger than allowed for a picture.
        """
        drawn = [*(mark.mask for mark in self.marks), *(one.mask for one in self.regions)]
        masks = {place: mask for place, mask in enumerate(drawn) if mask is not None}
        paths = mask_paths(concatenate_masks(list(masks.values())), self._scale)
        return None if paths is None else dict(zip(masks, paths, strict=True))

    def _path(self, place: int) -> str:
        """The path of a mask; empty if the object's shape is drawn instead."""
        return (self._paths or {}).get(place, "")

    @property
    def _scale(self) -> float:
        width, height = max(self.width_px, 1.0), max(self.height_px, 1.0)
        return max(min(LONGER_SIDE / width, LONGER_SIDE / height), LEAST_WIDTH / width)

    @property
    def _width(self) -> float:
        return max(1.0, self.width_px) * self._scale

    @property
    def _height(self) -> float:
        return max(1.0, self.height_px) * self._scale

    def _parts(self, width: str, height: str, name: str) -> Iterator[str]:
        if self.picture.startswith("#"):
            yield f'<use href="{markup_text(self.picture)}" width="{width}" height="{height}"/>'
        elif self.picture:
            yield (
                f'<image href="{markup_text(self.picture)}" width="{width}" height="{height}" '
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
        # Plates are above all outlines.
        yield from reversed([self._mark(*entry, name) for entry in enumerate(self.marks)])
        yield from self._plates()

    def _mark(self, index: int, mark: Mark, name: str) -> str:
        """The markup of its outline."""
        path = self._path(index)
        shape = outline(self._scaled(mark.coordinates))
        drawn = _masked(path, f"{name}-m{index}") if path else _boxed(shape)
        title = f"<title>{_words_markup(mark.words)}</title>"
        return f"{_group(mark, masked=bool(path))}{title}{drawn}</g>"

    def _plates(self) -> Iterator[str]:
        """The plates of each mark, large or small, those of mistakes first."""
        size = self._width, self._height
        large, small = _Places(*size, _PLATE_HEIGHT), _Places(*size, _SMALL_HEIGHT)
        marks = sorted(self.marks, key=lambda mark: _ORDER.index(mark.kind))
        for mark in marks[:MOST_PLATES]:
            around = _bounds(self._scaled(mark.coordinates))
            found = [
                _plate(mark.kind, *place, css)
                for places, texts, css in (
                    (large, mark.plates, "big"),
                    (small, mark.plates[-1:], "small"),
                )
                if (place := places.find(around, texts)) is not None
            ]
            if found:
                yield f"{_group(mark)}{''.join(found)}</g>"

    def _scaled(self, coordinates: Sequence[float]) -> list[float]:
        return [min(max(value * self._scale, -_FURTHEST), _FURTHEST) for value in coordinates]


def _joined(words: Words) -> str:
    return " ".join(filter(None, words))


def _words_markup(words: Words) -> str:
    """Words as markup. A right-to-left word does not move the text around it."""
    return _joined(
        tuple(
            f"{_ISOLATE}{markup_text(word)}{_END_OF_ISOLATE}"
            if is_right_to_left(word)
            else markup_text(word)
            for word in words
        )
    )


def _group(mark: Mark, *, masked: bool = False) -> str:
    """The start tag of a part of a mark."""
    css = f"o-{mark.kind}{' same' if mark.same else ''}{' mask' if masked else ''}"
    row = f' data-row="{markup_text(mark.row)}"' if mark.row else ""
    return f'<g class="{css}"{row}>'


def _boxed(shape: str) -> str:
    """The casing of a shape, and its line on top."""
    return f'<path class="case" d="{shape}"/><path class="box" d="{shape}"/>'


def _masked(path: str, name: str) -> str:
    """The same for a mask, whose path is too long to be repeated."""
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


def _plate(kind: str, words: Words, place: tuple[float, float, float, float], css: str) -> str:
    x, y, width, height = place
    grown = height / _PLATE_HEIGHT
    glyph = coordinate(x + 15 * grown), coordinate(y + height / 2)
    baseline = coordinate(y + height / 2 + 7.2 * grown)
    return (
        f'<g class="{css}"><rect class="plate" x="{coordinate(x)}" y="{coordinate(y)}" '
        f'width="{coordinate(width)}" height="{coordinate(height)}"/>'
        f'<g transform="translate({glyph[0]} {glyph[1]}) scale({grown * 0.95:.2f})">'
        f"{_GLYPHS[kind]}</g>"
        f'<text x="{coordinate(x + 27 * grown)}" y="{baseline}">{_words_markup(words)}</text></g>'
    )


MOST_BYTES = 1 << 16
"""Upper bound on the length of all paths of a picture."""

MOST_PIECES = 200_000
"""Upper bound on the pieces of columns in the masks of a picture, from which its paths are made."""


def mask_paths(masks: Masks, scale: float) -> list[str] | None:
    """Paths around masks.

    Args:
        masks: The masks.
        scale: Units of the picture per pixel; corners are rounded to whole units.

    Returns:
        A path for each mask, empty if it has no pixels or covers no unit; None if they exceed the
        bounds of a picture.
    """
    boxes = masks.boxes()
    if len(masks.runs) / 2 + (boxes[:, 2] - boxes[:, 0]).sum() > MOST_PIECES:
        return None
    outlines = mask_outlines(column_pieces(masks))
    edges, loops = outlines.edges()
    corners = np.rint(edges * scale).astype(np.int64)
    steps = np.where(np.arange(len(edges)) % 2 == 0, corners[:, 2] - corners[:, 0],
                     corners[:, 3] - corners[:, 1])  # fmt: skip
    kept = np.flatnonzero(steps)
    if 2 * len(kept) > MOST_BYTES:
        return None
    texts = [
        f"{'hv'[row % 2]}{step}"
        for row, step in zip(kept.tolist(), steps[kept].tolist(), strict=True)
    ]
    paths = [""] * masks.count
    bounds = np.searchsorted(loops[kept], np.arange(len(outlines.masks) + 1)).tolist()
    begins = corners[outlines.starts[:-1], :2].tolist()
    for loop, (mask, (x, y)) in enumerate(zip(outlines.masks.tolist(), begins, strict=True)):
        # The last side is drawn by closing the path.
        sides = texts[bounds[loop] : bounds[loop + 1]][:-1]
        if sides:
            paths[mask] += f"M{x} {y}{''.join(sides)}z"
    return paths if sum(map(len, paths)) <= MOST_BYTES else None


class _Places:
    """Finds a place for each plate near its object, where it covers no other plate.

    Args:
        width: Width of the picture.
        height: Its height.
        plate_height: Height of the plates.
    """

    def __init__(self, width: float, height: float, plate_height: float) -> None:
        self._width = width
        self._height = height
        self._plate_height = plate_height
        self._taken: FloatArray = np.zeros((0, 4))

    def find(
        self, around: tuple[float, float, float, float], texts: Sequence[Words]
    ) -> tuple[Words, tuple[float, float, float, float]] | None:
        """The first text for which there is room, with x, y, width and height of its plate.

        Args:
            around: Left, top, right and bottom of the object.
            texts: Alternative texts of the plate, the best first.
        """
        height = self._plate_height
        grown = height / _PLATE_HEIGHT
        for text in texts:
            width = ((27 + 8) + text_width(_joined(text), strong=True) * _TEXT_SCALE) * grown
            corners = self._corners(around, width)
            free = corners[~self._covers(corners, width)]
            if len(free):
                x, y = free[0].tolist()
                self._taken = np.concatenate([self._taken, [(x, y, x + width, y + height)]])
                return text, (x, y, width, height)
        return None

    def _corners(self, around: tuple[float, float, float, float], width: float) -> FloatArray:
        """(C, 2) upper left corners: above, below or beside the object, else within it."""
        x1, y1, x2, y2 = around
        height = self._plate_height
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
        corners[:, 0] = corners[:, 0].clip(0, max(0.0, self._width - width))
        corners[:, 1] = corners[:, 1].clip(0, max(0.0, self._height - height))
        return corners

    def _covers(self, corners: FloatArray, width: float) -> BoolArray:
        """(C,) whether a plate at a corner would cover another one."""
        x, y = corners[:, :1], corners[:, 1:]
        across = np.minimum(x + width, self._taken[:, 2]) - np.maximum(x, self._taken[:, 0])
        bottoms = np.minimum(y + self._plate_height, self._taken[:, 3])
        shared = np.logical_and(across > 0, bottoms > np.maximum(y, self._taken[:, 1]))
        covers: BoolArray = np.logical_or.reduce(shared, axis=1)
        return covers

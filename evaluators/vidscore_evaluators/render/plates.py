"""Plates: mark, number, label and confidence of an object, beside it and without overlap.

A plate gets the first of its positions that is within the picture, overlaps no earlier plate, and
covers as few small objects as possible. If there is none, a shorter plate is tried. If that does
not fit either, the object has no plate, and the strip counts it.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.render.style import STYLES, WHITE, Colour, Image, Kind

MAXIMUM_PLATES = 400
"""Maximum number of plates of a picture; more would cover everything."""

MAXIMUM_CHARACTERS = 40
"""Maximum number of characters of a plate; longer labels are cut."""

NO_PLATE = -1
"""Version of a plate that does not fit anywhere."""

FONT = cv2.FONT_HERSHEY_SIMPLEX
_TEXT_AT_SCALE_1_PX = 22.0


class Type(Struct, frozen=True):
    """A text size.

    Attributes:
        scale: OpenCV's font scale.
        weight_px: Width of the strokes.
        height_px: Height of capitals.
        gap_px: Space around text.
    """

    scale: float
    weight_px: int
    height_px: int
    gap_px: int

    @classmethod
    def of(cls, height_px: float) -> Type:
        """Text whose capitals have this height."""
        whole = max(6, round(height_px))
        return cls(
            whole / _TEXT_AT_SCALE_1_PX, max(1, round(whole / 12)), whole, max(2, whole // 3)
        )

    def width_px(self, text: str) -> int:
        """Width of a line of text."""
        (width, _), _ = cv2.getTextSize(text, FONT, self.scale, self.weight_px)
        return int(width)

    def write(self, image: Image, text: str, left: int, base: int, colour: Colour) -> None:
        """Write a line of text at a left end and a base line."""
        cv2.putText(
            image, text, (left, base), FONT, self.scale, colour, self.weight_px, cv2.LINE_AA
        )


class Plate(Struct, frozen=True):
    """Text about an object.

    Attributes:
        kind: Its outcome.
        text: The full text, if there is room.
        short: Its number alone.
    """

    kind: Kind
    text: str
    short: str


class Placed(Struct, frozen=True, eq=False):
    """Positions of P plates.

    Attributes:
        versions: (P,) 0 for the full text, 1 for the short one, `NO_PLATE` if neither fits.
        boxes: (P, 4) left, top, right and bottom pixel, the last two exclusive.
    """

    versions: IntArray
    boxes: IntArray


def place_plates(sizes: IntArray, around: FloatArray, small: FloatArray, area: IntArray) -> Placed:
    """Find positions beside objects, in the given order.

    Args:
        sizes: (P, V, 2) width and height of each version of each plate.
        around: (P, 4) boxes of their objects.
        small: (S, 4) boxes to cover as little as possible.
        area: (4,) left, top, right and bottom of the picture.
    """
    count = len(sizes)
    versions = np.full(count, NO_PLATE, dtype=np.int64)
    boxes = np.zeros((count, 4), dtype=np.int64)
    taken = np.zeros((0, 4), dtype=np.int64)
    for plate in range(min(count, MAXIMUM_PLATES)):
        for version, (width, height) in enumerate(sizes[plate].tolist()):
            places = _places(around[plate], width, height, area)
            free = places[~_touch(places, taken).any(axis=1)]
            if len(free):
                covered = _touch(free, small).sum(axis=1)
                boxes[plate] = free[int(covered.argmin())]
                versions[plate] = version
                taken = np.concatenate([taken, boxes[plate : plate + 1]])
                break
    return Placed(versions, boxes)


def plate_sizes(plates: Sequence[Plate], type_: Type) -> IntArray:
    """(P, 2, 2) width and height of the two versions of each plate."""
    beside = type_.height_px + 3 * type_.gap_px
    height = type_.height_px + 2 * type_.gap_px
    return np.array(
        [
            [[type_.width_px(text) + beside, height] for text in (plate.text, plate.short)]
            for plate in plates
        ],
        dtype=np.int64,
    ).reshape(-1, 2, 2)


def draw_plates(image: Image, plates: Sequence[Plate], placed: Placed, type_: Type) -> None:
    """Draw the plates that have a position."""
    for plate, version, box in zip(
        plates, placed.versions.tolist(), placed.boxes.tolist(), strict=True
    ):
        if version == NO_PLATE:
            continue
        left, top, right, bottom = box
        cv2.rectangle(
            image, (left, top), (right - 1, bottom - 1), STYLES[plate.kind].colour, cv2.FILLED
        )
        base = bottom - type_.gap_px
        middle = (left + type_.gap_px + type_.height_px // 2, (top + bottom) // 2)
        draw_mark(image, plate.kind, middle, type_.height_px, WHITE)
        text = plate.text if version == 0 else plate.short
        type_.write(image, text, left + 2 * type_.gap_px + type_.height_px, base, WHITE)


def draw_mark(
    image: Image, kind: Kind, middle: tuple[int, int], size_px: int, colour: Colour
) -> None:
    """Draw the mark of a kind: a disc, a triangle, a ring, a diamond or a bar."""
    x, y = middle
    half = size_px / 2.0
    if kind is Kind.HIT:
        cv2.circle(image, middle, round(half * 0.85), colour, cv2.FILLED, cv2.LINE_AA)
        return
    if kind is Kind.MISS:
        thick = max(1, round(size_px / 6))
        cv2.circle(image, middle, round(half * 0.75), colour, thick, cv2.LINE_AA)
        return
    corners = {
        Kind.FALSE_ALARM: [(0.0, -0.95), (1.0, 0.8), (-1.0, 0.8)],
        Kind.ID_SWITCH: [(0.0, -1.1), (0.95, 0.0), (0.0, 1.1), (-0.95, 0.0)],
        Kind.IGNORED: [(-1.0, -0.3), (1.0, -0.3), (1.0, 0.3), (-1.0, 0.3)],
    }[kind]
    outline = np.rint(np.array(corners) * half + (x, y)).astype(np.int32)
    cv2.fillPoly(image, [outline], colour, lineType=cv2.LINE_AA)


def cut(text: str, characters: int = MAXIMUM_CHARACTERS) -> str:
    """Replace the end of a text by dots if it is too long."""
    return text if len(text) <= characters else f"{text[: characters - 3]}..."


def _places(around: FloatArray, width: int, height: int, area: IntArray) -> IntArray:
    """(C, 4) possible positions of a plate within the picture, the best first."""
    left, top, right, bottom = np.clip(
        np.rint(around), [area[0], area[1]] * 2, [area[2], area[3]] * 2
    ).astype(np.int64)
    gap, offsets = 2, np.arange(4, dtype=np.int64) * (height + 1)
    above, below = top - gap - height - offsets, bottom + gap + offsets
    columns = np.array([left, right - width, (left + right - width) // 2])
    x = np.concatenate(
        [
            np.tile(columns, 2),  # adjacent to it, above and then below
            np.repeat([right + gap, left - gap - width], 4),
            np.tile(columns, 6),
            np.full(4, left + gap),
        ]
    )
    y = np.concatenate(
        [
            np.repeat([above[0], below[0]], 3),
            np.tile(top + offsets, 2),
            np.repeat(np.stack([above[1:], below[1:]], axis=1).ravel(), 3),
            top + gap + offsets,
        ]
    )
    # A plate beyond the left or right edge is moved into the picture, if it fits at all.
    x = np.clip(x, area[0], max(area[0], area[2] - width))
    places = np.stack([x, y, x + width, y + height], axis=1)
    inside = (places[:, :2] >= area[:2]).all(axis=1) & (places[:, 2:] <= area[2:]).all(axis=1)
    return places[inside]


def _touch(first: IntArray, second: FloatArray | IntArray) -> BoolArray:
    """(C, P) whether each box overlaps each other box."""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    shared: BoolArray = np.logical_and.reduce(low < high, axis=2)
    return shared

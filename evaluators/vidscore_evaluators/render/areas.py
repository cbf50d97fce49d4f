"""Areas of a picture: pixels that outlines and masks cover, and mixing colours into them."""

from __future__ import annotations

import cv2
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.arrays import AnyArray, BoolArray, FloatArray, IntArray
from vidscore_evaluators.mask_outlines import ColumnPieces
from vidscore_evaluators.render.strokes import fill
from vidscore_evaluators.render.style import Colour, Image


class Area(Struct, frozen=True, eq=False):
    """Some pixels of a picture.

    Attributes:
        left: First column of its bounding box.
        top: First row of its bounding box.
        inside: (height, width) which pixels of the box belong to it.
    """

    left: int
    top: int
    inside: BoolArray


def area_of_outlines(closed: FloatArray, picture: Image) -> Area:
    """The area that (N, K, 2) outlines enclose, at least one of them."""
    height, width = picture.shape[:2]
    low = np.clip(closed.min(axis=(0, 1)) - 1.0, 0.0, [width, height])
    high = np.clip(closed.max(axis=(0, 1)) + 2.0, low, [width, height])
    left, top = low.astype(int).tolist()
    right, bottom = np.ceil(high).astype(int).tolist()
    mask = np.zeros((bottom - top, right - left), dtype=np.uint8)
    if mask.size:
        fill(mask, closed - np.array([left, top]), 255)
    return Area(left, top, mask > 127)


def area_of_pieces(pieces: ColumnPieces, scale: float, picture: Image) -> Area:
    """The area that masks cover: every picture pixel that one of their pixels overlaps.

    Args:
        pieces: The pixels of masks.
        scale: Pixels of the picture per pixel of the masks.
        picture: The picture.
    """
    height, width = picture.shape[:2]
    left, right = _scaled(pieces.columns, pieces.columns + 1, scale, width)
    top, bottom = _scaled(pieces.tops, pieces.bottoms, scale, height)
    x, y = int(left.min(initial=width)), int(top.min(initial=height))
    shape = max(0, int(bottom.max(initial=0)) - y), max(0, int(right.max(initial=0)) - x)
    # Each piece is a rectangle: mark its corners, and cumulative sums fill it.
    steps = np.zeros((shape[0] + 1) * (shape[1] + 1), dtype=np.int32)
    for rows, columns, step in (
        (top, left, 1),
        (top, right, -1),
        (bottom, left, -1),
        (bottom, right, 1),
    ):
        np.add.at(steps, (rows - y) * (shape[1] + 1) + columns - x, step)
    covered = steps.reshape(shape[0] + 1, shape[1] + 1)
    covered = np.cumsum(np.cumsum(covered, axis=0, dtype=np.int32), axis=1, dtype=np.int32)
    return Area(x, y, covered[:-1, :-1] > 0)


def hatched(area: Area, period_px: int, stripe_px: int) -> Area:
    """The slanting stripes of an area."""
    height, width = area.inside.shape
    diagonal = np.add.outer(
        np.arange(area.top, area.top + height), np.arange(area.left, area.left + width)
    )
    return replace(area, inside=area.inside & (diagonal % period_px < stripe_px))


def tint(picture: Image, area: Area, colour: Colour, opacity: float) -> None:
    """Mix a colour into an area of a picture, in place."""
    if not area.inside.any():
        return
    height, width = area.inside.shape
    part = picture[area.top : area.top + height, area.left : area.left + width]
    levels = np.arange(256.0)[:, None] * (1.0 - opacity) + np.array(colour) * opacity
    mixed = cv2.LUT(part, np.rint(levels).astype(np.uint8)[None])
    np.copyto(part, mixed, where=area.inside[:, :, None])


def _scaled(begins: IntArray, ends: IntArray, scale: float, most: int) -> tuple[AnyArray, AnyArray]:
    """First pixel in the picture, and one past the last, clipped to the picture."""
    first = np.clip(np.floor(begins * scale), 0, most).astype(np.int64)
    return first, np.clip(np.ceil(ends * scale), 0, most).astype(np.int64)

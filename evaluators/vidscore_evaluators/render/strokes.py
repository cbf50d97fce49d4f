"""Lines with dashes and casings, and the outlines that they follow.

Coordinates are pixels of the picture. Lines are clipped before they are drawn, so the work and
OpenCV's integers stay small for any input.
"""

from __future__ import annotations

import cv2
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from vidscore_evaluators.annotations import BOX, POINT
from vidscore_evaluators.arrays import FloatArray, IntArray, expand_runs, run_starts
from vidscore_evaluators.quadrilaterals import corners_of_boxes
from vidscore_evaluators.render.style import WHITE, Colour, Image, Kind

MARGIN_PX = 64.0
"""Width of the border around the picture in which lines are still drawn."""

DOT_PX = 0.01
"""Length of the dashes of dotted outlines."""

EDGES_PER_CALL = 4096
"""Number of edges whose dashes are computed at once."""

FRACTION_BITS = 3
"""Coordinates are rounded to an eighth of a pixel."""

FARTHEST_PX = 1e6
"""Corners of filled areas are limited to this distance."""


def _regular(corners: int) -> FloatArray:
    """(corners, 2) corners of a regular polygon in the unit circle."""
    angles = np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


_RING = _regular(24)
_POINT_OUTLINES = {
    Kind.MISS: _regular(10),  # a dot on each corner
    Kind.FALSE_ALARM: np.array([[0.0, -1.15], [1.1, 0.85], [-1.1, 0.85]]),
    Kind.IGNORED: np.array([[-0.8, -0.8], [0.8, -0.8], [0.8, 0.8], [-0.8, 0.8]]),
    Kind.ID_SWITCH: np.array([[0.0, -1.2], [1.2, 0.0], [0.0, 1.2], [-1.2, 0.0]]),
}


class Pen(Struct, frozen=True):
    """A line.

    Attributes:
        colour: Its colour.
        width_px: Its width.
        dashes_px: Lengths of dash, gap, dash, ...; empty for a solid line.
        casing_px: Width of the white on each side of it.
    """

    colour: Colour
    width_px: int
    dashes_px: tuple[float, ...] = ()
    casing_px: int = 0


def outlines(coordinates: FloatArray, kind: Kind, radius_px: float) -> FloatArray:
    """(N, K, 2) outlines of (N, 2 | 4 | 8) points, boxes or quadrilaterals.

    A point is outlined by its kind's mark around it, so the picture at the point stays visible.
    """
    if coordinates.shape[1] == POINT:
        around = _POINT_OUTLINES.get(kind, _RING) * radius_px
        return coordinates[:, None, :] + around[None]
    corners = corners_of_boxes(coordinates) if coordinates.shape[1] == BOX else coordinates
    return corners.reshape(len(corners), 4, 2)


def edges_of(closed: FloatArray) -> FloatArray:
    """(N * K, 4) edges x1, y1, x2, y2 of (N, K, 2) outlines."""
    edges = np.concatenate([closed, np.roll(closed, -1, axis=1)], axis=2)
    return edges.reshape(-1, 4)


def clipped(edges: FloatArray, width: int, height: int) -> FloatArray:
    """(M, 4) parts of (E, 4) edges within the picture and its border, by Liang and Barsky."""
    low = np.array([-MARGIN_PX, -MARGIN_PX])
    high = np.array([width + MARGIN_PX, height + MARGIN_PX])
    start, step = edges[:, :2], edges[:, 2:] - edges[:, :2]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        to_low, to_high = (low - start) / step, (high - start) / step
    inside = (start >= low) & (start <= high)
    level = step == 0.0
    enter = np.where(level, np.where(inside, -np.inf, np.inf), np.minimum(to_low, to_high))
    leave = np.where(level, np.where(inside, np.inf, -np.inf), np.maximum(to_low, to_high))
    first = np.maximum(enter.max(axis=1), 0.0)
    last = np.minimum(leave.min(axis=1), 1.0)
    kept = first <= last
    start, step = start[kept], step[kept]
    ends = [start + step * part[kept, None] for part in (first, last)]
    return np.concatenate(ends, axis=1)


def dashes_of(edges: FloatArray, pattern: tuple[float, ...]) -> FloatArray:
    """(D, 4) dashes of (E, 4) edges.

    Each edge begins and ends with the first dash of the pattern, so that corners are closed; the
    pattern is stretched slightly to fit. An edge too short for a gap is one dash.

    Args:
        edges: The edges.
        pattern: Lengths of dash, gap, dash, ...; an even number.
    """
    period, dash = sum(pattern), pattern[0]
    lengths = np.hypot(edges[:, 2] - edges[:, 0], edges[:, 3] - edges[:, 1])
    repeats = np.maximum(np.rint((lengths - dash) / period), 0.0).astype(np.int64)
    whole = repeats * period + dash
    stretch = np.divide(lengths, whole, out=np.ones_like(lengths), where=whole > 0.0)
    parts = []
    for begin, length, more in _dashes_in(pattern):
        counts = repeats + more
        edge = np.repeat(np.arange(len(edges)), counts)
        turn = expand_runs(np.zeros(len(edges), dtype=np.int64), counts)
        parts.append(_pieces(edges[edge], (turn * period + begin) * stretch[edge],
                             length * stretch[edge], lengths[edge]))  # fmt: skip
    short = (repeats == 0) & (dash == 0.0)
    return np.concatenate([*parts, edges[short]])


def dashes_along(edges: FloatArray, loops: IntArray, pattern: tuple[float, ...]) -> FloatArray:
    """(D, 4) parts of dashes that continue around corners, for outlines with short sides.

    Args:
        edges: (E, 4) edges of outlines, each starting where the previous one ends.
        loops: (E,) outline of each edge, ascending; the pattern is stretched to end with it.
        pattern: Lengths of dash, gap, dash, ...; an even number.
    """
    lengths = np.hypot(edges[:, 2] - edges[:, 0], edges[:, 3] - edges[:, 1])
    begins = np.cumsum(lengths) - lengths
    first = run_starts(loops)
    around = np.add.reduceat(lengths, first) if len(first) else np.zeros(0)
    turns = np.maximum(np.rint(around / sum(pattern)), 1.0).astype(np.int64)
    loop = np.repeat(np.arange(len(first)), turns)
    turn = expand_runs(np.zeros(len(first), dtype=np.int64), turns)
    stretch = around[loop] / (turns[loop] * sum(pattern))
    at = [begins[first][loop] + (turn * sum(pattern) + begin) * stretch
          for begin, _, _ in _dashes_in(pattern)]  # fmt: skip
    to = [start + np.maximum(length * stretch, DOT_PX)
          for start, (_, length, _) in zip(at, _dashes_in(pattern), strict=True)]  # fmt: skip
    starts, ends = np.sort(np.concatenate(at)), np.sort(np.concatenate(to))
    cuts = np.sort(np.concatenate([begins, starts, ends]))
    cuts, until = cuts[:-1], cuts[1:]
    inside = np.searchsorted(starts, cuts, "right") > np.searchsorted(ends, cuts, "right")
    inside &= until > cuts
    cuts, until = cuts[inside], until[inside]
    edge = np.searchsorted(begins, cuts, "right") - 1
    return _pieces(edges[edge], cuts - begins[edge], until - cuts, lengths[edge])


def stroke_outlines(image: Image, edges: FloatArray, loops: IntArray, pen: Pen) -> None:
    """Draw outlines with short sides onto a picture, as `stroke` draws edges.

    Args:
        image: The picture, changed in place.
        edges: (E, 4) edges of outlines, each starting where the previous one ends.
        loops: (E,) outline of each edge, ascending.
        pen: How to draw them.
    """
    if pen.casing_px:
        stroke(image, edges, Pen(WHITE, pen.width_px + 2 * pen.casing_px))
    dashes = dashes_along(edges, loops, pen.dashes_px) if pen.dashes_px else edges
    stroke(image, dashes, Pen(pen.colour, pen.width_px))


def stroke(image: Image, edges: FloatArray, pen: Pen) -> None:
    """Draw edges onto a picture: first all casings, without gaps, then all lines.

    Args:
        image: The picture, changed in place.
        edges: (E, 4) edges.
        pen: How to draw them.
    """
    seen = clipped(edges, image.shape[1], image.shape[0])
    if pen.casing_px:
        _draw(image, seen, WHITE, pen.width_px + 2 * pen.casing_px)
    for first in range(0, len(seen), EDGES_PER_CALL):
        some = seen[first : first + EDGES_PER_CALL]
        _draw(
            image,
            dashes_of(some, pen.dashes_px) if pen.dashes_px else some,
            pen.colour,
            pen.width_px,
        )


def fill(mask: NDArray[np.uint8], closed: FloatArray, value: int) -> None:
    """Fill (N, K, 2) outlines in a (height, width) mask."""
    corners = np.clip(np.rint(closed), -FARTHEST_PX, FARTHEST_PX).astype(np.int32)
    for outline in corners:
        cv2.fillPoly(mask, [outline], value)


def _dashes_in(pattern: tuple[float, ...]) -> list[tuple[float, float, int]]:
    """Start and length of each dash in a pattern, and how often it follows the last repeat."""
    found, begin = [], 0.0
    for index, length in enumerate(pattern):
        if index % 2 == 0:
            found.append((begin, length, 1 if index == 0 else 0))
        begin += length
    return found


def _pieces(
    edges: FloatArray, begin: FloatArray, length: FloatArray, whole: FloatArray
) -> FloatArray:
    """(D, 4) the part of each edge of a given start and length."""
    safe = np.where(whole > 0.0, whole, 1.0)[:, None]
    step = (edges[:, 2:] - edges[:, :2]) / safe
    ends = [edges[:, :2] + step * at[:, None] for at in (begin, begin + length)]
    return np.concatenate(ends, axis=1)


def _draw(image: Image, edges: FloatArray, colour: Colour, width_px: int) -> None:
    scaled = np.rint(edges * (1 << FRACTION_BITS)).astype(np.int32).reshape(-1, 2, 2)
    if len(scaled):
        cv2.polylines(
            image,
            list(scaled),
            isClosed=False,
            color=colour,
            thickness=width_px,
            lineType=cv2.LINE_AA,
            shift=FRACTION_BITS,
        )

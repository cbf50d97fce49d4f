"""Where the labels of lines stand: beside their own line, on nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import FloatArray

TEXT_HEIGHT = 12.0
_CHARACTER_WIDTH = 6.8
"""Of a wide letter at the size of `TEXT_HEIGHT`."""

_PLACES = 24
"""Places along a line that are tried."""

_SPACING = 3.0
"""Distance of the points into which lines are cut, to see what a label would lie on."""

_DISTANCE = 6.0


class Placed(Struct, frozen=True):
    """A label on the picture: its left end and its baseline."""

    x: float
    y: float


class Area(Struct, frozen=True):
    """A rectangle on the picture; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float


def text_width(text: str) -> float:
    """About how wide a text is on the picture."""
    return _CHARACTER_WIDTH * len(text)


def place_labels(
    labels: Sequence[str], lines: Sequence[FloatArray], others: FloatArray, inside: Area
) -> list[Placed | None]:
    """Places for the labels of lines.

    Args:
        labels: A label for each line; an empty one gets no place.
        lines: (N, 2) points of each line; rows of NaN are gaps.
        others: (K, 2) further points that no label may cover.
        inside: Where labels may be.

    Returns:
        A place each; None without a label or a line.
    """
    cut = [_densely(line) for line in lines]
    taken = np.concatenate([*cut, others])
    placed: list[Placed | None] = []
    for number, (label, line) in enumerate(zip(labels, cut, strict=True)):
        if not label or not len(line):
            placed.append(None)
            continue
        width = text_width(label)
        boxes = _boxes(line, width, inside)
        foreign = np.concatenate([*cut[:number], *cut[number + 1 :], others])
        cost = 10.0 * _covered(boxes, taken, margin=2.0) + _outside(boxes, inside)
        # A label close to another line as well could be either's.
        cost += _covered(boxes, foreign, margin=_DISTANCE + 2.0)
        # Towards the end of a line, where lines are furthest apart in general.
        cost += np.linspace(1.0, 0.0, len(boxes))
        left, top, _, bottom = boxes[int(np.argmin(cost))].tolist()
        placed.append(Placed(left, bottom - 2.0))
        across, down = np.meshgrid(
            np.linspace(left, left + width, 12), np.linspace(top, bottom, 4), indexing="ij"
        )
        taken = np.concatenate([taken, np.stack([across.ravel(), down.ravel()], axis=1)])
    return placed


def _densely(line: FloatArray) -> FloatArray:
    """(M, 2) points along a line at most `_SPACING` apart; none in its gaps."""
    if len(line) < 2:
        return line[~np.isnan(line).any(axis=1)]
    begin, end = line[:-1], line[1:]
    drawn = ~np.isnan(begin).any(axis=1) & ~np.isnan(end).any(axis=1)
    begin, end = begin[drawn], end[drawn]
    counts = np.ceil(np.hypot(*(end - begin).T) / _SPACING).astype(np.int64) + 1
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    part = (np.arange(counts.sum()) - starts) / np.repeat(np.maximum(counts - 1, 1), counts)
    first, last = np.repeat(begin, counts, axis=0), np.repeat(end, counts, axis=0)
    points: FloatArray = first + (last - first) * part[:, None]
    return points if len(points) else line[~np.isnan(line).any(axis=1)]


def _boxes(line: FloatArray, width: float, inside: Area) -> FloatArray:
    """(B, 4) boxes beside some places of a line: above and below it, before and after."""
    rows = np.unique(np.linspace(0, len(line) - 1, _PLACES).round().astype(np.int64))
    x, y = np.repeat(line[rows], 4, axis=0).T
    left = x + np.tile([_DISTANCE, _DISTANCE, -_DISTANCE - width, -_DISTANCE - width], len(rows))
    left = np.clip(left, inside.left, max(inside.left, inside.right - width))
    top = y + np.tile([-_DISTANCE - TEXT_HEIGHT, _DISTANCE], 2 * len(rows))
    return np.stack([left, top, left + width, top + TEXT_HEIGHT], axis=1)


def _covered(boxes: FloatArray, points: FloatArray, margin: float) -> FloatArray:
    """(B,) how many points lie in each box, or at most so far from it."""
    left, top, right, bottom = (boxes + margin * np.array([-1.0, -1.0, 1.0, 1.0])).T[:, :, None]
    x, y = points.T
    inside = (x >= left) & (x <= right) & (y >= top) & (y <= bottom)
    counts: FloatArray = inside.sum(axis=1, dtype=np.float64)
    return counts


def _outside(boxes: FloatArray, inside: Area) -> FloatArray:
    """(B,) a cost for what reaches out of the area."""
    _, top, _, bottom = boxes.T
    out: FloatArray = np.maximum(inside.top - top, 0.0) + np.maximum(bottom - inside.bottom, 0.0)
    return out * 100.0

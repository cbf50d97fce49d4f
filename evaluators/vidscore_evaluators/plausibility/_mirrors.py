"""Detections that are mirrored: y is counted from below, or x from the right.

How large the image is need not be known: objects and mirrored detections are one sum apart.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.plausibility._overlaps import POINT_REACH, Pairing

_ALIKE = 0.7
"""Least ratio of the sizes of an object and its mirrored detection, each way."""

_NEAR = 0.25
"""Share of their size by which their centres may differ the other way."""

_WINDOW = 0.25
"""Share of the median size within which sums are one and the same."""

_LEAST_PAIRS = 20
"""Least pairs of one sum."""

_MORE_THAN_MOVED = 2
"""So many times as many pairs have one sum as have one difference: else they may be moved."""


class Mirrored(Struct, frozen=True):
    """Detections as they are when they are mirrored.

    Attributes:
        axis: 0 where they are mirrored across, 1 where up and down.
        extent: What x or y is taken from: the width or height of the image.
        boxes: (N, 4) upright boxes.
    """

    axis: int
    extent: float
    boxes: FloatArray


def mirrored(
    pairing: Pairing, truth: FloatArray, detections: FloatArray, *, points: bool
) -> Iterator[Mirrored]:
    """Detections mirrored either way, where many of them may then lie on an object.

    Args:
        pairing: Both sides, frame by frame.
        truth: (N, 4) upright boxes of the truth.
        detections: (M, 4) upright boxes of the detections.
        points: Whether they are points.
    """
    left, right = pairing.pairs
    sides = truth.take(left, axis=0), detections.take(right, axis=0)
    centres = [(boxes[:, :2] + boxes[:, 2:]) / 2 for boxes in sides]
    if points:
        reach = POINT_REACH * float(np.hypot(*np.ptp(truth[:, :2], axis=0)))
        sizes = [np.full_like(boxes[:, :2], reach) for boxes in sides]
    else:
        sizes = [boxes[:, 2:] - boxes[:, :2] for boxes in sides]
    greater, less = np.maximum(*sizes), np.minimum(*sizes)
    alike = ((less >= _ALIKE * greater) & (greater > 0)).all(axis=1)
    differences = np.abs(centres[1] - centres[0]) <= _NEAR * greater
    for axis in (0, 1):
        chosen: BoolArray = alike & differences[:, 1 - axis]
        if chosen.sum() >= _LEAST_PAIRS:
            mine, theirs = (side[chosen, axis] for side in centres)
            width = _WINDOW * float(np.median(greater[chosen, axis]))
            count, extent = _most_frequent(mine + theirs, width)
            moved, _ = _most_frequent(theirs - mine, width)
            if count >= max(_LEAST_PAIRS, _MORE_THAN_MOVED * moved):
                boxes = detections.copy()
                boxes[:, axis::2] = extent - detections[:, axis::2][:, ::-1]
                yield Mirrored(axis, extent, boxes)


def _most_frequent(values: FloatArray, width: float) -> tuple[int, float]:
    """How many values lie within a width at most, and the median of these."""
    ordered = np.sort(values)
    counts: IntArray = np.searchsorted(ordered, ordered + width, side="right") - np.arange(
        len(ordered)
    )
    first = int(counts.argmax())
    return int(counts[first]), float(np.median(ordered[first : first + counts[first]]))

"""Distances of sets of tracks by their definitions: loops over frames and permutations.

A track's shape in a frame is an upright box, or the pixels of a mask.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from scipy.optimize import linprog

from vidscore_evaluators.arrays import BoolArray

Box = tuple[float, ...]
Shape = Box | BoolArray
Track = dict[int, Any]
"""A track's shape by frame; those of one side and the other are of one kind."""


def track_distance(first: Track, second: Track, cutoff: float = 1.0) -> float:
    """Eq. 4, with the cut-off of appendix 3.2, on 1 - IoU."""
    frames = first.keys() | second.keys()
    if not frames:
        return 0.0
    total = 0.0
    for frame in frames:
        both = frame in first and frame in second
        total += min(cutoff, 1 - iou_of(first[frame], second[frame])) if both else cutoff
    return total / len(frames)


def iou_of(first: Shape, second: Shape) -> float:
    """Of two boxes, or of two masks."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        return iou(first, second)
    return pixel_iou(np.asarray(first), np.asarray(second))


def pixel_iou(first: BoolArray, second: BoolArray) -> float:
    union = (first | second).sum()
    return float((first & second).sum() / union) if union else 0.0


def iou(first: Box, second: Box) -> float:
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    shared = max(width, 0.0) * max(height, 0.0)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (first, second)]
    return shared / (sum(areas) - shared)


def matrix(first: list[Track], second: list[Track], cutoff: float = 1.0) -> list[list[float]]:
    return [[track_distance(one, other, cutoff) for other in second] for one in first]


def hausdorff(first: list[Track], second: list[Track]) -> float:
    """Eq. 1; 1 if one set is empty."""
    if not first or not second:
        return float(bool(first) != bool(second))
    rows = matrix(first, second)
    columns = [list(column) for column in zip(*rows, strict=True)]
    return float(max(min(line) for line in [*rows, *columns]))


def emd(first: list[Track], second: list[Track], order: float) -> float:
    """Eq. 2 as a linear programme; 1 if one set is empty."""
    if not first or not second:
        return float(bool(first) != bool(second))
    costs = np.array(matrix(first, second)) ** order
    rows, columns = costs.shape
    sums = np.zeros((rows + columns, rows * columns))
    for row in range(rows):
        sums[row, row * columns : (row + 1) * columns] = 1
    for column in range(columns):
        sums[rows + column, column::columns] = 1
    masses = [1 / rows] * rows + [1 / columns] * columns
    found = linprog(costs.reshape(-1), A_eq=sums, b_eq=masses)
    assert found.fun is not None
    return float(max(found.fun, 0.0) ** (1 / order))


def ospa(first: list[Track], second: list[Track], cutoff: float, order: float) -> float:
    """Eq. 5 by trying every permutation."""
    if len(first) > len(second):
        first, second = second, first
    if not second:
        return 0.0
    rows = matrix(first, second, cutoff)
    least = min(
        sum(rows[row][column] ** order for row, column in enumerate(chosen))
        for chosen in permutations(range(len(second)), len(first))
    )
    alone = cutoff**order * (len(second) - len(first))
    return float(((least + alone) / len(second)) ** (1 / order))


def within(tracks: list[Track], first: int, last: int) -> list[Track]:
    """The tracks within the given frames; those without any are left out."""
    cut = [
        {frame: box for frame, box in track.items() if first <= frame <= last} for track in tracks
    ]
    return [track for track in cut if track]

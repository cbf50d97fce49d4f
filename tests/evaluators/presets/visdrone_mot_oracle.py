"""VisDrone-MOT's preprocessing by its rules: an independent oracle, in plain loops.

Written from the readme and dropObjects.m of VisDrone2018-MOT-toolkit. Objects and detections with
at least half in ignored regions (classes 0 and 11) are removed, counted in integer pixels. Objects
that the truth marks as ignored do not count, and neither does an unmatched detection with at least
half in such an object. The rest is scored by trackeval's metrics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from tests.evaluators.presets.trackeval_tables import ALL_METRICS, Table, combined
from tests.evaluators.presets.tracking_worlds import Row, World

REGIONS = (0, 11)
Box = tuple[float, float, float, float]


def tables(worlds: Mapping[str, World], classes: Mapping[int, str]) -> Table:
    """Figures of worlds whose kinds are numbers of classes; level 1 of the truth is ignored."""
    by_class: dict[str, dict[str, Any]] = {label: {} for label in classes.values()}
    for name, world in worlds.items():
        for number, label in classes.items():
            data = _data(list(_frames(world, number)))
            by_class[label][name] = {
                key: metric.eval_sequence(data) for key, metric in ALL_METRICS.items()
            }
    return combined(by_class)


def _frames(world: World, number: int) -> Iterator[tuple[list[Row], list[Row]]]:
    """Scored truth and counted detections of one class, frame by frame up to the truth's last."""
    for frame in range(1 + max((row.frame for row in world.truth), default=-1)):
        truth = [row for row in world.truth if row.frame == frame]
        pixels = {pixel for row in truth if row.kind in REGIONS for pixel in _region(row.box)}
        own = [row for row in truth if row.kind == number and not _lies_in(row.box, pixels)]
        found = [row for row in world.found if row.frame == frame and row.kind == number]
        found = [row for row in found if not _lies_in(row.box, pixels)]
        real = [row for row in own if row.level != 1]
        ignored = [row for row in own if row.level == 1]
        matched = _matched(real, found)
        yield (
            real,
            [
                row
                for place, row in enumerate(found)
                if place in matched
                or not any(_share(row.box, other.box) >= 0.5 for other in ignored)
            ],
        )


def _pixel(value: float) -> int:
    """Rounded as in Matlab, and at least 1."""
    return max(1, math.floor(value + 0.5))


def _region(box: Box) -> Iterator[tuple[int, int]]:
    left, top, width, height = map(_pixel, box)
    for x in range(left, left + width + 1):
        for y in range(top, top + height + 1):
            yield x, y


def _lies_in(box: Box, pixels: set[tuple[int, int]]) -> bool:
    """Sums over an integral image leave out the first column and row."""
    left, top, width, height = map(_pixel, box)
    inside = sum(
        (x, y) in pixels
        for x in range(left + 1, left + width + 1)
        for y in range(top + 1, top + height + 1)
    )
    return inside / (width * height) >= 0.5


def _shared(one: Box, other: Box) -> float:
    width = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    height = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    return max(0.0, width) * max(0.0, height)


def _share(box: Box, other: Box) -> float:
    return _shared(box, other) / (box[2] * box[3])


def _iou(one: Box, other: Box) -> float:
    shared = _shared(one, other)
    return shared / (one[2] * one[3] + other[2] * other[3] - shared)


def _table(real: Sequence[Row], found: Sequence[Row]) -> Any:
    return np.array([[_iou(one.box, other.box) for other in found] for one in real]).reshape(
        len(real), len(found)
    )


def _matched(real: Sequence[Row], found: Sequence[Row]) -> set[int]:
    """Detections that the best matching with scored truth uses."""
    similar = _table(real, found)
    similar[similar < 0.5] = 0.0
    rows, columns = linear_sum_assignment(-similar)
    return {int(column) for row, column in zip(rows, columns, strict=True) if similar[row, column]}


def _data(frames: Sequence[tuple[list[Row], list[Row]]]) -> dict[str, Any]:
    """Frames in the form of trackeval's metrics."""
    names = [sorted({row.track for frame in frames for row in frame[side]}) for side in (0, 1)]
    ids = [
        [
            np.array([names[side].index(row.track) for row in frame[side]], dtype=int)
            for frame in frames
        ]
        for side in (0, 1)
    ]
    return {
        "num_timesteps": len(frames),
        "gt_ids": ids[0],
        "tracker_ids": ids[1],
        "similarity_scores": [_table(*frame) for frame in frames],
        "num_gt_dets": sum(map(len, ids[0])),
        "num_tracker_dets": sum(map(len, ids[1])),
        "num_gt_ids": len(names[0]),
        "num_tracker_ids": len(names[1]),
    }

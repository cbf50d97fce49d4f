"""Tracking scenes for tests: random ones, those of the motmetrics wheel, and their other forms."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import motmetrics
import numpy as np

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.testing import Case, Thing, make_annotations

TUD = ("TUD-Campus", "TUD-Stadtmitte")


def random_tracking(
    seed: int,
    *,
    frame_count: int = 40,
    object_count: int = 8,
    sequence_count: int = 2,
    extent_px: float = 60.0,
) -> Case:
    """Boxes that wander and cross, and a tracker that misses, swaps, loses and invents objects."""
    random = np.random.default_rng(seed)
    truth: dict[tuple[str, str], dict[int, list[Thing]]] = {}
    found: dict[tuple[str, str], dict[int, list[Thing]]] = {}
    for number in range(sequence_count):
        key = ("", f"s{number}")
        truth[key], found[key] = _wander(random, frame_count, object_count, extent_px)
    return Case(make_annotations(truth, arity=4), make_annotations(found, arity=4))


def _wander(
    random: np.random.Generator, frame_count: int, object_count: int, extent_px: float
) -> tuple[dict[int, list[Thing]], dict[int, list[Thing]]]:
    centres = random.uniform(0, extent_px, (object_count, 2))
    speeds = random.normal(0, 1.5, (object_count, 2))
    sizes = random.uniform(12, 24, (object_count, 2))
    tracker_ids = np.arange(object_count) + 100
    next_id = 1000
    truth: dict[int, list[Thing]] = {}
    found: dict[int, list[Thing]] = {}
    for frame in range(frame_count):
        centres = centres + speeds + random.normal(0, 0.5, centres.shape)
        speeds = np.where((centres < 0) | (centres > extent_px), -speeds, speeds)
        there = random.random(object_count) > 0.1
        seen = (there & (random.random(object_count) > 0.2)) | (random.random(object_count) > 0.95)
        if random.random() < 0.3:
            one, other = random.choice(object_count, 2, replace=False)
            tracker_ids[[one, other]] = tracker_ids[[other, one]]
        if random.random() < 0.15:
            tracker_ids[random.integers(object_count)] = next_id
            next_id += 1
        if random.random() < 0.08:
            seen[:] = False
        if random.random() < 0.08:
            there[:] = False
        noisy = centres + random.normal(0, 1.5, centres.shape)
        truth[frame] = [
            Thing(_box(centres[i], sizes[i]), track_id=i + 1)
            for i in np.flatnonzero(there).tolist()
        ]
        found[frame] = [
            Thing(_box(noisy[i], sizes[i]), track_id=int(tracker_ids[i]))
            for i in np.flatnonzero(seen).tolist()
        ]
    return truth, found


def _box(centre: FloatArray, size: FloatArray) -> tuple[float, ...]:
    return (*(centre - size / 2).tolist(), *(centre + size / 2).tolist())


def tud() -> Case:
    """TUD-Campus and TUD-Stadtmitte with the results of a tracker, as the motmetrics wheel has."""
    folder = Path(motmetrics.__file__).parent / "data"
    truth = {("", name): _rows(folder / name / "gt.txt") for name in TUD}
    found = {("", name): _rows(folder / name / "test.txt") for name in TUD}
    for key, frames in truth.items():
        frames.update({frame: [] for frame in found[key] if frame not in frames})
    return Case(make_annotations(truth), make_annotations(found))


def _rows(path: Path) -> dict[int, list[Thing]]:
    """MOTChallenge text: frame, id, left, top, width, height, then what is not needed here."""
    frames: defaultdict[int, list[Thing]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        frame, track, left, top, width, height = map(float, line.split(",")[:6])
        box = (left, top, left + width, top + height)
        frames[int(frame)].append(Thing(box, track_id=int(track)))
    return dict(frames)


def sequence_of(scene: Case, name: str) -> Case:
    """One sequence of a scene."""

    def part(side: Annotations) -> Annotations:
        wanted = np.array([key.sequence == name for key in side.sequences])
        return side.take_frames(wanted[side.frame_sequences])

    return Case(part(scene.truth), part(scene.detections))


Frame = tuple[IntArray, FloatArray]
"""Track ids and boxes."""


def frames_of(side: Annotations) -> dict[int, Frame]:
    """Frames of a side that has one sequence, objects in the order of their ids."""
    frames = {}
    for row, number in enumerate(side.frame_numbers.tolist()):
        objects = np.arange(side.frame_starts[row], side.frame_starts[row + 1])
        objects = objects[np.argsort(side.track_ids[objects])]
        frames[number] = (side.track_ids[objects], side.coordinates[objects])
    return frames


def iou_table(first: FloatArray, second: FloatArray) -> FloatArray:
    """(M, N) IoU of boxes."""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    shared = np.clip(high - low, 0, None).prod(axis=2)
    areas = [(side[:, 2:] - side[:, :2]).prod(axis=1) for side in (first, second)]
    table: FloatArray = shared / (areas[0][:, None] + areas[1][None, :] - shared)
    return table


def trackeval_data(scene: Case) -> dict[str, Any]:
    """A scene of one sequence in the form of trackeval's metrics."""
    truth, found = frames_of(scene.truth), frames_of(scene.detections)
    nothing: Frame = (np.zeros(0, dtype=np.int64), np.zeros((0, 4)))
    sides = [[side.get(number, nothing) for number in sorted(truth)] for side in (truth, found)]
    names = [np.unique(np.concatenate([ids for ids, _ in side])) for side in sides]
    dense = [
        [np.searchsorted(known, ids) for ids, _ in side]
        for known, side in zip(names, sides, strict=True)
    ]
    return {
        "num_timesteps": len(truth),
        "gt_ids": dense[0],
        "tracker_ids": dense[1],
        "similarity_scores": [
            iou_table(one, other) for (_, one), (_, other) in zip(*sides, strict=True)
        ],
        "num_gt_dets": sum(map(len, dense[0])),
        "num_tracker_dets": sum(map(len, dense[1])),
        "num_gt_ids": len(names[0]),
        "num_tracker_ids": len(names[1]),
    }


def motmetrics_accumulator(scene: Case) -> Any:
    """A scene of one sequence in the form of motmetrics, objects in the order of their ids."""
    truth, found = frames_of(scene.truth), frames_of(scene.detections)
    nothing: Frame = (np.zeros(0, dtype=np.int64), np.zeros((0, 4)))
    accumulator = motmetrics.MOTAccumulator()
    for number in sorted(truth):
        ids, boxes = truth[number]
        other_ids, other_boxes = found.get(number, nothing)
        distances = 1 - iou_table(boxes, other_boxes)
        distances[distances > 0.5] = np.nan
        accumulator.update(ids, other_ids, distances, frameid=number)
    return accumulator

"""Dots over many sequences: the truth of any frame, and detections that differ from it.

The number of a frame determines its content, so the numbers alone are enough to compare data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from tests.server import scene
from tests.server.domain.test_scoring import library_report

from vidscore_protos.v1 import annotations_pb2

FRAMES_PER_SEQUENCE = 5
"""The number that spotGEO allows."""

Points = list[tuple[float, float]]


def place(index: int) -> tuple[str, int]:
    """Sequence and frame number of a frame."""
    return f"{index // FRAMES_PER_SEQUENCE + 1}", index % FRAMES_PER_SEQUENCE + 1


def truth_of(index: int) -> Points:
    """The objects of a frame."""
    chance = np.random.default_rng([1, index])
    return _spread(chance, int(chance.integers(0, 4)))


def detections_of(index: int) -> Points:
    """The detections of a frame: some objects, slightly displaced, and a false positive."""
    chance = np.random.default_rng([2, index])
    found = [
        (x + float(chance.normal(0, 3)), y + float(chance.normal(0, 3)))
        for x, y in truth_of(index)
        if chance.random() < 0.8
    ]
    return found + _spread(chance, int(chance.integers(0, 2)))


def batch(
    indices: Sequence[int], objects_of: Callable[[int], Points] = detections_of
) -> annotations_pb2.AnnotationBatch:
    """A batch of frames, in their order."""
    return scene.batch(
        (("", place(index)[0]), place(index)[1], objects_of(index)) for index in indices
    )


def truth(frame_count: int) -> annotations_pb2.AnnotationBatch:
    """The truth of the first frames."""
    return batch(range(frame_count), truth_of)


def batch_report(frame_count: int, sent: Iterable[int]) -> bytes:
    """The report over the sent frames, computed directly from the truth of all frames."""
    return library_report(truth(frame_count), batch(sorted(sent)))


def _spread(chance: np.random.Generator, count: int) -> Points:
    return [(float(x), float(y)) for x, y in chance.uniform((10, 10), (620, 460), (count, 2))]

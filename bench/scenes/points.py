"""Scenes of points: sparse ones as in the spotGEO challenge, and crowded ones."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import orjson

from vidscore_evaluators.annotations import POINT, Annotations, SequenceKey
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.validation import Columns, build_annotations

FRAMES_PER_SEQUENCE = 5
SEQUENCES = 5120
"""Four times the 1,280 sequences of the challenge's training set."""

SEQUENCES_BY_OBJECTS = (325, 406, 221, 124, 95, 53, 30, 15, 9, 1, 1)
"""Number of sequences of the training set with 0, 1, ..., 10 objects in each frame."""

WIDTH_PX, HEIGHT_PX = 640, 480
DETECTED = 0.9
FALSE_ALARMS_PER_FRAME = 0.4
LOCALISATION_PX = 2.0
CROWD = 25
CROWDED_FRAMES = 5120


def sparse(sequences: int) -> tuple[Annotations, Annotations]:
    """Truth and detections with the challenge's distribution of objects per sequence."""
    random = np.random.default_rng(1)
    shares = np.array(SEQUENCES_BY_OBJECTS) / sum(SEQUENCES_BY_OBJECTS)
    objects = random.choice(len(shares), size=sequences, p=shares)
    counts = np.repeat(objects, FRAMES_PER_SEQUENCE)
    frames = np.repeat(np.arange(len(counts)), counts)
    points = random.uniform((0, 0), (WIDTH_PX - 1, HEIGHT_PX - 1), size=(len(frames), 2))
    return _sides(random, counts, frames, points, FALSE_ALARMS_PER_FRAME)


def crowded(frame_count: int, spread_px: float) -> tuple[Annotations, Annotations]:
    """Frames with a cluster of `CROWD` objects each, normally distributed around its centre.

    Args:
        frame_count: Number of frames.
        spread_px: Standard deviation along each axis.
    """
    random = np.random.default_rng(2)
    counts = np.full(frame_count, CROWD)
    frames = np.repeat(np.arange(frame_count), counts)
    middles = random.uniform((200, 150), (440, 330), size=(frame_count, 2))
    points = middles[frames] + random.normal(scale=spread_px, size=(len(frames), 2))
    return _sides(random, counts, frames, points, FALSE_ALARMS_PER_FRAME)


def write_json(annotations: Annotations, path: Path) -> None:
    """Write a file in the form of the challenge."""
    starts = annotations.frame_starts.tolist()
    coordinates = annotations.coordinates.tolist()
    frames = zip(
        annotations.frame_sequences.tolist(), annotations.frame_numbers.tolist(), strict=True
    )
    entries = [
        {
            "sequence_id": int(annotations.sequences[sequence].sequence),
            "frame": number,
            "num_objects": starts[row + 1] - starts[row],
            "object_coords": coordinates[starts[row] : starts[row + 1]],
        }
        for row, (sequence, number) in enumerate(frames)
    ]
    path.write_bytes(orjson.dumps(entries))


def _sides(
    random: np.random.Generator,
    counts: IntArray,
    frames: IntArray,
    points: FloatArray,
    false_alarms: float,
) -> tuple[Annotations, Annotations]:
    found = random.random(len(frames)) < DETECTED
    near = points[found] + random.normal(scale=LOCALISATION_PX, size=(int(found.sum()), 2))
    extra = np.minimum(random.poisson(false_alarms, size=len(counts)), 30 - counts)
    extra_frames = np.repeat(np.arange(len(counts)), extra)
    anywhere = random.uniform((0, 0), (WIDTH_PX - 1, HEIGHT_PX - 1), size=(len(extra_frames), 2))
    detection_frames = np.concatenate([frames[found], extra_frames])
    order = np.lexsort((random.random(len(detection_frames)), detection_frames))
    detections = np.concatenate([near, anywhere])[order]
    detection_counts = np.bincount(detection_frames, minlength=len(counts))
    return _annotations(counts, points), _annotations(detection_counts, detections)


def _annotations(counts: IntArray, points: FloatArray) -> Annotations:
    frame_count = len(counts)
    sequence_count = -(-frame_count // FRAMES_PER_SEQUENCE)
    return build_annotations(
        Columns(
            arity=POINT,
            sequences=[SequenceKey("", str(number + 1)) for number in range(sequence_count)],
            frame_sequences=np.arange(frame_count) // FRAMES_PER_SEQUENCE,
            frame_numbers=np.arange(frame_count) % FRAMES_PER_SEQUENCE + 1,
            object_counts=counts,
            coordinates=np.clip(points, 0.0, (WIDTH_PX - 1.0, HEIGHT_PX - 1.0)),
        )
    )


def frame_lists(annotations: Annotations) -> list[list[list[float]]]:
    """The coordinates of each frame, as the challenge's scorer gets them from JSON."""
    coordinates = annotations.coordinates.tolist()
    bounds = pairwise(annotations.frame_starts.tolist())
    return [coordinates[start:stop] for start, stop in bounds]

"""Scenes of boxes: domains like those of Neovision2, images of many classes, and tracks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vidscore_evaluators.annotations import BOX, QUADRILATERAL, Annotations, ObjectFlag, SequenceKey
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.validation import Columns, build_annotations

WIDTH_PX, HEIGHT_PX = 1920.0, 1080.0
DETECTED = 0.9
RIGHT_LABEL = 0.95


@dataclass(frozen=True, eq=False)
class Boxes:
    """N boxes in F frames, frame by frame.

    Attributes:
        frame_count: Number of frames F.
        frames: (N,) ascending frame of each box.
        corners: (N, 4) x1, y1, x2, y2.
        labels: (N,) class of each box.
        confidences: (N,) in [0, 1].
        tracks: (N,) track ids.
        flags: (N,) bits of `ObjectFlag`.
    """

    frame_count: int
    frames: IntArray
    corners: FloatArray
    labels: IntArray
    confidences: FloatArray
    tracks: IntArray
    flags: IntArray

    def take(self, rows: IntArray | BoolArray) -> Boxes:
        """Some of the boxes; `rows` must keep the frames ascending."""
        return Boxes(
            self.frame_count,
            self.frames[rows],
            self.corners[rows],
            self.labels[rows],
            self.confidences[rows],
            self.tracks[rows],
            self.flags[rows],
        )

    def join(self, other: Boxes) -> Boxes:
        """The boxes of both, frame by frame."""
        joined = Boxes(
            self.frame_count,
            *(
                np.concatenate([getattr(self, name), getattr(other, name)])
                for name in ("frames", "corners", "labels", "confidences", "tracks", "flags")
            ),
        )
        return joined.take(np.argsort(joined.frames, kind="stable"))


def random_boxes(
    random: np.random.Generator, counts: IntArray, class_count: int, sides_px: tuple[float, float]
) -> Boxes:
    """Boxes anywhere in the image.

    Args:
        random: Source of random numbers.
        counts: (F,) number of boxes in each frame.
        class_count: Number of classes.
        sides_px: Minimum and maximum side; the logarithm is distributed uniformly.
    """
    total = int(counts.sum())
    sides = np.exp(random.uniform(np.log(sides_px[0]), np.log(sides_px[1]), size=(total, 2)))
    low = random.uniform(size=(total, 2)) * ((WIDTH_PX, HEIGHT_PX) - sides)
    return Boxes(
        frame_count=len(counts),
        frames=np.repeat(np.arange(len(counts)), counts),
        corners=_hundredths(np.hstack([low, low + sides])),
        labels=random.integers(class_count, size=total),
        confidences=_confidences(random, total),
        tracks=np.arange(total),
        flags=np.zeros(total, dtype=np.int64),
    )


def detected(random: np.random.Generator, truth: Boxes, jitter: float, class_count: int) -> Boxes:
    """Simulated detections of the truth: most objects, a little displaced, some mislabelled.

    Args:
        random: Source of random numbers.
        truth: The truth.
        jitter: Standard deviation of a corner, as a fraction of the box's sides.
        class_count: Number of classes.
    """
    found = truth.take(random.random(len(truth.frames)) < DETECTED)
    count = len(found.frames)
    sides = found.corners[:, 2:] - found.corners[:, :2]
    corners = found.corners + random.normal(scale=jitter, size=(count, 4)) * np.tile(sides, 2)
    corners[:, 2:] = np.maximum(corners[:, 2:], corners[:, :2] + 1.0)
    wrong = random.random(count) >= RIGHT_LABEL
    labels = np.where(wrong, random.integers(class_count, size=count), found.labels)
    return Boxes(
        truth.frame_count,
        found.frames,
        _hundredths(corners),
        labels,
        _confidences(random, count),
        found.tracks,
        np.zeros(count, dtype=np.int64),
    )


def annotations_of(
    boxes: Boxes,
    sequences: list[SequenceKey],
    labels: tuple[str, ...],
    *,
    arity: int = BOX,
) -> Annotations:
    """Boxes as annotations.

    Args:
        boxes: The boxes; frames fall evenly on the sequences.
        sequences: Names of the sequences.
        labels: Names of the classes.
        arity: 4 for upright boxes, 8 for their four corners.
    """
    length = -(-boxes.frame_count // len(sequences))
    frames = np.arange(boxes.frame_count)
    return build_annotations(
        Columns(
            arity=arity,
            sequences=sequences,
            labels=labels,
            frame_sequences=frames // length,
            frame_numbers=frames % length,
            object_counts=np.bincount(boxes.frames, minlength=boxes.frame_count),
            coordinates=four_corners(boxes.corners) if arity == QUADRILATERAL else boxes.corners,
            label_indices=boxes.labels,
            confidences=boxes.confidences,
            track_ids=boxes.tracks,
            object_flags=boxes.flags,
        )
    )


def four_corners(corners: FloatArray) -> FloatArray:
    """(N, 8) coordinates of the four corners of (N, 4) boxes."""
    return corners[:, [0, 1, 2, 1, 2, 3, 0, 3]]


def flagged(boxes: Boxes, rows: BoolArray, flag: ObjectFlag) -> Boxes:
    """The boxes with a flag set on some of them."""
    return replace(boxes, flags=boxes.flags | (rows * np.int64(flag)))


def tracks(
    random: np.random.Generator, frame_count: int, object_count: int, lifetime: int | None = None
) -> tuple[Boxes, Boxes]:
    """Objects that move through the image, and the tracks of a simulated tracker.

    Every frame has the same number of objects. The tracker misses some, adds some, and sometimes
    changes an identity.

    Args:
        random: Source of random numbers.
        frame_count: Frames of the sequence.
        object_count: Objects in each frame.
        lifetime: Number of frames after which a new object replaces an object; None: all objects
            are in all frames.
    """
    sides = random.uniform((30, 60), (80, 200), size=(object_count, 2))
    steps = random.normal(scale=3.0, size=(frame_count, object_count, 2))
    start = random.uniform((0, 0), (WIDTH_PX - 100, HEIGHT_PX - 250), size=(object_count, 2))
    low = (start + np.cumsum(steps, axis=0)).reshape(-1, 2)
    total = frame_count * object_count
    truth = Boxes(
        frame_count,
        np.repeat(np.arange(frame_count), object_count),
        _hundredths(np.hstack([low, low + np.tile(sides, (frame_count, 1))])),
        np.zeros(total, dtype=np.int64),
        np.ones(total),
        np.tile(np.arange(1, object_count + 1), frame_count),
        np.zeros(total, dtype=np.int64),
    )
    found = detected(random, truth, 0.05, 1)
    changes = np.cumsum(random.random((frame_count, object_count)) < 0.004, axis=0)
    ids = found.tracks + object_count * changes[found.frames, found.tracks - 1]
    if lifetime is not None:
        # Staggered, so that the objects are not all replaced in the same frame.
        ages = np.arange(frame_count)[:, None] + np.arange(object_count) * lifetime // object_count
        generations = object_count * (ages // lifetime)
        ids += (int(ids.max()) + 1) * generations[found.frames, found.tracks - 1]
        truth = replace(truth, tracks=truth.tracks + generations.reshape(-1))
    false = random_boxes(random, random.poisson(1.0, size=frame_count), 1, (40.0, 120.0))
    lost = replace(false, tracks=false.tracks + 1 + int(ids.max(initial=0)))
    return truth, replace(found, tracks=ids).join(lost)


def _hundredths(corners: FloatArray) -> FloatArray:
    return np.round(corners, 2)


def _confidences(random: np.random.Generator, count: int) -> FloatArray:
    """Random confidences with four decimals, as detectors write them."""
    return np.round(random.beta(4.0, 2.0, size=count), 4)

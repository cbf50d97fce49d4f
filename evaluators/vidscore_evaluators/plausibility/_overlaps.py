"""Overlap of the two sides of a sample, unchanged and under other readings."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct, structs

from vidscore_evaluators.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    expand_runs,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.geometry import overlap_ratios
from vidscore_evaluators.plausibility.sample import (
    DETECTIONS_PER_FRAME,
    OBJECTS_PER_FRAME,
    SAMPLE_ROWS,
)

MOST_FRAMES = 2000
"""Maximum number of frames that are examined."""

_LEAST_SPREAD = 0.5
"""Minimum diagonal of a scene of points, as a fraction of their distance from the origin."""

POINT_REACH = 0.02
"""Distance from which two points have nothing in common, as a fraction of the scene's diagonal."""


LIES_ON = 0.5
"""Overlap from which a box counts as lying on the other one; few boxes reach it by chance."""

_LABEL, _CONFIDENCE, _TRACK = 6, 7, 8
"""Columns of a sample's table after frame, side and coordinates."""


class Sample(Struct, frozen=True, eq=False):
    """Boxes of both sides in F frames.

    Attributes:
        blocks: (F,) block of each frame.
        numbers: (F,) its frame number.
        starts: For the truth and the detections, (F + 1,) offsets into their boxes.
        boxes: For the truth and the detections, their boxes as they were given.
        labels: For the truth and the detections, a number for the label of each box; None if an
            older version made the sample.
        confidences: For the truth and the detections; None for older samples.
        tracks: For the truth and the detections, track ids; None for older samples.
        points: Whether the boxes are points.
    """

    blocks: IntArray
    numbers: FloatArray
    starts: tuple[IntArray, IntArray]
    boxes: tuple[FloatArray, FloatArray]
    labels: tuple[FloatArray, FloatArray] | None
    confidences: tuple[FloatArray, FloatArray] | None
    tracks: tuple[FloatArray, FloatArray] | None
    points: bool

    @property
    def frame_count(self) -> int:
        """Number of frames F."""
        return len(self.numbers)

    @property
    def neighbours(self) -> IntArray:
        """(K,) frames whose successor in the sample is the next frame of the same video."""
        follows = (np.diff(self.blocks) == 0) & (np.diff(self.numbers) == 1)
        return np.flatnonzero(follows)

    @property
    def crowded(self) -> BoolArray:
        """(F,) whether each frame has more objects than a sample has detections of it."""
        crowded: BoolArray = np.diff(self.starts[0]) > DETECTIONS_PER_FRAME
        return crowded

    @property
    def partial(self) -> BoolArray:
        """(F,) whether each frame has so many objects that some may not be in the sample."""
        partial: BoolArray = np.diff(self.starts[0]) >= OBJECTS_PER_FRAME
        return partial

    @property
    def truth_twice(self) -> Sample:
        """A sample with the truth on both sides."""
        starts, boxes = self.starts[0], self.boxes[0]
        return structs.replace(self, starts=(starts, starts), boxes=(boxes, boxes))

    def take_frames(self, frames: IntArray) -> Sample:
        """Some of the frames, ascending."""
        counts = [np.diff(starts)[frames] for starts in self.starts]
        rows = [
            expand_runs(starts[frames], count)
            for starts, count in zip(self.starts, counts, strict=True)
        ]

        def both(columns: tuple[FloatArray, FloatArray] | None) -> Any:
            return columns and tuple(map(np.take, columns, rows, (0, 0)))

        return structs.replace(
            self,
            blocks=self.blocks[frames],
            numbers=self.numbers[frames],
            starts=tuple(map(starts_from_counts, counts)),
            boxes=both(self.boxes),
            labels=both(self.labels),
            confidences=both(self.confidences),
            tracks=both(self.tracks),
        )


def sample_of(blocks: IntArray, numbers: FloatArray, *, points: bool) -> Sample:
    """Sort the rows of a sample's table into frames.

    Args:
        blocks: (K,) block of each row, ascending.
        numbers: (K, 9) frame, side, coordinates, label, confidence and track of each row, in the
            table's order; older versions have fewer columns.
        points: Whether the boxes are points.
    """
    if len(blocks) == SAMPLE_ROWS and blocks[0] != blocks[-1]:
        whole = blocks < blocks[-1]  # the last block may have been cut
        blocks, numbers = blocks[whole], numbers[whole]
    first = run_starts(blocks, numbers[:, 0])[: MOST_FRAMES + 1]
    if len(first) > MOST_FRAMES:
        blocks, numbers, first = blocks[: first[-1]], numbers[: first[-1]], first[:-1]
    frames = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(blocks))))
    of_side = [numbers[:, 1] == side for side in (0, 1)]
    starts = [
        starts_from_counts(np.bincount(frames[rows], minlength=len(first))) for rows in of_side
    ]

    def column(index: int) -> tuple[FloatArray, FloatArray] | None:
        if index >= numbers.shape[1]:
            return None
        return numbers[of_side[0], index], numbers[of_side[1], index]

    return Sample(
        blocks=blocks[first],
        numbers=numbers[first, 0],
        starts=(starts[0], starts[1]),
        boxes=(numbers[of_side[0], 2:_LABEL], numbers[of_side[1], 2:_LABEL]),
        labels=column(_LABEL),
        confidences=column(_CONFIDENCE),
        tracks=column(_TRACK),
        points=points,
    )


class Fit(Struct, frozen=True, eq=False, dict=True):
    """How well boxes overlap.

    Attributes:
        of_truth: (T,) best overlap of each box of the truth with a detection of its frame.
        of_detections: (D,) best overlap of each detection with a box of the truth.
    """

    of_truth: FloatArray
    of_detections: FloatArray

    @cached_property
    def means(self) -> tuple[float, float]:
        """Mean best overlap of the truth, and of the detections."""
        return _mean(self.of_truth), _mean(self.of_detections)

    def shares(self, overlap: float) -> tuple[float, float]:
        """Fractions of the truth's boxes, and of the detections, with at least this overlap."""
        return _mean(self.of_truth >= overlap), _mean(self.of_detections >= overlap)

    def take(self, pairing: Pairing) -> Fit:
        """The fit of the boxes in a pairing only, from that of all frames."""
        return Fit(self.of_truth[pairing.truth_rows], self.of_detections[pairing.detection_rows])


class Pairing:
    """The truth of some frames paired with the detections of given frames.

    Args:
        sample: The sample.
        truth_frames: (K,) frames whose truth is used.
        detection_frames: (K,) frames whose detections are compared with it.
    """

    def __init__(self, sample: Sample, truth_frames: IntArray, detection_frames: IntArray) -> None:
        """Number all pairs of boxes that share a frame."""
        self.truth_frames = truth_frames
        truth_counts = np.diff(sample.starts[0])[truth_frames]
        detection_counts = np.diff(sample.starts[1])[detection_frames]
        self.truth_rows = expand_runs(sample.starts[0][truth_frames], truth_counts)
        self.detection_rows = expand_runs(sample.starts[1][detection_frames], detection_counts)
        self.frames_of_truth = np.repeat(np.arange(len(truth_frames)), truth_counts)
        first = starts_from_counts(detection_counts)[:-1]
        self._partners = detection_counts[self.frames_of_truth]
        self._left = np.repeat(np.arange(len(self.truth_rows)), self._partners)
        self._right = expand_runs(first[self.frames_of_truth], self._partners)
        self._by_detection = np.argsort(self._right, kind="stable")
        self._points = sample.points
        self.reach_px = _diagonal(sample.boxes[0]) * POINT_REACH if sample.points else 0.0

    def fit(self, truth: FloatArray, detections: FloatArray) -> Fit:
        """How well boxes overlap.

        Args:
            truth: (N, 4) upright boxes of the sample's truth.
            detections: (M, 4) upright boxes of its detections.
        """
        return self.fit_of(self.overlaps(truth, detections))

    def fit_of(self, overlaps: FloatArray) -> Fit:
        """How well boxes overlap, given the overlaps of all pairs."""
        by_detection = self._by_detection
        return Fit(
            _best(overlaps, self._left, len(self.truth_rows)),
            _best(overlaps[by_detection], self._right[by_detection], len(self.detection_rows)),
        )

    @property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """Rows of the sample's truth and detections that share a frame; the former ascend."""
        return self.truth_rows.take(self._left), self.detection_rows.take(self._right)

    def overlaps(self, truth: FloatArray, detections: FloatArray) -> FloatArray:
        """Overlaps of all pairs, of boxes as for `fit`."""
        left, right = self.pairs
        return self._overlaps(truth.take(left, axis=0), detections.take(right, axis=0))

    def count_things(self, boxes: FloatArray) -> float:
        """Number of distinct things among N boxes of any frames: boxes on each other count once.

        With a fraction r of such pairs, it is N / (1 + (N - 1) r), the effective size of a sample
        of clusters (Kish 1965, Survey Sampling, 5.4).
        """
        count = len(boxes)
        left, right = boxes.repeat(count, axis=0), np.tile(boxes, (count, 1))
        lying = int(np.count_nonzero(self._overlaps(left, right) >= LIES_ON))  # each also on itself
        return count * count / max(1, count, lying)

    def _overlaps(self, left: FloatArray, right: FloatArray) -> FloatArray:
        if not self._points:
            return overlap_ratios(left, right)
        distances = np.hypot(left[:, 0] - right[:, 0], left[:, 1] - right[:, 1])
        shares: FloatArray = np.maximum(0.0, 1.0 - distances / max(self.reach_px, 1e-300))
        return shares


def _diagonal(points: FloatArray) -> float:
    """Extent of points, at least a fraction of their distance from the origin.

    A single object that stands still covers only a small part of its scene.
    """
    if len(points) == 0:
        return 0.0
    spread = np.hypot(*np.ptp(points[:, :2], axis=0))
    from_origin = np.hypot(*np.abs(points[:, :2]).max(axis=0))
    return float(max(spread, _LEAST_SPREAD * from_origin))


def _best(overlaps: FloatArray, rows: IntArray, count: int) -> FloatArray:
    """(count,) greatest overlap of each row, 0 for those without a pair; rows ascend."""
    best = np.zeros(count)
    first = run_starts(rows)
    if len(first):
        best[rows[first]] = np.maximum.reduceat(overlaps, first)
    return best


def _mean(values: FloatArray | BoolArray) -> float:
    return float(values.mean()) if len(values) else 0.0

"""Blocks: the parts of frames in which boxes are to be merged.

Merging boxes may touch off more merging around them, but not beyond what hangs together by
overlaps. So a frame falls into blocks, which have nothing to do with each other, and boxes that
stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, marked
from vidscore_evaluators.geometry import extend_boxes, identical
from vidscore_evaluators.pairs import Pairs
from vidscore_evaluators.protocols.neovision2.preparation import Scene, Side
from vidscore_evaluators.shapes import (
    OverlapRule,
    Shapes,
    boxes_as_shapes,
    join_groups,
    merge_overlapping,
    overlapping_pairs,
    overlapping_self_pairs,
)

STEADY = -1
"""Stands for the block of a box that is merged with nothing."""

REPEATED = -2
"""Stands for the block of a box that is identical to another, which stands for both."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """B blocks in which something is to be merged.

    Attributes:
        count: Number of blocks B.
        of_objects: (N,) block of each annotated object, or `STEADY`, or `REPEATED`.
        of_detections: (M,) block of each detection, likewise.
    """

    count: int
    of_objects: IntArray
    of_detections: IntArray


def find_blocks(scene: Scene, over: OverlapRule) -> Blocks:
    """Find what is to be merged, and everything that this can have to do with.

    Of identical boxes only the surest stays: it is there at every confidence level at which any
    of them is. A block begins as boxes that are to be merged, and takes in whatever overlaps its
    envelope, until nothing does. What is merged inside a block stays inside its envelope, so that
    neither other boxes nor other blocks ever meet it.

    Args:
        scene: What is matched; don't-care objects are not merged, but are taken in.
        over: Says which overlap ratios merge two boxes.
    """
    objects, detections = scene.objects, scene.detections
    real = np.flatnonzero(~scene.dont_care)
    twins = overlapping_self_pairs(_some(objects, real), over)
    object_twins = Pairs(real[twins.left], real[twins.right])
    detection_twins = overlapping_self_pairs(detections.shapes, over)
    clusters = _Clusters(
        (objects, detections),
        (
            _first_labels(objects, object_twins, np.zeros(len(scene.dont_care))),
            _first_labels(detections, detection_twins, scene.confidences),
        ),
    )
    clusters.grow()
    return Blocks(len(clusters.shapes), *clusters.labels)


_SEED = 0
"""First label of a box that is to be merged with another that is not identical to it."""


def _first_labels(side: Side, twins: Pairs, priorities: FloatArray) -> IntArray:
    """Label what is to be merged as `_SEED`, and what is `REPEATED` and `STEADY`.

    Args:
        side: The boxes.
        twins: Pairs to be merged.
        priorities: (N,) the greatest decides which of identical boxes stays; the first of equals.
    """
    boxes, left, right = side.shapes.boxes, twins.left, twins.right
    same = identical(boxes.take(left, axis=0), boxes.take(right, axis=0))
    gap = priorities[left] - priorities[right]
    left_stays = (gap > 0.0) | ((gap == 0.0) & (left < right))
    labels = np.full(len(boxes), STEADY, dtype=np.int64)
    labels[np.where(left_stays, right, left)[same]] = REPEATED
    rest = (labels[left] != REPEATED) & (labels[right] != REPEATED)
    labels[left[rest]] = _SEED
    labels[right[rest]] = _SEED
    return labels


class _Clusters:
    """Clusters of the boxes of two sides, as their envelopes.

    Args:
        sides: The sides.
        labels: For each side `_SEED` for boxes that clusters begin with, other labels for others.

    Attributes:
        shapes: Envelopes of the clusters, frame by frame.
        labels: For each side the cluster of each box, or `STEADY`, or `REPEATED`.
    """

    def __init__(self, sides: tuple[Side, Side], labels: tuple[IntArray, IntArray]) -> None:
        """Begin with every seed as a cluster of its own."""
        self._sides = sides
        self.labels = labels
        seeds = [np.flatnonzero(mine == _SEED) for mine in labels]
        begun = [_some(side, rows) for side, rows in zip(sides, seeds, strict=True)]
        self.shapes, order = join_groups(*begun)
        numbers = np.empty(len(order), dtype=np.int64)
        numbers[order] = np.arange(len(order))
        labels[0][seeds[0]], labels[1][seeds[1]] = np.split(numbers, [len(seeds[0])])
        self._fresh: BoolArray = np.ones(len(order), dtype=np.bool_)

    def grow(self) -> None:
        """Merge what overlaps and take in what lies about, until clusters are by themselves."""
        while self._fresh.any():
            self._merge()
            self._take_in()

    def _merge(self) -> None:
        merged = merge_overlapping(self.shapes, _at_all)
        if merged.shapes is self.shapes:
            return
        self.shapes = merged.shapes
        for labels in self.labels:
            inside = np.flatnonzero(labels >= 0)
            labels[inside] = merged.labels[labels[inside]]
        self._fresh = marked(len(self.shapes), merged.labels[self._fresh])

    def _take_in(self) -> None:
        """Take in the boxes that overlap a fresh cluster; fresh are then those that grew."""
        groups = self.shapes.groups
        frames_at_work = marked(len(self.shapes.group_starts) - 1, groups[self._fresh])
        clusters = np.flatnonzero(self._fresh)
        shapes = self.shapes.take(clusters, np.searchsorted(clusters, self.shapes.group_starts))
        boxes = self.shapes.boxes.copy()
        self._fresh = np.zeros(len(boxes), dtype=np.bool_)
        for side, labels in zip(self._sides, self.labels, strict=True):
            loose = np.flatnonzero(frames_at_work[side.frames] & (labels == STEADY))
            pairs = overlapping_pairs(shapes, _some(side, loose), _at_all)
            taken, takers = loose[pairs.right], clusters[pairs.left]
            # Clusters that share a box both grow around it, and so are merged next.
            extend_boxes(boxes, takers, side.shapes.boxes.take(taken, axis=0))
            labels[taken] = takers
            self._fresh[takers] = True
        self.shapes = boxes_as_shapes(self.shapes.group_starts, boxes)


def _some(side: Side, rows: IntArray) -> Shapes:
    """Some boxes of a side, given by ascending rows, in its frames."""
    return side.shapes.take(rows, np.searchsorted(rows, side.shapes.group_starts))


def _at_all(ratios: FloatArray) -> BoolArray:
    """Whether shapes overlap, however little."""
    overlap: BoolArray = ratios > 0.0
    return overlap

"""The detection-only score: labels ignored, overlapping boxes merged (section 3.3).

Merging is repeated at every confidence level, because an additional detection may change the merged
boxes. It may trigger more merging around it, but only among boxes that overlaps connect. So a frame
is divided into independent *clusters*, and steady boxes, which are most of the image and are
matched as they are, at all levels in one pass. There is one copy of every cluster for each
confidence level that occurs in it, with the detections that reach that level. The copies are merged
and matched as if they were frames.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    expand_runs,
    marked,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.geometry import extend_boxes, identical
from vidscore_evaluators.matching import match_maximum_in_stages
from vidscore_evaluators.neovision2._input import Neovision2Parameters, ObjectBoxes, ProtocolInput
from vidscore_evaluators.neovision2.matching import CountChanges, join_changes
from vidscore_evaluators.pairs import Pairs
from vidscore_evaluators.shapes import (
    Merged,
    MergedShape,
    OverlapRule,
    Shapes,
    boxes_as_shapes,
    join_groups,
    merge_overlapping,
    overlapping_pairs,
    overlapping_self_pairs,
)
from vidscore_evaluators.similarity import TOLERANCE

SHAPES_PER_CHUNK = 1 << 20
"""Number of shapes in copies of clusters that are processed together; it bounds memory."""


class DetectionOnly(Struct, frozen=True, eq=False):
    """Changes and counts of the detection-only score.

    Attributes:
        outcomes: Changes of the counts; classes are 0.
        object_counts: (S,) ground-truth objects of each sequence, after merging.
    """

    outcomes: CountChanges
    object_counts: IntArray


class _Copies(Struct, frozen=True, eq=False):
    """K copies of clusters, sorted by cluster and then by descending confidence level.

    Attributes:
        clusters: (K,) cluster of each copy.
        levels: (K,) level of each copy; it holds the detections that reach it.
        first: (K,) first detection of each copy, among the detections of all clusters.
        counts: (K,) detections in each copy.
    """

    clusters: IntArray
    levels: IntArray
    first: IntArray
    counts: IntArray


class MergeRule(Struct, frozen=True):
    """The rule of merging: which boxes merge, what they become, and which results may match.

    Attributes:
        threshold: The overlap ratio of section 3.1.
        merged_shape: Result of merging overlapping boxes.
    """

    threshold: float
    merged_shape: MergedShape

    @classmethod
    def of(cls, parameters: Neovision2Parameters) -> MergeRule:
        """The rule that the parameters define."""
        return cls(parameters.overlap_threshold, parameters.merged_shape)

    def over(self, ratios: FloatArray) -> BoolArray:
        """(P,) whether each overlap ratio merges two boxes."""
        over: BoolArray = ratios > self.threshold + TOLERANCE
        return over

    def merge(self, shapes: Shapes) -> Merged:
        """Merge the boxes of each group until none overlap."""
        return merge_overlapping(shapes, self.over, self.merged_shape)

    def pairs(self, left: Shapes, right: Shapes) -> Pairs:
        """Pairs of merged boxes of both sides that are allowed to match."""
        least = self.threshold - TOLERANCE
        return overlapping_pairs(left, right, lambda ratios: ratios >= least)


def merge_and_match(
    inputs: ProtocolInput, pairs: Pairs, parameters: Neovision2Parameters
) -> DetectionOnly:
    """Merge and match, ignoring labels.

    Args:
        inputs: The input of the matching.
        pairs: The pairs of an annotated object and a detection that count.
        parameters: Parameters of the evaluator.
    """
    rule = MergeRule.of(parameters)
    clusters = find_merge_clusters(inputs, rule.over)
    steady = _steady_outcomes(inputs, pairs, clusters)
    real = ~inputs.dont_care & (clusters.of_objects == STEADY)
    sequences = inputs.frame_sequences[inputs.objects.frames[real]]
    counts = np.bincount(sequences, minlength=len(inputs.sequence_names))
    if clusters.count == 0:
        return DetectionOnly(steady, counts)
    merging = _Merging(inputs, clusters, rule)
    return DetectionOnly(join_changes(steady, merging.outcomes()), counts + merging.object_counts())


def _steady_outcomes(inputs: ProtocolInput, pairs: Pairs, clusters: MergeClusters) -> CountChanges:
    """The changes of detections that are not merged."""
    steady = clusters.of_detections == STEADY
    # Check both sides: one real object may be steady while another repeats it.
    left_steady = clusters.of_objects == STEADY
    pairs = pairs.take(left_steady[pairs.left] & steady[pairs.right])
    gains = match_maximum_in_stages(
        pairs,
        inputs.dont_care[pairs.left],
        len(inputs.dont_care),
        len(inputs.confidences),
        inputs.confidences,
    )
    # A repeated box changes nothing, but its confidence is a point of the curve.
    alone = clusters.of_detections < 0
    return CountChanges(
        sequences=inputs.frame_sequences[inputs.detections.frames],
        classes=np.zeros(len(steady), dtype=np.int64),
        levels=inputs.levels.of_detections,
        true_positives=gains.first.astype(np.int64),
        false_positives=(steady & ~gains.both).astype(np.int64),
    ).take(alone)


class _Merging:
    """The clusters in which boxes are merged."""

    def __init__(self, inputs: ProtocolInput, clusters: MergeClusters, rule: MergeRule) -> None:
        """Merge the ground truth of each cluster, which is the same at every level."""
        self._inputs = inputs
        self._clusters = clusters
        self._rule = rule
        real, spared = (
            self._of_clusters(inputs.objects.shapes, clusters.of_objects, chosen)
            for chosen in (~inputs.dont_care, inputs.dont_care)
        )
        self._truth = rule.merge(real).shapes
        self._left, order = join_groups(self._truth, spared)
        self._is_spared = order >= len(self._truth)

    def object_counts(self) -> IntArray:
        """(S,) ground-truth objects of each sequence."""
        sequences = self._sequences()[self._truth.groups]
        return np.bincount(sequences, minlength=len(self._inputs.sequence_names))

    def outcomes(self) -> CountChanges:
        """Changes from each copy of a cluster to the next."""
        copies, detections = self._copies()
        matched = np.zeros(len(copies.clusters), dtype=np.int64)
        unexplained = np.zeros(len(copies.clusters), dtype=np.int64)
        for chunk in self._chunks(copies):
            matched[chunk], unexplained[chunk] = self._counts(copies, chunk, detections)
        follows = np.zeros(len(copies.clusters), dtype=np.bool_)
        follows[1:] = copies.clusters[1:] == copies.clusters[:-1]
        return CountChanges(
            sequences=self._sequences()[copies.clusters],
            classes=np.zeros(len(copies.clusters), dtype=np.int64),
            levels=copies.levels,
            true_positives=_changes(matched, follows),
            false_positives=_changes(unexplained, follows),
        )

    def _copies(self) -> tuple[_Copies, Shapes]:
        """Plan the copies; also returns the detections that they consist of."""
        of_detections, levels = self._clusters.of_detections, self._inputs.levels.of_detections
        rows = np.flatnonzero(of_detections >= 0)
        rows = rows[np.lexsort((-levels[rows], of_detections[rows]))]
        clusters, levels = of_detections[rows], levels[rows]
        cluster_starts = starts_from_counts(np.bincount(clusters, minlength=self._clusters.count))
        run = run_starts(clusters, levels)
        first = cluster_starts[clusters[run]]
        counts = np.append(run[1:], len(rows)) - first
        shapes = self._inputs.detections.shapes.take(rows, cluster_starts)
        return _Copies(clusters[run], levels[run], first, counts), shapes

    def _chunks(self, copies: _Copies) -> Iterator[slice]:
        """Cut the copies into chunks of bounded size, each with at least one copy."""
        sizes = copies.counts + self._left.group_counts[copies.clusters]
        before = starts_from_counts(sizes)
        start = 0
        while start < len(sizes):
            stop = int(np.searchsorted(before, before[start] + SHAPES_PER_CHUNK, side="right")) - 1
            stop = max(start + 1, stop)
            yield slice(start, stop)
            start = stop

    def _counts(
        self, copies: _Copies, chunk: slice, detections: Shapes
    ) -> tuple[IntArray, IntArray]:
        """True and false positives of some copies."""
        clusters, counts = copies.clusters[chunk], copies.counts[chunk]
        copied = detections.take(
            expand_runs(copies.first[chunk], counts), starts_from_counts(counts)
        )
        right = self._rule.merge(copied).shapes
        left_counts = self._left.group_counts[clusters]
        left_rows = expand_runs(self._left.group_starts[clusters], left_counts)
        left = self._left.take(left_rows, starts_from_counts(left_counts))
        pairs = self._rule.pairs(left, right)
        spared = self._is_spared[left_rows[pairs.left]]
        gains = match_maximum_in_stages(pairs, spared, len(left), len(right))
        groups = right.groups
        matched = np.bincount(groups[gains.first], minlength=len(clusters))
        return matched, np.bincount(groups[~gains.both], minlength=len(clusters))

    def _of_clusters(self, shapes: Shapes, clusters: IntArray, chosen: BoolArray) -> Shapes:
        """Some of the shapes, with the clusters as their groups."""
        rows = np.flatnonzero(chosen & (clusters >= 0))
        rows = rows[np.argsort(clusters[rows], kind="stable")]
        counts = np.bincount(clusters[rows], minlength=self._clusters.count)
        return shapes.take(rows, starts_from_counts(counts))

    def _sequences(self) -> IntArray:
        """(B,) sequence of each cluster."""
        frames = np.zeros(self._clusters.count, dtype=np.int64)
        for side, clusters in (
            (self._inputs.objects, self._clusters.of_objects),
            (self._inputs.detections, self._clusters.of_detections),
        ):
            inside = clusters >= 0
            frames[clusters[inside]] = side.frames[inside]
        return self._inputs.frame_sequences[frames]


def _changes(values: IntArray, follows: BoolArray) -> IntArray:
    """Differences from the previous value, if that belongs to the same cluster."""
    before = np.where(follows, np.roll(values, 1), 0)
    return values - before


STEADY = -1
"""In place of a cluster, for a box that is not merged."""

REPEATED = -2
"""In place of a cluster, for a box that is identical to another, which represents both."""


class MergeClusters(Struct, frozen=True, eq=False):
    """B clusters in which boxes are merged.

    Attributes:
        count: Number of clusters B.
        of_objects: (N,) cluster of each annotated object, or `STEADY`, or `REPEATED`.
        of_detections: (M,) cluster of each detection, likewise.
    """

    count: int
    of_objects: IntArray
    of_detections: IntArray


def find_merge_clusters(inputs: ProtocolInput, over: OverlapRule) -> MergeClusters:
    """Find the boxes to be merged, and everything that this can affect.

    Of identical boxes only the most confident stays: it is there at every confidence level at which
    any of them is. A cluster begins with boxes to be merged and takes in everything that overlaps
    its envelope, until nothing does. Merging inside a cluster stays inside its envelope, so the
    results never overlap other boxes or other clusters.

    Args:
        inputs: The input of the matching; don't-care objects are not merged, but join clusters.
        over: Whether overlap ratios merge two boxes.
    """
    objects, detections = inputs.objects, inputs.detections
    real = np.flatnonzero(~inputs.dont_care)
    pairs = overlapping_self_pairs(_some(objects, real), over)
    object_pairs = Pairs(real[pairs.left], real[pairs.right])
    detection_pairs = overlapping_self_pairs(detections.shapes, over)
    clusters = _ClusterGrowth(
        (objects, detections),
        (
            _first_labels(objects, object_pairs, np.zeros(len(inputs.dont_care))),
            _first_labels(detections, detection_pairs, inputs.confidences),
        ),
    )
    clusters.grow()
    return MergeClusters(len(clusters.shapes), *clusters.labels)


_SEED = 0
"""First label of a box that is to be merged with another box that differs from it."""


def _first_labels(side: ObjectBoxes, pairs: Pairs, priorities: FloatArray) -> IntArray:
    """Label boxes: `_SEED` if they are to be merged, else `REPEATED` or `STEADY`.

    Args:
        side: The boxes.
        pairs: Pairs to be merged.
        priorities: (N,) of identical boxes the greatest stays; of equals, the first.
    """
    boxes, left, right = side.shapes.boxes, pairs.left, pairs.right
    same = identical(boxes.take(left, axis=0), boxes.take(right, axis=0))
    gap = priorities[left] - priorities[right]
    left_stays = (gap > 0.0) | ((gap == 0.0) & (left < right))
    labels = np.full(len(boxes), STEADY, dtype=np.int64)
    labels[np.where(left_stays, right, left)[same]] = REPEATED
    rest = (labels[left] != REPEATED) & (labels[right] != REPEATED)
    labels[left[rest]] = _SEED
    labels[right[rest]] = _SEED
    return labels


class _ClusterGrowth:
    """Clusters of the boxes of two sides, represented by their envelopes.

    Args:
        sides: The sides.
        labels: For each side, `_SEED` for boxes that begin a cluster, other labels for the rest.

    Attributes:
        shapes: Envelopes of the clusters, frame by frame.
        labels: For each side, the cluster of each box, or `STEADY` or `REPEATED`.
    """

    def __init__(
        self, sides: tuple[ObjectBoxes, ObjectBoxes], labels: tuple[IntArray, IntArray]
    ) -> None:
        """Begin with every seed as its own cluster."""
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
        """Merge overlapping clusters and take in boxes that overlap, until nothing overlaps."""
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
        """Take in boxes that overlap a cluster that has grown; mark the clusters that grow now."""
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
            # Two clusters that share a box both grow around it, and are merged next.
            extend_boxes(boxes, takers, side.shapes.boxes.take(taken, axis=0))
            labels[taken] = takers
            self._fresh[takers] = True
        self.shapes = boxes_as_shapes(self.shapes.group_starts, boxes)


def _some(side: ObjectBoxes, rows: IntArray) -> Shapes:
    """Some boxes of a side, given by ascending rows, in its frames."""
    return side.shapes.take(rows, np.searchsorted(rows, side.shapes.group_starts))


def _at_all(ratios: FloatArray) -> BoolArray:
    """Whether shapes overlap, however little."""
    overlap: BoolArray = ratios > 0.0
    return overlap

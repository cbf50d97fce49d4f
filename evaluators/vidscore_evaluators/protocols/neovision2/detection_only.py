"""The detection-only score: labels ignored, overlapping boxes merged (section 3.3).

Merging is done again at every confidence level, because a detection that joins may change what
others have become. Where nothing is to be merged, which is most of the image, detections can be
matched as they are, at all levels in one pass. The rest lies in blocks. Of every block there is
one copy for each confidence level that occurs in it, holding what reaches that level; the copies
are merged and matched like so many frames.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    expand_runs,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.matching import match_maximum_in_stages
from vidscore_evaluators.pairs import Pairs
from vidscore_evaluators.protocols.neovision2.blocks import STEADY, Blocks, find_blocks
from vidscore_evaluators.protocols.neovision2.outcomes import Outcomes, join_outcomes
from vidscore_evaluators.protocols.neovision2.parameters import TOLERANCE, Neovision2Parameters
from vidscore_evaluators.protocols.neovision2.preparation import Scene
from vidscore_evaluators.shapes import Shapes, join_groups, merge_overlapping, overlapping_pairs

SHAPES_A_CHUNK = 1 << 20
"""Shapes in copies of blocks that are worked on at a time, so that memory stays bounded."""


@dataclass(frozen=True, eq=False)
class DetectionOnly:
    """What the detection-only score is made of.

    Attributes:
        outcomes: Changes of the counts; classes are 0.
        object_counts: (S,) ground-truth objects of each sequence, after merging.
    """

    outcomes: Outcomes
    object_counts: IntArray


@dataclass(frozen=True, eq=False)
class _Copies:
    """K copies of blocks, by block and from the highest confidence level down.

    Attributes:
        blocks: (K,) block of each copy.
        levels: (K,) level of each copy; it holds the detections that reach it.
        first: (K,) first detection of each copy, among the detections of all blocks.
        counts: (K,) detections in each copy.
    """

    blocks: IntArray
    levels: IntArray
    first: IntArray
    counts: IntArray


def detection_only(scene: Scene, pairs: Pairs, parameters: Neovision2Parameters) -> DetectionOnly:
    """Merge and match, whatever the labels.

    Args:
        scene: What is matched.
        pairs: The pairs of an annotated object and a detection that count.
        parameters: Parameters of the evaluator.
    """
    limit = parameters.overlap_threshold + TOLERANCE
    blocks = find_blocks(scene, lambda ratios: ratios > limit)
    steady = _steady_outcomes(scene, pairs, blocks)
    real = ~scene.dont_care & (blocks.of_objects == STEADY)
    sequences = scene.selection.sequences[scene.objects.frames[real]]
    counts = np.bincount(sequences, minlength=len(scene.sequence_names))
    if blocks.count == 0:
        return DetectionOnly(steady, counts)
    merging = _Merging(scene, blocks, parameters)
    return DetectionOnly(
        join_outcomes(steady, merging.outcomes()), counts + merging.object_counts()
    )


def _steady_outcomes(scene: Scene, pairs: Pairs, blocks: Blocks) -> Outcomes:
    """What each detection does that stays as it is."""
    steady = blocks.of_detections == STEADY
    # Both sides: a real object may be steady and another one repeat it.
    left_steady = blocks.of_objects == STEADY
    pairs = pairs.take(left_steady[pairs.left] & steady[pairs.right])
    gains = match_maximum_in_stages(
        pairs,
        scene.dont_care[pairs.left],
        len(scene.dont_care),
        len(scene.confidences),
        scene.confidences,
    )
    # What repeats another changes nothing, but its confidence is a point of the curve.
    alone = blocks.of_detections < 0
    return Outcomes(
        sequences=scene.selection.sequences[scene.detections.frames],
        classes=np.zeros(len(steady), dtype=np.int64),
        levels=scene.levels.of_detections,
        true_positives=gains.first.astype(np.int64),
        false_positives=(steady & ~gains.both).astype(np.int64),
    ).take(alone)


class _Merging:
    """The blocks in which something is to be merged."""

    def __init__(self, scene: Scene, blocks: Blocks, parameters: Neovision2Parameters) -> None:
        """Merge the ground truth of each block, which is the same at every level."""
        self._scene = scene
        self._blocks = blocks
        self._least = parameters.overlap_threshold - TOLERANCE
        self._limit = parameters.overlap_threshold + TOLERANCE
        self._merged_shape = parameters.merged_shape
        real, spared = (
            self._of_blocks(scene.objects.shapes, blocks.of_objects, chosen)
            for chosen in (~scene.dont_care, scene.dont_care)
        )
        self._truth = merge_overlapping(real, self._over, self._merged_shape).shapes
        self._left, order = join_groups(self._truth, spared)
        self._is_spared = order >= len(self._truth)

    def object_counts(self) -> IntArray:
        """(S,) ground-truth objects of each sequence."""
        sequences = self._sequences()[self._truth.groups]
        return np.bincount(sequences, minlength=len(self._scene.sequence_names))

    def outcomes(self) -> Outcomes:
        """Changes from each copy of a block to the next."""
        copies, detections = self._copies()
        matched = np.zeros(len(copies.blocks), dtype=np.int64)
        unexplained = np.zeros(len(copies.blocks), dtype=np.int64)
        for chunk in self._chunks(copies):
            matched[chunk], unexplained[chunk] = self._counts(copies, chunk, detections)
        follows = np.zeros(len(copies.blocks), dtype=np.bool_)
        follows[1:] = copies.blocks[1:] == copies.blocks[:-1]
        return Outcomes(
            sequences=self._sequences()[copies.blocks],
            classes=np.zeros(len(copies.blocks), dtype=np.int64),
            levels=copies.levels,
            true_positives=_changes(matched, follows),
            false_positives=_changes(unexplained, follows),
        )

    def _copies(self) -> tuple[_Copies, Shapes]:
        """Plan the copies; also gives the detections that they are made of."""
        of_detections, levels = self._blocks.of_detections, self._scene.levels.of_detections
        rows = np.flatnonzero(of_detections >= 0)
        rows = rows[np.lexsort((-levels[rows], of_detections[rows]))]
        blocks, levels = of_detections[rows], levels[rows]
        block_starts = starts_from_counts(np.bincount(blocks, minlength=self._blocks.count))
        run = run_starts(blocks, levels)
        first = block_starts[blocks[run]]
        counts = np.append(run[1:], len(rows)) - first
        shapes = self._scene.detections.shapes.take(rows, block_starts)
        return _Copies(blocks[run], levels[run], first, counts), shapes

    def _chunks(self, copies: _Copies) -> Iterator[slice]:
        """Cut the copies into chunks of bounded size, each of one copy at least."""
        sizes = copies.counts + self._left.group_counts[copies.blocks]
        before = starts_from_counts(sizes)
        start = 0
        while start < len(sizes):
            stop = int(np.searchsorted(before, before[start] + SHAPES_A_CHUNK, side="right")) - 1
            stop = max(start + 1, stop)
            yield slice(start, stop)
            start = stop

    def _counts(
        self, copies: _Copies, chunk: slice, detections: Shapes
    ) -> tuple[IntArray, IntArray]:
        """True and false positives of some copies."""
        blocks, counts = copies.blocks[chunk], copies.counts[chunk]
        copied = detections.take(
            expand_runs(copies.first[chunk], counts), starts_from_counts(counts)
        )
        right = merge_overlapping(copied, self._over, self._merged_shape).shapes
        left_counts = self._left.group_counts[blocks]
        left_rows = expand_runs(self._left.group_starts[blocks], left_counts)
        left = self._left.take(left_rows, starts_from_counts(left_counts))
        pairs = overlapping_pairs(left, right, lambda ratios: ratios >= self._least)
        spared = self._is_spared[left_rows[pairs.left]]
        gains = match_maximum_in_stages(pairs, spared, len(left), len(right))
        groups = right.groups
        matched = np.bincount(groups[gains.first], minlength=len(blocks))
        return matched, np.bincount(groups[~gains.both], minlength=len(blocks))

    def _over(self, ratios: FloatArray) -> BoolArray:
        over: BoolArray = ratios > self._limit
        return over

    def _of_blocks(self, shapes: Shapes, blocks: IntArray, chosen: BoolArray) -> Shapes:
        """Some of the shapes, with the blocks as their groups."""
        rows = np.flatnonzero(chosen & (blocks >= 0))
        rows = rows[np.argsort(blocks[rows], kind="stable")]
        counts = np.bincount(blocks[rows], minlength=self._blocks.count)
        return shapes.take(rows, starts_from_counts(counts))

    def _sequences(self) -> IntArray:
        """(B,) sequence of each block."""
        frames = np.zeros(self._blocks.count, dtype=np.int64)
        for side, blocks in (
            (self._scene.objects, self._blocks.of_objects),
            (self._scene.detections, self._blocks.of_detections),
        ):
            inside = blocks >= 0
            frames[blocks[inside]] = side.frames[inside]
        return self._scene.selection.sequences[frames]


def _changes(values: IntArray, follows: BoolArray) -> IntArray:
    """Differences to the value before, where that belongs to the same block."""
    before = np.where(follows, np.roll(values, 1), 0)
    return values - before

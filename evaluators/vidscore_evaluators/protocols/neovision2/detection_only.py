"""The detection-only score: labels ignored, overlapping boxes merged (section 3.3).

Merging is done again at every confidence level, because a detection that joins may change what
others have become. Where nothing in reach of each other is to be merged, which is most of the
image, detections can be matched as they are, at all levels in one pass. The rest is cut into
*blocks*: parts of a frame whose boxes have to do with each other alone. Of every block there is
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
from vidscore_evaluators.geometry.merging import merge_overlapping
from vidscore_evaluators.geometry.shapes import (
    Criterion,
    Shapes,
    boxes_as_shapes,
    join_groups,
    overlapping_pairs,
    overlapping_twins,
)
from vidscore_evaluators.matching.gating import Pairs
from vidscore_evaluators.matching.maximum import two_stage_gains
from vidscore_evaluators.protocols.neovision2.outcomes import Outcomes, join_outcomes
from vidscore_evaluators.protocols.neovision2.parameters import TOLERANCE, Neovision2Parameters
from vidscore_evaluators.protocols.neovision2.preparation import Scene

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
class _Blocks:
    """B blocks in which something is to be merged.

    Attributes:
        count: Number of blocks B.
        of_objects: (N,) block of each annotated object, `_STEADY` where nothing is to be merged.
        of_detections: (M,) block of each detection, likewise.
    """

    count: int
    of_objects: IntArray
    of_detections: IntArray


_STEADY = -1


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
    blocks = _find_blocks(scene, lambda ratios: ratios > limit)
    steady = _steady_outcomes(scene, pairs, blocks)
    real = ~scene.dont_care & (blocks.of_objects == _STEADY)
    sequences = scene.selection.sequences[scene.objects.frames[real]]
    counts = np.bincount(sequences, minlength=len(scene.sequence_names))
    if blocks.count == 0:
        return DetectionOnly(steady, counts)
    merging = _Merging(scene, blocks, parameters)
    return DetectionOnly(
        join_outcomes(steady, merging.outcomes()), counts + merging.object_counts()
    )


def _find_blocks(scene: Scene, over: Criterion) -> _Blocks:
    """Find what is to be merged, and everything that this can have to do with.

    Blocks are what overlapping boxes become when they are merged at any overlap at all. Boxes of
    different blocks share no area, and whatever is merged inside a block stays inside its
    envelope, so that blocks never meet.
    """
    objects, detections = scene.objects, scene.detections
    real = np.flatnonzero(~scene.dont_care)
    twins = overlapping_twins(objects.take(~scene.dont_care).shapes, over)
    merged_objects = real[np.concatenate([twins.left, twins.right])]
    twins = overlapping_twins(detections.shapes, over)
    merged_detections = np.concatenate([twins.left, twins.right])
    busy = np.zeros(len(objects.shapes.group_starts) - 1, dtype=np.bool_)
    busy[objects.frames[merged_objects]] = True
    busy[detections.frames[merged_detections]] = True
    of_objects, of_detections, count = _neighbourhoods(scene, busy)
    changing = np.zeros(count, dtype=np.bool_)
    changing[of_objects[merged_objects]] = True
    changing[of_detections[merged_detections]] = True
    # The last entry is for what is in no busy frame, and is reached as an index by -1.
    numbers = np.append(np.where(changing, np.cumsum(changing) - 1, _STEADY), _STEADY)
    return _Blocks(int(changing.sum()), numbers[of_objects], numbers[of_detections])


def _neighbourhoods(scene: Scene, busy: BoolArray) -> tuple[IntArray, IntArray, int]:
    """Number what hangs together in busy frames.

    Returns:
        For each annotated object and for each detection its number, -1 in other frames; and how
        many numbers there are.
    """
    sides = (scene.objects, scene.detections)
    rows = [np.flatnonzero(busy[side.frames]) for side in sides]
    frames = np.concatenate([side.frames[some] for side, some in zip(sides, rows, strict=True)])
    boxes = [side.shapes.boxes[some] for side, some in zip(sides, rows, strict=True)]
    order = np.argsort(frames, kind="stable")
    starts = starts_from_counts(np.bincount(frames, minlength=len(busy)))
    together = boxes_as_shapes(starts, np.concatenate(boxes)[order])
    merged = merge_overlapping(together, lambda ratios: ratios > 0.0)
    labels = np.empty(len(order), dtype=np.int64)
    labels[order] = merged.labels
    found = [np.full(len(side.frames), -1, dtype=np.int64) for side in sides]
    for numbers, some, mine in zip(found, rows, np.split(labels, [len(rows[0])]), strict=True):
        numbers[some] = mine
    return found[0], found[1], len(merged.shapes)


def _steady_outcomes(scene: Scene, pairs: Pairs, blocks: _Blocks) -> Outcomes:
    """What each detection does that nothing is merged with."""
    steady = blocks.of_detections == _STEADY
    pairs = pairs.take(steady[pairs.right])
    gains = two_stage_gains(
        pairs,
        scene.dont_care[pairs.left],
        len(scene.dont_care),
        len(scene.confidences),
        scene.confidences,
    )
    return Outcomes(
        sequences=scene.selection.sequences[scene.detections.frames],
        classes=np.zeros(len(steady), dtype=np.int64),
        levels=scene.levels.of_detections,
        true_positives=gains.first.astype(np.int64),
        false_positives=1 - gains.both.astype(np.int64),
    ).take(steady)


class _Merging:
    """The blocks in which something is to be merged."""

    def __init__(self, scene: Scene, blocks: _Blocks, parameters: Neovision2Parameters) -> None:
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
        rows = np.flatnonzero(of_detections != _STEADY)
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
        gains = two_stage_gains(pairs, spared, len(left), len(right))
        groups = right.groups
        matched = np.bincount(groups[gains.first], minlength=len(blocks))
        return matched, np.bincount(groups[~gains.both], minlength=len(blocks))

    def _over(self, ratios: FloatArray) -> BoolArray:
        over: BoolArray = ratios > self._limit
        return over

    def _of_blocks(self, shapes: Shapes, blocks: IntArray, chosen: BoolArray) -> Shapes:
        """Some of the shapes, with the blocks as their groups."""
        rows = np.flatnonzero(chosen & (blocks != _STEADY))
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
            inside = blocks != _STEADY
            frames[blocks[inside]] = side.frames[inside]
        return self._scene.selection.sequences[frames]


def _changes(values: IntArray, follows: BoolArray) -> IntArray:
    """Differences to the value before, where that belongs to the same block."""
    before = np.where(follows, np.roll(values, 1), 0)
    return values - before

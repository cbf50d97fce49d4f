"""Matching by class: how each detection changes the counts of its class (sections 3.2, 3.7).

In every frame and class, the detections are matched with the real objects of that class and with
every don't-care object of the frame. The matching is maximum over the real objects and, among such
matchings, over all objects. A don't-care object may remove one detection in each class.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct, structs

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, run_starts
from vidscore_evaluators.keys import factorize
from vidscore_evaluators.matching import (
    forbidden_costs,
    match_maximum_in_stages,
    match_minimum_cost,
)
from vidscore_evaluators.neovision2._input import UNLISTED, Neovision2Parameters, ProtocolInput
from vidscore_evaluators.pairs import Pairs
from vidscore_evaluators.shapes import overlapping_pairs
from vidscore_evaluators.similarity import TOLERANCE


def counting_pairs(inputs: ProtocolInput, parameters: Neovision2Parameters) -> Pairs:
    """Pairs of an annotated object and a detection whose overlap counts (section 3.1, eq. 1).

    Classes are not considered yet.
    """
    least = parameters.overlap_threshold - TOLERANCE
    return overlapping_pairs(
        inputs.objects.shapes, inputs.detections.shapes, lambda ratios: ratios >= least
    )


class ClassPairs(Struct, frozen=True, eq=False):
    """P pairs for the matching by class.

    Attributes:
        rows: (P,) row of the original pair of each.
        pairs: Left objects include copies of every don't-care object, one per class that it
            overlaps, after the objects themselves.
        left_count: Objects and copies.
    """

    rows: IntArray
    pairs: Pairs
    spared: BoolArray
    left_count: int


def class_pairs(inputs: ProtocolInput, pairs: Pairs) -> ClassPairs:
    """Pairs of detections of listed classes with don't-care and real objects of their class.

    Args:
        inputs: The input of the matching.
        pairs: The pairs that count, of any classes.
    """
    spared = inputs.dont_care[pairs.left]
    wanted = inputs.detections.classes[pairs.right]
    fits = spared | (inputs.objects.classes[pairs.left] == wanted)
    kept = np.flatnonzero(fits & (wanted != UNLISTED))
    pairs, spared = pairs.take(kept), spared[kept]
    left, left_count = _one_for_each_class(inputs, pairs, spared)
    return ClassPairs(kept, Pairs(left, pairs.right), spared, left_count)


def best_pairs(
    pairs: Pairs, spared: BoolArray, overlaps: FloatArray, groups: IntArray, right_count: int
) -> BoolArray:
    """(P,) which pairs match, if the pairs themselves are needed and not only their number.

    Of all matchings that are maximum over the real objects and, among those, over all objects, it
    is one with the greatest sum of overlap ratios of real pairs. Its numbers equal those of
    `match_maximum_in_stages`, which are unique.

    Args:
        pairs: P pairs that may be matched.
        spared: (P,) whether the left object is a don't-care object.
        overlaps: (P,) overlap ratios.
        groups: (P,) group of each pair; no object has pairs in two groups.
        right_count: Objects on the right side.
    """
    # As many pairs as possible, with don't-care pairs that cost more than all real pairs together:
    # some matching is maximum over all objects and over the real objects at once.
    order = np.lexsort((pairs.right, pairs.left, groups))
    _, blocks, sizes = factorize(groups[order])
    left, right = pairs.left[order], pairs.right[order]
    starts = np.zeros(len(order), dtype=np.int64)
    starts[run_starts(blocks, left)] = 1
    lefts = np.cumsum(starts) - 1
    dear = forbidden_costs(np.ones(len(sizes)), sizes)
    costs = np.where(spared[order], dear[blocks], 1.0 - overlaps[order])
    matched = np.zeros(len(order), dtype=np.bool_)
    matched[order] = match_minimum_cost(
        Pairs(lefts, right), costs, blocks, int(starts.sum()), right_count
    )
    return matched


def class_changes(inputs: ProtocolInput, pairs: Pairs) -> CountChanges:
    """What each detection of a listed class does to the counts of its class.

    Args:
        inputs: What is matched.
        pairs: The pairs that count, whatever their classes.
    """
    classes = inputs.detections.classes
    fitting = class_pairs(inputs, pairs)
    gains = match_maximum_in_stages(
        fitting.pairs, fitting.spared, fitting.left_count, len(classes), inputs.confidences
    )
    listed = classes != UNLISTED
    return CountChanges(
        sequences=inputs.frame_sequences[inputs.detections.frames],
        classes=classes,
        levels=inputs.levels.of_detections,
        true_positives=gains.first.astype(np.int64),
        false_positives=1 - gains.both.astype(np.int64),
    ).take(listed)


def _one_for_each_class(
    inputs: ProtocolInput, pairs: Pairs, spared: BoolArray
) -> tuple[IntArray, int]:
    """Left objects, with a copy of every don't-care object per class that it overlaps."""
    left = pairs.left.copy()
    count = len(inputs.dont_care)
    keys = (
        pairs.left[spared] * inputs.classes.count + inputs.detections.classes[pairs.right[spared]]
    )
    copies, copy_of_pair = np.unique(keys, return_inverse=True)
    left[spared] = count + copy_of_pair
    return left, count + len(copies)


class CountChanges(Struct, frozen=True, eq=False):
    """R changes of true and false positives from one confidence level to the next.

    Both scores are stored as such changes, one per detection or per cluster of merged detections.
    The same addition then gives the score at a threshold and the whole curve.

    Attributes:
        sequences: (R,) sequence of each.
        classes: (R,) class code of each; all 0 if classes are ignored.
        levels: (R,) confidence level from which on it applies.
        true_positives: (R,) change of the number of true positives.
        false_positives: (R,) change of the number of false positives.
    """

    sequences: IntArray
    classes: IntArray
    levels: IntArray
    true_positives: IntArray
    false_positives: IntArray

    def take(self, rows: BoolArray) -> CountChanges:
        """Keep some changes."""
        return CountChanges(*(column[rows] for column in structs.astuple(self)))


def join_changes(first: CountChanges, second: CountChanges) -> CountChanges:
    """The changes of both."""
    pairs = zip(structs.astuple(first), structs.astuple(second), strict=True)
    return CountChanges(*(np.concatenate(pair) for pair in pairs))

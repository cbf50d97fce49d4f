"""Labels that are mixed up, and track ids that do not follow objects, such as row numbers."""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import NO_TRACK
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, marked, run_starts
from vidscore_evaluators.plausibility._overlaps import LIES_ON, Pairing, Sample
from vidscore_evaluators.plausibility._views import View

_OWN = 2.0
"""Added to the overlap of a pair with equal labels, so that it comes before all others."""

_LEAST_PAIRS = 20
"""Minimum number of objects that are found under another label."""

_LEAST_FRACTION = 0.2
"""The same, as a fraction of all objects that are found."""

_LEAST_OF_LABEL = 3
"""Minimum number of objects of a label that is found as another one."""

_NEARLY_ALL = 0.8
"""Fraction of a label's objects found as one other label, and of that label's found objects."""

_LEAST_LABELS = 2
"""If fewer labels are found as others, a detector, or its names, may merely confuse them."""


class MixedLabels(Struct, frozen=True):
    """Labels that are found as others.

    Attributes:
        pairs: Index of a label, index of the label that its objects are found as, and their number.
        found: Number of objects that a detection overlaps.
        right: Number of these that a detection of their own label overlaps.
        frame_count: Number of frames that were examined.
        block: Block of a frame with such an object.
        frame: Its frame number.
    """

    pairs: tuple[tuple[float, float, int], ...]
    found: int
    right: int
    frame_count: int
    block: int
    frame: int


def mixed_labels(sample: Sample, pairing: Pairing, overlaps: FloatArray) -> MixedLabels | None:
    """Labels whose objects are found as another label, which is found on hardly anything else.

    A detector confuses labels only sometimes: a car is a van here and a car there. If labels are
    numbered or ordered differently, each is always found as the same other label.

    Args:
        sample: The sample.
        pairing: Both of its sides, frame by frame.
        overlaps: Overlaps of all its pairs.
    """
    if sample.labels is None or any(side.min() == side.max() for side in sample.labels):
        return None
    names, codes = np.unique(np.concatenate(sample.labels), return_inverse=True)
    of_truth, of_detections = np.split(codes.reshape(-1), [len(sample.labels[0])])
    rows, wanted, found = _found_as(pairing, overlaps, of_truth, of_detections)
    counts = np.bincount(wanted * len(names) + found, minlength=len(names) ** 2)
    counts = counts.reshape(len(names), len(names))
    # Labels that the truth does not have get a warning about names instead.
    mixed = _mixed(counts) & np.isin(names, sample.labels[0])
    moved = counts[mixed]
    if len(moved) < _LEAST_LABELS or moved.sum() < max(_LEAST_PAIRS, _LEAST_FRACTION * len(rows)):
        return None
    frames = np.repeat(np.arange(sample.frame_count), np.diff(sample.starts[0]))
    frame = frames[rows[mixed[wanted, found].argmax()]]
    own, other = mixed.nonzero()
    return MixedLabels(
        pairs=tuple(zip(names[own].tolist(), names[other].tolist(), moved.tolist(), strict=True)),
        found=len(rows),
        right=int(counts.trace()),
        frame_count=sample.frame_count,
        block=int(sample.blocks[frame]),
        frame=int(sample.numbers[frame]),
    )


def _found_as(
    pairing: Pairing, overlaps: FloatArray, of_truth: IntArray, of_detections: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Objects that a detection overlaps, their labels, and the labels of their detections."""
    left, right = pairing.pairs
    lying = overlaps >= LIES_ON
    left, right, near = left[lying], right[lying], overlaps[lying]
    near = near + _OWN * (of_truth[left] == of_detections[right])
    order = np.lexsort((-near, left))
    best = order[run_starts(left[order])]
    return left[best], of_truth[left[best]], of_detections[right[best]]


def _mixed(counts: IntArray) -> BoolArray:
    """(L, L) whether a truth label is found as another, which is found on hardly anything else."""
    wanted, found = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
    mixed: BoolArray = (counts >= _NEARLY_ALL * wanted) & (counts >= _NEARLY_ALL * found)
    mixed &= counts >= _LEAST_OF_LABEL
    np.fill_diagonal(mixed, val=False)
    return mixed


_CHANGING_FRACTION = 0.5
"""Minimum fraction of objects found in two neighbouring frames that have another id in the second;
with a bad tracker it is a few hundredths."""

_OF_THE_WORST, _CHANCE = 0.3, 1e-4
"""This fraction for the worst tracker, and the maximum probability that with it as many change by
chance (Hoeffding 1963, theorem 1): 8 of 8, 21 of 30, or half of 106."""


class ChangingIds(Struct, frozen=True):
    """Objects that are found in two neighbouring frames.

    Attributes:
        found: Number of them.
        changed: Number of them with another track id in the second frame.
        block: Block of a frame with one of these.
        frame: Its frame number.
    """

    found: int
    changed: int
    block: int
    frame: int


def changing_ids(view: View) -> ChangingIds | None:
    """Whether most objects that are found have another track id one frame later.

    Args:
        view: A sample as it is.
    """
    sample = view.sample
    if sample.tracks is None:
        return None
    frames, tracks, lasting = _found(view, *sample.tracks)
    follows = marked(sample.frame_count, sample.neighbours + 1)
    again = (np.diff(frames) == 1) & (np.diff(tracks) == 0) & follows[frames[1:]]
    later = np.flatnonzero(again) + 1
    changed = later[~lasting[later]]
    if not _are_too_many(len(changed), len(later)):
        return None
    frame = int(frames[changed].min())
    return ChangingIds(
        found=len(later),
        changed=len(changed),
        block=int(sample.blocks[frame]),
        frame=int(sample.numbers[frame]),
    )


def _are_too_many(changed: int, found: int) -> bool:
    """Whether more of the found objects change their id than with any tracker."""
    if found == 0 or changed < _CHANGING_FRACTION * found:
        return False
    share, kept = changed / found, (found - changed) / found
    surprise = share * math.log(share / _OF_THE_WORST)
    if kept:
        surprise += kept * math.log(kept / (1 - _OF_THE_WORST))
    return found * surprise >= -math.log(_CHANCE)


def _found(
    view: View, of_truth: FloatArray, of_detections: FloatArray
) -> tuple[IntArray, FloatArray, BoolArray]:
    """Frames and tracks of objects that detections overlap, sorted by track and frame.

    Also whether one of these detections keeps the id of one in the frame before: of several on an
    object, the nearest may change.
    """
    left, right = view.pairing.pairs
    lying = (view.overlaps >= LIES_ON) & (of_truth[left] != NO_TRACK)
    lying &= of_detections[right] != NO_TRACK
    frames = view.pairing.frames_of_truth[left[lying]]
    tracks, ids = of_truth[left[lying]], of_detections[right[lying]]
    order = np.lexsort((frames, ids, tracks))
    steps = [np.diff(column[order]) for column in (frames, ids, tracks)]
    lasting = np.zeros(len(order), dtype=np.bool_)
    lasting[order[1:]] = (steps[0] == 1) & (steps[1] == 0) & (steps[2] == 0)
    order = np.lexsort((frames, tracks))
    frames, tracks = frames[order], tracks[order]
    starts = run_starts(tracks, frames)
    kept = np.logical_or.reduceat(lasting[order], starts) if len(starts) else lasting
    return frames[starts], tracks[starts], kept

"""Confidences that are the wrong way round: distances, or degrees of doubt."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, marked, run_starts
from vidscore_evaluators.plausibility._overlaps import LIES_ON
from vidscore_evaluators.plausibility._views import View
from vidscore_evaluators.plausibility.sample import sequences_of

_LEAST_EACH = 20
"""Minimum number of places with right detections, and with wrong ones."""

_BESIDE = 0.1
"""Maximum overlap of a detection that is on no object."""

_INVERTED = 0.25
"""Maximum fraction of pairs of a right and a wrong detection whose right one is more confident."""


class Inverted(Struct, frozen=True):
    """Confidences of right and wrong detections.

    Attributes:
        right: Number of places of detections that lie on an object.
        wrong: Number of places of those that lie on none.
        share: Fraction of pairs of both whose right one is more confident; ties count half.
    """

    right: int
    wrong: int
    share: float


def inverted_confidences(view: View, names: tuple[str, ...], *, labelled: bool) -> Inverted | None:
    """Whether detections on objects are less confident than those on none.

    Args:
        view: A sample as it is.
        names: Names of its blocks.
        labelled: Whether a detection is right only with the label of the object.
    """
    confidences = view.sample.confidences
    if confidences is None or view.sample.labels is None:
        return None
    _, sequences = sequences_of(view.sample.blocks, names)
    right, wrong = (
        _by_place(view, sequences, confidences[1], rows)
        for rows in right_and_wrong(view, confidences[1], labelled=labelled)
    )
    if min(len(right), len(wrong)) < _LEAST_EACH:
        return None
    share = surer_fraction(right, wrong)
    return Inverted(len(right), len(wrong), share) if share <= _INVERTED else None


def _by_place(
    view: View, sequences: IntArray, confidences: FloatArray, rows: IntArray
) -> FloatArray:
    """Mean confidence of some detections at each place of a sequence.

    A thing that stands still counts once: a mannequin, however many frames it is in.
    """
    boxes = view.boxes[1][rows]
    size = (boxes[:, 2:] - boxes[:, :2]).max(axis=1, initial=view.pairing.reach_px)
    level = np.ceil(np.log2(np.maximum(size, 1e-300)))
    cells = np.floor((boxes[:, :2] + boxes[:, 2:]) / 2 / np.exp2(level + 1)[:, np.newaxis])
    of_frames = np.repeat(sequences, np.diff(view.sample.starts[1]))
    keys = (*cells.T, level, of_frames[rows])
    order = np.lexsort(keys)
    starts = run_starts(*(key[order] for key in keys))
    counts = np.diff(np.append(starts, len(order)))
    sums = np.add.reduceat(confidences[rows][order], starts) if len(starts) else np.zeros(0)
    means: FloatArray = sums / counts
    return means


def surer_fraction(right: FloatArray, wrong: FloatArray) -> float:
    """Fraction of pairs of both whose right one is more confident; ties count half."""
    ordered = np.sort(wrong)
    below = np.searchsorted(ordered, right, side="left")
    below_or_equal = np.searchsorted(ordered, right, side="right")
    return float((below + below_or_equal).sum()) / (2 * len(right) * len(wrong))


def right_and_wrong(
    view: View, confidences: FloatArray, *, labelled: bool
) -> tuple[IntArray, IntArray]:
    """The most confident detection on each object, and the detections that are near none.

    Further detections of an object count as neither: a detector that returns many per object is
    less confident of these than of false alarms.
    """
    labels = view.sample.labels
    left, right = view.pairing.pairs
    alike: BoolArray = np.ones(len(left), dtype=np.bool_)
    known: BoolArray = np.ones(len(confidences), dtype=np.bool_)
    if labelled and labels is not None:
        alike = labels[0][left] == labels[1][right]
        known = np.isin(labels[1], labels[0])
    near = np.zeros(len(confidences), dtype=np.bool_)
    near[right[view.overlaps > _BESIDE]] = True
    lying = alike & (view.overlaps >= LIES_ON)
    left, right = left[lying], right[lying]
    order = np.lexsort((-confidences[right], left))
    surest = marked(len(confidences), right[order[run_starts(left[order])]])
    return np.flatnonzero(surest), np.flatnonzero(known & ~near)

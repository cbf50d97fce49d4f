"""Confidences that are the wrong way round: distances, or shares of doubt."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, marked, run_starts
from vidscore_evaluators.plausibility._overlaps import LIES_ON
from vidscore_evaluators.plausibility._views import View
from vidscore_evaluators.plausibility.sample import sequences_of

_LEAST_EACH = 20
"""Least places of detections that are right, and of those that are wrong."""

_BESIDE = 0.1
"""Overlap up to which a detection is on no object."""

_INVERTED = 0.25
"""Share of pairs of a right and a wrong detection, at most, of which the right one is surer."""


class Inverted(Struct, frozen=True):
    """Confidences of right and of wrong detections.

    Attributes:
        right: Places of detections that lie on an object.
        wrong: Places of those that lie on none.
        share: Share of pairs of both of which the right one is surer; equal ones count half.
    """

    right: int
    wrong: int
    share: float


def inverted_confidences(view: View, names: tuple[str, ...], *, labelled: bool) -> Inverted | None:
    """Whether detections on objects are less confident than those on none.

    Args:
        view: A sample as it is.
        names: Names of its blocks.
        labelled: Whether a detection is right only under the label of the object.
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
    share = surer_share(right, wrong)
    return Inverted(len(right), len(wrong), share) if share <= _INVERTED else None


def _by_place(
    view: View, sequences: IntArray, confidences: FloatArray, rows: IntArray
) -> FloatArray:
    """Mean confidence of some detections in each place of a sequence.

    What stands still is one thing: a mannequin, in whichever frames, says as little as once.
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


def surer_share(right: FloatArray, wrong: FloatArray) -> float:
    """Share of pairs of both of which the right one is surer; equal ones count half."""
    ordered = np.sort(wrong)
    below = np.searchsorted(ordered, right, side="left")
    below_or_equal = np.searchsorted(ordered, right, side="right")
    return float((below + below_or_equal).sum()) / (2 * len(right) * len(wrong))


def right_and_wrong(
    view: View, confidences: FloatArray, *, labelled: bool
) -> tuple[IntArray, IntArray]:
    """The surest detection on each object, and those that are near none.

    Further detections of an object that has one are neither: a detector that gives many for each
    object is less sure of these than of what it makes up.
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

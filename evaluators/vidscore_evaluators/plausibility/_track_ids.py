"""Track ids of detections that do not follow objects, such as the numbers of rows."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import NO_TRACK
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, run_starts
from vidscore_evaluators.plausibility._overlaps import LIES_ON
from vidscore_evaluators.plausibility._readings import View

_LEAST_FOUND = 30
"""Least objects that are found in two neighbouring frames."""

_CHANGING_SHARE = 0.5
"""Share of them that have another id in the second; a bad tracker's is a few hundredths."""


class ChangingIds(Struct, frozen=True):
    """Objects that are found in two neighbouring frames.

    Attributes:
        found: How many there are.
        changed: How many have another track id in the second frame.
        block: Block of a frame with one of these.
        frame: Its number.
    """

    found: int
    changed: int
    block: int
    frame: int


def changing_ids(view: View) -> ChangingIds | None:
    """Whether most objects that are found have another track id a frame later.

    Args:
        view: A sample as it is.
    """
    sample = view.sample
    if sample.tracks is None:
        return None
    frames, tracks, lasting = _found(view, *sample.tracks)
    follows = np.zeros(sample.frame_count, dtype=np.bool_)
    follows[sample.neighbours + 1] = True
    again = (np.diff(frames) == 1) & (np.diff(tracks) == 0) & follows[frames[1:]]
    later = np.flatnonzero(again) + 1
    changed = later[~lasting[later]]
    if len(later) < _LEAST_FOUND or len(changed) < _CHANGING_SHARE * len(later):
        return None
    frame = int(frames[changed].min())
    return ChangingIds(
        found=len(later),
        changed=len(changed),
        block=int(sample.blocks[frame]),
        frame=int(sample.numbers[frame]),
    )


def _found(
    view: View, of_truth: FloatArray, of_detections: FloatArray
) -> tuple[IntArray, FloatArray, BoolArray]:
    """Frames and tracks of objects on which detections lie, by track and frame.

    And whether one of these has an id that one had in the frame before: where several lie on an
    object, now one is nearer and now another.
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

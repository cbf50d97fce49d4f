"""Doubts about ground truth alone: the same box twice, boxes without area, tracks that jump."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vidscore_evaluators.annotations import NO_TRACK, POINT, Annotations, Side
from vidscore_evaluators.arrays import BoolArray, IntArray, run_starts
from vidscore_evaluators.geometry import bounding_boxes, box_areas
from vidscore_evaluators.plausibility.judging import place_name
from vidscore_evaluators.report import FrameExample, ReportWarning

_SAID = {
    "same_box_twice": (
        "objects have the box and the label of another one in their frame",
        "remove what is there twice",
    ),
    "boxes_without_area": (
        "boxes have no area, so that nothing can match them",
        "correct or remove them",
    ),
    "tracks_jump": (
        "steps of tracks are more than ten times as far as usual, and far beyond the object's size",
        "check that a track id is not used for two objects",
    ),
}
"""By code: what is odd, and what to do."""

_JUMP_OF_MEDIAN = 10.0
"""A jump is so many times what objects move in a frame at the median."""

_JUMP_OF_SIZE = 3.0
"""And so many times the diagonal of the object itself."""


def ground_truth_doubts(truth: Annotations) -> Iterator[ReportWarning]:
    """Warn of what is seldom meant in ground truth.

    Args:
        truth: The ground truth, as read.
    """
    yield from _said(truth, "same_box_twice", _repeated(truth))
    if truth.arity != POINT:
        areas = box_areas(bounding_boxes(truth.coordinates))
        yield from _said(truth, "boxes_without_area", areas == 0.0)
        yield from _said(truth, "tracks_jump", _jumping(truth))


def _said(truth: Annotations, code: str, found: BoolArray) -> Iterator[ReportWarning]:
    """The warning, if anything was found; its example is the first in order of names."""
    rows = np.flatnonzero(found)
    if len(rows) == 0:
        return
    frames = truth.object_frames[rows]
    sequences = [truth.sequences[row] for row in truth.frame_sequences[frames].tolist()]
    keys = zip(sequences, truth.frame_numbers[frames].tolist(), strict=True)
    example = FrameExample(Side.TRUTH, *min(keys))
    what, advice = _SAID[code]
    message = f"{what}, the first of them in {place_name(example)}; {advice}"
    yield ReportWarning(code, message, len(rows), example)


def _repeated(truth: Annotations) -> BoolArray:
    """(N,) whether an object is another one of its frame once more."""
    columns = (*truth.coordinates.T, truth.label_indices, truth.flags, truth.object_frames)
    order = np.lexsort(columns)
    repeated = np.ones(truth.object_count, dtype=np.bool_)
    repeated[order[run_starts(*(column[order] for column in columns))]] = False
    return repeated


def _jumping(truth: Annotations) -> BoolArray:
    """(N,) whether an object is unusually far from where its track was before."""
    rows = np.flatnonzero(truth.track_ids != NO_TRACK)
    frames = truth.object_frames[rows]
    sequences, numbers = truth.frame_sequences[frames], truth.frame_numbers[frames]
    order = np.lexsort((numbers, truth.track_ids[rows], sequences))
    rows, sequences, numbers = rows[order], sequences[order], numbers[order]
    boxes = bounding_boxes(truth.coordinates[rows])
    centres, sizes = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
    same = (np.diff(sequences) == 0) & (np.diff(truth.track_ids[rows]) == 0)
    gaps = np.maximum(1, np.diff(numbers))
    steps = np.hypot(*np.diff(centres, axis=0).T) / gaps
    jumping = np.zeros(truth.object_count, dtype=np.bool_)
    if same.any():
        far = np.maximum(
            _JUMP_OF_MEDIAN * np.median(steps[same]),
            _JUMP_OF_SIZE * np.hypot(*np.maximum(sizes[1:], sizes[:-1]).T),
        )
        ends: IntArray = rows[1:][same & (steps > far)]
        jumping[ends] = True
    return jumping

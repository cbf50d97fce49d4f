"""Frames with objects, and whether each has a detection: another sample, of single frames.

The sample of boxes has few frames where there are many boxes in each, and four neighbours at a
time. Frames of this one are chosen by hashes of their names too, so that tables add like tallies.
"""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.plausibility.sample import block_names, boxes_of, frame_hashes
from vidscore_evaluators.tally import Table, TableSchema, build_table

ANSWERS = "answers"

ANSWER_ROWS = 256
"""Frames that are looked at."""

ANSWERS_SCHEMA = TableSchema(
    ("block",),
    numbers=("frame", "size"),
    counts=("objects", "detections"),
    first=ANSWER_ROWS,
)
"""One row per frame with objects to be found. Its size is the longest side of one of them."""


def answers_table(aligned: Aligned, wanted: IntArray) -> Table:
    """Count objects and detections of some frames.

    Args:
        aligned: Both sides in one frame order.
        wanted: (F,) objects of each frame that are to be found.
    """
    frames = wanted.nonzero()[0]
    hashes = frame_hashes(aligned, frames, 1)
    if len(frames) > ANSWER_ROWS:
        near = hashes <= np.partition(hashes, ANSWER_ROWS - 1)[ANSWER_ROWS - 1]
        frames, hashes = frames[near], hashes[near]
    positions, _, boxes = boxes_of(aligned.truth, frames)
    sizes = np.zeros(len(frames))
    np.maximum.at(sizes, positions, np.abs(boxes[:, 2:] - boxes[:, :2]).max(axis=1, initial=0.0))
    return build_table(
        ANSWERS_SCHEMA,
        block_names(aligned, hashes, aligned.truth.frame_sequences[frames]),
        [np.arange(len(frames))],
        numbers=[aligned.truth.frame_numbers[frames].astype(np.float64), sizes],
        counts=[wanted[frames], aligned.detections.object_counts[frames]],
    )

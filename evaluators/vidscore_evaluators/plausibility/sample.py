"""Samples of the frames of both sides, which allow comparisons in detail.

One sample has boxes; the other says whether frames with objects have detections.

A frame of a sample is chosen by a hash of its sequence and its block of neighbouring frames, so
that the sample is spread evenly and has neighbours to compare. The table keeps its first rows, and
rows begin with that hash: samples add like tallies.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import (
    POINT,
    QUADRILATERAL,
    Annotations,
    ObjectFlag,
    SequenceKey,
    are_flagged,
)
from vidscore_evaluators.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    expand_runs,
    run_starts,
)
from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.tally import Table, TableSchema, build_table

SAMPLE = "sample"

SAMPLE_ROWS = 1024
"""Maximum number of boxes of both sides in a sample."""

FRAMES_PER_BLOCK = 4
"""Number of neighbouring frames that are chosen together."""

DETECTIONS_PER_FRAME = 32
"""Maximum number of detections per frame in a sample: the most confident ones."""

OBJECTS_PER_FRAME = 224
"""Maximum number of objects per frame: nearly always all of them, because a detection on an object
that is not in the sample seems to be on none. A block of such frames still fits into a sample."""

COORDINATES = ("a", "b", "c", "d")

SAMPLE_SCHEMA = TableSchema(
    ("block",),
    numbers=("frame", "side", *COORDINATES, "label", "confidence", "track"),
    counts=("objects",),
    first=SAMPLE_ROWS,
)
"""One row per box. Side 0 is the truth, 1 the detections. A point is a box with equal corners, and
a label is its `label_number`. Tallies of older versions lack labels here, or confidences and
tracks."""

ANSWERS = "answers"

ANSWER_ROWS = 256
"""Maximum number of frames in the sample of answers."""

ANSWERS_SCHEMA = TableSchema(
    ("block",),
    numbers=("frame", "size"),
    counts=("objects", "detections"),
    first=ANSWER_ROWS,
)
"""One row per frame with objects to be found. The sample of boxes has few frames if each has many
boxes. The size is the longest side of its objects."""

_HASH_DIGITS = 16
_WEIGHTS = (0.7548776662466927, 0.5698402909980532, 0.4301597090019468, 0.2451223337533073)


def sample_table(aligned: Aligned, evaluated: BoolArray) -> Table:
    """Sample the boxes of both sides.

    Args:
        aligned: Both sides in one frame order.
        evaluated: (F,) frames that may be chosen.
    """
    objects, detections = (np.minimum(_box_counts(side), most) for side, most in _sides(aligned))
    sizes = objects + detections
    frames = (evaluated & (sizes > 0)).nonzero()[0]
    keys = _frame_hashes(aligned, frames, FRAMES_PER_BLOCK)
    if len(frames) > SAMPLE_ROWS:
        # Each frame has at least one box, so no further frames can be among the first rows.
        near = keys <= np.partition(keys, SAMPLE_ROWS - 1)[SAMPLE_ROWS - 1]
        frames, keys = frames[near], keys[near]
    order = np.argsort(keys, kind="stable")
    frames, keys = frames[order], keys[order]
    boxes_before = np.cumsum(sizes[frames])
    wanted = SAMPLE_ROWS + SAMPLE_ROWS // 4
    while True:
        # Take whole blocks. Repeated boxes can merge into too few rows; then take more blocks.
        last = int(np.searchsorted(boxes_before, wanted))
        end = len(keys) if last >= len(keys) else int(np.searchsorted(keys, keys[last], "right"))
        table = _table_of(aligned, frames[:end], keys[:end])
        if end == len(keys) or table.row_count == SAMPLE_ROWS:
            return table
        wanted *= 2


def answers_table(aligned: Aligned, wanted: IntArray) -> Table:
    """Count objects and detections of some frames.

    Args:
        aligned: Both sides in one frame order.
        wanted: (F,) number of objects to be found in each frame.
    """
    frames = wanted.nonzero()[0]
    hashes = _frame_hashes(aligned, frames, 1)
    if len(frames) > ANSWER_ROWS:
        near = hashes <= np.partition(hashes, ANSWER_ROWS - 1)[ANSWER_ROWS - 1]
        frames, hashes = frames[near], hashes[near]
    # All objects, because a choice of the most confident ones would have to sort them.
    positions, _, boxes = _boxes_of(aligned.truth, frames)
    x1, y1, x2, y2 = boxes.T
    sides = np.maximum(np.abs(x2 - x1), np.abs(y2 - y1))
    # Each of the frames has an object, so each begins a run.
    sizes = np.maximum.reduceat(sides, run_starts(positions))
    return build_table(
        ANSWERS_SCHEMA,
        _block_names(aligned, hashes, aligned.truth.frame_sequences[frames]),
        [np.arange(len(frames))],
        numbers=[aligned.truth.frame_numbers[frames].astype(np.float64), sizes],
        counts=[wanted[frames], aligned.detections.object_counts[frames]],
    )


def label_number(label: str) -> float:
    """The number that stands for a label, ignoring case."""
    return float(crc32(label.casefold().encode()))


def _block_names(aligned: Aligned, hashes: NDArray[np.uint64], sequences: IntArray) -> list[str]:
    """Names of blocks in a table: their hashes, by which rows are sorted, and their sequences."""
    return [
        f"{key:0{_HASH_DIGITS}x}" + "\0".join(aligned.truth.sequences[sequence])
        for key, sequence in zip(hashes.tolist(), sequences.tolist(), strict=True)
    ]


def block_sequence(block: str) -> SequenceKey:
    """The sequence of a block, from its name in the table."""
    domain, sequence = block[_HASH_DIGITS:].split("\0")
    return SequenceKey(domain, sequence)


def sequences_of(blocks: IntArray, names: tuple[str, ...]) -> tuple[list[SequenceKey], IntArray]:
    """Sequences of some frames in order, and the index of each frame's sequence.

    Args:
        blocks: (F,) block of each frame.
        names: Names of blocks.
    """
    used, of_frames = np.unique(blocks, return_inverse=True)
    of_blocks = [block_sequence(names[block]) for block in used.tolist()]
    keys = sorted(set(of_blocks))
    places = {key: place for place, key in enumerate(keys)}
    codes = np.array([places[key] for key in of_blocks], dtype=np.int64)
    return keys, codes[of_frames.reshape(-1)]


def _sides(aligned: Aligned) -> tuple[tuple[Annotations, int], tuple[Annotations, int]]:
    """Both sides, each with its maximum number of boxes per frame."""
    return (aligned.truth, OBJECTS_PER_FRAME), (aligned.detections, DETECTIONS_PER_FRAME)


def _box_counts(side: Annotations) -> IntArray:
    """(F,) number of boxes of each frame that are not regions."""
    regions = are_flagged(side.flags, ObjectFlag.REGION).nonzero()[0]
    if len(regions) == 0:
        return side.object_counts
    return side.object_counts - np.bincount(side.object_frames[regions], minlength=side.frame_count)


def _frame_hashes(aligned: Aligned, frames: IntArray, per_block: int) -> NDArray[np.uint64]:
    """(K,) hash of sequence and block of some frames, with `per_block` frames per block."""
    if len(frames) == 0:
        return np.zeros(0, dtype=np.uint64)
    sequences = aligned.truth.sequences
    names = aligned.cache.get_or_compute(_name_hashes, lambda: _name_hashes(sequences))
    blocks = aligned.truth.frame_numbers[frames] // per_block
    mixed = names[aligned.truth.frame_sequences[frames]]
    mixed += (blocks.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    # The last step of splitmix64, which spreads neighbours over all hashes.
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return found


def _name_hashes(sequences: tuple[SequenceKey, ...]) -> NDArray[np.uint64]:
    """(S,) hash of each sequence."""
    texts = map(str.encode, map("\0".join, sequences))
    return np.fromiter(map(crc32, texts), dtype=np.uint64, count=len(sequences))


def _table_of(aligned: Aligned, frames: IntArray, keys: NDArray[np.uint64]) -> Table:
    """The boxes of some frames as a table; frames of a block are adjacent."""
    sequences = aligned.truth.frame_sequences[frames]
    first = run_starts(keys, sequences)
    blocks = np.zeros(len(frames), dtype=np.int64)
    blocks[first[1:]] = 1
    blocks = np.cumsum(blocks)
    names = _block_names(aligned, keys[first], sequences[first])
    numbers_of_labels = np.array(list(map(label_number, aligned.truth.labels)), dtype=np.float64)
    rows, parts = [], []
    for number, (side, most) in enumerate(_sides(aligned)):
        positions, objects, boxes = _most_confident(side, *_boxes_of(side, frames), most)
        rows.append(positions)
        columns = (
            aligned.truth.frame_numbers[frames][positions],
            np.full(len(positions), number),
            *boxes.T,
            numbers_of_labels[side.label_indices[objects]],
            side.confidences[objects],
            side.track_ids[objects],
        )
        parts.append(np.stack(columns).astype(np.float64, copy=False))
    positions = np.concatenate(rows)
    return build_table(
        SAMPLE_SCHEMA,
        names,
        [blocks[positions]],
        numbers=list(np.concatenate(parts, axis=1)),
        counts=[np.ones(len(positions), dtype=np.int64)],
    )


def _boxes_of(side: Annotations, frames: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """The boxes of some frames that are not regions.

    Returns:
        (N,) position of each box's frame in `frames`, (N,) its object, and (N, 4) the given box.
    """
    starts = side.frame_starts[frames]
    counts = side.frame_starts[frames + 1] - starts
    objects = expand_runs(starts, counts)
    positions = np.arange(len(frames), dtype=np.int64).repeat(counts)
    real = ~are_flagged(side.flags[objects], ObjectFlag.REGION)
    objects, positions = objects[real], positions[real]
    if side.masks is None:
        return positions, objects, _as_four(side.coordinates.take(objects, axis=0))
    # Boxes that come with masks may be wrong: compare the masks' bounding boxes.
    return positions, objects, side.masks.boxes().take(objects, axis=0)


def _as_four(coordinates: FloatArray) -> FloatArray:
    if coordinates.shape[1] == POINT:
        return np.hstack([coordinates, coordinates])
    return bounding_boxes(coordinates) if coordinates.shape[1] == QUADRILATERAL else coordinates


def _most_confident(
    side: Annotations, positions: IntArray, objects: IntArray, boxes: FloatArray, most: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """At most `most` of the boxes of each frame; ties are not broken by place."""
    if not (np.bincount(positions) > most).any():
        return positions, objects, boxes
    mixed = sum(column * weight for column, weight in zip(boxes.T, _WEIGHTS, strict=True)) % 1.0
    keys = (mixed, -side.confidences[objects], positions)
    order, ranks = _ranked(keys)
    beyond = (ranks == most).nonzero()[0]
    if (mixed[order[beyond]] == mixed[order[beyond - 1]]).any():
        # Rarely, because sorting by so many columns takes several times as long.
        ties = (side.track_ids[objects], side.label_indices[objects], *boxes.T)
        order, ranks = _ranked((*ties, *keys))
    kept = order[ranks < most]
    return positions[kept], objects[kept], boxes.take(kept, axis=0)


def _ranked(keys: tuple[AnyArray, ...]) -> tuple[IntArray, IntArray]:
    """Rows sorted by keys, the last first, and the rank of each among those of equal last key."""
    order = np.lexsort(keys)
    first = run_starts(keys[-1][order])
    counts = np.diff(np.append(first, len(order)))
    return order, np.arange(len(order)) - np.repeat(first, counts)

"""Detections that stop long before the objects do, or start long after them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import NO_TRACK, SequenceKey
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.plausibility._overlaps import Pairing, sample_of
from vidscore_evaluators.plausibility.sample import sequences_of
from vidscore_evaluators.tally import Table

_LEAST_FRAMES = 20
"""Minimum number of frames with objects before the end, and after it."""

_LEAST_UNANSWERED = 0.1
"""Minimum fraction of the frames with objects that come after the end."""

_ANSWERED = 0.9
"""Minimum fraction of the frames before the end that have a detection."""

_LEAST_LOST = 8
"""Minimum product of the number of sequences that end early or come after the end and the number of
objects per frame there. A tracker may lose fewer."""

_SMALLER = 0.5
"""Objects smaller than this fraction of the size of others may be missed for their size."""

_LEAST_IMAGES = 4
"""The same minimum for images, which a tracker cannot lose: two objects in each are enough."""

_STAYING = 0.1
"""Minimum mean best overlap with the objects of the next frame, if frames belong to a video."""

_FOLLOWED = 0.25
"""Minimum fraction of frames that are followed by the next one in the sample, if they belong to a
video. A few image ids are neighbours by chance."""

_ENOUGH = 10
"""Minimum number of frames of a sequence from which its length is known well enough."""

_LEAST_OF_SEQUENCE = 2
"""Minimum number of frames before and after the end within the sequence where a run was cut off."""

_LEAST_SEQUENCES = 20
"""Minimum number of sequences without detections, if a run was cut off between two sequences."""

Order = Literal["number", "share", "name"]


class Cut(Struct, frozen=True):
    """A cut: frames with objects beyond the last detection, or before the first one.

    Attributes:
        order: The order of frames: by number, by position in their sequence as a fraction of its
            length, or by the name of the sequence and then the number.
        late: Whether frames come before the first detection, instead of after the last one.
        frame_count: Number of frames with objects that were examined.
        after: Number of these that come after the last detection.
        answered: Fraction of the others that have a detection.
        last: Number, or fraction, of the last frame with a detection.
        block: Block of the first frame after it.
        frame: Its frame number.
    """

    order: Order
    late: bool
    frame_count: int
    after: int
    answered: float
    last: float
    block: int
    frame: int


def find_cut(answers: Table, sample: Table, *, points: bool) -> Cut | None:
    """Find where detections end, if objects go on for long and nearly all frames before have some.

    Args:
        answers: Frames with objects.
        sample: The sample of boxes.
        points: Whether the boxes are points.
    """
    answered = answers.count("detections") > 0
    if min(np.count_nonzero(answered), np.count_nonzero(~answered)) < _LEAST_FRAMES:
        return None
    keys, sequences = sequences_of(answers.codes("block"), answers.vocabulary)
    looked = _Looked(
        answers,
        answered,
        sequences,
        are_images=are_images(sample, points=points),
    )
    for order, places in _orders(keys, sequences, answers.number("frame")):
        for late in (False,) if order == "name" else (False, True):
            cut = _cut_in(keys, looked, order, late=late, places=places)
            if cut is not None:
                return cut
    return None


class _Looked(Struct, frozen=True, eq=False):
    """The F frames with objects.

    Attributes:
        table: One row per frame.
        answered: (F,) whether each has a detection.
        sequences: (F,) index of its sequence.
        are_images: Whether they are images that are unrelated to each other.
    """

    table: Table
    answered: BoolArray
    sequences: IntArray
    are_images: bool


def are_images(table: Table, *, points: bool) -> bool:
    """Whether there are no tracks, and objects are elsewhere in the next frame, if there is one.

    Args:
        table: The sample of boxes.
        points: Whether the boxes are points.
    """
    sample = sample_of(table.codes("block"), np.ascontiguousarray(table.numbers), points=points)
    if sample.tracks is None or any((ids != NO_TRACK).any() for ids in sample.tracks):
        return False
    before = sample.neighbours
    if len(before) < _FOLLOWED * sample.frame_count:
        return True
    stays = Pairing(sample.truth_twice, before, before + 1)
    around = bounding_boxes(sample.boxes[0])
    return max(stays.fit(around, around).means) < _STAYING


def _cut_in(
    keys: list[SequenceKey],
    looked: _Looked,
    order: Order,
    *,
    late: bool,
    places: FloatArray,
) -> Cut | None:
    """The cut in an order of frames, or in its reverse; frames at NaN are not in it."""
    places = -places if late else places
    known = ~np.isnan(places)
    if not looked.answered[known].any():
        return None
    last = places[looked.answered & known].max()
    after = known & (places > last)
    share = float(looked.answered[known & ~after].mean())
    if order == "name":
        lost = _missed_by_name(keys, looked, places, last)
    else:
        ending = np.unique(looked.sequences[looked.answered])
        after &= np.isin(looked.sequences, ending)
        lost = len(np.unique(looked.sequences[after]))
    count = int(np.count_nonzero(after))
    if count < max(_LEAST_FRAMES, _LEAST_UNANSWERED * len(places)) or share < _ANSWERED:
        return None
    sizes = looked.table.number("size")
    if np.median(sizes[after]) < _SMALLER * np.median(sizes[known & ~after]):
        return None
    if looked.are_images:
        lost = max(lost, _LEAST_IMAGES)
    if lost * float(looked.table.count("objects")[after].mean()) < _LEAST_LOST:
        return None
    first = int(np.where(after, places, np.inf).argmin())
    return Cut(
        order=order,
        late=late,
        frame_count=int(np.count_nonzero(known)),
        after=count,
        answered=share,
        last=float(abs(last)),
        block=int(looked.table.codes("block")[first]),
        frame=int(looked.table.number("frame")[first]),
    )


def _orders(
    keys: list[SequenceKey], sequences: IntArray, numbers: FloatArray
) -> Iterator[tuple[Order, FloatArray]]:
    """(F,) positions of frames in each order, NaN for none; names are sorted in two ways."""
    yield "number", numbers
    first, last = np.full(len(keys), np.inf), np.full(len(keys), -np.inf)
    np.minimum.at(first, sequences, numbers)
    np.maximum.at(last, sequences, numbers)
    lengths = np.where(np.bincount(sequences, minlength=len(keys)) < _ENOUGH, np.nan, last - first)
    yield "share", (numbers - first[sequences]) / np.maximum(1.0, lengths[sequences])
    by_number = np.argsort(sorted(range(len(keys)), key=lambda place: _natural(keys[place])))
    for ranks in (np.arange(len(keys)), by_number):
        order = np.lexsort((numbers, ranks[sequences]))
        places = np.empty(len(order))
        places[order] = np.arange(len(order))
        yield "name", places


def _natural(key: SequenceKey) -> list[list[tuple[int, str]]]:
    """Sort key that compares the numbers in names: `seq2` before `seq10`."""
    return [
        [
            (len(part.lstrip("0")) * (place % 2), part)  # every second part is a number
            for place, part in enumerate(re.split(r"([0-9]+)", name))
        ]
        for name in key
    ]


def _missed_by_name(
    keys: list[SequenceKey], looked: _Looked, places: FloatArray, last: float
) -> int:
    """Number of sequences missed by a run that was cut off within one, or before very many; or 0.

    A detector may find nothing in some videos, and these may be the last ones by name. But then it
    would not have found something in every frame of the video before them, and stopped within it.
    """
    within = int(looked.sequences[places == last][0])
    here, after = looked.sequences == within, places > last
    missed = np.setdiff1d(looked.sequences[after], [within])
    domain = [place for place in missed.tolist() if keys[place].domain == keys[within].domain]
    ends_within = min((here & after).sum(), (here & ~after).sum()) >= _LEAST_OF_SEQUENCE
    if ends_within and len(missed) and looked.answered[here & ~after].mean() >= _ANSWERED:
        return len(missed) + 1
    return len(domain) if len(domain) >= _LEAST_SEQUENCES else 0

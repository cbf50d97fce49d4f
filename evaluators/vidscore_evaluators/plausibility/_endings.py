"""Detections that end long before the objects do, or begin long after them: those of a part."""

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
"""Least frames with objects before the end, and after it."""

_LEAST_UNANSWERED = 0.1
"""Share of the frames with objects, at least, that are after the end."""

_ANSWERED = 0.9
"""Share of the frames before the end, at least, that have a detection."""

_LEAST_LOST = 8
"""Sequences that end early, or are missed after the end, times objects a frame there: of fewer a
tracker may have lost all."""

_SMALLER = 0.5
"""Objects of less than this share of the size of others are missed for that."""

_LEAST_IMAGES = 4
"""The same of images: no tracker has lost what is in them. Two objects in each are enough."""

_STAYING = 0.1
"""Mean best overlap with the objects of the next frame, at least, where frames are of a video."""

_FOLLOWED = 0.25
"""Share of frames that are followed by the next one in the sample, at least, where they are of a
video; ids of a few images are neighbours by chance."""

_ENOUGH = 10
"""Least frames of a sequence from which its length is known well enough."""

_LEAST_OF_SEQUENCE = 2
"""Least frames before and after the end of the sequence in which a run was cut off."""

_LEAST_SEQUENCES = 20
"""Least sequences without detections after a run that was cut off between two."""

Order = Literal["number", "share", "name"]


class Cut(Struct, frozen=True):
    """Frames with objects before and after the last detection, or after and before the first one.

    Attributes:
        order: What frames are ordered by: their number, their place in their sequence as a share of
            its length, or the name of their sequence and then their number.
        late: Whether it is the first detection, before which there are frames.
        frame_count: Frames with objects that were looked at.
        after: How many of them come after the last detection.
        answered: Share of the others that have a detection.
        last: Number, or share, of the last frame with a detection.
        block: Block of the first frame after it.
        frame: Its number.
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
    """Where the detections end, if objects go on for long and nearly every frame before has some.

    Args:
        answers: Frames with objects.
        sample: The sample of boxes.
        points: Whether these are points.
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
        table: A row for each.
        answered: (F,) whether it has a detection.
        sequences: (F,) which sequence it is of.
        are_images: Whether they are images that have nothing to do with each other.
    """

    table: Table
    answered: BoolArray
    sequences: IntArray
    are_images: bool


def are_images(table: Table, *, points: bool) -> bool:
    """Whether there are no tracks, and objects are elsewhere in the next frame, if there is one.

    Args:
        table: The sample of boxes.
        points: Whether these are points.
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
    """The end in an order of frames, or backwards; some of them have no place in it."""
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
    """(F,) places of frames in each order, NaN for none; names are sorted in two ways."""
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
    """What sorts names by the numbers in them: `seq2` before `seq10`."""
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
    """Sequences after the end of a run that was cut off within one, or before very many; else 0.

    A detector may find nothing in some videos, and these may be the last ones by their names: but
    then it is not that it finds something in each frame of the one before, and ends within it.
    """
    within = int(looked.sequences[places == last][0])
    here, after = looked.sequences == within, places > last
    missed = np.setdiff1d(looked.sequences[after], [within])
    domain = [place for place in missed.tolist() if keys[place].domain == keys[within].domain]
    ends_within = min((here & after).sum(), (here & ~after).sum()) >= _LEAST_OF_SEQUENCE
    if ends_within and len(missed) and looked.answered[here & ~after].mean() >= _ANSWERED:
        return len(missed) + 1
    return len(domain) if len(domain) >= _LEAST_SEQUENCES else 0

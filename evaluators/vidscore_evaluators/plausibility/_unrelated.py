"""Sides that are exchanged, or have nothing to do with each other, however they are read."""

from __future__ import annotations

import math

import numpy as np

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.plausibility._overlaps import LIES_ON, Fit
from vidscore_evaluators.plausibility._views import Finding, View, finding_of

EXCHANGED = "reads_sides_exchanged"
UNRELATED = "nothing_overlaps"

_LEAST_RISE = 0.1
"""Least difference of the mean best overlap of detections and of objects, where exchanged."""

_STEADY, _UNSTEADY = 0.85, 0.6
"""Share of neighbouring frames with as many boxes: at least for objects, at most for detections."""

_MOSTLY = 0.8
"""Where more frames have one and the same number of boxes, they are steady by themselves."""

_LEAST_NEIGHBOURS = 20
"""Least neighbouring frames for this finding."""

_HARDLY = 0.1
"""Mean best overlap, or share of boxes that lie on others, under which sides may be unrelated."""

_LEAST_UNRELATED = 20
"""Least boxes of each side for this finding."""

_NO_CHANCE = 2.0
"""Standard errors of a difference of two counts by which objects are found more often than by
chance: 1 in 40 is by chance."""


def mismatch(view: View) -> Finding | None:
    """That the sides are exchanged, or unrelated."""
    return _exchanged(view) or _unrelated(view)


def _exchanged(view: View) -> Finding | None:
    """Whether the truth comes and goes as detections do, and the detections are steady.

    Exchanged sides overlap as before, so that overlaps alone cannot tell false alarms that are
    taken for the truth from objects that a detector misses. Objects stay from frame to frame.
    """
    of_truth, of_detections = view.now.means
    before = view.sample.neighbours
    if of_detections - of_truth < _LEAST_RISE:
        return None
    truth, detections = map(np.diff, view.sample.starts)
    numbers, frames = np.unique(detections[detections > 0], return_counts=True)
    if len(numbers) == 0 or frames.max() > _MOSTLY * frames.sum():
        return None  # a tracker of one object always has one
    before = before[detections[before] + detections[before + 1] > 0]  # none twice says nothing
    if len(before) < _LEAST_NEIGHBOURS:
        return None
    steady = [
        float((counts[before] == counts[before + 1]).mean()) for counts in (truth, detections)
    ]
    if steady[0] > _UNSTEADY or steady[1] < _STEADY:
        return None
    frame = view.pairing.frames_of_truth[int(view.now.of_truth.argmin())]
    return Finding(
        code=EXCHANGED,
        side=Side.TRUTH,
        now=of_truth,
        then=of_detections,
        frame_count=len(view.frames),
        block=int(view.sample.blocks[frame]),
        frame=int(view.sample.numbers[frame]),
    )


def _unrelated(view: View) -> Finding | None:
    """Whether detections lie on the truth of other frames as well as on that of their own.

    Among many boxes some overlap by chance, though few lie on one: then these count, too.
    """
    now, crowded = view.now, max(view.now.means) >= _HARDLY
    if crowded and max(now.shares(LIES_ON)) >= _HARDLY:
        return None
    if min(map(len, view.boxes)) < _LEAST_UNRELATED or (crowded and len(view.frames) == 1):
        return None
    far = view.far.fit(*view.boxes)
    if len(view.frames) > 1:
        pairs = [(now.means, far.means)]
        if crowded:
            pairs.append((now.shares(LIES_ON), far.shares(LIES_ON)))
        if any(max(here) > 1.25 * max(elsewhere) for here, elsewhere in pairs):
            return None
    here, by_chance = _found(now), _found_by_chance(view, far)
    if here - by_chance > _NO_CHANCE * math.sqrt(here + by_chance):
        return None
    return finding_of(UNRELATED, Side.DETECTIONS, view, now, view.pairing)


def _found(fit: Fit) -> int:
    """Objects on which a detection lies."""
    return int(np.count_nonzero(fit.of_truth >= LIES_ON))


def _found_by_chance(view: View, far: Fit) -> float:
    """Objects on which detections would lie that have nothing to do with them.

    As in other frames, but for objects that are there, too; or as if they were turned round.
    """
    truth, detections = view.boxes
    stay, _ = view.beside_far(view.sample.truth_twice).fit(truth, truth).shares(LIES_ON)
    turned = view.pairing.fit(truth, _turned_round(detections))
    return max(_found(far) - stay * _found(view.now), _found(turned))


def _turned_round(boxes: FloatArray) -> FloatArray:
    """Boxes half a turn round the middle of what they span, which keeps their sizes."""
    around = boxes[:, :2].min(axis=0) + boxes[:, 2:].max(axis=0)
    turned: FloatArray = np.tile(around, 2) - boxes[:, [2, 3, 0, 1]]
    return turned

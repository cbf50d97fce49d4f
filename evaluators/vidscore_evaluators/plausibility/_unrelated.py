"""Sides that are swapped, or unrelated whatever their reading."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.plausibility._overlaps import LIES_ON, Fit
from vidscore_evaluators.plausibility._views import Finding, View, finding_of

EXCHANGED = "reads_sides_exchanged"
UNRELATED = "nothing_overlaps"

_LEAST_RISE = 0.1
"""Minimum difference of the mean best overlaps of detections and of objects, if swapped."""

_STEADY, _UNSTEADY = 0.85, 0.6
"""Fraction of neighbouring frames with equal numbers of boxes: minimum for objects, maximum for
detections."""

_MOSTLY = 0.8
"""If more frames than this have one and the same number of boxes, they are steady anyway."""

_LEAST_NEIGHBOURS = 20
"""Minimum number of neighbouring frames for this finding."""

_HARDLY = 0.1
"""Mean best overlap, or fraction of boxes on others, below which sides may be unrelated."""

_LEAST_UNRELATED = 20
"""Minimum number of boxes per side for this finding."""

_FITS_BETTER = 1.25
"""Factor by which boxes must fit better than by chance to be related."""

_NO_CHANCE = 2.0
"""Standard errors of a difference of two counts by which objects must be found more often than by
chance: 1 in 40 exceeds it by chance."""


def mismatch(view: View) -> Finding | None:
    """The finding that the sides are swapped or unrelated.

    The sample has few detections of a crowded frame, so their number does not tell the sides apart.
    """
    return _exchanged(view.take_frames(~view.sample.crowded)) or _unrelated(view.whole)


def _exchanged(view: View) -> Finding | None:
    """Whether the truth comes and goes as detections do, while the detections are steady.

    Swapped sides overlap as before, so overlaps alone cannot distinguish false alarms that are
    given as truth from objects that a detector misses. But objects stay from frame to frame.
    """
    of_truth, of_detections = view.now.means
    before = view.sample.neighbours
    if of_detections - of_truth < _LEAST_RISE:
        return None
    truth, detections = map(np.diff, view.sample.starts)
    numbers, frames = np.unique(detections[detections > 0], return_counts=True)
    if len(numbers) == 0 or frames.max() > _MOSTLY * frames.sum():
        return None  # a tracker of one object always has one
    before = before[detections[before] + detections[before + 1] > 0]  # empty twice says nothing
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

    Among many boxes some overlap by chance, though few lie on one: then both numbers count.
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
        if any(max(here) > _FITS_BETTER * max(elsewhere) for here, elsewhere in pairs):
            return None
    by_chance = _by_chance(view, far)
    if crowded and max(now.means) > _FITS_BETTER * by_chance(lambda fit: max(fit.means)):
        return None
    here, found = _found(now), by_chance(_found)
    if here - found > _NO_CHANCE * math.sqrt(here + found):
        return None
    return finding_of(UNRELATED, Side.DETECTIONS, view, now, view.pairing)


def _found(fit: Fit) -> int:
    """Number of objects on which a detection lies."""
    return int(np.count_nonzero(fit.of_truth >= LIES_ON))


def _by_chance(view: View, far: Fit) -> Callable[[Callable[[Fit], float]], float]:
    """What a measure of the fit would be for unrelated detections.

    Estimated from other frames, without objects that are there, too; or from rotated boxes.
    """
    truth, detections = view.boxes
    stay, _ = view.beside_far(view.sample.truth_twice).fit(truth, truth).shares(LIES_ON)
    turned = view.pairing.fit(truth, _turned_round(detections))
    return lambda measure: max(measure(far) - stay * measure(view.now), measure(turned))


def _turned_round(boxes: FloatArray) -> FloatArray:
    """Boxes rotated by half a turn about the middle of their extent, which keeps their sizes."""
    around = boxes[:, :2].min(axis=0) + boxes[:, 2:].max(axis=0)
    turned: FloatArray = np.tile(around, 2) - boxes[:, [2, 3, 0, 1]]
    return turned

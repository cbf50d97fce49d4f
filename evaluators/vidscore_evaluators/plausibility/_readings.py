"""Other readings of the same numbers, and whether one of them fits better."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from msgspec import structs

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.plausibility._overlaps import LIES_ON, Fit, Pairing, Sample
from vidscore_evaluators.plausibility._places import NORMALISED, Scale, places_of, scale_of
from vidscore_evaluators.plausibility._unrelated import mismatch
from vidscore_evaluators.plausibility._views import Finding, View, finding_of
from vidscore_evaluators.plausibility.sample import FRAMES_PER_BLOCK

LEAST_RISE = 0.1
"""Minimum rise of the mean best overlap under a reading that is reported."""

_CHANCE = 1.0
"""With n boxes, chance may raise a mean by this much divided by the root of n: twice the standard
error of values between 0 and 1."""

_CHANCE_OF_THINGS, _CHANCE_OF_READ_THINGS = 1.0, 0.5
"""The same for n things, if place or scale are estimated, and if nothing is."""

_ORDERED = 0.95
"""Minimum fraction of boxes whose corners are in order under a plausible reading."""

_MARGIN = 0.05
"""Fraction of the scene's size by which boxes may extend beyond it."""


_LEAST_MORE_LIE = 0.05
"""Minimum increase of the fraction of boxes that lie on others, if chance may explain the rise."""

_LIE_ALREADY, _LEAST_MORE_PLACED = 0.5, 0.3
"""Fraction of boxes on others: its maximum if sides are elsewhere, and its minimum increase."""

_LEAST_FIT_OF_SCALE = 0.3
"""Minimum fit of a reported scale, since it is only estimated from the extent of boxes."""

_LEAST_FRACTIONS = 10
"""Minimum number of boxes per side at which those of one side do not all lie in the first pixel by
chance: they are fractions of the image, whether or not the scale is found."""

_LEAST_MORE_THAN_OF_EITHER = 0.05
"""Minimum rise, for detections compared with a neighbour's truth, over the fit of either frame on
its own: one of the two frames may be good or bad by chance."""

_LEAST_BOXES_IN_PART, _FADED, _FALLEN = 7, 0.6, 0.5
"""Minimum number of objects in each third of the frames in order; and the fractions of the earlier
thirds' fit, and of the first third's original fit, below which the last third indicates another
frame rate."""

Reading = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], tuple[FloatArray, ...]]
"""Computes the columns of boxes from four columns of numbers."""

_OF_ANY: dict[str, Reading] = {"reads_rows_first": lambda a, b, c, d: (b, a, d, c)}
_OF_BOXES: dict[str, Reading] = {
    "reads_as_sizes": lambda a, b, c, d: (a, b, a + c, b + d),
    "reads_as_centres": lambda a, b, c, d: (a - c / 2, b - d / 2, a + c / 2, b + d / 2),
    "reads_as_corners": lambda a, b, c, d: (a, b, c - a, d - b),
    "reads_centres_as_corners": lambda a, b, c, d: ((a + c) / 2, (b + d) / 2, c - a, d - b),
    "reads_corner_as_centre": lambda a, b, c, d: (
        *(a - (c - a) / 2, b - (d - b) / 2),
        *((a + c) / 2, (b + d) / 2),
    ),
    "reads_centre_as_corner": lambda a, b, c, d: (
        *((a + c) / 2, (b + d) / 2),
        *(c + (c - a) / 2, d + (d - b) / 2),
    ),
    **_OF_ANY,
    "reads_pairs_first": lambda a, b, c, d: (a, c, b, d),
    "reads_height_first": lambda a, b, c, d: (a, b, a + (d - b), b + (c - a)),
}

_SMALLER = ("reads_as_corners", "reads_centres_as_corners")
"""Readings under which boxes are much smaller than in the original reading."""

EARLIER, LATER = "reads_one_frame_earlier", "reads_one_frame_later"


def best_finding(view: View, plain: tuple[bool, bool]) -> Finding | None:
    """The reading that fits best, if it fits much better than the present one.

    Args:
        view: A sample as it is.
        plain: Whether the boxes of each side are two corners, which may have another meaning.
    """
    findings = [*_otherwise_read(view, plain), *_placed(view), *_shifted(view)]
    if findings:
        return max(findings, key=_likelihood)
    return mismatch(view)


def _likelihood(finding: Finding) -> tuple[bool, float]:
    """Sort key of findings.

    Many a reading of one side is the inverse of one of the other side, and mistakes in detections
    are more frequent. But if corners were read as sizes, boxes are too large, and enlarging the
    other side fits even better, because larger boxes overlap more.
    """
    return finding.code in _SMALLER, finding.then + 0.1 * (finding.side != Side.TRUTH)


def _otherwise_read(view: View, plain: tuple[bool, bool]) -> Iterator[Finding]:
    for index, side in enumerate((Side.TRUTH, Side.DETECTIONS)):
        readings = _OF_BOXES if plain[index] else _OF_ANY
        given, other = view.sample.boxes[index], view.boxes[1 - index]
        candidates: list[tuple[str, FloatArray, Scale | None]] = [
            (code, np.stack(reading(*given.T), axis=1), None) for code, reading in readings.items()
        ]
        scale = scale_of(view.boxes[index], other)
        if scale is not None:
            candidates.append((scale.code, given * scale.factors, scale))
            if scale.code == NORMALISED and min(map(len, view.boxes)) >= _LEAST_FRACTIONS:
                yield finding_of(NORMALISED, side, view, view.now, view.pairing)
        least_inside = _inside(view.boxes[index], other) - 0.02
        for code, boxes, by in candidates:
            if _are_ordered(boxes) and _inside(boxes, other) >= least_inside:
                sides = (boxes, other) if index == 0 else (other, boxes)
                then = view.pairing.fit(*sides)
                fits = by is None or max(then.means) > _LEAST_FIT_OF_SCALE
                chance = _CHANCE_OF_READ_THINGS if by is None else _CHANCE_OF_THINGS
                if (
                    fits
                    and _rises_by_things(view, sides, then, chance)
                    and _is_no_chance(view, sides, then)
                ):
                    yield finding_of(code, side, view, then, view.pairing, by)


def _placed(view: View) -> Iterator[Finding]:
    """The detections mirrored or moved, if most that lie on nothing then lie on something.

    The amount is estimated from the data, so it must fit better than other readings.
    """
    if max(view.now.shares(LIES_ON)) > _LIE_ALREADY:
        return
    for found in places_of(view.pairing, view.boxes, points=view.sample.points):
        sides = (view.boxes[0], found.boxes)
        then, far = view.pairing.fit(*sides), view.far.fit(*sides)
        least = max(*view.now.shares(LIES_ON), *far.shares(LIES_ON)) + _LEAST_MORE_PLACED
        if max(then.shares(LIES_ON)) >= least and _rises_by_things(
            view, sides, then, _CHANCE_OF_THINGS
        ):
            finding = finding_of(found.code, Side.DETECTIONS, view, then, view.pairing, found.scale)
            yield structs.replace(finding, extent=found.extent, offset=found.offset)


def _is_no_chance(view: View, sides: tuple[FloatArray, FloatArray], then: Fit) -> bool:
    """Whether boxes under a reading overlap for more reasons than their size.

    Larger boxes overlap more, whatever they contain. So either many more boxes must lie on another
    one, or overlaps must rise by more than between unrelated frames.
    """
    more = zip(then.shares(LIES_ON), view.now.shares(LIES_ON), strict=True)
    if any(new - old >= _LEAST_MORE_LIE for new, old in more):
        return True
    by_chance = zip(view.far.fit(*sides).means, view.far.fit(*view.boxes).means, strict=True)
    rises = zip(then.means, view.now.means, by_chance, strict=True)
    return any((new - old) - (far - before) >= LEAST_RISE for new, old, (far, before) in rises)


def _are_ordered(boxes: FloatArray) -> bool:
    """Whether a reading gives valid boxes."""
    ordered = (boxes[:, 2] >= boxes[:, 0]) & (boxes[:, 3] >= boxes[:, 1])
    return bool(ordered.mean() >= _ORDERED)


def _inside(boxes: FloatArray, other: FloatArray) -> float:
    """Fraction of boxes within the extent of the other side's boxes."""
    least, greatest = other[:, :2].min(axis=0), other[:, 2:].max(axis=0)
    margin = _MARGIN * (greatest - least) + 1.0
    inside = (boxes[:, :2] >= least - margin) & (boxes[:, 2:] <= greatest + margin)
    return float(inside.all(axis=1).mean())


def _shifted(view: View) -> Iterator[Finding]:
    """The detections of a frame compared with the truth of its neighbours.

    A detector of every other frame has nothing in the frames between, or repeats its last result,
    but is neither early nor late. So both neighbours must have detections, and as many pairs begin
    with an even frame as with an odd one. If nothing moves, the detections of the better of two
    frames fit either truth, so a shift must fit better than both frames do unshifted.
    """
    before = view.sample.neighbours
    answered = np.diff(view.sample.starts[1]) > 0
    inner = view.sample.numbers[before] % FRAMES_PER_BLOCK > 0
    before = before[answered[before] & answered[before + 1] & inner]
    if len(before) == 0:
        return
    pairings = {
        LATER: Pairing(view.sample, before + 1, before),
        EARLIER: Pairing(view.sample, before, before + 1),
    }
    nows = {code: view.now.take(pairing) for code, pairing in pairings.items()}
    of_either = np.max([now.means for now in nows.values()], axis=0)
    for code, pairing in pairings.items():
        now, then = nows[code], pairing.fit(*view.boxes)
        more = float((then.means - of_either).max())
        if _rises(now, then) and more >= _LEAST_MORE_THAN_OF_EITHER:
            finding = finding_of(code, Side.DETECTIONS, view, then, pairing)
            yield structs.replace(finding, fades=_fades(view.sample, pairing, now, then))


def _fades(sample: Sample, pairing: Pairing, now: Fit, then: Fit) -> bool:
    """Whether a shift fits only for a while, as with another frame rate.

    The offset grows with the frame number: first no shift fits, then one, finally neither.
    """
    numbers = sample.numbers[pairing.truth_frames][pairing.frames_of_truth]
    thirds = np.array_split(np.argsort(numbers, kind="stable"), 3)
    if min(map(len, thirds)) < _LEAST_BOXES_IN_PART:
        return False
    [*shifted, last], [first, *_, end] = (
        [float(fit.of_truth[third].mean()) for third in thirds] for fit in (then, now)
    )
    return last < _FADED * max(shifted) and end < _FALLEN * first


def _rises(now: Fit, then: Fit) -> bool:
    """Whether the overlap rises by more than chance explains."""
    rises = _rises_of(now, then)
    count = min(len(then.of_truth), len(then.of_detections))
    return count > 0 and max(rises) >= max(LEAST_RISE, _CHANCE / count**0.5) and min(rises) > -0.02


def _rises_by_things(
    view: View, sides: tuple[FloatArray, FloatArray], then: Fit, chance: float
) -> bool:
    """The same, where one thing in several frames counts once."""
    if not _rises(view.now, then):
        return False
    things = min(map(view.pairing.count_things, sides))
    return max(_rises_of(view.now, then)) >= chance / math.sqrt(things)


def _rises_of(now: Fit, then: Fit) -> list[float]:
    return [new - old for new, old in zip(then.means, now.means, strict=True)]

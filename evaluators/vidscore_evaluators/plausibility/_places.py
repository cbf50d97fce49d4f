"""Detections that are mirrored (y counted from below, x from the right), moved, or scaled.

The size of the image need not be known: objects and their detections have a constant sum of
coordinates if mirrored, a constant difference if moved, and a constant ratio if scaled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from msgspec import Struct, structs

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.plausibility._overlaps import Pairing

_ALIKE = 0.7
"""Minimum ratio of the sizes of an object and its mirrored detection, in either direction."""

_NEAR = 0.25
"""Maximum distance of their centres along the other axis, as a fraction of their size."""

_WINDOW = 0.25
"""Window, as a fraction of the median size, within which sums or differences count as equal."""

_LEAST_PAIRS = 20
"""Minimum number of pairs with an equal sum, difference or ratio."""

_MORE_THAN_MOVED = 2
"""Pairs with an equal sum must outnumber those with an equal difference by this factor."""

_MIRRORED = ("reads_x_from_the_right", "reads_y_from_below")
_MOVED = "reads_from_another_origin"
"""Codes of the readings; for mirrored ones by axis, x first."""

_SCALED, NORMALISED = "reads_at_another_scale", "reads_as_shares_of_the_image"

_ANOTHER_SCALE = 1.2
"""Scales closer to 1 than this are not another reading."""

_LIKE_THEIR_SIZES, _ONE_SCALE = 0.3, 0.1
"""Natural logarithms of ratios: the maximum difference between a pair's scales of place and of
size, and the window within which scales count as equal."""

_ALL_BUT_FEW = 0.99

GREATEST_FRACTION = 1.5
"""Coordinates that are hardly ever greater are fractions of the image."""


class Scale(Struct, frozen=True):
    """Factors of coordinates, and whether the result looks like fractions of the image."""

    code: str
    across: float
    down: float

    @property
    def factors(self) -> FloatArray:
        """(4,) factors of the coordinates of a box."""
        return np.array([self.across, self.down, self.across, self.down])


class Placed(Struct, frozen=True):
    """Detections at another place.

    Attributes:
        code: Code of the reading.
        boxes: (N, 4) upright boxes.
        extent: Width or height that x or y is subtracted from, if they are mirrored.
        offset: Offset that is added to x and y, if they are moved.
        scale: Factors that are applied first, if the scale differs, too.
    """

    code: str
    boxes: FloatArray
    extent: float | None = None
    offset: tuple[float, float] | None = None
    scale: Scale | None = None


def places_of(
    pairing: Pairing, boxes: tuple[FloatArray, FloatArray], *, points: bool
) -> Iterator[Placed]:
    """The detections mirrored, moved, scaled, or scaled equally in both directions and moved.

    The last is typical of an image that was scaled to fit a square, with borders.

    Args:
        pairing: Both sides, frame by frame.
        boxes: Upright boxes of the truth and of the detections.
        points: Whether the boxes are points.
    """
    truth, detections = boxes
    yield from _Alike(pairing, truth, detections, points=points).placed()
    yield from _scaled(pairing, truth, detections, points=points)
    scale = scale_of(detections, truth)
    if scale is not None:
        for factor in (scale.across, scale.down):
            alike = _Alike(pairing, truth, detections * factor, points=points)
            for place in alike.moved():
                if alike.is_far(place.offset):  # otherwise the scale alone explains it
                    both = Scale(scale.code, factor, factor)
                    yield structs.replace(place, code=scale.code, scale=both)


def _scaled(
    pairing: Pairing, truth: FloatArray, detections: FloatArray, *, points: bool
) -> Iterator[Placed]:
    """The detections at the scale that most pairs share, both of places and of sizes."""
    left, right = pairing.pairs
    mine, theirs = (
        np.stack([boxes[:, :2] + boxes[:, 2:], boxes[:, 2:] - boxes[:, :2]], axis=1)
        for boxes in (truth.take(left, axis=0), detections.take(right, axis=0))
    )
    of_places, of_sizes = np.log(mine / theirs).transpose(1, 0, 2)
    fits = np.isfinite(of_places).all(axis=1)
    if not points:
        fits &= (np.abs(of_places - of_sizes) <= _LIKE_THEIR_SIZES).all(axis=1)
    if np.count_nonzero(fits) < _LEAST_PAIRS:
        return
    _, across = _most_frequent(of_places[fits, 0], _ONE_SCALE)
    fits &= np.abs(of_places[:, 0] - across) <= _ONE_SCALE
    count, down = _most_frequent(of_places[fits, 1], _ONE_SCALE)
    if count >= _LEAST_PAIRS:
        code = NORMALISED if (_reach(detections) <= GREATEST_FRACTION).all() else _SCALED
        scale = Scale(code, math.exp(across), math.exp(down))
        yield Placed(code, detections * scale.factors, scale=scale)


def scale_of(boxes: FloatArray, other: FloatArray) -> Scale | None:
    """Scale at which boxes span as much as those of the other side; None if it is near 1."""
    mine, theirs = _reach(boxes), _reach(other)
    if not ((mine > 0).all() and (theirs > 0).all()):
        return None
    across, down = (theirs / mine).tolist()
    normalised = [bool((reach <= GREATEST_FRACTION).all()) for reach in (mine, theirs)]
    changes = (across, down, *(mine / theirs).tolist())
    if normalised[1] or max(changes) < _ANOTHER_SCALE or not math.isfinite(max(changes)):
        return None
    if not normalised[0] and not (_spread(boxes) and _spread(other)):
        return None  # some scale maps any single place to any other
    return Scale(NORMALISED if normalised[0] else _SCALED, across, down)


def _reach(boxes: FloatArray) -> FloatArray:
    """(2,) how far boxes extend in x and y, without the farthest hundredth."""
    last = int(_ALL_BUT_FEW * (len(boxes) - 1))
    reach: FloatArray = np.partition(boxes[:, 2:], last, axis=0)[last]
    return reach


def _spread(boxes: FloatArray) -> bool:
    """Whether boxes are more than one repeated point."""
    return bool((boxes[:, 2:].max(axis=0) > boxes[:, :2].min(axis=0)).any())


class _Alike:
    """Pairs of an object and a detection of its frame that have similar sizes.

    Args:
        pairing: Both sides, frame by frame.
        truth: (N, 4) upright boxes of the truth.
        detections: (M, 4) upright boxes of the detections.
        points: Whether the boxes are points.
    """

    def __init__(
        self, pairing: Pairing, truth: FloatArray, detections: FloatArray, *, points: bool
    ) -> None:
        """Find the pairs."""
        left, right = pairing.pairs
        sides = truth.take(left, axis=0), detections.take(right, axis=0)
        if points:
            sizes = [np.full_like(boxes[:, :2], pairing.reach_px) for boxes in sides]
        else:
            sizes = [boxes[:, 2:] - boxes[:, :2] for boxes in sides]
        greater, less = np.maximum(*sizes), np.minimum(*sizes)
        alike = ((less >= _ALIKE * greater) & (greater > 0)).all(axis=1)
        self._detections = detections
        self._sizes: FloatArray = greater[alike]
        self._mine, self._theirs = ((boxes[alike, :2] + boxes[alike, 2:]) / 2 for boxes in sides)

    def placed(self) -> Iterator[Placed]:
        """Detections mirrored along either axis, or moved, if many may then overlap objects."""
        yield from self._mirrored()
        yield from self.moved()

    def _mirrored(self) -> Iterator[Placed]:
        differences = np.abs(self._theirs - self._mine) <= _NEAR * self._sizes
        for axis in (0, 1):
            chosen: BoolArray = differences[:, 1 - axis]
            if chosen.sum() >= _LEAST_PAIRS:
                mine, theirs = self._mine[chosen, axis], self._theirs[chosen, axis]
                width = _WINDOW * float(np.median(self._sizes[chosen, axis]))
                count, extent = _most_frequent(mine + theirs, width)
                moved, _ = _most_frequent(theirs - mine, width)
                if count >= max(_LEAST_PAIRS, _MORE_THAN_MOVED * moved):
                    boxes = self._detections.copy()
                    boxes[:, axis::2] = extent - self._detections[:, axis::2][:, ::-1]
                    yield Placed(_MIRRORED[axis], boxes, extent=extent)

    @property
    def _widths(self) -> FloatArray:
        """(2,) windows within which differences in x and y count as equal."""
        widths: FloatArray = _WINDOW * np.median(self._sizes, axis=0)
        return widths

    def is_far(self, offset: tuple[float, float] | None) -> bool:
        """Whether an offset exceeds those windows."""
        return offset is not None and bool((np.abs(offset) > self._widths).any())

    def moved(self) -> Iterator[Placed]:
        """Detections moved, in the form of `placed`."""
        if len(self._mine) < _LEAST_PAIRS:
            return
        away, widths = self._mine - self._theirs, self._widths
        _, across = _most_frequent(away[:, 0], widths[0])
        near = away[np.abs(away[:, 0] - across) <= widths[0]]
        count, down = _most_frequent(near[:, 1], widths[1])
        if count >= _LEAST_PAIRS:
            boxes = self._detections + np.array([across, down] * 2)
            yield Placed(_MOVED, boxes, offset=(across, down))


def _most_frequent(values: FloatArray, width: float) -> tuple[int, float]:
    """The greatest number of values within a window, and their median."""
    ordered = np.sort(values)
    counts: IntArray = np.searchsorted(ordered, ordered + width, side="right") - np.arange(
        len(ordered)
    )
    first = int(counts.argmax())
    return int(counts[first]), float(np.median(ordered[first : first + counts[first]]))

"""A sample with its present reading, and findings about it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.plausibility._overlaps import Fit, Pairing, Sample
from vidscore_evaluators.plausibility._places import Scale


class Finding(Struct, frozen=True):
    """A reading that fits better.

    Attributes:
        code: Code of the reading.
        side: The side that is read differently.
        now: Mean best overlap under the present reading.
        then: Mean best overlap under the reading.
        frame_count: Number of frames that were examined.
        block: Block of the frame in which the overlap rises most.
        frame: Its frame number.
        scale: Factors of the coordinates, for another scale.
        extent: Width or height that they are subtracted from, for mirrored ones.
        offset: Offset that is added to x and y, for moved ones.
        fades: Whether the fit decreases with the frame number, for shifted ones.
    """

    code: str
    side: Side
    now: float
    then: float
    frame_count: int
    block: int
    frame: int
    scale: Scale | None = None
    extent: float | None = None
    offset: tuple[float, float] | None = None
    fades: bool = False


class View(Struct, frozen=True, eq=False, dict=True):
    """A sample with its present reading.

    Attributes:
        sample: The sample.
        frames: (F,) all of its frames.
        boxes: Upright boxes of the truth and of the detections.
        pairing: Both sides, frame by frame.
        overlaps: Overlaps of all its pairs.
        now: How well both sides overlap.
        far: The truth paired with the detections of unrelated frames.
    """

    sample: Sample
    frames: IntArray
    boxes: tuple[FloatArray, FloatArray]
    pairing: Pairing
    overlaps: FloatArray
    now: Fit

    @cached_property
    def far(self) -> Pairing:
        return self.beside_far(self.sample)

    def beside_far(self, sample: Sample) -> Pairing:
        """The frames of a sample paired with frames at other places in it."""
        return Pairing(sample, self.frames, np.roll(self.frames, len(self.frames) // 2))

    @classmethod
    def of(cls, sample: Sample) -> View:
        frames = np.arange(sample.frame_count)
        boxes = (bounding_boxes(sample.boxes[0]), bounding_boxes(sample.boxes[1]))
        pairing = Pairing(sample, frames, frames)
        overlaps = pairing.overlaps(*boxes)
        return cls(sample, frames, boxes, pairing, overlaps, pairing.fit_of(overlaps))

    @cached_property
    def whole(self) -> View:
        """The frames of which all objects are in the sample: detections on none are false."""
        return self.take_frames(~self.sample.partial)

    def take_frames(self, kept: BoolArray) -> View:
        """The view of some frames, given as a mask."""
        return self if kept.all() else View.of(self.sample.take_frames(np.flatnonzero(kept)))


def finding_of(
    code: str, side: Side, view: View, then: Fit, pairing: Pairing, scale: Scale | None = None
) -> Finding:
    """The finding; its example is the frame in which a box of the truth gains most."""
    now = view.now.take(pairing)
    gains = [new - old for new, old in zip(then.means, now.means, strict=True)]
    of_truth, of_detections = zip(gains, then.means, strict=True)
    side_of_gain = 0 if of_truth >= of_detections else 1
    best = int((then.of_truth - now.of_truth).argmax())
    frame = pairing.truth_frames[pairing.frames_of_truth[best]]
    return Finding(
        code=code,
        side=side,
        now=now.means[side_of_gain],
        then=then.means[side_of_gain],
        frame_count=len(pairing.truth_frames),
        block=int(view.sample.blocks[frame]),
        frame=int(view.sample.numbers[frame]),
        scale=scale,
    )

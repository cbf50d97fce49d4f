"""A sample as it is, and what is found in it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.plausibility._overlaps import Fit, Pairing, Sample
from vidscore_evaluators.plausibility._places import Scale


class Finding(Struct, frozen=True):
    """Another reading that fits better.

    Attributes:
        code: Which reading.
        side: The side that is read otherwise.
        now: Mean best overlap as it is.
        then: Mean best overlap under the reading.
        frame_count: Frames that were looked at.
        block: Block of the frame in which the overlap rises most.
        frame: Its number.
        scale: What the coordinates are multiplied by, for another scale.
        extent: What they are taken from, for mirrored ones.
        offset: What is added to x and y, for moved ones.
        fades: Whether it fits the less the greater the frame number is, for shifted ones.
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
    """A sample as it is.

    Attributes:
        sample: The sample.
        frames: (F,) all of its frames.
        boxes: Upright boxes of the truth and of the detections.
        pairing: Both sides, frame by frame.
        overlaps: Overlaps of all pairs of it.
        now: How well they lie on each other.
        far: The truth beside the detections of frames that have nothing to do with it.
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
        """Frames of a sample beside those of other places in it."""
        return Pairing(sample, self.frames, np.roll(self.frames, len(self.frames) // 2))

    @classmethod
    def of(cls, sample: Sample) -> View:
        frames = np.arange(sample.frame_count)
        boxes = (bounding_boxes(sample.boxes[0]), bounding_boxes(sample.boxes[1]))
        pairing = Pairing(sample, frames, frames)
        overlaps = pairing.overlaps(*boxes)
        return cls(sample, frames, boxes, pairing, overlaps, pairing.fit_of(overlaps))


def finding_of(
    code: str, side: Side, view: View, then: Fit, pairing: Pairing, scale: Scale | None = None
) -> Finding:
    """The finding, with the frame in which a box of the truth gains most as its example."""
    now = view.now.take(pairing)
    gains = [new - old for new, old in zip(then.means, now.means, strict=True)]
    side_of_gain = 0 if gains[0] >= gains[1] else 1
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

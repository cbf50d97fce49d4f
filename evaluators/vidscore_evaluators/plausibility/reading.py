"""The same pass over what was just read, before anything is scored."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import (
    NO_TRACK,
    POINT,
    Annotations,
    Side,
    empty_annotations,
)
from vidscore_evaluators.plausibility.ground_truth import ground_truth_doubts
from vidscore_evaluators.plausibility.impression import (
    ImageSizes,
    beyond_image,
    impression_of,
    sizes_of_objects,
)
from vidscore_evaluators.plausibility.judging import (
    SIDE_NAMES,
    beyond_image_doubts,
    doubts,
    side_doubts,
)
from vidscore_evaluators.plausibility.labels import LabelUse
from vidscore_evaluators.report import FrameExample, ReportWarning
from vidscore_evaluators.specification import BenchmarkSpec

LEAST_SHARES = 10
"""Objects that do not all lie in one pixel by chance."""


def doubts_of_side(
    side: Side, annotations: Annotations, specification: BenchmarkSpec = BenchmarkSpec()
) -> tuple[ReportWarning, ...]:
    """What does not look right about one side alone.

    Args:
        side: The side.
        annotations: What was read of it.
        specification: Says how large images are.
    """
    nothing = empty_annotations(annotations.arity)
    sides = (annotations, nothing) if side is Side.TRUTH else (nothing, annotations)
    impression = impression_of(align(*sides), specification)
    found = (
        *_shares(side, annotations),
        *side_doubts(impression, ranked=expects_confidences(annotations)),
    )
    return (*found, *(ground_truth_doubts(annotations) if side is Side.TRUTH else ()))


def _shares(side: Side, annotations: Annotations) -> Iterator[ReportWarning]:
    """Coordinates that may be shares of the image, as far as one side alone can tell.

    Beside the other side it is told whether they fit, so that a report says nothing of this.
    """
    coordinates = annotations.coordinates
    within = (coordinates >= 0) & (coordinates <= 1)
    if annotations.object_count >= LEAST_SHARES and within.all():
        yield ReportWarning(
            "reads_as_shares_of_the_image",
            f"coordinates of {SIDE_NAMES[side]} all lie between 0 and 1, like shares of the image; "
            "give pixels, unless the other side is not in pixels either",
            annotations.object_count,
        )


def doubts_of_pair(
    truth: Annotations,
    detections: Annotations,
    specification: BenchmarkSpec = BenchmarkSpec(),
    labels: LabelUse = LabelUse.EXACT,
    *,
    ranked: bool | None = None,
) -> tuple[ReportWarning, ...]:
    """What does not look right about both sides, as a report over them would say.

    Args:
        truth: The ground truth, restricted to evaluated frames.
        detections: The detections.
        specification: Says how large images are.
        labels: What labels are to who scores.
        ranked: Whether confidences rank detections; where that is not known, whether they seem to.
    """
    if ranked is None:
        ranked = expects_confidences(detections)
    return doubts(impression_of(align(truth, detections), specification), labels, ranked=ranked)


def doubts_of_places(
    side: Side, annotations: Annotations, sizes: ImageSizes
) -> Iterator[ReportWarning]:
    """What lies beyond its image, where the files say how large images are.

    Args:
        side: The side.
        annotations: What was read of it.
        sizes: Width and height of the largest image of each sequence.
    """
    if sizes and annotations.object_count:
        of_objects = sizes_of_objects(annotations, sizes)
        beyond = beyond_image(annotations.coordinates, of_objects)
        frame = int(annotations.object_frames[int(beyond.argmax())])
        sequence = annotations.sequences[annotations.frame_sequences[frame]]
        example = FrameExample(side, sequence, int(annotations.frame_numbers[frame]))
        sized = int(np.isfinite(of_objects[:, 0]).sum())
        yield from beyond_image_doubts(side, int(beyond.sum()), sized, example)


def expects_confidences(detections: Annotations) -> bool:
    """Whether confidences are to be expected: trackers and detectors of points have seldom any."""
    return detections.arity != POINT and bool((detections.track_ids == NO_TRACK).all())

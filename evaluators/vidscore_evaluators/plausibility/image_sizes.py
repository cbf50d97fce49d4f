"""Objects beyond their images, if the size of these is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.arrays import BoolArray, FloatArray
from vidscore_evaluators.plausibility.wording import WHOSE, place_name
from vidscore_evaluators.report import FrameExample, ReportWarning
from vidscore_evaluators.specification import BenchmarkSpec

ImageSizes = Mapping[SequenceKey, tuple[int, int]]
"""Width and height of the images of each sequence, if known."""

MANY_ROWS = 3
"""Number of odd boxes that cause no warning."""

_BEYOND_FRACTION = 0.01


def sizes_in(specification: BenchmarkSpec) -> ImageSizes:
    """Sizes that a specification states."""
    return {
        entry.key: (entry.image_width, entry.image_height)
        for entry in specification.sequences
        if entry.image_width and entry.image_height
    }


def sizes_of_objects(annotations: Annotations, known: ImageSizes) -> FloatArray:
    """(N, 2) width and height of the image of each object, infinite where unknown."""
    unknown = (np.inf, np.inf)
    sizes = np.array([known.get(key, unknown) for key in annotations.sequences]).reshape(-1, 2)
    return sizes[annotations.frame_sequences].repeat(annotations.object_counts, axis=0)


def beyond_image(coordinates: FloatArray, sizes: FloatArray) -> BoolArray:
    """(N,) whether an object's centre is beyond its image, or the object is larger than it."""
    points = coordinates.reshape(len(coordinates), coordinates.shape[1] // 2, 2)
    least, greatest = points.min(axis=1), points.max(axis=1)
    centres = (least + greatest) / 2
    beyond: BoolArray = ((centres < 0) | (centres > sizes) | (greatest - least > 1.05 * sizes)).any(
        axis=1
    )
    return beyond


def beyond_image_warnings(
    side: Side, count: int, sized: int, example: FrameExample
) -> Iterator[ReportWarning]:
    """A warning if more than a few of the objects in images of known size are beyond them."""
    if count >= MANY_ROWS and count > _BEYOND_FRACTION * sized:
        yield ReportWarning(
            "beyond_image",
            f"{WHOSE[side]} are larger than the image or have their centre beyond it, the first "
            f"of them in {place_name(example)}; check the order and the unit of the coordinates, "
            "and the size of the image",
            count,
            example,
        )


def warnings_of_positions(
    side: Side, annotations: Annotations, sizes: ImageSizes
) -> Iterator[ReportWarning]:
    """Warn of objects beyond their image, if the files state image sizes.

    Args:
        side: The side.
        annotations: The annotations that were read.
        sizes: Width and height of the largest image of each sequence.
    """
    found = count_beyond_image(side, annotations, sizes)
    if found is not None:
        yield from beyond_image_warnings(side, *found)


def count_beyond_image(
    side: Side, annotations: Annotations, sizes: ImageSizes
) -> tuple[int, int, FrameExample] | None:
    """Objects beyond their image, objects in images of known size, and the first one's frame.

    Args:
        side: The side.
        annotations: The annotations that were read.
        sizes: Width and height of the largest image of each sequence.

    Returns:
        None if no size is known, or if there is no object.
    """
    if not sizes or not annotations.object_count:
        return None
    of_objects = sizes_of_objects(annotations, sizes)
    beyond = beyond_image(annotations.coordinates, of_objects)
    frame = int(annotations.object_frames[int(beyond.argmax())])
    sequence = annotations.sequences[annotations.frame_sequences[frame]]
    example = FrameExample(side, sequence, int(annotations.frame_numbers[frame]))
    return int(beyond.sum()), int(np.isfinite(of_objects[:, 0]).sum()), example

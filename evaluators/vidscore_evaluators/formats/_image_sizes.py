"""Sizes of images where one side is converted: what is known of them, and what cannot be."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, frame_keys, sequence_name
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.names import counted


def sizes_of_images(
    annotations: Annotations, owner: Source, image_size: tuple[int, int] | None
) -> IntArray:
    """(F, 2) width and height of each frame's image, 0 where unknown.

    Args:
        annotations: What is written.
        owner: What was read, or the truth beside it; it may know the size of each image.
        image_size: That of every image, if it is said.
    """
    if image_size is not None:
        return np.tile(np.array(image_size, dtype=np.int64), (annotations.frame_count, 1))
    numbering = owner.numbering
    if numbering is None or not len(numbering.sizes):
        of_sequences = [owner.image_sizes.get(key, (0, 0)) for key in annotations.sequences]
        table = np.array(of_sequences, dtype=np.int64).reshape(-1, 2)
        return table[annotations.frame_sequences]
    of_frames = dict(zip(numbering.frames.values(), numbering.sizes, strict=True))
    own = [of_frames.get(frame, (0, 0)) for frame in frame_keys(annotations)]
    return np.array(own, dtype=np.int64).reshape(-1, 2)[:, ::-1]


def check_image_sizes(source: Source, image_size: tuple[int, int] | None) -> None:
    """Refuse a size for every image where the source itself says another one of some."""
    if image_size is None:
        return
    wrong = {
        key: f"images of up to {width} x {height}"
        for key, (width, height) in source.image_sizes.items()
        if (width, height) != image_size
    }
    numbering = source.numbering
    if numbering is not None and len(numbering.sizes):
        for (key, _), size in zip(numbering.frames.values(), numbering.sizes, strict=True):
            height, width = size
            if height and (width, height) != image_size:
                wrong.setdefault(key, f"an image of {width} x {height}")
    expected = f"every image of {image_size[0]} x {image_size[1]}, as --image-size says"
    if wrong:
        raise InputError(
            [
                Fault(f"{found} in {sequence_name(key)}", expected, source.name)
                for key, found in wrong.items()
            ]
        )


def check_mask_sizes(
    annotations: Annotations, image_size: tuple[int, int] | None, source: str
) -> None:
    """Refuse masks of another size than their image, which no reader would take.

    An image is as large as is said, or else as the first mask of its frame.
    """
    masks = annotations.masks
    if masks is None or not masks.count:
        return
    if image_size is None:
        _, first, frames = np.unique(
            annotations.object_frames, return_index=True, return_inverse=True
        )
        expected, why = masks.sizes[first[frames]], "as the first mask of that frame"
    else:
        expected, why = np.tile(np.array(image_size[::-1]), (masks.count, 1)), "the size of images"
    wrong = np.flatnonzero((masks.sizes != expected).any(axis=1))
    if len(wrong):
        row = int(wrong[0])
        frame = annotations.frame_name(int(annotations.object_frames[row]))
        (height, width), (image_height, image_width) = masks.sizes[row], expected[row]
        found = f"{counted(len(wrong), 'mask')} of another size, {width} x {height} in {frame}"
        advice = None if image_size is None else "leave --image-size out; masks say it themselves"
        fault = Fault(found, f"{image_width} x {image_height} pixels, {why}", source=source)
        raise InputError([replace(fault, field="masks", advice=advice)])

"""Write YOLO text: a folder for each sequence, a file for each frame, and the names of classes."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.writing import Capacity, Files, Numbers, Writer, file_name
from vidscore_evaluators.formats.writing_numbers import ImageNumbers, unnamed_remarks
from vidscore_evaluators.formats.yolo import CLASSES_FILE


def _write(annotations: Annotations, side: Side, numbers: Numbers) -> Files:
    if numbers.image_size is None:
        raise InputError(
            [Fault("no size of images", "the size of images, of which coordinates are parts")]
        )
    images = ImageNumbers.of(annotations, numbers)
    lines = _lines(annotations, images, side, numbers.image_size)
    files = {CLASSES_FILE: "".join(f"{name}\n" for name in images.names).encode()}
    starts = annotations.frame_starts.tolist()
    for row, number in enumerate(annotations.frame_numbers.tolist()):
        name = annotations.sequences[annotations.frame_sequences[row]].sequence
        folder = file_name(name, "sequence")
        content = "".join(lines[starts[row] : starts[row + 1]])
        files[f"{folder}/{number:06d}.txt"] = content.encode()
    return files


def _lines(
    annotations: Annotations, images: ImageNumbers, side: Side, image_size: tuple[int, int]
) -> list[str]:
    """The row of each object."""
    width, height = image_size
    x1, y1, x2, y2 = annotations.coordinates.T
    classes = images.of_labels(annotations)[annotations.label_indices].tolist()
    parts = [(x1 + x2) / 2 / width, (y1 + y2) / 2 / height, (x2 - x1) / width, (y2 - y1) / height]
    columns = [np.asarray(part).tolist() for part in parts]
    if side is Side.DETECTIONS:
        columns.append(annotations.confidences.tolist())
    return [
        " ".join([str(number), *map(repr, values)]) + "\n"
        for number, *values in zip(classes, *columns, strict=True)
    ]


YOLO_WRITER = Writer(
    folder=True,
    capacity={
        Side.TRUTH: Capacity(confidences=False),
        Side.DETECTIONS: Capacity(),
    },
    write=_write,
    remarks=unnamed_remarks,
)

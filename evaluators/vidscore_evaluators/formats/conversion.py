"""Convert one side into the files of another format, and say what that changes and drops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats import FORMATS, find_format
from vidscore_evaluators.formats.fault_list import show_text
from vidscore_evaluators.formats.source import Format, Source
from vidscore_evaluators.formats.texts import EXPECTED_TEXT, clean_text
from vidscore_evaluators.formats.writing import Files, Numbers, Writer, fit
from vidscore_evaluators.formats.writing_coco import COCO_WRITER
from vidscore_evaluators.formats.writing_csv import (
    GENERIC_WRITER,
    NEOVISION2_WRITER,
    SPOTGEO_WRITER,
)
from vidscore_evaluators.formats.writing_lines import KITTI_WRITER, MOTCHALLENGE_WRITER
from vidscore_evaluators.formats.writing_yolo import YOLO_WRITER

WRITERS: Mapping[str, Writer] = MappingProxyType(
    {
        "spotgeo-json": SPOTGEO_WRITER,
        "neovision2-csv": NEOVISION2_WRITER,
        "generic-csv": GENERIC_WRITER,
        "coco-json": COCO_WRITER,
        "motchallenge": MOTCHALLENGE_WRITER,
        "kitti-tracking": KITTI_WRITER,
        "yolo-text": YOLO_WRITER,
    }
)
"""How each format is written, by name."""


@dataclass(frozen=True, eq=False)
class Conversion:
    """What becomes of one side.

    Attributes:
        files: Content by relative path.
        folder: Whether the format is a folder of files.
        remarks: What was changed and dropped, in sentences.
    """

    files: Files
    folder: bool
    remarks: tuple[str, ...]


def convert(
    source: Source,
    format_name: str,
    side: Side,
    *,
    truth: Source | None = None,
    image_size: tuple[int, int] | None = None,
) -> Conversion:
    """Convert one side.

    Frame numbers and coordinates move by the difference of the formats' first frame and first
    pixel, where both formats say what these are.

    Args:
        source: The side, read.
        format_name: Name of the format to write.
        side: Which side it is.
        truth: Truth whose numbers of images and classes detections refer to.
        image_size: Width and height of every image in pixels, for formats that need it.

    Raises:
        InputError: If there is no such format, or it cannot hold the shape, a name or a number.
    """
    target = find_format(format_name)
    writer = WRITERS[target.name]
    moved, remarks = _moved(source, target)
    fitted, losses = fit(moved, writer.capacity[side])
    _check_names(fitted, source.name)
    numbers = Numbers(_numbered(truth, target), image_size)
    remarks = (*remarks, *losses, *writer.remarks(fitted, side))
    try:
        files = writer.write(fitted, side, numbers)
    except InputError as error:
        named = [replace(fault, source=fault.source or source.name) for fault in error.faults]
        raise type(error)(named) from None
    return Conversion(files, writer.folder, remarks)


def _check_names(annotations: Annotations, source: str) -> None:
    """Refuse names that would break the rows they stand in; they come from arrays or streams."""
    used = np.unique(annotations.label_indices).tolist()
    names = {
        "class": [annotations.labels[index] for index in used],
        "sequence": [name for key in annotations.sequences for name in key],
    }
    faults = [
        Fault(show_text(name), EXPECTED_TEXT, source=source, field=field)
        for field, texts in names.items()
        for name in dict.fromkeys(texts)
        if clean_text(name) != name
    ]
    if faults:
        raise InputError(faults)


def _numbered(truth: Source | None, target: Format) -> Annotations | None:
    """The truth as it would be written itself."""
    if truth is None:
        return None
    moved, _ = _moved(truth, target)
    fitted, _ = fit(moved, WRITERS[target.name].capacity[Side.TRUTH])
    return fitted


def _moved(source: Source, target: Format) -> tuple[Annotations, tuple[str, ...]]:
    """Count frames and pixels as the target does."""
    annotations, remarks = source.annotations, []
    origin = None if source.format is None else FORMATS[source.format]
    frames = _difference(origin.first_frame if origin else None, target.first_frame)
    if frames and annotations.frame_count:
        numbers = annotations.frame_numbers + frames
        if numbers.min() < 0:
            expected = f"frames from {-frames} on, as {source.format} counts them"
            raise InputError([Fault(f"frame {numbers.min() - frames}", expected)])
        annotations = replace(annotations, frame_numbers=numbers)
        remarks.append(f"frame numbers changed by {frames:+d}")
    pixels = _difference(origin.first_pixel if origin else None, target.first_pixel)
    if pixels and annotations.object_count:
        annotations = replace(annotations, coordinates=annotations.coordinates + pixels)
        remarks.append(f"coordinates changed by {pixels:+d}, for where the first pixel is")
    return annotations, tuple(remarks)


def _difference(here: int | None, there: int | None) -> int:
    return 0 if here is None or there is None else there - here

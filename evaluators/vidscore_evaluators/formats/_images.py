"""Images: the frame that a name means, in formats with a file per image, and sizes for conversion.

The digits at the end of a name are the number of its frame. The part before them, without trailing
blanks, points, hyphens and underscores, is the sequence, or `IMAGES` if it is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import (
    IMAGES,
    NO_TRACK,
    Annotations,
    SequenceKey,
    frame_keys,
    sequence_name,
)
from vidscore_evaluators.arrays import FlagArray, FloatArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import InputPath
from vidscore_evaluators.formats._format import WriteOptions, file_name
from vidscore_evaluators.formats._row_frames import RowColumns, index_frames, with_listed_frames
from vidscore_evaluators.formats._table import RowTable, StringColumn
from vidscore_evaluators.formats.source import Numbering, Reading, Source
from vidscore_evaluators.names import counted
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

ImageFrame = tuple[SequenceKey, int]
"""Sequence and frame number of an image."""

ImageFiles = Mapping[ImageFrame, InputPath]
"""The file of each image, in order of frames."""

EXPECTED_NAME = "a name that ends with the number of a frame"

_DIGITS = re.compile(r"(.*?)[-_. ]*([0-9]{1,16})")


def frame_of_name(name: str) -> ImageFrame | None:
    """The frame that an image's name, without suffix, means; None if it ends in no number."""
    match = _DIGITS.fullmatch(name)
    if match is None or int(match[2]) > MAXIMUM_FRAME_NUMBER:
        return None
    return SequenceKey("", match[1] or IMAGES), int(match[2])


def name_of_frame(key: SequenceKey, number: int, digits: int) -> str:
    """The name of a frame's image, with at least `digits` digits.

    Raises:
        InputError: If the sequence's name cannot be read back from it, or cannot be in a file name.
    """
    prefix = "" if key.sequence == IMAGES else file_name(key.sequence, "sequence") + "_"
    name = f"{prefix}{number:0{digits}d}"
    if frame_of_name(name) != (key, number):
        expected = "a name that does not end with a blank, point, hyphen or underscore"
        raise InputError([Fault(repr(key.sequence), expected, field="sequence")])
    return name


def files_of_frames(files: Iterable[InputPath], *, folder_is_sequence: bool = False) -> ImageFiles:
    """The files by the frames that their names mean.

    Args:
        files: The files.
        folder_is_sequence: Whether the sequence is the name of a file's folder, not of the file.

    Raises:
        InputError: If a name does not end in a number, or two names mean one frame; with every
            fault.
    """
    found: dict[ImageFrame, InputPath] = {}
    faults = []
    for file in files:
        frame = frame_of_name(file.stem)
        if frame is None:
            faults.append(Fault(f"the name {file.name!r}", EXPECTED_NAME, source=str(file)))
            continue
        if folder_is_sequence:
            frame = SequenceKey("", file.parent.name), frame[1]
        if frame in found:
            again = f"{file.name!r}, frame {frame[1]} of {frame[0].sequence} again"
            faults.append(Fault(again, "each frame once", source=str(file.parent)))
        found[frame] = file
    if faults:
        raise InputError(faults)
    return dict(sorted(found.items()))


def rows_of_images(
    table: RowTable,
    files: ImageFiles,
    *,
    coordinates: FloatArray,
    labels: StringColumn,
    confidences: FloatArray | None = None,
    flags: FlagArray | None = None,
    columns: Mapping[str, FloatArray] = MappingProxyType({}),
) -> tuple[RowColumns, RowTable]:
    """The N objects of such files, preceded by one row per file, which lists its frame.

    Args:
        table: The rows; their sources are the files.
        files: The files.
        coordinates: (N, arity) coordinates.
        labels: (N,) class labels.
        confidences: (N,) confidences; 1 by default.
        flags: (N,) bits of `ObjectFlag`; none by default.
        columns: Further (N,) columns.
    """
    sequences, of_file, numbers = index_frames(files)
    owners, places, count = table.source_of_row, np.arange(len(files)), len(table)
    rows = RowColumns(
        sequences=sequences,
        sequence_of_row=of_file[owners],
        frame_numbers=numbers[owners],
        frame_flags=np.zeros(count, dtype=np.uint8),
        holds_object=np.ones(count, dtype=np.bool_),
        coordinates=coordinates,
        labels=labels,
        confidences=np.ones(count) if confidences is None else confidences,
        track_ids=np.full(count, NO_TRACK, dtype=np.int64),
        flags=np.zeros(count, dtype=np.uint8) if flags is None else flags,
        columns=columns,
    )
    return with_listed_frames(rows, table, (of_file, numbers), (places, np.ones_like(places)))


def with_image_names(
    reading: Reading, files: ImageFiles, sizes: Sequence[Sequence[int]] = ()
) -> Reading:
    """The reading of such files, with the names and sizes of images for writing."""
    names: dict[int | str, ImageFrame] = {file.stem: frame for frame, file in files.items()}
    return replace(reading, source=replace(reading.source, numbering=Numbering(names, sizes=sizes)))


def image_names(annotations: Annotations, digits: int, options: WriteOptions) -> list[str]:
    """The name of each frame's image: that in the truth's own files, if it has one.

    Args:
        annotations: One side.
        digits: Minimum number of digits of an image's number in other names.
        options: The names of the truth's own files.

    Raises:
        InputError: If the name of a sequence cannot be part of one.
    """
    own = Numbering() if options.numbering is None else options.numbering
    names = {frame: str(name) for name, frame in own.frames.items()}
    return [names.get(frame) or name_of_frame(*frame, digits) for frame in frame_keys(annotations)]


# --- sizes of images -------------------------------------------------------------------------


def sizes_of_images(
    annotations: Annotations, owner: Source, image_size: tuple[int, int] | None
) -> IntArray:
    """(F, 2) width and height of each frame's image, 0 if unknown.

    Args:
        annotations: The annotations to write.
        owner: The source, or the truth beside it; it may know the size of each image.
        image_size: The size of every image, if given.
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
    """Refuse a size for every image if the source states other sizes."""
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
    """Refuse masks whose size differs from their image's, which no reader would accept.

    The size of an image is the given one, or else that of the first mask of its frame.
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

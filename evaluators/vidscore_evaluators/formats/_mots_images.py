"""Label images of MOTS: ``<sequence>/<frame>.png``, whose pixels are 1000 * class + instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import (
    InputPath,
    is_folder,
    read_bytes,
    read_head,
    visible_entries,
)
from vidscore_evaluators.formats._grey_png import depth_of_grey, read_grey_png
from vidscore_evaluators.formats._sequence_files import SequenceFiles, count_faults
from vidscore_evaluators.formats._table import EXPECTED_STRING, RowTable, parse_string
from vidscore_evaluators.formats.source import FaultList, ReadLimits
from vidscore_evaluators.mask_forms import masks_from_label_image
from vidscore_evaluators.masks import Masks, concatenate_masks
from vidscore_evaluators.runtime import map_threads
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

FOLDER = "instances"
VALUES_PER_CLASS = 1000

_FILE = "a label image of MOTS"
_LAYOUT = "a folder of <sequence>/<frame>.png"
_SUFFIX = ".png"
_DEPTH = 16
_BACKGROUND = 0


class LabelImages(Struct, frozen=True, eq=False):
    """The label images of a side, each of which lists its frame.

    Attributes:
        sequences: The folder of each sequence.
        table: A row for each object, which is at the value of its pixels; the source of a row is
            its image.
        masks: The mask of each row.
        sequence_of_image: (I,) index into `sequences`.
        frame_of_image: (I,) number of its frame.
    """

    sequences: SequenceFiles
    table: RowTable
    masks: Masks
    sequence_of_image: IntArray
    frame_of_image: IntArray

    @property
    def first_images(self) -> IntArray:
        """The first image of each sequence."""
        _, first = np.unique(self.sequence_of_image, return_index=True)
        return first.astype(np.int64)


def find_sequences(path: InputPath) -> SequenceFiles:
    """The folders of sequences with images in a folder; one of images is a sequence itself."""
    root = path / FOLDER if is_folder(path / FOLDER) else path
    if any(entry.suffix == _SUFFIX for entry in visible_entries(root)):
        return {SequenceKey("", root.absolute().name): root}
    return {
        SequenceKey("", folder.name): folder
        for folder in visible_entries(root)
        if is_folder(folder) and any(one.suffix == _SUFFIX for one in visible_entries(folder))
    }


def are_label_images(sequences: SequenceFiles) -> bool:
    """Whether the first image is grey and of 16 bits."""
    first = next(islice(sequences.values(), 1), None)
    if first is None:
        return False
    image = next(entry for entry in visible_entries(first) if entry.suffix == _SUFFIX)
    return depth_of_grey(read_head(image, _FILE)) == _DEPTH


def read_label_images(
    path: InputPath,
    sequences: SequenceFiles,
    bounds: Mapping[SequenceKey, tuple[int, int]],
    limits: ReadLimits,
) -> LabelImages:
    """Read the images of all sequences.

    Args:
        path: The folder of a side.
        sequences: The folder of each sequence.
        bounds: First and last frame of sequences, where they are known.
        limits: How much to accept.

    Raises:
        InputError: With every fault of every image: a name that is no frame, or a frame beyond the
            bounds; what is no label image; or too many of them.
    """
    faults = FaultList()
    files: list[tuple[int, int, InputPath]] = []
    for index, (key, folder) in enumerate(sequences.items()):
        if parse_string(key.sequence) != key.sequence:
            faults.add(Fault(repr(key.sequence), EXPECTED_STRING, source=str(folder.parent)))
        frames: dict[int, InputPath] = {}
        for file in visible_entries(folder):
            if file.suffix == _SUFFIX:
                faults.extend(_add_frame(frames, file, bounds.get(key)))
        files.extend((index, number, file) for number, file in sorted(frames.items()))
    faults.extend(count_faults(len(files), path, _LAYOUT, limits))
    if faults:
        raise InputError(faults.listed())
    names = [str(file) for _, _, file in files]
    values, parts = _read_all([file for _, _, file in files], path, limits)
    return _label_images(sequences, names, files, values, parts)


def _add_frame(
    frames: dict[int, InputPath], file: InputPath, bounds: tuple[int, int] | None
) -> list[Fault]:
    """Add the frame of an image, or say what is wrong with it."""
    known = file.stem.isascii() and file.stem.isdigit() and int(file.stem) <= MAXIMUM_FRAME_NUMBER
    if not known:
        return [Fault(repr(file.name), "the number of a frame as its name", source=str(file))]
    number = int(file.stem)
    if number in frames:
        return [Fault(f"frame {number} again", "one image per frame", source=str(file))]
    frames[number] = file
    if bounds is not None and not bounds[0] <= number <= bounds[1]:
        expected = f"a frame from {bounds[0]} to {bounds[1]}, by the seqmap"
        return [Fault(f"frame {number}", expected, source=str(file))]
    return []


def _read_all(
    files: Sequence[InputPath], path: InputPath, limits: ReadLimits
) -> tuple[list[IntArray], list[Masks]]:
    """Values and masks of all images."""
    faults, values, parts, size = FaultList(), [], [], 0
    for read in map_threads(partial(_read_image, limits=limits), files):
        try:
            found, masks = read()
        except InputError as error:
            faults.extend(error.faults)
            continue
        size += masks.nbytes
        if size > limits.maximum_unpacked_bytes:
            expected = f"at most maximum_unpacked_bytes = {limits.maximum_unpacked_bytes}"
            raise InputError([Fault(f"masks of {size} bytes", expected, source=str(path))])
        values.append(found)
        parts.append(masks)
    if faults:
        raise InputError(faults.listed())
    return values, parts


def _read_image(file: InputPath, limits: ReadLimits) -> tuple[IntArray, Masks]:
    """Values of the objects of an image, and their masks."""
    labels = read_grey_png(read_bytes(file, _FILE, limits), str(file))
    try:
        values, masks = masks_from_label_image(labels)
    except InputError as error:
        faults = [
            replace(fault, source=str(file), entry=None, field=None) for fault in error.faults
        ]
        raise InputError(faults) from None
    objects = np.flatnonzero(values != _BACKGROUND)
    return values[objects], masks.take(objects)


def _label_images(
    sequences: SequenceFiles,
    names: Sequence[str],
    files: Sequence[tuple[int, int, InputPath]],
    values: Sequence[IntArray],
    parts: Sequence[Masks],
) -> LabelImages:
    of_sequence = np.array([index for index, _, _ in files], dtype=np.int64)
    frames = np.array([number for _, number, _ in files], dtype=np.int64)
    counts = np.array([len(found) for found in values], dtype=np.int64)
    masks, ids = concatenate_masks(parts), np.concatenate(values)
    image_of_row = np.repeat(np.arange(len(files)), counts)
    columns = {
        "frame": frames[image_of_row],
        "id": ids,
        "class": ids // VALUES_PER_CLASS,
        "height": masks.sizes[:, 0],
        "width": masks.sizes[:, 1],
    }
    table = RowTable({}, columns, {}, tuple(names), image_of_row, ids, "entry")
    return LabelImages(sequences, table, masks, of_sequence, frames)

"""Images of COCO files: their ids (numbers, strings or names of files), frames and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import IMAGES, NO_TRACK, SequenceKey
from vidscore_evaluators.arrays import AnyArray, BoolArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._coco_entries import Entries
from vidscore_evaluators.formats._heads import COCO
from vidscore_evaluators.formats._json import show_value
from vidscore_evaluators.formats._row_frames import index_frames
from vidscore_evaluators.formats.source import FaultList, Numbering, PairReading, SizeOf, Source
from vidscore_evaluators.plausibility.image_sizes import ImageSizes
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

Frame = tuple[SequenceKey, int]


def each_once(places: Sequence[Frame | None]) -> list[Frame | None]:
    """The frames, with None for a repeated one: two names mean the same image."""
    first: dict[Frame | None, int] = {}
    return [
        place if first.setdefault(place, row) == row else None for row, place in enumerate(places)
    ]


def image_numbers(names: Sequence[str]) -> list[int]:
    """A number for each of distinct ids: its digits if all ids are digits, else its rank from 1."""
    if all(name.isascii() and name.isdecimal() for name in names):
        numbers = [int(name) for name in names]
        if len(set(numbers)) == len(names) and max(numbers, default=0) <= MAXIMUM_FRAME_NUMBER:
            return numbers
    ranks = {name: rank for rank, name in enumerate(sorted(names), start=1)}
    return [ranks[name] for name in names]


def frames_by_name(numbering: Numbering) -> dict[int | str, Frame]:
    """The frame of each image of the truth by its id, and by its file's path, name and stem.

    Names that fit two images are left out. A path precedes names and stems, but not ids.
    """
    named: dict[str, set[Frame]] = {}
    paths: dict[str, set[Frame]] = {}
    for (own, frame), file in zip(numbering.frames.items(), numbering.files, strict=True):
        base = file.rpartition("/")[2]
        for name in (str(own), base, base.rpartition(".")[0]):
            named.setdefault(name, set()).add(frame)
        paths.setdefault(file, set()).add(frame)
    for own, frame in numbering.frames.items():
        paths.get(str(own), set()).add(frame)
    found = {**named, **paths}
    return {name: next(iter(frames)) for name, frames in found.items() if name and len(frames) == 1}


def as_ids(ids: AnyArray | list[str]) -> AnyArray:
    """Integers, or strings if some are strings."""
    array = np.asarray(ids)
    return array if array.dtype == np.int64 else array.astype(np.str_)


def largest_sizes(images: Entries, frames: Sequence[Frame]) -> ImageSizes:
    """Maximum width and height of the images, by sequence; only if all sizes are known."""
    sequences = [sequence for sequence, _ in frames]
    names = list(dict.fromkeys(sequences))
    position = {name: index for index, name in enumerate(names)}
    rows = np.array([position[name] for name in sequences], dtype=np.int64)
    sizes = np.stack([images.integers("width"), images.integers("height")], axis=1)
    greatest = np.zeros((len(names), 2), dtype=np.int64)
    np.maximum.at(greatest, rows, sizes)
    unknown = set(rows[(sizes <= 0).any(axis=1)].tolist())
    return {
        name: (int(width), int(height))
        for index, (name, (width, height)) in enumerate(zip(names, greatest, strict=True))
        if index not in unknown
    }


_FEDERATED = ("neg_category_ids", "not_exhaustive_category_ids")
"""Keys of images in LVIS and TAO."""


def size_warnings(
    listed: Sequence[Mapping[str, object]], images: Entries, name: str
) -> Iterator[ReportWarning]:
    """The warning that images have invalid sizes, if any have; -1, 0 and null mean unknown.

    Args:
        listed: The images as written in the file.
        images: The same images, as read.
        name: Name of the file.
    """
    wrong = [
        (place, key, value)
        for key in ("width", "height")
        for place in images.positions[images.integers(key) == 0].tolist()
        if (value := listed[place].get(key)) not in (None, 0, -1) or value is False
    ]
    if wrong:
        place, key, value = min(wrong, key=lambda one: one[0])
        message = (
            f"{name}: images whose width or height is not a positive integer have no size; "
            f"first entry {place}, {key} {show_value(value)}"
        )
        count = len({place for place, _, _ in wrong})
        yield ReportWarning("image_sizes_not_read", message, count)


def federated_warnings(
    listed: Sequence[Mapping[str, object]], name: str
) -> Iterator[ReportWarning]:
    """The warning that images are annotated for some categories only, as in LVIS and TAO.

    Source: A. Gupta et al., "LVIS: A Dataset for Large Vocabulary Instance Segmentation", section
    3: a detection counts only if its category is among those that were looked for in its image.

    Args:
        listed: The images as written in the file.
        name: Name of the file.
    """
    count = sum(any(key in image for key in _FEDERATED) for image in listed)
    if count:
        message = (
            f"{name}: images name categories that were looked for ({_FEDERATED[0]}), as in LVIS "
            "and TAO; detections of others count as false, which their own scorers leave out"
        )
        yield ReportWarning("annotations_are_federated", message, count)


def frames_of(images: Entries, videos: Entries, name: str) -> list[Frame]:
    """Sequence and number of each image."""
    names = dict(zip(videos.integers("id").tolist(), videos.strings("name"), strict=True))
    faults = [
        Fault(str(number), "the id of a video", source=name, entry=entry, field="images.video_id")
        for number, entry in zip(
            images.integers("video_id").tolist(), images.positions.tolist(), strict=True
        )
        if number != NO_TRACK and names and number not in names
    ]
    frames, ids = [], as_ids(images.ids("id"))
    numbers = np.where(
        images.integers("frame_id") != NO_TRACK,
        images.integers("frame_id"),
        images.integers("frame_index"),
    )
    for own, video, number in zip(
        image_numbers(ids.tolist()) if ids.dtype.kind == "U" else ids.tolist(),
        images.integers("video_id").tolist(),
        numbers.tolist(),
        strict=True,
    ):
        if NO_TRACK in (video, number):
            frames.append((SequenceKey("", IMAGES), own))
        else:
            frames.append((SequenceKey("", names.get(video) or str(video)), number))
    first: dict[Frame, int] = {}
    for entry, frame in zip(images.positions.tolist(), frames, strict=True):
        if first.setdefault(frame, entry) != entry:
            found = f"frame {frame[1]} of sequence {frame[0].sequence} again"
            faults.append(Fault(found, "each frame once", source=name, entry=entry, field="images"))
    if faults:
        raise InputError(faults)
    return frames


def rows_of(numbers: AnyArray, ids: AnyArray) -> IntArray:
    """(N,) row of each number or string among distinct ids, -1 if it is not among them."""
    if object in (numbers.dtype, ids.dtype):
        row_of = {own: row for row, own in enumerate(ids.tolist())}
        return np.array([row_of.get(own, -1) for own in numbers.tolist()], dtype=np.int64)
    if len(ids) == 0:
        return np.full(len(numbers), -1, dtype=np.int64)
    order = np.argsort(ids, kind="stable")
    place = np.minimum(np.searchsorted(ids[order], numbers), len(ids) - 1)
    rows: IntArray = np.where(ids[order][place] == numbers, order[place], -1)
    return rows


def known_entries(
    entries: Entries, key: str, rows: IntArray, expected: str, name: str, faults: FaultList
) -> BoolArray:
    """(N,) whether each entry refers to a row; adds a fault for each that does not."""
    for index in np.flatnonzero(rows < 0).tolist():
        faults.add(
            Fault(
                show_value(entries.ids(key).tolist()[index]),
                expected,
                source=name,
                entry=int(entries.positions[index]),
                field=f"annotations.{key}",
            )
        )
    known: BoolArray = rows >= 0
    return known


# --- results ---------------------------------------------------------------------------------


def pair(truth: Source, detections: Source, known: frozenset[SequenceKey]) -> PairReading:
    """Give results the frames and class names of the truth that their numbers refer to."""
    del known
    own_numbers = detections.numbering
    if own_numbers is None or not own_numbers.of_truth:
        return PairReading(detections)
    faults, dropped = FaultList(), 0
    names = own_numbers.image_names
    if detections.resume is not None:
        resumed = detections.resume(_sizes(truth, named=bool(names)))
        faults, dropped = resumed.faults, resumed.skipped
        detections = replace(resumed.source, warnings=detections.warnings)
        names = {} if resumed.source.numbering is None else resumed.source.numbering.image_names
    if truth.numbering is None or truth.format != COCO:
        faults.absorb(unresolved(detections))
        return PairReading(detections, faults, dropped)
    detections, strange_count = _with_known_classes(detections, truth.numbering.labels, faults)
    dropped += strange_count
    found = detections.annotations
    images = _images(truth.numbering, named=bool(names))
    ids = [names.get(number, number) for number in found.frame_numbers.tolist()]
    places = each_once([images.get(own) for own in ids])
    strange = np.array([place is None for place in places], dtype=np.bool_)
    expected = "the id or file of one image" if names else "the id of an image"
    expected += " of the truth"
    for row in np.flatnonzero(strange).tolist():
        fault = Fault(show_value(ids[row]), expected, entry=row)
        faults.add(replace(detections.locate(fault), field="image_id"))
    dropped += int(found.object_counts[strange].sum())
    kept = detections.without_frames(strange)
    moved = _in_frames(kept, [place for place in places if place is not None])
    return PairReading(replace(moved, numbering=None), faults, dropped)


def _images(numbering: Numbering, *, named: bool) -> Mapping[int | str, Frame]:
    """The frame of each image of the truth, by its id or by all of its names."""
    return frames_by_name(numbering) if named else numbering.frames


def _sizes(truth: Source, *, named: bool) -> SizeOf:
    """Function that looks up the size of an image of the truth."""
    numbering = truth.numbering
    if numbering is None or truth.format != COCO:
        return lambda _: (0, 0)
    images = _images(numbering, named=named)
    of_frames = dict(zip(numbering.frames.values(), numbering.sizes, strict=True))

    def size_of(own: int | str) -> tuple[int, int] | None:
        frame = images.get(own)
        return None if frame is None else (of_frames[frame][0], of_frames[frame][1])

    return size_of


def _with_known_classes(
    detections: Source, names: Mapping[int, str], faults: FaultList
) -> tuple[Source, int]:
    """Set class names; objects of unknown classes are dropped and counted."""
    found = detections.annotations
    labels = [names.get(int(number)) for number in found.labels]
    first = {} if detections.numbering is None else detections.numbering.label_entries
    for number, label in zip(found.labels, labels, strict=True):
        if label is None:
            fault = Fault(number, "the id of a category of the truth", source=detections.name)
            faults.add(replace(fault, entry=first.get(int(number)), field="category_id"))
    strange = np.array([label is None for label in labels], dtype=np.bool_)
    unknown = strange[found.label_indices]
    numbers = tuple(n for n, label in zip(found.labels, labels, strict=True) if label is not None)
    kept = found.take_objects(~unknown).with_tables(found.sequences, numbers)
    table = tuple(label for label in labels if label is not None)
    return replace(detections, annotations=replace(kept, labels=table)), int(unknown.sum())


def _in_frames(source: Source, frames: list[Frame]) -> Source:
    """The source with other frames."""
    sequences, of_frame, numbers = index_frames(frames)
    moved = replace(
        source.annotations,
        sequences=sequences,
        frame_sequences=of_frame,
        frame_numbers=numbers,
    )
    return replace(source, annotations=moved)


def unresolved(detections: Source) -> FaultList:
    """A fault if detections name their images and no truth is there to resolve the names."""
    faults = FaultList()
    names: Mapping[int, str] = detections.numbering.image_names if detections.numbering else {}
    strange = [name for number, name in names.items() if name != str(number)]
    if strange:
        advice = "write the numbers of the images, or score against a truth in coco-json"
        found = f"the image {strange[0]!r}, by a name"
        expected = "the number of an image"
        faults.add(Fault(found, expected, detections.name, field="image_id", advice=advice))
    return faults

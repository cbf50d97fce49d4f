"""COCO's results beside their truth, which says what their numbers and names mean."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats._coco_images import Frame, each_once, frames_by_name
from vidscore_evaluators.formats._heads import COCO
from vidscore_evaluators.formats._json import show_value
from vidscore_evaluators.formats._row_frames import index_frames
from vidscore_evaluators.formats.source import (
    FaultList,
    Numbering,
    PairReading,
    SizeOf,
    Source,
)


def pair(truth: Source, detections: Source, known: frozenset[SequenceKey]) -> PairReading:
    """Give results the frames and class names that their numbers have in the truth."""
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
    """The frame of each image of the truth by its id, or by all of its names."""
    return dict(frames_by_name(numbering).items()) if named else numbering.frames


def _sizes(truth: Source, *, named: bool) -> SizeOf:
    """What finds the size of an image of the truth."""
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
    """Name classes; objects of unknown ones are dropped and counted."""
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
    """The source with its frames renamed."""
    sequences, of_frame, numbers = index_frames(frames)
    moved = replace(
        source.annotations,
        sequences=sequences,
        frame_sequences=of_frame,
        frame_numbers=numbers,
    )
    return replace(source, annotations=moved)


def unresolved(detections: Source) -> FaultList:
    """A fault where detections name their images and no truth can resolve the names."""
    faults = FaultList()
    names: Mapping[int, str] = detections.numbering.image_names if detections.numbering else {}
    strange = [name for number, name in names.items() if name != str(number)]
    if strange:
        advice = "write the numbers of the images, or score against a truth in coco-json"
        found = f"the image {strange[0]!r}, by a name"
        expected = "the number of an image"
        faults.add(Fault(found, expected, detections.name, field="image_id", advice=advice))
    return faults

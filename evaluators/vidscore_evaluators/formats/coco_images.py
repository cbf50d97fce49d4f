"""Images of COCO files by what their ids are: numbers, texts, or the names of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats.fault_list import FaultList
from vidscore_evaluators.formats.source import Numbering, Source
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

Frame = tuple[SequenceKey, int]


def image_numbers(names: Sequence[str]) -> list[int]:
    """A number for each of different ids: its digits where all are such, else its rank from 1."""
    if all(name.isascii() and name.isdecimal() for name in names):
        numbers = [int(name) for name in names]
        if len(set(numbers)) == len(names) and max(numbers, default=0) <= MAXIMUM_FRAME_NUMBER:
            return numbers
    ranks = {name: rank for rank, name in enumerate(sorted(names), start=1)}
    return [ranks[name] for name in names]


def frames_by_name(numbering: Numbering) -> dict[str, Frame]:
    """The frame of each image of the truth by its id, and its file's path, name and stem.

    A path is sure; of the others, what names two images is left out.
    """
    named: dict[str, set[Frame]] = {}
    paths: dict[str, set[Frame]] = {}
    files = numbering.files or [""] * len(numbering.frames)
    for (own, frame), file in zip(numbering.frames.items(), files, strict=True):
        base = file.rpartition("/")[2]
        for name in (str(own), base, base.rpartition(".")[0]):
            named.setdefault(name, set()).add(frame)
        paths.setdefault(file, set()).add(frame)
    found = {**named, **paths}
    return {name: next(iter(frames)) for name, frames in found.items() if name and len(frames) == 1}


def unresolved(detections: Source) -> FaultList:
    """A fault where detections name their images, and nothing says which these are."""
    faults = FaultList()
    names: Mapping[int, str] = detections.numbering.image_names if detections.numbering else {}
    strange = [name for number, name in names.items() if name != str(number)]
    if strange:
        advice = "write the numbers of the images, or score against a truth in coco-json"
        found = f"the image {strange[0]!r}, by a name"
        expected = "the number of an image"
        faults.add(Fault(found, expected, detections.name, field="image_id", advice=advice))
    return faults

"""COCO JSON: images, categories and annotations in one object; results as an array.

Source: cocodataset.org, data format and results format, for object detection. The truth is an
object with ``images``, ``categories`` and ``annotations``; results are an array of
``{"image_id", "category_id", "bbox", "score"}``, or an object like the truth whose annotations
have a ``score``. Extensions for video (TAO, and data sets like it): ``videos``, and in an image
``video_id`` with ``frame_id`` or ``frame_index``; in an annotation ``track_id`` or ``instance_id``.
The project's readings:

1. ``bbox`` is ``[x, y, width, height]``: a box goes from x to x + width, with nothing added. The
   first pixel's edge is at 0.
2. An image of a video is the frame that it says. Any other is a frame of the sequence `IMAGES`
   whose number is the image's id.
3. ``iscrowd`` = 1 flags a crowd, ``ignore`` = 1 an ignored object; either may be left out. ``area``
   is kept as a column. Segmentations are not read: without ``area`` a box's own area counts.
4. Numbers of images and categories in results are those of the truth. Images may also go by texts
   or by their files; see `vidscore_evaluators.formats.coco_images`.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import BOX, NO_TRACK, ObjectFlag, SequenceKey, Side
from vidscore_evaluators.arrays import AnyArray, BoolArray, FloatArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.coco_entries import (
    ANNOTATION_RULES,
    CATEGORY_RULES,
    IMAGE_RULES,
    NAMED_RESULT_RULES,
    RESULT_RULES,
    VIDEO_RULES,
    Entries,
    read_entries,
)
from vidscore_evaluators.formats.coco_images import (
    Frame,
    frames_by_name,
    image_numbers,
    unresolved,
)
from vidscore_evaluators.formats.fault_list import FaultList
from vidscore_evaluators.formats.files import read_bytes
from vidscore_evaluators.formats.json_text import (
    no_garbage_collection,
    parse_json,
    show_value,
    type_name,
)
from vidscore_evaluators.formats.packed import InputPath
from vidscore_evaluators.formats.row_frames import RowColumns, group_rows
from vidscore_evaluators.formats.source import (
    IMAGES,
    SWAPPED,
    Format,
    Numbering,
    PairReading,
    Reading,
    ReadLimits,
    Source,
)
from vidscore_evaluators.formats.table import Table, TextColumn
from vidscore_evaluators.plausibility.summary import ImageSizes

NAME = "coco-json"
_EXPECTED = "a JSON file in the form of COCO"
_ARRAYS = ("videos", "images", "categories", "annotations")
_KEYS = tuple(f'"{key}"'.encode() for key in (*_ARRAYS, "info", "licenses", "type"))
_OBJECT = "an object with images, categories and annotations"


def read(path: InputPath, side: Side, limits: ReadLimits) -> Reading:
    """Read a file.

    Raises:
        InputError: If there is no such file, it is no JSON, or neither truth nor results.
    """
    data = read_bytes(path, _EXPECTED, limits).removeprefix(codecs.BOM_UTF8)
    name = str(path)
    with no_garbage_collection():
        document = parse_json(data, name, _OBJECT)
        if isinstance(document, list) and side is Side.DETECTIONS:
            reading = _read_results(document, name)
        elif isinstance(document, dict):
            reading = _read_object(document, name, side)
        else:
            advice = SWAPPED if isinstance(document, list) else None
            raise InputError([Fault(type_name(document), _OBJECT, source=name, advice=advice)])
        del document
    return reading


def matches(path: InputPath, head: bytes) -> bool:
    """Whether a file is a JSON object with keys of COCO, or an array with an image_id."""
    del path
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if text.startswith(b"{"):
        return any(key in text for key in _KEYS)
    if not text.startswith(b"["):
        return False
    return b'"image_id"' in text or (b'"file_name"' in text and b'"bbox"' in text)


def pair(truth: Source, detections: Source, known: frozenset[SequenceKey]) -> PairReading:
    """Give results the frames and class names of the truth's numbers."""
    del known
    names = {} if detections.numbering is None else detections.numbering.image_names
    if detections.numbering is not None and not names:
        return PairReading(detections, FaultList())
    if truth.numbering is None or truth.format != NAME:
        return PairReading(detections, unresolved(detections))
    faults = FaultList()
    detections, dropped = _with_known_classes(detections, truth.numbering.labels, faults)
    found = detections.annotations
    images: Mapping[int | str, Frame] = truth.numbering.frames
    if names:
        images = dict(frames_by_name(truth.numbering).items())
    ids = [names.get(number, number) for number in found.frame_numbers.tolist()]
    places = _once([images.get(own) for own in ids])
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


def _once(places: Sequence[Frame | None]) -> list[Frame | None]:
    """The frames; None for one that has been there before, since two names are of one image."""
    first: dict[Frame | None, int] = {}
    return [
        place if first.setdefault(place, row) == row else None for row, place in enumerate(places)
    ]


def _with_known_classes(
    detections: Source, names: Mapping[int, str], faults: FaultList
) -> tuple[Source, int]:
    """Name classes; objects of unknown ones are dropped and counted."""
    found = detections.annotations
    labels = [names.get(int(number)) for number in found.labels]
    for number, label in zip(found.labels, labels, strict=True):
        if label is None:
            expected = "the id of a category of the truth"
            faults.add(Fault(number, expected, source=detections.name, field="category_id"))
    strange = np.array([label is None for label in labels], dtype=np.bool_)
    unknown = strange[found.label_indices]
    numbers = tuple(n for n, label in zip(found.labels, labels, strict=True) if label is not None)
    kept = found.take_objects(~unknown).with_tables(found.sequences, numbers)
    table = tuple(label for label in labels if label is not None)
    return replace(detections, annotations=replace(kept, labels=table)), int(unknown.sum())


def _in_frames(source: Source, frames: list[Frame]) -> Source:
    """The same with each frame at another place."""
    sequences = tuple(sorted({key for key, _ in frames}))
    rank = {key: index for index, key in enumerate(sequences)}
    moved = replace(
        source.annotations,
        sequences=sequences,
        frame_sequences=np.array([rank[key] for key, _ in frames], dtype=np.int64),
        frame_numbers=np.array([number for _, number in frames], dtype=np.int64),
    )
    return replace(source, annotations=moved)


# --- documents -------------------------------------------------------------------------------


def _read_results(document: list[Any], name: str) -> Reading:
    faults = FaultList()
    rules, ids = RESULT_RULES, "image_id"
    if _name_files(document):
        rules, ids = NAMED_RESULT_RULES, "file_name"
    entries = read_entries(document, rules, name, "", faults)
    images, rows = np.unique(_as_texts(entries.ids(ids)), return_inverse=True)
    numbers = images.tolist() if images.dtype == np.int64 else image_numbers(images.tolist())
    frames = [(SequenceKey("", IMAGES), number) for number in numbers]
    categories = entries.whole("category_id")
    used, codes = np.unique(categories, return_inverse=True)
    labels = TextColumn(codes.reshape(-1).astype(np.int64), tuple(map(str, used.tolist())))
    none = np.zeros(0, dtype=np.int64)
    source = _source(name, frames, none, entries, rows.reshape(-1), labels, Side.DETECTIONS)
    if images.dtype != np.int64:
        names = dict(zip(numbers, images.tolist(), strict=True))
        source = replace(source, numbering=Numbering(image_names=names))
    return Reading(source, faults, len(document) - len(entries))


def _name_files(document: list[Any]) -> bool:
    """Whether results name files in place of ids."""
    first = document[0] if document else None
    return isinstance(first, dict) and "image_id" not in first and "file_name" in first


def _as_texts(ids: AnyArray | list[str]) -> AnyArray:
    """Whole numbers, or texts where some are texts."""
    array = np.asarray(ids)
    return array if array.dtype == np.int64 else array.astype(np.str_)


def _read_object(document: dict[str, Any], name: str, side: Side) -> Reading:
    lists = {key: document.get(key, []) for key in _ARRAYS}
    wrong = [
        Fault(type_name(value), "an array", source=name, field=key)
        for key, value in lists.items()
        if not isinstance(value, list)
    ]
    wrong += [
        Fault("nothing", _OBJECT, source=name, field=key)
        for key in ("images", "categories", "annotations")
        if key not in document
    ]
    if wrong:
        raise InputError(wrong)
    faults = FaultList()
    videos = read_entries(lists["videos"], VIDEO_RULES, name, "videos", faults)
    images = read_entries(lists["images"], IMAGE_RULES, name, "images", faults)
    categories = read_entries(lists["categories"], CATEGORY_RULES, name, "categories", faults)
    if faults:
        # Everything else hangs on these: without them nothing could be read.
        raise InputError(faults.listed())
    frames = _frames_of(images, videos, name)
    rules = ANNOTATION_RULES
    entries = read_entries(lists["annotations"], rules, name, "annotations", faults)
    ids = images.ids("id")
    names = dict(zip(categories.whole("id").tolist(), categories.texts("name"), strict=True))
    rows = _rows_of(entries.ids("image_id"), ids)
    codes = _rows_of(entries.whole("category_id"), categories.whole("id"))
    good = _known(entries, "image_id", rows, "the id of an image", name, faults)
    good &= _known(entries, "category_id", codes, "the id of a category", name, faults)
    entries, rows, codes = entries.take(good), rows[good], codes[good]
    labels = TextColumn(codes, tuple(names.values()))
    source = _source(name, frames, np.arange(len(frames)), entries, rows, labels, side)
    of_image = dict(zip(ids.tolist(), frames, strict=True))
    numbering = Numbering(of_image, names, images.texts("file_name"))
    skipped = len(lists["annotations"]) - len(entries)
    sizes = _largest_sizes(images, frames)
    return Reading(replace(source, numbering=numbering, image_sizes=sizes), faults, skipped)


def _largest_sizes(images: Entries, frames: Sequence[Frame]) -> ImageSizes:
    """Greatest width and height of the images of each sequence that says those of all of them."""
    sequences = [sequence for sequence, _ in frames]
    names = list(dict.fromkeys(sequences))
    position = {name: index for index, name in enumerate(names)}
    rows = np.array([position[name] for name in sequences], dtype=np.int64)
    sizes = np.stack([images.whole("width"), images.whole("height")], axis=1)
    greatest = np.zeros((len(names), 2), dtype=np.int64)
    np.maximum.at(greatest, rows, sizes)
    unknown = set(rows[(sizes <= 0).any(axis=1)].tolist())
    return {
        name: (int(width), int(height))
        for index, (name, (width, height)) in enumerate(zip(names, greatest, strict=True))
        if index not in unknown
    }


def _frames_of(images: Entries, videos: Entries, name: str) -> list[Frame]:
    """Sequence and number of each image."""
    names = dict(zip(videos.whole("id").tolist(), videos.texts("name"), strict=True))
    faults = [
        Fault(str(number), "the id of a video", source=name, entry=entry, field="images.video_id")
        for number, entry in zip(
            images.whole("video_id").tolist(), images.positions.tolist(), strict=True
        )
        if number != NO_TRACK and names and number not in names
    ]
    frames, ids = [], _as_texts(images.ids("id"))
    numbers = np.where(
        images.whole("frame_id") != NO_TRACK, images.whole("frame_id"), images.whole("frame_index")
    )
    for own, video, number in zip(
        image_numbers(ids.tolist()) if ids.dtype.kind == "U" else ids.tolist(),
        images.whole("video_id").tolist(),
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


def _rows_of(numbers: AnyArray, ids: AnyArray) -> IntArray:
    """(N,) row of each number or text among different ids, -1 where it is none of them."""
    if object in (numbers.dtype, ids.dtype):
        row_of = {own: row for row, own in enumerate(ids.tolist())}
        return np.array([row_of.get(own, -1) for own in numbers.tolist()], dtype=np.int64)
    if len(ids) == 0:
        return np.full(len(numbers), -1, dtype=np.int64)
    order = np.argsort(ids, kind="stable")
    place = np.minimum(np.searchsorted(ids[order], numbers), len(ids) - 1)
    rows: IntArray = np.where(ids[order][place] == numbers, order[place], -1)
    return rows


def _known(
    entries: Entries, key: str, rows: IntArray, expected: str, name: str, faults: FaultList
) -> BoolArray:
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


def _source(
    name: str,
    frames: list[Frame],
    listed: IntArray,
    entries: Entries,
    frame_of_entry: IntArray,
    labels: TextColumn,
    side: Side,
) -> Source:
    """Annotations out of frames, some of which are listed, and of what is in them."""
    sequences = tuple(sorted({key for key, _ in frames}))
    rank = {key: index for index, key in enumerate(sequences)}
    of_frame = np.array([rank[key] for key, _ in frames], dtype=np.int64)
    numbers = np.array([number for _, number in frames], dtype=np.int64)
    rows = np.concatenate([listed, frame_of_entry]).astype(np.int64)
    none = len(listed)

    def padded(column: AnyArray) -> AnyArray:
        return np.concatenate([np.zeros((none, *column.shape[1:]), dtype=column.dtype), column])

    truth = side is Side.TRUTH
    flags = np.where(entries.whole("iscrowd") == 1, ObjectFlag.CROWD, 0)
    flags |= np.where(entries.whole("ignore") == 1, ObjectFlag.IGNORE, 0)
    columns = RowColumns(
        sequences=sequences,
        sequence_of_row=of_frame[rows],
        frame_numbers=numbers[rows],
        frame_flags=np.zeros(len(rows), dtype=np.uint8),
        holds_object=np.arange(len(rows)) >= none,
        coordinates=padded(_boxes(entries)),
        labels=TextColumn(padded(labels.codes), labels.texts),
        confidences=padded(np.ones(len(entries)) if truth else entries.number("score")),
        track_ids=padded(_tracks(entries)),
        flags=padded(flags.astype(np.uint8) if truth else np.zeros(len(entries), dtype=np.uint8)),
        columns={"area": padded(entries.number("area"))} if truth else {},
    )
    table = Table(
        numbers={},
        wholes={},
        texts={},
        sources=(name,),
        source_of_row=np.zeros(len(rows), dtype=np.int64),
        positions=np.concatenate([listed, entries.positions]),
        position_name="entry",
    )
    annotations, places = group_rows(columns, table)
    return Source(annotations, name, NAME, places)


def _boxes(entries: Entries) -> FloatArray:
    boxes = entries.boxes()
    return np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1).reshape(-1, BOX)


def _tracks(entries: Entries) -> IntArray:
    tracks: IntArray = np.where(
        entries.whole("track_id") != NO_TRACK,
        entries.whole("track_id"),
        entries.whole("instance_id"),
    )
    return tracks


FORMAT = Format(
    name=NAME,
    title="COCO JSON: images, categories and annotations, or an array of results",
    matches=matches,
    read=read,
    pair=pair,
    first_pixel=0,
)

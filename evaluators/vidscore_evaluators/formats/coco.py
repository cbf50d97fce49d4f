"""COCO JSON: images, categories and annotations in one object; results as an array.

Source: cocodataset.org, data format and results format, for object detection. The truth is an
object with ``images``, ``categories`` and ``annotations``; results are an array of
``{"image_id", "category_id", "bbox", "score"}``, or an object like the truth whose annotations
have a ``score``. Extensions for video (TAO, and data sets like it): ``videos``, and in an image
``video_id`` with ``frame_id`` or ``frame_index``; in an annotation ``track_id`` or ``instance_id``.
The project's readings:

1. ``bbox`` is ``[x, y, width, height]``: a box goes from x to x + width, with nothing added. The
   first pixel's edge is at 0.
2. An image of a video is the frame that its entry states. Any other image is a frame of the
   sequence `IMAGES`, whose number is the image's id.
3. ``iscrowd`` = 1 flags a crowd, ``ignore`` = 1 an ignored object; either may be left out. ``area``
   is kept as a column; so is width times height, as ``box_area``, if it differs to the bit from
   the area of the corners. Without ``area``, the area of the mask or box itself counts.
4. Numbers of images and categories in results are those of the truth. Images may also be named by
   strings or by their files; see `vidscore_evaluators.formats._coco_images`.
"""

from __future__ import annotations

import codecs
from functools import partial
from typing import Any

import numpy as np
import orjson
from msgspec.structs import replace

from vidscore_evaluators.annotations import (
    BOX,
    IMAGES,
    NO_TRACK,
    Annotations,
    ObjectFlag,
    SequenceKey,
    Side,
)
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._coco_entries import (
    ANNOTATION_RULES,
    CATEGORY_RULES,
    IMAGE_RULES,
    MASK_ROW,
    MAXIMUM_AREA_PX,
    NAMED_RESULT_RULES,
    RESULT_RULES,
    VIDEO_RULES,
    Entries,
    fitting,
    read_entries,
)
from vidscore_evaluators.formats._coco_images import (
    Frame,
    as_ids,
    federated_warnings,
    frames_of,
    image_numbers,
    known_entries,
    largest_sizes,
    pair,
    rows_of,
    size_warnings,
)
from vidscore_evaluators.formats._coco_masks import (
    add_segmentations,
    sizes_of_frames,
    wait_for_sizes,
    with_any_box,
    with_masks,
)
from vidscore_evaluators.formats._coco_text import read_text
from vidscore_evaluators.formats._files import InputPath, read_bytes
from vidscore_evaluators.formats._format import (
    Capacity,
    Format,
    ImageNumbers,
    WriteOptions,
    Writer,
    left_top_and_size,
    refuse_values,
    unnamed_remarks,
)
from vidscore_evaluators.formats._heads import COCO, COCO_ARRAYS
from vidscore_evaluators.formats._json import no_garbage_collection, parse_json, type_name
from vidscore_evaluators.formats._row_frames import (
    RowColumns,
    given_areas,
    group_rows,
    index_frames,
    with_listed_frames,
)
from vidscore_evaluators.formats._table import RowTable, StringColumn
from vidscore_evaluators.formats._times import COLUMN as TIME
from vidscore_evaluators.formats._times import time_warnings
from vidscore_evaluators.formats.source import (
    NOTHING,
    SWAPPED,
    FaultList,
    Files,
    Numbering,
    Reading,
    ReadOptions,
    SizeOf,
    Source,
    listed_names,
)
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

NAME = COCO
_EXPECTED = "a JSON file in the form of COCO"
_OBJECT = "an object with images, categories and annotations"
_WHOLE = {Side.TRUTH: _OBJECT, Side.DETECTIONS: f"an array of results, or {_OBJECT}"}


def read(path: InputPath, side: Side, options: ReadOptions) -> Reading:
    """Read a file.

    Raises:
        InputError: If there is no such file, or it is not JSON, or neither truth nor results.
    """
    data = read_bytes(path, _EXPECTED, options).removeprefix(codecs.BOM_UTF8)
    name = str(path)
    found = read_text(data)
    with no_garbage_collection():
        if found is None or (found.document is None and side is Side.TRUTH):
            return _read_parsed(parse_json(data, name, _WHOLE[side]), name, side, options)
        if found.document is None:
            return _results(found.entries, len(found.entries), name, options, FaultList())
        return _read_object(found.document, name, side, found.entries)


def _read_parsed(document: object, name: str, side: Side, options: ReadOptions) -> Reading:
    """Read a parsed document."""
    if isinstance(document, list) and side is Side.DETECTIONS:
        return _read_results(document, name, options)
    if isinstance(document, dict):
        return _read_object(document, name, side)
    advice = SWAPPED if isinstance(document, list) else None
    raise InputError([Fault(type_name(document), _WHOLE[side], source=name, advice=advice)])


# --- documents -------------------------------------------------------------------------------


def _read_results(document: list[Any], name: str, options: ReadOptions) -> Reading:
    faults = FaultList()
    rules, ids = RESULT_RULES, "image_id"
    if _name_files(document):
        rules, ids = NAMED_RESULT_RULES, "file_name"
    entries = read_entries(document, fitting(rules, document), name, "", faults)
    return _results(entries, len(document), name, options, faults, ids)


def _results(
    entries: Entries,
    count: int,
    name: str,
    options: ReadOptions,
    faults: FaultList,
    ids: str = "image_id",
) -> Reading:
    """Results, of `count` entries of which `entries` could be read."""
    if options.paired and options.image_size is None and wait_for_sizes(entries):
        without = with_any_box(entries, np.ones(len(entries), dtype=np.bool_))
        resume = partial(_resumed, entries, name, ids)
        source = replace(_source_of_results(without, name, ids), resume=resume)
        return Reading(source, faults, count - len(entries))
    width, height = options.image_size or (0, 0)
    sizes = np.tile(np.array([[height, width]], dtype=np.int64), (len(entries), 1))
    entries = with_masks(entries, sizes, name, "", faults)
    return Reading(_source_of_results(entries, name, ids), faults, count - len(entries))


def _resumed(entries: Entries, name: str, ids: str, size_of: SizeOf) -> Reading:
    """Results whose masks needed the sizes of images."""
    images, rows = np.unique(as_ids(entries.ids(ids)), return_inverse=True)
    found = [size_of(own) for own in images.tolist()]
    # Results for unknown images are refused for that, whatever their masks are.
    strange = np.array([size is None for size in found], dtype=np.bool_)[rows.reshape(-1)]
    sizes = np.array([size or (1, 1) for size in found], dtype=np.int64).reshape(-1, 2)
    faults = FaultList()
    left = with_any_box(entries, strange) if strange.any() else entries
    left = with_masks(left, sizes[rows.reshape(-1)], name, "", faults)
    if faults and not np.isnan(entries.boxes()).any():
        # A detector's boxes are valid without its outlines.
        faults, left = FaultList(), with_any_box(entries, np.ones(len(entries), dtype=np.bool_))
    return Reading(_source_of_results(left, name, ids), faults, len(entries) - len(left))


def _source_of_results(entries: Entries, name: str, ids: str) -> Source:
    images, rows = np.unique(as_ids(entries.ids(ids)), return_inverse=True)
    numbers = images.tolist() if images.dtype == np.int64 else image_numbers(images.tolist())
    frames = [(SequenceKey("", IMAGES), number) for number in numbers]
    labels = StringColumn.of_integers(entries.integers("category_id"))
    none = np.zeros(0, dtype=np.int64)
    source = _source(name, frames, none, entries, rows.reshape(-1), labels, Side.DETECTIONS)
    named = images.dtype != np.int64
    first = _first_entries(entries)
    numbering = Numbering(
        frames={} if named else dict(zip(numbers, frames, strict=True)),
        labels={number: str(number) for number in first},
        image_names=dict(zip(numbers, images.tolist(), strict=True)) if named else {},
        label_entries=first,
        of_truth=True,
    )
    return replace(source, numbering=numbering)


def _first_entries(entries: Entries) -> dict[int, int]:
    """The first entry of each category."""
    found, first = np.unique(entries.integers("category_id"), return_index=True)
    return dict(zip(found.tolist(), entries.positions[first].tolist(), strict=True))


def _name_files(document: list[Any]) -> bool:
    """Whether results name image files in place of ids."""
    first = document[0] if document else None
    return isinstance(first, dict) and "image_id" not in first and "file_name" in first


def _read_object(
    document: dict[str, Any], name: str, side: Side, entries: Entries | None = None
) -> Reading:
    """Read an object; `entries` are its annotations, if they are already read."""
    if side is Side.DETECTIONS and not document.keys() & set(COCO_ARRAYS):
        keys = listed_names(list(document)) or NOTHING
        raise InputError([Fault(f"an object with {keys}", _WHOLE[side], source=name)])
    lists = {key: document.get(key, []) for key in COCO_ARRAYS}
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
        # Annotations refer to all of these, so nothing else can be read.
        raise InputError(faults.listed())
    frames = frames_of(images, videos, name)
    count = len(lists["annotations"] if entries is None else entries)
    if entries is None:
        rules = fitting(ANNOTATION_RULES, lists["annotations"])
        entries = read_entries(lists["annotations"], rules, name, "annotations", faults)
    ids = images.ids("id")
    names = dict(zip(categories.integers("id").tolist(), categories.strings("name"), strict=True))
    rows = rows_of(entries.ids("image_id"), ids)
    codes = rows_of(entries.integers("category_id"), categories.integers("id"))
    good = known_entries(entries, "image_id", rows, "the id of an image", name, faults)
    good &= known_entries(entries, "category_id", codes, "the id of a category", name, faults)
    entries, rows, codes = entries.take(good), rows[good], codes[good]
    heights_widths = np.stack([images.integers("height"), images.integers("width")], axis=1)
    positions = entries.positions
    entries = with_masks(entries, heights_widths[rows], name, "annotations", faults)
    left = np.isin(positions, entries.positions, assume_unique=True)
    rows, codes = rows[left], codes[left]
    labels = StringColumn(codes, tuple(names.values()))
    times_s = images.numbers(TIME)
    source = _source(name, frames, np.arange(len(frames)), entries, rows, labels, side, times_s)
    of_image = dict(zip(ids.tolist(), frames, strict=True))
    files = images.strings("file_name")
    numbering = Numbering(of_image, names, files, heights_widths.tolist())
    sizes = largest_sizes(images, frames)
    doubts = list(size_warnings(lists["images"], images, name))
    if side is Side.TRUTH:
        doubts += federated_warnings(lists["images"], name)
    warnings = (*doubts, *source.warnings)
    source = replace(source, numbering=numbering, image_sizes=sizes, warnings=warnings)
    return Reading(source, faults, count - len(entries))


def _source(
    name: str,
    frames: list[Frame],
    listed: IntArray,
    entries: Entries,
    frame_of_entry: IntArray,
    labels: StringColumn,
    side: Side,
    times_s: FloatArray | None = None,
) -> Source:
    """Annotations from frames and entries; some frames are listed even if empty.

    The times are those of the listed frames.
    """
    sequences, of_frame, numbers = index_frames(frames)
    count, truth = len(entries), side is Side.TRUTH
    flags = np.where(entries.integers("iscrowd") == 1, ObjectFlag.CROWD, 0)
    flags |= np.where(entries.integers("ignore") == 1, ObjectFlag.IGNORE, 0)
    corners, sizes = _boxes(entries), entries.boxes()[:, 2:].T
    columns = RowColumns(
        sequences=sequences,
        sequence_of_row=of_frame[frame_of_entry],
        frame_numbers=numbers[frame_of_entry],
        frame_flags=np.zeros(count, dtype=np.uint8),
        holds_object=np.ones(count, dtype=np.bool_),
        coordinates=corners,
        labels=labels,
        confidences=entries.numbers("score"),
        track_ids=_tracks(entries),
        flags=flags.astype(np.uint8) if truth else np.zeros(count, dtype=np.uint8),
        columns=({"area": entries.numbers("area")} if truth else {}) | given_areas(corners, *sizes),
        masks=entries.masks,
        mask_rows=entries.integers(MASK_ROW),
    )
    zeros = np.zeros(count, dtype=np.int64)
    table = RowTable({}, {}, {}, (name,), zeros, entries.positions, "entry")
    of_listed, places = (of_frame[listed], numbers[listed]), (np.zeros_like(listed), listed)
    annotations, positions = group_rows(
        *with_listed_frames(columns, table, of_listed, places, times_s)
    )
    return Source(annotations, name, NAME, positions, time_warnings(annotations, name))


def _boxes(entries: Entries) -> FloatArray:
    boxes = entries.boxes()
    return np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1).reshape(-1, BOX)


def _tracks(entries: Entries) -> IntArray:
    tracks: IntArray = np.where(
        entries.integers("track_id") != NO_TRACK,
        entries.integers("track_id"),
        entries.integers("instance_id"),
    )
    return tracks


# --- writing ---------------------------------------------------------------------------------


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    images = ImageNumbers.of(annotations, options, first_class=1)
    tracks = annotations.track_ids
    expected = f"an integer from -1 to {MAXIMUM_FRAME_NUMBER}"
    refuse_values(tracks > MAXIMUM_FRAME_NUMBER, tracks, "track_id", expected)
    objects = _objects(annotations, images)
    add_segmentations(objects, annotations)
    if side is Side.DETECTIONS:
        for entry, confidence in zip(objects, annotations.confidences.tolist(), strict=True):
            entry["score"] = confidence
        return {"": orjson.dumps(objects, option=orjson.OPT_APPEND_NEWLINE)}
    _add_truth(objects, annotations)
    document = {
        "videos": _videos(images),
        "images": _images(annotations, images, options),
        "categories": [
            {"id": number, "name": name}
            for number, name in zip(images.classes.values(), images.names, strict=True)
        ],
        "annotations": objects,
    }
    if not document["videos"]:
        del document["videos"]
    return {"": orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)}


def _objects(annotations: Annotations, images: ImageNumbers) -> list[dict[str, Any]]:
    image_ids = images.of_frames(annotations)[annotations.object_frames]
    category_ids = images.of_labels(annotations)[annotations.label_indices]
    entries = [
        {"image_id": image, "category_id": category, "bbox": box}
        for image, category, box in zip(
            image_ids.tolist(), category_ids.tolist(), _sizes(annotations).tolist(), strict=True
        )
    ]
    for entry, track in zip(entries, annotations.track_ids.tolist(), strict=True):
        if track != NO_TRACK:
            entry["track_id"] = track
    return entries


def _sizes(annotations: Annotations) -> FloatArray:
    """(N, 4) boxes as x, y, width, height."""
    return np.stack(left_top_and_size(annotations), axis=1)


def _add_truth(objects: list[dict[str, Any]], annotations: Annotations) -> None:
    """Add the fields that only truth entries have."""
    sizes, masks = _sizes(annotations), annotations.masks
    own = sizes[:, 2] * sizes[:, 3] if masks is None else masks.areas()
    areas = annotations.columns.get("area", np.full(len(sizes), np.nan))
    areas = np.where(np.isnan(areas), own, areas)
    expected = f"a number from 0 to {MAXIMUM_AREA_PX:g}"
    refuse_values((areas < 0.0) | (areas > MAXIMUM_AREA_PX), areas, "area", expected)
    crowds = (annotations.flags & ObjectFlag.CROWD) != 0
    ignored = (annotations.flags & ObjectFlag.IGNORE) != 0
    rows = zip(objects, areas.tolist(), crowds.tolist(), ignored.tolist(), strict=True)
    for number, (entry, area, crowd, ignore) in enumerate(rows, start=1):
        entry["id"] = number
        entry["area"] = area
        entry["iscrowd"] = int(crowd)
        if ignore:
            entry["ignore"] = 1


def _videos(images: ImageNumbers) -> list[dict[str, Any]]:
    return [
        {"id": number, "name": key.sequence}
        for number, key in enumerate(images.sequences, start=1)
        if key != SequenceKey("", IMAGES)
    ]


def _images(
    annotations: Annotations, images: ImageNumbers, options: WriteOptions
) -> list[dict[str, Any]]:
    """An entry for each frame of the truth."""
    video = {key: number for number, key in enumerate(images.sequences, start=1)}
    entries: list[dict[str, Any]] = []
    ids = images.of_frames(annotations).tolist()
    of_masks = sizes_of_frames(annotations)
    for row, number in enumerate(ids):
        key = annotations.sequences[annotations.frame_sequences[row]]
        entry = {"id": number}
        if key != SequenceKey("", IMAGES):
            entry |= {"video_id": video[key], "frame_id": int(annotations.frame_numbers[row])}
        if annotations.frame_times_s is not None and not np.isnan(annotations.frame_times_s[row]):
            entry |= {TIME: float(annotations.frame_times_s[row])}
        own = options.image_sizes[row].tolist()
        width, height = own if all(own) else of_masks.get(row, (0, 0))
        if width and height:
            entry |= {"width": width, "height": height}
        entries.append(entry)
    return entries


def _remarks(annotations: Annotations, side: Side, options: WriteOptions) -> tuple[str, ...]:
    """Remark that results are useless beside a truth with other numbers."""
    unnamed = unnamed_remarks(annotations, side, options)
    owned = options.numbering is not None and options.numbering.frames
    if side is Side.TRUTH or options.truth is not None or owned or not annotations.object_count:
        return unnamed
    return (
        *unnamed,
        "images and classes numbered among themselves; --truth gives those of a truth",
    )


_WRITER = Writer(
    folder=False,
    capacity={
        Side.TRUTH: Capacity(
            tracks=True,
            confidences=False,
            flags=ObjectFlag.IGNORE | ObjectFlag.CROWD,
            columns=frozenset({"area"}),
            times=True,
            masks=True,
        ),
        Side.DETECTIONS: Capacity(tracks=True, empty_frames=False, masks=True),
    },
    write=_write,
    remarks=_remarks,
)

FORMAT = Format(
    name=NAME,
    title="COCO JSON: images, categories and annotations, or an array of results",
    read=read,
    writer=_WRITER,
    pair=pair,
    first_pixel=0,
)

"""Write COCO JSON: an object for a truth, an array of results for detections."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson

from vidscore_evaluators.annotations import NO_TRACK, Annotations, ObjectFlag, SequenceKey, Side
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.formats.source import IMAGES
from vidscore_evaluators.formats.writing import Capacity, Files, Numbers, Writer
from vidscore_evaluators.formats.writing_numbers import ImageNumbers, unnamed_remarks

_LINE = orjson.OPT_APPEND_NEWLINE


def _write(annotations: Annotations, side: Side, numbers: Numbers) -> Files:
    images = ImageNumbers.of(annotations, numbers)
    objects = _objects(annotations, images)
    if side is Side.DETECTIONS:
        for entry, confidence in zip(objects, annotations.confidences.tolist(), strict=True):
            entry["score"] = confidence
        return {"": orjson.dumps(objects, option=_LINE)}
    _add_truth(objects, annotations)
    document = {
        "videos": _videos(images),
        "images": _images(annotations, images, numbers),
        "categories": [
            {"id": number, "name": name} for number, name in enumerate(images.names, start=1)
        ],
        "annotations": objects,
    }
    if not document["videos"]:
        del document["videos"]
    return {"": orjson.dumps(document, option=_LINE)}


def _objects(annotations: Annotations, images: ImageNumbers) -> list[dict[str, Any]]:
    image_ids = images.of_frames(annotations)[annotations.object_frames]
    category_ids = images.of_labels(annotations)[annotations.label_indices] + 1
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
    boxes = annotations.coordinates
    return np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1)


def _add_truth(objects: list[dict[str, Any]], annotations: Annotations) -> None:
    """Add what only a truth has to its entries."""
    sizes = _sizes(annotations)
    areas = annotations.columns.get("area", np.full(len(sizes), np.nan))
    areas = np.where(np.isnan(areas), sizes[:, 2] * sizes[:, 3], areas)
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
    annotations: Annotations, images: ImageNumbers, numbers: Numbers
) -> list[dict[str, Any]]:
    """An entry for each frame of the truth."""
    video = {key: number for number, key in enumerate(images.sequences, start=1)}
    entries: list[dict[str, Any]] = []
    ids = images.of_frames(annotations).tolist()
    for row, number in enumerate(ids):
        key = annotations.sequences[annotations.frame_sequences[row]]
        entry = {"id": number}
        if key != SequenceKey("", IMAGES):
            entry |= {"video_id": video[key], "frame_id": int(annotations.frame_numbers[row])}
        if numbers.image_size is not None:
            entry |= {"width": numbers.image_size[0], "height": numbers.image_size[1]}
        entries.append(entry)
    return entries


COCO_WRITER = Writer(
    folder=False,
    capacity={
        Side.TRUTH: Capacity(
            tracks=True,
            confidences=False,
            flags=ObjectFlag.IGNORE | ObjectFlag.CROWD,
            columns=frozenset({"area"}),
        ),
        Side.DETECTIONS: Capacity(tracks=True, empty_frames=False),
    },
    write=_write,
    remarks=unnamed_remarks,
)

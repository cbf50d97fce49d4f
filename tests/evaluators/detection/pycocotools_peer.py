"""The reference implementation of COCO, on objects and detections of one video."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import Any

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from vidscore_evaluators.annotations import ObjectFlag
from vidscore_evaluators.testing import Thing

Scene = dict[int, list[Thing]]


def evaluated(truth: Scene, detections: Scene, labels: Sequence[str]) -> COCOeval:
    """The reference implementation after its matching.

    Args:
        truth: Objects by frame; one without a column `area` has that of its box.
        detections: Detections by frame.
        labels: The classes.
    """
    annotations: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for frame, things in truth.items():
        for thing in things:
            entry = _entry(frame, thing, labels)
            _, _, width, height = entry["bbox"]
            annotations.append(
                entry
                | {
                    "id": len(annotations) + 1,
                    "area": thing.columns.get("area", width * height),
                    "iscrowd": int(bool(thing.flags & ObjectFlag.CROWD)),
                }
            )
    for frame, things in detections.items():
        results += [_entry(frame, thing, labels) | {"score": thing.confidence} for thing in things]
    with contextlib.redirect_stdout(io.StringIO()):
        reference = COCO()
        dataset: Any = {
            "images": [{"id": frame} for frame in truth],
            "categories": [{"id": index} for index in range(len(labels))],
            "annotations": annotations,
            "info": {},
        }
        reference.dataset = dataset
        reference.createIndex()
        evaluation = COCOeval(reference, reference.loadRes(results), "bbox")
        evaluation.evaluate()
    return evaluation


def _entry(frame: int, thing: Thing, labels: Sequence[str]) -> dict[str, Any]:
    x1, y1, x2, y2 = thing.coordinates
    return {
        "image_id": frame,
        "category_id": labels.index(thing.label),
        "bbox": [x1, y1, x2 - x1, y2 - y1],
    }

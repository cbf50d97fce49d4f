"""COCO mAP: files to figures, compared with pycocotools and its faster successors."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import faster_coco_eval
import hotcoco
import numpy as np
import orjson
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from bench.case import Case, Peer, Size, compare
from bench.rows import Row, at_least
from bench.scenes.boxes import Boxes, detected, random_boxes
from vidscore_evaluators import score
from vidscore_evaluators.report import Report

IMAGES, FEWEST_IMAGES = 5000, 3000
OBJECTS_PER_IMAGE = 20
DETECTIONS_PER_IMAGE = 30
CLASSES = 10
SIDES_PX = (12.0, 300.0)


def _scene(image_count: int) -> tuple[Boxes, Boxes]:
    random = np.random.default_rng(4)
    truth = random_boxes(random, np.full(image_count, OBJECTS_PER_IMAGE), CLASSES, SIDES_PX)
    near = detected(random, truth, 0.08, CLASSES)
    missing = DETECTIONS_PER_IMAGE - np.bincount(near.frames, minlength=image_count)
    return truth, near.join(random_boxes(random, missing, CLASSES, SIDES_PX))


def _write(truth: Boxes, detections: Boxes, folder: Path) -> tuple[Path, Path]:
    """Annotations and results in COCO's formats."""
    categories = [{"id": number + 1, "name": f"class-{number}"} for number in range(CLASSES)]
    images = [{"id": number + 1} for number in range(truth.frame_count)]
    objects = [
        {"id": row + 1, **entry, "area": entry["bbox"][2] * entry["bbox"][3], "iscrowd": 0}
        for row, entry in enumerate(_entries(truth))
    ]
    results = [
        {**entry, "score": confidence}
        for entry, confidence in zip(
            _entries(detections), detections.confidences.tolist(), strict=True
        )
    ]
    paths = folder / "annotations.json", folder / "results.json"
    document = {"images": images, "categories": categories, "annotations": objects}
    for path, content in zip(paths, (document, results), strict=True):
        path.write_bytes(orjson.dumps(content))
    return paths


def _entries(boxes: Boxes) -> Iterator[dict[str, Any]]:
    sides = np.round(boxes.corners[:, 2:] - boxes.corners[:, :2], 2)
    rows = np.hstack([boxes.corners[:, :2], sides]).tolist()
    for frame, label, row in zip(boxes.frames.tolist(), boxes.labels.tolist(), rows, strict=True):
        yield {"image_id": frame + 1, "category_id": label + 1, "bbox": row}


Library = tuple[Callable[[str], Any], Callable[..., Any]]
"""Data set class and evaluation class of a library with the interface of pycocotools."""

LIBRARIES: Mapping[str, Library] = {
    "pycocotools": (COCO, COCOeval),
    "faster-coco-eval": (
        faster_coco_eval.COCO,
        partial(faster_coco_eval.COCOeval_faster, print_function=lambda *_: None),
    ),
    "hotcoco": (hotcoco.COCO, hotcoco.COCOeval),
}


def by_reference(
    library: Library, kind: Literal["bbox", "segm"], truth: Path, results: Path
) -> list[float]:
    """The twelve figures, computed by one of these libraries."""
    dataset, evaluation = library
    with contextlib.redirect_stdout(io.StringIO()):
        reference = dataset(str(truth))
        judge = evaluation(reference, reference.loadRes(str(results)), kind)
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
    return [float(value) for value in judge.stats[:12]]


def _agree(ours: object, theirs: object) -> bool:
    assert isinstance(ours, Report)
    assert isinstance(theirs, list)
    names = ("ap", "ap_50", "ap_75", "ap_small", "ap_medium", "ap_large")
    found = [ours.value(name) for name in names]
    # We treat equal confidences as one step; the libraries order them arbitrarily.
    return bool(np.allclose(np.array(found, dtype=float), theirs[:6], atol=1e-3))


def _files(size: Size) -> Iterator[Row]:
    truth, detections = _scene(size.of(IMAGES, FEWEST_IMAGES))
    goals = (at_least(20.0), at_least(1.0), at_least(1.0))
    with tempfile.TemporaryDirectory() as folder:
        paths = _write(truth, detections, Path(folder))
        peers = [
            Peer(name, partial(by_reference, library, "bbox", *paths), goal, agrees=_agree)
            for (name, library), goal in zip(LIBRARIES.items(), goals, strict=True)
        ]
        name = f"COCO mAP, files to figures, {truth.frame_count:,} images"
        yield from compare(name, lambda: score("coco", *paths), peers, min(size.repeats, 3))


CASES = (Case("coco", _files),)

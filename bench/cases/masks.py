"""COCO's figures of masks: files to figures, compared with pycocotools and faster successors."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from bench.case import Case, Peer, Size, compare
from bench.cases.coco import LIBRARIES, by_reference
from bench.rows import Row, at_least
from vidscore_evaluators import score
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.mask_forms import compressed_texts, masks_from_polygons
from vidscore_evaluators.report import Report

IMAGES, FEWEST_IMAGES = 5000, 2500
OBJECTS_PER_IMAGE = 7
DETECTIONS_PER_OBJECT = 3
CLASSES, CLASSES_PER_IMAGE = 80, 3
HEIGHT, WIDTH = 480, 640
RADII_PX = (5.0, 120.0)
CORNERS = 24
FIGURES = (
    *("ap", "ap_50", "ap_75", "ap_small", "ap_medium", "ap_large"),
    *("ar_1", "ar_10", "ar_100", "ar_small", "ar_medium", "ar_large"),
)


def _outlines(random: np.random.Generator, middles: FloatArray, radii: FloatArray) -> FloatArray:
    """(N, corners, 2) outlines with about the given (N,) radii around (N, 2) points."""
    angles = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    lengths = radii[:, None] * random.uniform(0.7, 1.0, (len(radii), CORNERS))
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    outlines: FloatArray = middles[:, None] + lengths[..., None] * around
    return np.clip(outlines, 0.0, (WIDTH, HEIGHT)).round(2)


def _write(image_count: int, folder: Path) -> tuple[Path, Path]:
    """Write annotations with polygons, and results with compressed runs."""
    random = np.random.default_rng(4)
    images = np.repeat(np.arange(image_count), OBJECTS_PER_IMAGE)
    middles = random.uniform((40.0, 40.0), (WIDTH - 40.0, HEIGHT - 40.0), (len(images), 2))
    least, greatest = np.log(RADII_PX).tolist()
    radii = np.exp(random.uniform(least, greatest, len(images)))
    in_image = random.integers(0, CLASSES, (image_count, CLASSES_PER_IMAGE))
    labels = in_image[images, random.integers(0, CLASSES_PER_IMAGE, len(images))]
    truth = _outlines(random, middles, radii)
    rows = np.repeat(np.arange(len(images)), DETECTIONS_PER_OBJECT)
    moved = middles[rows] + random.normal(0.0, 0.15, (len(rows), 2)) * radii[rows, None]
    found = _outlines(random, moved, radii[rows] * random.uniform(0.8, 1.2, len(rows)))
    paths = folder / "annotations.json", folder / "results.json"
    paths[0].write_bytes(orjson.dumps(_truth(image_count, images, labels, truth)))
    results = _results(images[rows], labels[rows], found, random.permutation(len(rows)))
    paths[1].write_bytes(orjson.dumps(results))
    return paths


def _sizes(count: int) -> IntArray:
    return np.tile(np.array([[HEIGHT, WIDTH]]), (count, 1))


def _truth(count: int, images: IntArray, labels: IntArray, outlines: FloatArray) -> dict[str, Any]:
    polygons = [[corners] for corners in outlines.reshape(len(outlines), -1).tolist()]
    masks = masks_from_polygons(polygons, _sizes(len(polygons)))
    corners = masks.boxes()
    boxes = np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1)
    columns = (images.tolist(), labels.tolist(), polygons, boxes.tolist(), masks.areas().tolist())
    return {
        "images": [{"id": row + 1, "height": HEIGHT, "width": WIDTH} for row in range(count)],
        "categories": [{"id": row + 1, "name": f"class-{row}"} for row in range(CLASSES)],
        "annotations": [
            {
                "id": row,
                "image_id": image + 1,
                "category_id": label + 1,
                "segmentation": polygon,
                "bbox": box,
                "area": area,
                "iscrowd": 0,
            }
            for row, (image, label, polygon, box, area) in enumerate(
                zip(*columns, strict=True), start=1
            )
        ],
    }


def _results(
    images: IntArray, labels: IntArray, outlines: FloatArray, ranks: IntArray
) -> list[dict[str, Any]]:
    polygons = [[corners] for corners in outlines.reshape(len(outlines), -1).tolist()]
    texts = compressed_texts(masks_from_polygons(polygons, _sizes(len(polygons))))
    columns = (images.tolist(), labels.tolist(), texts, (ranks / len(ranks)).tolist())
    return [
        {
            "image_id": image + 1,
            "category_id": label + 1,
            "segmentation": {"size": [HEIGHT, WIDTH], "counts": text},
            "score": score,
        }
        for image, label, text, score in zip(*columns, strict=True)
    ]


def _agree(ours: object, theirs: object) -> bool:
    assert isinstance(ours, Report)
    assert isinstance(theirs, list)
    found = [ours.value(name) for name in FIGURES]
    return bool(np.allclose(np.array(found, dtype=float), theirs, atol=1e-9))


def _files(size: Size) -> Iterator[Row]:
    image_count = size.of(IMAGES, FEWEST_IMAGES)
    goals = (at_least(10.0), at_least(1.0), at_least(1.0))
    with tempfile.TemporaryDirectory() as folder:
        paths = _write(image_count, Path(folder))
        peers = [
            Peer(name, partial(by_reference, library, "segm", *paths), goal, agrees=_agree)
            for (name, library), goal in zip(LIBRARIES.items(), goals, strict=True)
        ]
        name = f"COCO AP of masks, files to figures, {image_count:,} images"
        yield from compare(
            name, lambda: score("coco-segmentation", *paths), peers, min(size.repeats, 3)
        )


CASES = (Case("masks", _files),)

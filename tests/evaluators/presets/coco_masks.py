"""Seeded COCO files of masks in every form, with every case on which scorers differ."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from pycocotools import mask as coco_mask

from vidscore_evaluators.arrays import BoolArray

HEIGHT, WIDTH = 60, 80


def random_mask_files(seed: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Truth and results whose images and entries are in no order.

    There are polygons of several parts, runs with and without compression, crowds, empty masks,
    duplicates, equal scores, IoU at exact thresholds, and more than 100 detections per image.
    """
    random = np.random.default_rng([seed, 21])
    classes, dense = int(random.integers(1, 4)), random.random() < 0.1
    ids = random.choice(1000, int(random.integers(1, 10)), replace=False).tolist()
    annotations: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for image in ids:
        mine: list[tuple[BoolArray, int]] = []
        for _ in range(int(random.integers(0, 8))):
            segmentation, pixels = _truth_mask(random)
            label, crowd = int(random.integers(1, classes + 1)), int(random.random() < 0.15)
            if crowd and isinstance(segmentation, list):
                segmentation = _runs(pixels)
            entry = {
                "image_id": image,
                "category_id": label,
                "segmentation": segmentation,
                "bbox": [0.0, 0.0, 1.0, 1.0],  # A wrong one, on which no figure depends.
                "area": float(random.choice([pixels.sum(), 32.0**2, 96.0**2])),
                "iscrowd": crowd,
            }
            if random.random() < 0.2:
                entry["ignore"] = int(random.random() < 0.5)
            annotations.append(entry)
            mine.append((pixels, label))
        for _ in range(int(random.integers(0, 220 if dense else 14))):
            _, pixels = _truth_mask(random)
            label = int(random.integers(1, classes + 1))
            if mine and random.random() < 0.75:
                near, label = mine[int(random.integers(len(mine)))]
                pixels = np.roll(near, random.integers(-2, 3, 2), (0, 1))
            score = round(float(random.random()), int(random.choice([1, 2])))
            of_result = {"image_id": image, "category_id": label, "score": score}
            results.append(of_result | {"segmentation": _compressed(pixels)})
    random.shuffle(annotations)
    random.shuffle(results)
    truth = {
        "images": [{"id": image, "height": HEIGHT, "width": WIDTH} for image in ids],
        "categories": [{"id": number, "name": f"c{number}"} for number in range(1, classes + 3)],
        "annotations": [entry | {"id": index} for index, entry in enumerate(annotations, start=1)],
    }
    return truth, results


def _truth_mask(random: np.random.Generator) -> tuple[Any, BoolArray]:
    """A segmentation of some form, and its pixels."""
    form = random.choice(["polygons", "boxes", "runs", "compressed"])
    if form == "polygons":
        parts = [_polygon(random) for _ in range(int(random.integers(1, 4)))]
        return parts, _pixels_of(parts)
    pixels = np.zeros((HEIGHT, WIDTH), dtype=np.bool_)
    for _ in range(int(random.integers(1, 3))):
        # Of few sizes, so that ratios are those of small numbers.
        top, left = int(random.integers(0, 50)), int(random.integers(0, 70))
        height, width = random.choice([2, 4, 10, 20], 2).tolist()
        pixels[top : top + height, left : left + width] = True
    if form == "boxes" and random.random() < 0.1:
        pixels[:] = random.random() < 0.5
    return (_compressed(pixels) if form == "compressed" else _runs(pixels)), pixels


def _polygon(random: np.random.Generator) -> list[float]:
    middle, count = random.uniform(0, 70, 2), int(random.integers(3, 9))
    points = middle + random.uniform(-25, 25, (count, 2))
    return np.round(points, int(random.choice([0, 2]))).reshape(-1).tolist()


def _pixels_of(parts: list[list[float]]) -> BoolArray:
    coco: Any = coco_mask  # Its annotations lack polygons.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # From its own use of numpy.
        pixels: BoolArray = coco.decode(coco.merge(coco.frPyObjects(parts, HEIGHT, WIDTH))) > 0
    return pixels


def _compressed(pixels: BoolArray) -> dict[str, Any]:
    encoded: Any = coco_mask.encode(np.asfortranarray(pixels.astype(np.uint8)))
    return {"size": [HEIGHT, WIDTH], "counts": encoded["counts"].decode()}


def _runs(pixels: BoolArray) -> dict[str, Any]:
    flat = np.concatenate([[False], pixels.T.reshape(-1), [not pixels.T.reshape(-1)[-1]]])
    ends = np.flatnonzero(flat[1:] != flat[:-1])
    return {"size": [HEIGHT, WIDTH], "counts": np.diff(ends, prepend=0).tolist()}

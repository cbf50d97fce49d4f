"""DOTA_devkit's scorer of task 1 by its rules: an independent oracle, in plain loops.

Written from the published dota_evaluation_task1.py with ``use_07_metric``, as its `main` calls it;
overlaps of polygons are computed by shapely. Nothing here uses the code under test.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import shapely

Corners = tuple[float, ...]


@dataclass
class Image:
    """Objects as (class, corners, difficult), detections as (class, confidence, corners)."""

    objects: list[tuple[str, Corners, bool]] = field(default_factory=list)
    detections: list[tuple[str, float, Corners]] = field(default_factory=list)


def overlap(corners: Corners, others: Corners) -> float:
    """Intersection over union of two simple polygons."""
    first, second = (
        shapely.Polygon(list(zip(each[::2], each[1::2], strict=True))) for each in (corners, others)
    )
    shared = first.intersection(second).area
    return float(shared / (first.area + second.area - shared))


def average_precision(images: dict[str, Image], label: str) -> float | None:
    """AP of a class by eleven recall levels; None if there is no object to find."""
    objects = {
        name: [entry for entry in image.objects if entry[0] == label]
        for name, image in images.items()
    }
    positives = sum(not entry[2] for entries in objects.values() for entry in entries)
    if positives == 0:
        return None
    # The order of the result file, then a stable sort: numpy does not define its order of ties.
    ranked = [
        (confidence, name, corners)
        for name in sorted(images)
        for class_, confidence, corners in images[name].detections
        if class_ == label
    ]
    ranked.sort(key=lambda entry: -entry[0])
    taken: set[tuple[str, int]] = set()
    true, false = np.zeros(len(ranked)), np.zeros(len(ranked))
    for row, (_, name, corners) in enumerate(ranked):
        overlaps = [overlap(other, corners) for _, other, _ in objects[name]]
        best = int(np.argmax(overlaps)) if overlaps else -1
        if overlaps and overlaps[best] > 0.5:
            if not objects[name][best][2]:
                false[row] = (name, best) in taken
                true[row] = not false[row]
                taken.add((name, best))
        else:
            false[row] = 1
    found, wrong = np.cumsum(true), np.cumsum(false)
    recalls = found / float(positives)
    precisions = found / np.maximum(found + wrong, np.finfo(np.float64).eps)
    total = 0.0
    for level in np.arange(0.0, 1.1, 0.1):
        reached = precisions[recalls >= level]
        total += (reached.max() if len(reached) else 0.0) / 11.0
    return float(total)


def scores(images: dict[str, Image]) -> dict[str | None, float | None]:
    """AP of each class that has an object or a detection, and the mean of the defined ones."""
    labels = {
        entry[0] for image in images.values() for entry in (*image.objects, *image.detections)
    }
    by_class: dict[str | None, float | None] = {
        label: average_precision(images, label) for label in sorted(labels)
    }
    defined = [value for value in by_class.values() if value is not None]
    return {None: sum(defined) / len(defined) if defined else None, **by_class}

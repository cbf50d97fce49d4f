"""VOCdevkit's scorer by its rules: an independent oracle, in plain loops.

Written from the published VOCevaldet.m (2007 to 2012) and VOCap.m. Objects and detections are
dictionaries; nothing here uses the code under test.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Box = tuple[float, float, float, float]

LEVELS_2007 = (0.0, 0.1, 0.2, 3 * 0.1, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""0:0.1:1 as in Matlab: the fourth is three steps from 0, the last ones are counted from 1."""


@dataclass
class Image:
    """Objects as (class, box, difficult), detections as (class, confidence, box), in file order."""

    objects: list[tuple[str, Box, bool]] = field(default_factory=list)
    detections: list[tuple[str, float, Box]] = field(default_factory=list)


def overlap(box: Box, other: Box) -> float:
    """Intersection over union with inclusive pixels; minus infinity if nothing is shared."""
    width = min(box[2], other[2]) - max(box[0], other[0]) + 1
    height = min(box[3], other[3]) - max(box[1], other[1]) + 1
    if not (width > 0 and height > 0):
        return float("-inf")
    areas = [(each[2] - each[0] + 1) * (each[3] - each[1] + 1) for each in (box, other)]
    return width * height / (areas[0] + areas[1] - width * height)


def outcomes(images: dict[str, Image], label: str) -> tuple[list[int], int]:
    """1 true, -1 false and 0 not counted, by rank; and the number of objects to find.

    Detections of equal confidence are in the order of the result file: by images and, within one,
    by rows.
    """
    positives = sum(
        not difficult
        for image in images.values()
        for name, _, difficult in image.objects
        if name == label
    )
    ranked = [
        (confidence, name, box)
        for name in sorted(images)
        for class_, confidence, box in images[name].detections
        if class_ == label
    ]
    ranked.sort(key=lambda entry: -entry[0])
    taken: set[tuple[str, int]] = set()
    found = []
    for _, name, box in ranked:
        objects = [entry for entry in images[name].objects if entry[0] == label]
        best, where = float("-inf"), -1
        for index, (_, other, _) in enumerate(objects):
            if overlap(box, other) > best:
                best, where = overlap(box, other), index
        if best < 0.5:
            found.append(-1)
        elif objects[where][2]:
            found.append(0)
        elif (name, where) in taken:
            found.append(-1)
        else:
            taken.add((name, where))
            found.append(1)
    return found, positives


def average_precision(found: list[int], positives: int, year: int) -> float | None:
    """AP of a class: at eleven levels in 2007, the exact area in 2012; None without objects."""
    if positives == 0:
        return None
    recalls, precisions, true, false = [], [], 0, 0
    for outcome in found:
        true, false = true + (outcome == 1), false + (outcome == -1)
        if true + false:
            recalls.append(true / positives)
            precisions.append(true / (true + false))
    points = list(zip(recalls, precisions, strict=True))
    if year == 2007:
        return sum(
            max((precision for recall, precision in points if recall >= level), default=0.0) / 11
            for level in LEVELS_2007
        )
    area, reached = 0.0, 0.0
    for recall in sorted(set(recalls)):
        area += (recall - reached) * max(p for r, p in points if r >= recall)
        reached = recall
    return area


def scores(images: dict[str, Image], year: int) -> dict[str | None, float | None]:
    """AP of each class that has an object or a detection, and their mean (None)."""
    labels = {
        entry[0] for image in images.values() for entry in (*image.objects, *image.detections)
    }
    by_class: dict[str | None, float | None] = {
        label: average_precision(*outcomes(images, label), year) for label in sorted(labels)
    }
    defined = [value for value in by_class.values() if value is not None]
    return {None: sum(defined) / len(defined) if defined else None, **by_class}

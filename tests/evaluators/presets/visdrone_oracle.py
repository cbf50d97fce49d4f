"""VisDrone-DET's scorer by its rules: an independent oracle, in plain loops over a raster.

Written from the published VisDrone2018-DET-toolkit 1.0.4 (dropObjectsInIgr.m, evalRes.m, compOas.m,
calcAccuracy.m, VOCap.m). Rows are tuples as in the files; nothing here uses the code under test.
"""

from __future__ import annotations

import math

import numpy as np

Row = tuple[float, float, float, float, float, int]
"""Left, top, width, height, score and class."""

THRESHOLDS = (
    *(0.5 + step * 0.05 for step in range(5)),
    *(0.95 - step * 0.05 for step in (4, 3, 2, 1, 0)),
)
"""0.5:0.05:0.95 as in Matlab: from both ends."""

LIMITS = (1, 10, 100, 500)


def without_ignored(rows: list[Row], regions: list[Row], size: int) -> list[Row]:
    """Rows with less than half of their pixels in ignored regions of a square image."""
    if not regions:
        return rows
    pixels = np.zeros((size, size), dtype=np.int64)
    for region in regions:
        x, y, w, h = (max(1, int(value)) for value in region[:4])
        pixels[y - 1 : min(size, y + h), x - 1 : min(size, x + w)] = 1
    kept = []
    for row in rows:
        x, y, w, h = (max(1, math.floor(value + 0.5)) for value in row[:4])
        x, y = min(size, x), min(size, y)
        # Differences of an integral image: they leave out the first column and row.
        inside = pixels[y : min(size, y + h), x : min(size, x + w)].sum()
        if inside / (h * w) < 0.5:
            kept.append(row)
    return kept


def overlap(detection: Row, truth: Row) -> float:
    """Intersection over union, or over the detection if the truth is ignored (score 0)."""
    width = min(detection[0] + detection[2], truth[0] + truth[2]) - max(detection[0], truth[0])
    height = min(detection[1] + detection[3], truth[1] + truth[3]) - max(detection[1], truth[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    own = detection[2] * detection[3]
    return shared / (own if truth[4] == 0 else own + truth[2] * truth[3] - shared)


def matched(truth: list[Row], detections: list[Row], threshold: float) -> list[tuple[float, int]]:
    """Score and outcome (1 true, 0 false, -1 ignored) of the detections of a class in an image."""
    truth = sorted(truth, key=lambda row: row[4] == 0)
    taken: set[int] = set()
    found = []
    for detection in sorted(detections, key=lambda row: -row[4]):
        best, where = threshold, -1
        for index, other in enumerate(truth):
            if index in taken:
                continue
            if where >= 0 and other[4] == 0:
                break
            if overlap(detection, other) >= best:
                best, where = overlap(detection, other), index
        if where < 0:
            found.append((detection[4], 0))
        elif truth[where][4] == 0:
            found.append((detection[4], -1))
        else:
            taken.add(where)
            found.append((detection[4], 1))
    return found


def area_under(outcomes: list[int], objects: int) -> float:
    """VOCap of the curve of ranked outcomes."""
    recalls, precisions, true, false = [0.0], [0.0], 0, 0
    for outcome in outcomes:
        true, false = true + (outcome == 1), false + (outcome == 0)
        recalls.append(true / max(1, objects))
        precisions.append(true / max(1, true + false))
    recalls.append(1.0)
    precisions.append(0.0)
    for index in range(len(precisions) - 2, -1, -1):
        precisions[index] = max(precisions[index], precisions[index + 1])
    return sum(
        (recalls[index] - recalls[index - 1]) * precisions[index]
        for index in range(1, len(recalls))
    )


def scores(images: dict[str, tuple[list[Row], list[Row]]], size: int) -> dict[str, float | None]:
    """The toolkit's seven figures, as ratios; None if no class has an object.

    Args:
        images: Truth and detections of each image, in the order of their files.
        size: Width and height of every image.
    """
    kept = []
    for name in sorted(images):
        truth, detections = images[name]
        regions = [row for row in truth if row[5] == 0]
        objects = [row for row in truth if row[5] != 0]
        kept.append(
            (without_ignored(objects, regions, size), without_ignored(detections, regions, size))
        )
    precisions, recalls, classes = {}, {}, []
    for label in range(1, 11):
        classes += [label for truth, _ in kept if any(row[5] == label for row in truth)]
        count = sum(row[5] == label for truth, _ in kept for row in truth)
        for column, threshold in enumerate(THRESHOLDS):
            outcomes: list[int] = []
            for limit in LIMITS:
                found: list[tuple[float, int]] = []
                for truth, detections in kept:
                    found += matched(
                        [row for row in truth if row[5] == label],
                        [row for row in detections[:limit] if row[5] == label],
                        threshold,
                    )
                found.sort(key=lambda entry: -entry[0])
                outcomes = [outcome for _, outcome in found]
                recalls[label, column, limit] = outcomes.count(1) / max(1, count)
            precisions[label, column] = area_under(outcomes, count)
    if not classes:
        return dict.fromkeys(("ap", "ap_50", "ap_75", *(f"ar_{limit}" for limit in LIMITS)))
    columns = range(len(THRESHOLDS))
    figures: dict[str, float | None] = {
        "ap": float(
            np.mean([precisions[label, column] for label in classes for column in columns])
        ),
        "ap_50": float(np.mean([precisions[label, 0] for label in classes])),
        "ap_75": float(np.mean([precisions[label, 5] for label in classes])),
    }
    for limit in LIMITS:
        values = [recalls[label, column, limit] for label in classes for column in columns]
        figures[f"ar_{limit}"] = float(np.mean(values))
    return figures

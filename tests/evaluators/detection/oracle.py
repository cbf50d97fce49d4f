"""Detection criteria by their definitions: plain loops over frames, objects and confidences.

Nothing here uses the code under test. Ignored objects absorb one detection each, of their own
class, after all real objects, as the standard rule says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from vidscore_evaluators.annotations import Annotations, FrameFlag, ObjectFlag

SHORT_BY = 1e-9
"""By how much a similarity may fall short of a threshold: the default of `threshold_tolerance`."""

Box = tuple[float, ...]
Cell = tuple[str, str, int, str]
"""Domain, sequence, frame number and class."""


@dataclass(frozen=True)
class Found:
    """A detection's confidence and outcome: True, False, or None for not counted."""

    confidence: float
    outcome: bool | None


def iou(first: Box, second: Box) -> float:
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    shared = max(width, 0.0) * max(height, 0.0)
    union = _area(first) + _area(second) - shared
    return shared / union if union > 0 else 0.0


def solid_iou(reference: Box, detection: Box, confidence: float) -> float:
    """Algorithm 1 with a reference of confidence 1."""
    plain_union = _area(reference) + _area(detection)
    overlap = iou(reference, detection)
    shared = overlap * plain_union / (1 + overlap) * confidence
    union = _area(reference) + _area(detection) * confidence - shared
    return shared / union if union > 0 else 0.0


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


@dataclass
class Objects:
    """The content of one cell: boxes of real and ignored objects, detections by confidence."""

    real: list[Box]
    ignored: list[Box]
    detections: list[tuple[float, Box]]


def cells_of(truth: Annotations, detections: Annotations) -> dict[Cell, Objects]:
    """Objects by cell, in an order of content; frames that are not evaluated are left out."""
    cells: dict[Cell, Objects] = defaultdict(lambda: Objects([], [], []))
    evaluated = set()
    for key, flags, _, _, _ in _rows(truth, frames=True):
        if not flags & FrameFlag.DONT_CARE:
            evaluated.add(key)
    for key, flags, label, _, box in _rows(truth):
        if key in evaluated:
            cell = cells[(*key, label)]
            (cell.ignored if flags & ObjectFlag.IGNORE else cell.real).append(box)
    for key, _, label, confidence, box in _rows(detections):
        if key in evaluated:
            cells[(*key, label)].detections.append((confidence, box))
    for cell in cells.values():
        cell.real.sort()
        cell.ignored.sort()
        cell.detections.sort(key=lambda entry: (-entry[0], entry[1]))
    return dict(cells)


def _rows(
    side: Annotations, *, frames: bool = False
) -> list[tuple[tuple[str, str, int], int, str, float, Box]]:
    rows: list[tuple[tuple[str, str, int], int, str, float, Box]] = []
    for frame in range(side.frame_count):
        domain, sequence = side.sequences[side.frame_sequences[frame]]
        key = (domain, sequence, int(side.frame_numbers[frame]))
        if frames:
            rows.append((key, int(side.frame_flags[frame]), "", 0.0, ()))
            continue
        for row in range(side.frame_starts[frame], side.frame_starts[frame + 1]):
            box = tuple(side.coordinates[row].tolist())
            if len(box) == 8:
                box = (min(box[0::2]), min(box[1::2]), max(box[0::2]), max(box[1::2]))
            label = side.labels[side.label_indices[row]]
            rows.append((key, int(side.flags[row]), label, float(side.confidences[row]), box))
    return rows


def greedy(cell: Objects, threshold: float) -> list[Found]:
    """Each detection, most confident first, takes the most similar free object."""
    free, free_ignored = list(cell.real), list(cell.ignored)
    found = []
    for confidence, box in cell.detections:
        outcome: bool | None = False
        for candidates, result in ((free, True), (free_ignored, None)):
            alike = [object_ for object_ in candidates if iou(object_, box) >= threshold - SHORT_BY]
            if alike:
                candidates.remove(max(alike, key=lambda object_: iou(object_, box)))
                outcome = result
                break
        found.append(Found(confidence, outcome))
    return found


def best_sums(table: list[list[float]]) -> list[dict[int, int]]:
    """Every one-to-one matching of all rows, or all columns, with the maximum sum."""
    height, width = len(table), len(table[0])
    if height > width:
        flipped = best_sums([list(column) for column in zip(*table, strict=True)])
        return [{column: row for row, column in one.items()} for one in flipped]
    options = [dict(enumerate(order)) for order in permutations(range(width), height)]
    sums = [sum(table[row][column] for row, column in one.items()) for one in options]
    return [one for one, total in zip(options, sums, strict=True) if total > max(sums) - 1e-12]


def average_precision(found: list[Found], truth: int) -> Fraction | None:
    """Area under the monotone precision over recall; detections of one confidence are one step."""
    if truth == 0:
        return None
    points = []
    for confidence in sorted({entry.confidence for entry in found}, reverse=True):
        kept = [entry.outcome for entry in found if entry.confidence >= confidence]
        true, false = kept.count(True), kept.count(False)
        if true + false:
            points.append((Fraction(true, truth), Fraction(true, true + false)))
    area, reached = Fraction(0), Fraction(0)
    for recall in sorted({recall for recall, _ in points}):
        highest = max(precision for other, precision in points if other >= recall)
        area += (recall - reached) * highest
        reached = recall
    return area


def log_average_miss_rate(found: list[Found], truth: int, frames: int) -> float | None:
    """Geometric mean of the miss rate at nine rates of false positives."""
    if truth == 0:
        return None
    product = 1.0
    for step in range(9):
        rate, missed = 10 ** (-2 + step / 4), 1.0
        for confidence in sorted({entry.confidence for entry in found}, reverse=True):
            kept = [entry.outcome for entry in found if entry.confidence >= confidence]
            if kept.count(False) / frames <= rate * (1 + 1e-12):
                missed = 1 - kept.count(True) / truth
        product *= max(missed, 1e-10) ** (1 / 9)
    return product


def mean_over_classes(
    cells: dict[Cell, Objects],
    match: Callable[[Objects], list[Found]],
    score: Callable[[list[Found], int], float | Fraction | None],
) -> float | None:
    """Mean of a score over the classes that have real objects, pooled over everything else."""
    values = []
    for label in {cell[3] for cell in cells}:
        own = [objects for cell, objects in cells.items() if cell[3] == label]
        found = [entry for objects in own for entry in match(objects)]
        value = score(found, sum(len(objects.real) for objects in own))
        if value is not None:
            values.append(float(value))
    return sum(values) / len(values) if values else None

"""A second implementation of the Neovision2 protocol from its text: slow, plain and exact.

One frame after the other, one threshold after the other, with every assignment tried, in rational
numbers. It shares nothing with the evaluator but the annotations that both read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import pytest
from tests.evaluators.exact_areas import (
    Box,
    Point,
    area,
    area_inside,
    envelope,
    overlap_ratio,
    points,
)

from vidscore_evaluators.annotations import Annotations, FrameFlag, ObjectFlag

Cells = frozenset[tuple[int, int]]

SLACK = Fraction(1, 10**9)
TEN = ("0.95", "0.85", "0.75", "0.65", "0.55", "0.45", "0.35", "0.25", "0.15", "0.05")
TOWER = ("Car", "Truck", "Bus", "Person", "Cyclist")
ALL = (*TOWER, "Tractor-Trailer", "Container", "Boat", "Plane", "Helicopter")


@dataclass
class Frame:
    """One frame: corners of objects, their kinds, and the confidences of detections."""

    listed: bool = False
    dont_care: bool = False
    real: list[tuple[str, list[Point]]] = field(default_factory=list)
    spared: list[list[Point]] = field(default_factory=list)
    regions: list[list[Point]] = field(default_factory=list)
    detections: list[tuple[str, list[Point], float]] = field(default_factory=list)


Video = dict[int, Frame]


@dataclass(frozen=True)
class Rules:
    overlap: Fraction = Fraction(0.2)
    share: Fraction = Fraction(0.2)
    c_m: Fraction = Fraction(1)
    c_f: Fraction = Fraction(1)
    least_confidence: float = 0.0
    every_frame: bool = False
    union: bool = False
    every_threshold: bool = False
    limit: Fraction = Fraction(1)


def rules_of(parameters: Any) -> Rules:
    return Rules(
        overlap=Fraction(parameters.overlap_threshold),
        share=Fraction(parameters.region_share),
        c_m=Fraction(parameters.c_m),
        c_f=Fraction(parameters.c_f),
        least_confidence=parameters.confidence_threshold,
        every_frame=parameters.frames == "all",
        union=parameters.merged_shape == "union",
        every_threshold=parameters.thresholds == "all",
        limit=Fraction(parameters.az_limit),
    )


def videos(truth: Annotations, detections: Annotations) -> dict[tuple[str, str], Video]:
    """Both sides as plain objects."""
    found: dict[tuple[str, str], Video] = {}
    for side in (truth, detections):
        for row in range(side.frame_count):
            key = tuple(side.sequences[side.frame_sequences[row]])
            video = found.setdefault((key[0], key[1]), {})
            frame = video.setdefault(int(side.frame_numbers[row]), Frame())
            if side is truth:
                frame.listed = True
                frame.dont_care = bool(side.frame_flags[row] & FrameFlag.DONT_CARE)
            for index in range(side.frame_starts[row], side.frame_starts[row + 1]):
                _add(frame, side, index, is_truth=side is truth)
    return found


def _add(frame: Frame, side: Annotations, index: int, *, is_truth: bool) -> None:
    corners = list(points(side.coordinates[index].tolist()))
    if len(corners) == 2:
        (x1, y1), (x2, y2) = corners
        corners = [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]
    label = side.labels[side.label_indices[index]].casefold()
    if not is_truth:
        frame.detections.append((label, corners, float(side.confidences[index])))
    elif side.flags[index] & ObjectFlag.REGION:
        frame.regions.append(corners)
    elif side.flags[index] & ObjectFlag.IGNORE:
        frame.spared.append(corners)
    else:
        frame.real.append((label, corners))


def is_left_out(corners: Sequence[Point], frame: Frame, rules: Rules) -> bool:
    box = envelope(corners)
    if area(box) == 0:
        return False
    inside = area_inside(box, tuple(tuple(region) for region in frame.regions))
    return inside / area(box) > rules.share + SLACK


# --- one frame -----------------------------------------------------------------------------------


def best_matching(fits_real: list[list[bool]], fits_spared: list[list[bool]]) -> tuple[int, int]:
    """Real pairs and spared pairs of the best of all one-to-one assignments.

    Args:
        fits_real: For each detection, whether each real object fits it.
        fits_spared: For each detection, whether each don't-care object fits it.
    """

    @cache
    def best(detection: int, real_used: int, spared_used: int) -> tuple[int, int]:
        if detection == len(fits_real):
            return (0, 0)
        found = best(detection + 1, real_used, spared_used)
        for index, fits in enumerate(fits_real[detection]):
            if fits and not real_used >> index & 1:
                rest = best(detection + 1, real_used | 1 << index, spared_used)
                found = max(found, (rest[0] + 1, rest[1]))
        for index, fits in enumerate(fits_spared[detection]):
            if fits and not spared_used >> index & 1:
                rest = best(detection + 1, real_used, spared_used | 1 << index)
                found = max(found, (rest[0], rest[1] + 1))
        return found

    return best(0, 0, 0)


@dataclass(frozen=True)
class Merged:
    """Boxes merged into one: the enclosing box, or only the union of its members."""

    members: tuple[Box, ...]
    union: bool

    @property
    def box(self) -> Box:
        return envelope([point for box in self.members for point in (box[:2], box[2:])])

    def parts(self) -> tuple[Box, ...]:
        return self.members if self.union else (self.box,)


def _ratio(a: Merged, b: Merged) -> Fraction:
    """Overlap ratio of two unions of boxes, on the grid of all their coordinates."""
    boxes = [*a.parts(), *b.parts()]
    if len(boxes) == 2:
        return overlap_ratio(*boxes)
    xs = sorted({box[side] for box in boxes for side in (0, 2)})
    ys = sorted({box[side] for box in boxes for side in (1, 3)})

    def cells(shape: Merged) -> Cells:
        return frozenset(
            (i, j)
            for i in range(len(xs) - 1)
            for j in range(len(ys) - 1)
            if any(
                box[0] <= xs[i] and xs[i + 1] <= box[2] and box[1] <= ys[j] and ys[j + 1] <= box[3]
                for box in shape.parts()
            )
        )

    def size(chosen: Cells) -> Fraction:
        return sum(((xs[i + 1] - xs[i]) * (ys[j + 1] - ys[j]) for i, j in chosen), Fraction(0))

    mine, theirs = cells(a), cells(b)
    union = size(mine | theirs)
    return size(mine & theirs) / union if union else Fraction(0)


def merge(boxes: Sequence[Box], rules: Rules) -> list[Merged]:
    """Merge until no pair exceeds the threshold."""
    shapes = [Merged((box,), rules.union) for box in boxes]
    while True:
        groups = [{index} for index in range(len(shapes))]
        for i, j in combinations(range(len(shapes)), 2):
            same = len(shapes[i].members) == len(shapes[j].members) == 1 and (
                shapes[i].box == shapes[j].box
            )
            if same or _ratio(shapes[i], shapes[j]) > rules.overlap + SLACK:
                mine = next(group for group in groups if i in group)
                theirs = next(group for group in groups if j in group)
                if mine is not theirs:
                    groups.remove(theirs)
                    mine |= theirs
        if len(groups) == len(shapes):
            return shapes
        shapes = [_joined([shapes[index] for index in group], rules) for group in groups]


def _joined(shapes: list[Merged], rules: Rules) -> Merged:
    if len(shapes) == 1:
        return shapes[0]
    members = tuple(dict.fromkeys(box for shape in shapes for box in shape.parts()))
    return Merged(members if rules.union else (Merged(members, union=False).box,), rules.union)


# --- the whole -----------------------------------------------------------------------------------


@dataclass
class Count:
    objects: int = 0
    matched: int = 0
    false: int = 0

    def __iadd__(self, other: Count) -> Count:
        self.objects += other.objects
        self.matched += other.matched
        self.false += other.false
        return self

    def nmotda(self, rules: Rules) -> Fraction | None:
        if not self.objects:
            return None
        cost = rules.c_m * (self.objects - self.matched) + rules.c_f * self.false
        return 1 - cost / self.objects


def classes_of(domain: str) -> tuple[str, ...]:
    return TOWER if domain.lower().startswith("tower") else ALL


def evaluated(video: Video, rules: Rules) -> list[Frame]:
    listed = [number for number, frame in video.items() if frame.listed]
    numbers = range(max(listed) + 1) if rules.every_frame and listed else listed
    frames = [video.get(number, Frame()) for number in numbers]
    return [frame for frame in frames if not frame.dont_care]


def count_class(frame: Frame, class_: str, threshold: float, rules: Rules) -> Count:
    """One class in one frame."""
    name = class_.casefold()
    real = [
        envelope(corners)
        for label, corners in frame.real
        if label == name and not is_left_out(corners, frame, rules)
    ]
    found = [
        envelope(corners)
        for label, corners, confidence in frame.detections
        if label == name and confidence >= threshold and not is_left_out(corners, frame, rules)
    ]
    return _count(
        [Merged((box,), union=False) for box in real],
        [Merged((box,), union=False) for box in found],
        frame,
        rules,
    )


def count_detection_only(frame: Frame, threshold: float, rules: Rules) -> Count:
    """The detection-only score in one frame."""
    real = [envelope(c) for _, c in frame.real if not is_left_out(c, frame, rules)]
    found = [
        envelope(corners)
        for _, corners, confidence in frame.detections
        if confidence >= threshold and not is_left_out(corners, frame, rules)
    ]
    return _count(merge(real, rules), merge(found, rules), frame, rules)


def _count(real: list[Merged], found: list[Merged], frame: Frame, rules: Rules) -> Count:
    spared = [
        Merged((envelope(corners),), union=False)
        for corners in frame.spared
        if not is_left_out(corners, frame, rules)
    ]
    least = rules.overlap - SLACK

    def fits(objects: list[Merged]) -> list[list[bool]]:
        return [
            [(ratio := _ratio(shape, one)) > 0 and ratio >= least for one in objects]
            for shape in found
        ]

    matched, taken = best_matching(fits(real), fits(spared))
    return Count(len(real), matched, len(found) - matched - taken)


def area_under(corners: list[Point], limit: Fraction) -> Fraction:
    """Az of (false positives per frame, detection rate) points."""
    best: dict[Fraction, Fraction] = {}
    for x, y in corners:
        best[x] = max(y, best.get(x, Fraction(0)))
    best.setdefault(Fraction(0), Fraction(0))
    line = sorted(best.items())
    line.append((max(limit, line[-1][0]) + 1, line[-1][1]))
    total = Fraction(0)
    for (x1, y1), (x2, y2) in pairwise(line):
        end = min(x2, limit)
        if end > x1:
            y_end = y1 + (y2 - y1) * (end - x1) / (x2 - x1)
            total += (end - x1) * (y1 + y_end) / 2
    return total / limit


def thresholds_of(frames: list[Frame], class_: str | None, rules: Rules) -> list[float]:
    """Thresholds of a curve, in descending order."""
    if not rules.every_threshold:
        return [float(text) for text in TEN]
    return sorted(
        {
            confidence + 0.0
            for frame in frames
            for label, corners, confidence in frame.detections
            if (class_ is None or label == class_.casefold())
            and not is_left_out(corners, frame, rules)
        },
        reverse=True,
    )


RowKey = tuple[str | None, str | None, str | None, str]


@dataclass
class Expected:
    """Every expected row and curve of a report."""

    rows: dict[RowKey, Any] = field(default_factory=dict)
    curves: dict[tuple[str, str | None], list[dict[str, Any]]] = field(default_factory=dict)


def expected_report(truth: Annotations, detections: Annotations, rules: Rules) -> Expected:
    """Score everything."""
    known = {
        key: video
        for key, video in videos(truth, detections).items()
        if any(frame.listed for frame in video.values())
    }
    expected = Expected()
    totals: dict[tuple[str, str], Count] = {}
    for domain in sorted({domain for domain, _ in known}):
        mine = {
            name: evaluated(video, rules)
            for (place, name), video in known.items()
            if place == domain
        }
        for class_ in classes_of(domain):
            totals[domain, class_] = _score_class(expected, domain, class_, mine, rules)
        _score_class(expected, domain, None, mine, rules)
    for domain in {domain for domain, _ in totals}:
        _averages(expected, domain, None, [c for (d, _), c in totals.items() if d == domain], rules)
    for class_ in {class_ for _, class_ in totals}:
        _averages(expected, None, class_, [c for (_, n), c in totals.items() if n == class_], rules)
    _averages(expected, None, None, list(totals.values()), rules)
    return expected


def _score_class(
    expected: Expected,
    domain: str,
    class_: str | None,
    sequences: dict[str, list[Frame]],
    rules: Rules,
) -> Count:
    """One class of a domain, or detection-only without a class."""

    def count(frames: list[Frame], threshold: float) -> Count:
        total = Count()
        for frame in frames:
            total += (
                count_detection_only(frame, threshold, rules)
                if class_ is None
                else count_class(frame, class_, threshold, rules)
            )
        return total

    total = Count()
    for sequence, frames in sequences.items():
        part = count(frames, rules.least_confidence)
        _rows(expected, (domain, class_, sequence), part, len(frames), rules)
        total += part
    everything = [frame for frames in sequences.values() for frame in frames]
    _rows(expected, (domain, class_, None), total, len(everything), rules)
    found = [(t, count(everything, t)) for t in thresholds_of(everything, class_, rules)]
    objects, frames_in_all = total.objects, len(everything)
    expected.curves[domain, class_] = [
        {
            "threshold": threshold,
            "detection_rate": point.matched / objects if objects else None,
            "false_positives_per_frame": point.false / frames_in_all if frames_in_all else None,
            "true_positives": point.matched,
            "false_positives": point.false,
        }
        for threshold, point in found
    ]
    az = None
    if objects:
        line = [
            (Fraction(point.false, frames_in_all), Fraction(point.matched, objects))
            for _, point in found
        ]
        az = float(area_under(line, rules.limit))
    expected.rows[domain, class_, None, "az" if class_ else "detection_only_az"] = az
    return total


def _rows(
    expected: Expected,
    key: tuple[str, str | None, str | None],
    count: Count,
    frames: int,
    rules: Rules,
) -> None:
    prefix = "" if key[1] else "detection_only_"
    nmotda = count.nmotda(rules)
    values = {
        "ground_truth_objects": count.objects,
        "true_positives": count.matched,
        "missed_detections": count.objects - count.matched,
        "false_positives": count.false,
        "nmotda": None if nmotda is None else float(nmotda),
    }
    for name, value in values.items():
        expected.rows[(*key, prefix + name)] = value
    if key[1]:
        expected.rows[(*key, "evaluated_frames")] = frames


def _averages(
    expected: Expected,
    domain: str | None,
    class_: str | None,
    counts: list[Count],
    rules: Rules,
) -> None:
    values = sorted(value for count in counts if (value := count.nmotda(rules)) is not None)
    weights = sum(count.objects for count in counts)
    averages: dict[str, Fraction | None] = dict.fromkeys(
        ("weighted_mean_nmotda", "mean_nmotda", "median_nmotda")
    )
    if values:
        weighted = sum(count.objects * (count.nmotda(rules) or 0) for count in counts)
        middle = values[(len(values) - 1) // 2] + values[len(values) // 2]
        averages = {
            "weighted_mean_nmotda": Fraction(weighted) / weights,
            "mean_nmotda": Fraction(sum(values)) / len(values),
            "median_nmotda": middle / 2,
        }
    for name, value in averages.items():
        key = (domain, class_, None, name)
        expected.rows[key] = None if value is None else float(value)


def check_rows(rows: Mapping[RowKey, Any], expected: Expected) -> None:
    """Compare scores with the expected ones, to the last bit except for means."""
    assert rows.keys() == expected.rows.keys()
    for key, value in expected.rows.items():
        is_mean = key[3] in {"mean_nmotda", "median_nmotda"} and value is not None
        wanted = pytest.approx(value, rel=1e-14, abs=1e-14) if is_mean else value
        assert rows[key] == wanted, key

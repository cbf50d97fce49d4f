"""A similarity of exactly a threshold meets it, despite rounding in binary64.

The oracle is exact: coordinates are integer tenths or hundredths of a pixel, and similarities are
fractions. Data is what a user gives: the nearest binary64 of each decimal.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from vidscore_evaluators import read, score
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.report import Report
from vidscore_evaluators.testing import Thing, make_annotations

Box = tuple[int, int, int, int]
Pair = tuple[Box, Box]

PAIRS = 3000
STEPS = 20
"""Thresholds are k/20."""


def area(box: Box) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def iou(first: Box, second: Box) -> Fraction:
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    shared = max(width, 0) * max(height, 0)
    return Fraction(shared, area(first) + area(second) - shared)


def giou(first: Box, second: Box) -> Fraction:
    around = (*map(min, first[:2], second[:2]), *map(max, first[2:], second[2:]))
    x1, y1, x2, y2 = around
    hull, overlap = (x2 - x1) * (y2 - y1), iou(first, second)
    union = (area(first) + area(second)) / (1 + overlap)
    return overlap - (hull - union) / hull


Similarity = Callable[[Box, Box], Fraction]
SIMILARITIES: dict[str, Similarity] = {"iou": iou, "giou": giou}


def random_boxes(seed: int, side: int = 30) -> Iterator[tuple[IntArray, IntArray]]:
    """Endless pairs of boxes with integer coordinates, a hundred thousand at a time."""
    random = np.random.default_rng(seed)
    while True:
        low = random.integers(0, side, size=(2, 100_000, 2))
        first, second = np.concatenate([low, low + random.integers(1, side, size=low.shape)], 2)
        yield first, second


def as_pairs(first: IntArray, second: IntArray) -> list[Pair]:
    return list(zip(map(tuple, first.tolist()), map(tuple, second.tolist()), strict=True))


@cache
def exact_pairs(base: str) -> dict[int, list[Pair]]:
    """3,000 pairs whose similarity is exactly k/20, by k, without 0 and the extremes."""
    found: dict[int, list[Pair]] = {}
    count = 0
    for first, second in random_boxes(seed=11):
        # 20 times the similarity is an integer; everything is in integers.
        shared = np.maximum(np.minimum(first, second)[:, 2:] - np.maximum(first, second)[:, :2], 0)
        overlap = shared.prod(1)
        union = sum((box[:, 2:] - box[:, :2]).prod(1) for box in (first, second)) - overlap
        hull = (np.maximum(first, second)[:, 2:] - np.minimum(first, second)[:, :2]).prod(1)
        part, whole = overlap, union
        if base == "giou":
            part, whole = overlap * hull - (hull - union) * union, union * hull
        rows = np.flatnonzero(STEPS * part % whole == 0)
        for pair in as_pairs(first[rows], second[rows]):
            steps = SIMILARITIES[base](*pair) * STEPS
            assert steps.denominator == 1
            if steps != 0 and abs(steps) < STEPS:
                found.setdefault(int(steps), []).append(pair)
                count += 1
            if count == PAIRS:
                return found
    raise AssertionError("pairs have no end")


def sides(pairs: list[Pair], unit: float) -> tuple[Annotations, Annotations]:
    """Truth and detections with one pair per frame, in units of 1/unit pixels."""

    def annotations(which: int) -> Annotations:
        frames = {
            frame: [Thing(tuple(value / unit for value in pair[which]), "car", 1.0, frame)]
            for frame, pair in enumerate(pairs)
        }
        return make_annotations({("", "s"): frames}, arity=4)

    return annotations(0), annotations(1)


def curve(report: Report, name: str, column: str) -> list[tuple[float, float]]:
    """Points of a curve: threshold and value."""
    columns = report.curve(name).columns
    points = list(zip(columns["threshold"], columns[column], strict=True))
    assert all(value is not None for point in points for value in point)
    return cast("list[tuple[float, float]]", points)


def at_threshold(report: Report, threshold: float) -> float:
    """Recall of HOTA's matching at one of its thresholds."""
    return dict(curve(report, "hota_by_threshold", "det_re"))[threshold]


def matched(report: Report, pairs: int) -> float:
    """The number of pairs, one per frame, that a report counts as matched."""
    if report.evaluator in ("map", "errors"):
        # All confidences are one: precision and recall are both the matched fraction.
        return pairs * math.sqrt(figure(report, "ap"))
    return figure(report, COUNTS[report.evaluator])


def figure(report: Report, measure: str) -> float:
    value = report.value(measure)
    assert value is not None
    return value


COUNTS = {"f1": "true_positives", "clear": "matches", "identity": "id_true_positives"}
NAMES = (*COUNTS, "map", "errors")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", [1.0, 10.0])
@pytest.mark.parametrize("base", SIMILARITIES)
def test_pairs_at_exactly_a_threshold_all_meet_it(name: str, base: str, unit: float) -> None:
    """3,000 pairs whose IoU or GIoU is exactly a threshold, with integers or one decimal."""
    for steps, pairs in exact_pairs(base).items():
        threshold = steps / STEPS
        chosen: dict[str, Any] = {"threshold": threshold}
        if name == "map":
            chosen = {"thresholds": (threshold,)}
        if name == "errors":
            chosen |= {"background_threshold": -1.0, "interpolation": "all-point"}
        report = score(name, *sides(pairs, unit), base=base, **chosen)
        assert matched(report, len(pairs)) == pytest.approx(len(pairs), abs=1e-6), threshold


@pytest.mark.parametrize("base", SIMILARITIES)
def test_any_pairs_meet_the_thresholds_that_their_exact_similarity_meets(base: str) -> None:
    """3,000 random pairs with one decimal: for each k, those with at least k/20 are matched."""
    first, second = next(random_boxes(seed=5, side=9))
    pairs = as_pairs(first[:PAIRS], second[:PAIRS])
    exact = [SIMILARITIES[base](*pair) for pair in pairs]
    truth, detections = sides(pairs, 10.0)
    report = score("f1", truth, detections, base=base)
    for threshold, f1 in curve(report, "f1_by_threshold", "f1"):
        least = Fraction(round(threshold * STEPS), STEPS)
        # As many references as predictions: F1 is the fraction of them that is matched.
        assert f1 * PAIRS == pytest.approx(sum(value >= least for value in exact))


@pytest.mark.slow
def test_hota_counts_pairs_at_exactly_its_thresholds() -> None:
    """At each alpha the pairs of exactly that IoU are found."""
    for steps, pairs in exact_pairs("iou").items():
        report = score("hota", *sides(pairs, 10.0))
        assert at_threshold(report, steps / STEPS) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("steps", "measure"), [(10, "ap_50"), (15, "ap_75")])
def test_coco_counts_pairs_at_exactly_its_thresholds(steps: int, measure: str) -> None:
    """Pairs with an IoU of exactly 0.5 and 0.75 are all found at these thresholds."""
    report = score("coco", *sides(exact_pairs("iou")[steps], 10.0))
    assert report.value(measure) == 1.0


@pytest.mark.slow
def test_the_log_average_miss_rate_counts_pairs_at_exactly_a_threshold() -> None:
    """Nothing is missed, which counts as 1e-10."""
    for steps, pairs in exact_pairs("iou").items():
        assert score("log-amr", *sides(pairs, 10.0), threshold=steps / STEPS).value(
            "log_amr"
        ) == pytest.approx(1e-10)


def test_boxes_from_corner_and_size_meet_a_threshold_exactly(tmp_path: Path) -> None:
    """3,000 pairs of x, y, w, h with two decimals and an IoU of exactly 1/2, from COCO files."""
    boxes, _ = next(random_boxes(seed=15, side=4000))
    # A box and its left half; random boxes of this size hardly ever have such an IoU.
    wide = boxes[:PAIRS].copy()
    wide[:, 2] += wide[:, 2] - wide[:, 0]
    pairs = as_pairs(boxes[:PAIRS], wide)
    assert {iou(*pair) for pair in pairs} == {Fraction(1, 2)}

    def entry(frame: int, box: Box) -> dict[str, object]:
        x1, y1, x2, y2 = box
        bbox = [x1 / 100, y1 / 100, (x2 - x1) / 100, (y2 - y1) / 100]
        return {"image_id": frame + 1, "category_id": 1, "bbox": bbox}

    images = [{"id": frame + 1, "file_name": f"{frame}.png"} for frame in range(PAIRS)]
    objects = [
        entry(frame, pair[0]) | {"id": frame + 1, "area": 1.0, "iscrowd": 0}
        for frame, pair in enumerate(pairs)
    ]
    truth = {"images": images, "annotations": objects, "categories": [{"id": 1, "name": "car"}]}
    found = [entry(frame, pair[1]) | {"score": 0.5} for frame, pair in enumerate(pairs)]
    (tmp_path / "truth.json").write_text(json.dumps(truth), encoding="utf-8")
    (tmp_path / "found.json").write_text(json.dumps(found), encoding="utf-8")
    paths = (tmp_path / "truth.json", tmp_path / "found.json")
    assert read(paths[0]).frame_count == PAIRS
    assert score("f1", *paths).value("true_positives") == PAIRS
    assert score("coco", *paths).value("ap_50") == 1.0


def points(distances: list[tuple[int, int]]) -> tuple[Annotations, Annotations]:
    frames = range(len(distances))
    truth = {frame: [Thing((0.0, 0.0), "", 1.0, frame)] for frame in frames}
    found = {
        frame: [Thing((x / 10, y / 10), "", 1.0, frame)] for frame, (x, y) in enumerate(distances)
    }
    return (
        make_annotations({("", "s"): truth}, arity=2),
        make_annotations({("", "s"): found}, arity=2),
    )


@pytest.mark.parametrize("steps", range(1, 10))
@pytest.mark.parametrize("name", ["f1", "clear", "identity"])
def test_a_point_at_exactly_the_threshold_meets_it(name: str, steps: int) -> None:
    """d <= c(1 - t): with c = 10 and t = steps/10 this is 10 - steps; a tenth more is too far."""
    reach = 100 - 10 * steps  # Tenths.
    for distance, expected in ((reach, 1), (reach + 1, 0)):
        report = score(name, *points([(distance, 0)]), base="euclidean", threshold=steps / 10)
        assert matched(report, 1) == expected


def test_points_at_integer_distances_meet_exactly_their_thresholds() -> None:
    """3,000 points at Pythagorean distances: for each t, those at most c(1 - t) away match."""
    triples = [(3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29), (0, 1, 1)]
    random = np.random.default_rng(3)
    chosen = [triples[row] for row in random.integers(0, len(triples), PAIRS).tolist()]
    scales = random.integers(1, 20, PAIRS).tolist()
    distances = [(x * k, y * k) for (x, y, _), k in zip(chosen, scales, strict=True)]
    lengths = [Fraction(d * k, 10) for (_, _, d), k in zip(chosen, scales, strict=True)]
    report = score("f1", *points(distances), base="euclidean")
    for threshold, f1 in curve(report, "f1_by_threshold", "f1")[1:]:  # At 0 all are similar enough.
        reach = 10 * (1 - Fraction(round(threshold * STEPS), STEPS))
        assert f1 * PAIRS == pytest.approx(sum(length <= reach for length in lengths))


def test_without_tolerance_thresholds_are_compared_bit_by_bit() -> None:
    """1 - 8/10 is 0.19999999999999996 in binary64: below 0.2, but within a tolerance of 1e-9."""
    truth, found = points([(80, 0)])
    for tolerance, expected in ((0.0, 0), (1e-9, 1)):
        report = score(
            "f1", truth, found, base="euclidean", threshold=0.2, threshold_tolerance=tolerance
        )
        assert report.value("true_positives") == expected


def test_the_tolerance_has_its_stated_size() -> None:
    """An IoU of 0.495 meets 0.5 with a tolerance of 0.01, and not with 0.004."""
    truth, found = sides([((0, 0, 1000, 10), (0, 0, 495, 10))], 1.0)
    for tolerance, expected in ((0.004, 0), (0.01, 1)):
        for name in ("f1", "clear", "identity"):
            report = score(name, truth, found, threshold_tolerance=tolerance)
            assert matched(report, 1) == expected
        report = score("hota", truth, found, threshold_tolerance=tolerance)
        assert at_threshold(report, 0.5) == expected
        assert score("coco", truth, found, threshold_tolerance=tolerance).value("ap_50") == expected


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["motchallenge", "standard"])
def test_removal_before_matching_allows_for_rounding_too(rule: str) -> None:
    """A distractor at an IoU of exactly 1/2 with decimals removes its detection."""
    pairs = exact_pairs("iou")[10]
    truth, found = sides(pairs, 10.0)
    truth = make_annotations(
        {
            ("", "s"): {
                frame: [Thing(tuple(row.tolist()), "distractor", 1.0, frame)]
                for frame, row in enumerate(truth.coordinates)
            }
        },
        arity=4,
    )
    report = score(
        "clear", truth, found, dont_care=rule, distractor_classes=("distractor",), classes="ignore"
    )
    assert report.value("false_positives") == 0


def test_exactly_half_of_a_box_in_a_region_is_not_more_than_half() -> None:
    """With or without decimals: a detection with exactly 1/2 inside is not forgiven."""
    boxes = [first for first, _ in as_pairs(*next(random_boxes(seed=17)))[:500]]
    truth = {
        frame: [Thing((x1 / 10, y1 / 10, (x1 + x2) / 20, y2 / 10), "car", 1.0, flags=4)]
        for frame, (x1, y1, x2, y2) in enumerate(boxes)
    }
    found = {
        frame: [Thing(tuple(value / 10 for value in box), "car", 0.5)]
        for frame, box in enumerate(boxes)
    }
    report = score(
        "f1",
        make_annotations({("", "s"): truth}, arity=4),
        make_annotations({("", "s"): found}, arity=4),
    )
    assert report.value("false_positives") == len(boxes)

"""The metric document by trying every matching, in exact arithmetic, and the released method.

Nothing here shares code with the evaluator.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import linear_sum_assignment

Point = tuple[float, float]

TIE = Fraction(1e-9)
NEAR = Fraction(1e-12)
"""Costs closer than this are equal apart from the rounding of distances."""


def distance(a: Point, b: Point) -> float:
    x, y = a[0] - b[0], a[1] - b[1]
    return math.sqrt(x * x + y * y)


def error(profile: str, d: float, tau: float, epsilon: float) -> float:
    if profile == "protocol":
        return d * d if d > epsilon else 0.0
    return d if epsilon <= d < tau else 0.0


def matchings(
    distances: Sequence[Sequence[float]],
    tau: float,
    row: int = 0,
    used: frozenset[int] = frozenset(),
) -> Iterator[list[float]]:
    """Distances of the pairs of every one-to-one matching of pairs within tau."""
    if row == len(distances):
        yield []
        return
    yield from matchings(distances, tau, row + 1, used)
    for column, d in enumerate(distances[row]):
        if column not in used and d <= tau:
            for rest in matchings(distances, tau, row + 1, used | {column}):
                yield [d, *rest]


def frame_outcomes(
    truth: Sequence[Point], detections: Sequence[Point], profile: str, tau: float, epsilon: float
) -> tuple[int, list[Fraction]]:
    """True positives of a frame, and the regression errors of its best matchings.

    Several best matchings are those whose costs differ by rounding at most.
    """
    distances = [[distance(x, y) for x in detections] for y in truth]
    costs = []
    for chosen in matchings(distances, tau):
        errors = sum((Fraction(error(profile, d, tau, epsilon)) for d in chosen), Fraction(0))
        length = sum(map(Fraction, chosen), Fraction(0))
        costs.append((-len(chosen), length + TIE * errors / Fraction(tau) ** 2, errors))
    most, least, _ = min(costs)
    return -most, [e for count, cost, e in costs if count == most and cost - least <= NEAR]


def released_method(
    frames: Sequence[tuple[Sequence[Point], Sequence[Point]]], tau: float, epsilon: float
) -> tuple[int, int, int, float]:
    """TP, FN, FP and SSE of a sequence as computed by the released scorer.

    One assignment per frame, with distances over tau replaced by 1000.
    """
    tp = fn = fp = 0
    sse = 0.0
    for truth, detections in frames:
        hits = 0
        if truth and detections:
            costs = np.array([[distance(x, y) for y in truth] for x in detections])
            costs[costs > tau] = 1000.0
            matched = costs[linear_sum_assignment(costs)]
            hits = int((matched <= tau).sum())
            sse += sum(d for d in matched[matched < tau].tolist() if d >= epsilon)
        tp, fn, fp = tp + hits, fn + len(truth) - hits, fp + len(detections) - hits
    return tp, fn, fp, sse + (fn + fp) * tau**2

"""Systems to rank in tests: points and squares on videos, found with different accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.report import Number
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.trust.draws import Draws, Key
from vidscore_evaluators.trust.systems import Contest

SQUARE = Thing((0.0, 0.0, 10.0, 10.0))
VIDEO = ("", "video")

ERRORS_PX = {"sharp": 0.5, "middling": 3.0, "blurred": 7.0}


def points_contest(seed: int = 0, sequences: int = 5) -> Contest:
    """Three systems on videos of two frames with three points each, at `ERRORS_PX`."""
    random = np.random.default_rng(seed)
    videos: dict[tuple[str, str], dict[int, list[Thing]]] = {}
    found: dict[str, dict[tuple[str, str], dict[int, list[Thing]]]] = {
        name: {} for name in ERRORS_PX
    }
    for number in range(sequences):
        key = ("", str(number + 1))
        points = random.uniform(50, 400, (2, 3, 2))
        videos[key] = {frame + 1: things(points[frame]) for frame in range(2)}
        for name, error_px in ERRORS_PX.items():
            off = points + random.normal(0.0, error_px, points.shape)
            found[name][key] = {frame + 1: things(off[frame]) for frame in range(2)}
    systems: Mapping[str, Annotations] = {
        name: make_annotations(frames) for name, frames in found.items()
    }
    return Contest.of(make_annotations(videos), systems)


def things(points: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> list[Thing]:
    return [Thing((float(x), float(y))) for x, y in points]


def shifted(by_px: float, confidence: float = 1.0) -> Thing:
    return Thing((by_px, 0.0, 10.0 + by_px, 10.0), confidence=confidence)


def squares_contest() -> Contest:
    """Two of two found at IoU 0.54 (many), against one of two found exactly (exact)."""
    far = Thing((100.0, 0.0, 110.0, 10.0))
    truth = make_annotations({VIDEO: {0: [SQUARE, far]}})
    many = [shifted(3.0, 0.4), Thing((103.0, 0.0, 113.0, 10.0), confidence=0.4)]
    systems = {
        "many": make_annotations({VIDEO: {0: many}}),
        "exact": make_annotations({VIDEO: {0: [shifted(0.0, 0.9)]}}),
    }
    return Contest.of(truth, systems)


def scores_of_draw(draws: Draws, row: int) -> dict[Key, Number]:
    """The scores of a draw; None if undefined or absent."""
    values = draws.values[row].tolist()
    return {
        key: None if math.isnan(values[column]) else values[column]
        for key, column in draws.columns.items()
    }

"""Systems to be ranked, for tests: points on videos, found more or less well."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.trust.systems import Contest

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

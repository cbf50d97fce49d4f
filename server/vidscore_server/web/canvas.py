"""Size of the blank canvas on which the objects of a sequence are drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import FloatArray

_USUAL_SHARE = 0.9
"""Without objects of the truth, this share of the detections tells the usual extent."""


def canvas_size(truth: Annotations | None, systems: Sequence[Annotations]) -> tuple[float, float]:
    """Width and height that hold the objects, but not detections far away from all others.

    A single detection at 1,000,000 px would make a dot of everything else: detections count up to
    twice the extent of the truth or, without its objects, of most detections.

    Args:
        truth: Objects of the ground truth; None if they are hidden.
        systems: Detections of each system.
    """
    known = _ends(truth) if truth is not None else np.empty((0, 2))
    found = np.concatenate([np.empty((0, 2)), *map(_ends, systems)])
    if len(known):
        usual = known.max(axis=0)
    else:
        usual = np.quantile(found, _USUAL_SHARE, axis=0) if len(found) else np.ones(2)
    near = found[(found <= 2.0 * usual).all(axis=1)]
    width, height = np.concatenate([[(1.0, 1.0)], known, near]).max(axis=0).tolist()
    return width, height


def _ends(side: Annotations) -> FloatArray:
    """(N, 2) points that the canvas holds: those of the objects, and the ends of their masks."""
    points = side.coordinates.reshape(-1, 2)
    if side.masks is None:
        return points
    return np.concatenate([points, side.masks.sizes[:, ::-1].astype(np.float64)])

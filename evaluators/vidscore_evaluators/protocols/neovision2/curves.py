"""ROC curves and the area under them (sections 3.5 and 3.6), from whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.protocols.neovision2.parameters import CURVE_THRESHOLDS
from vidscore_evaluators.report import Curve


@dataclass(frozen=True, eq=False)
class Points:
    """Q operating points, from the highest threshold down.

    Attributes:
        thresholds: (Q,) confidence thresholds, falling.
        true_positives: (Q,) true positives at each.
        false_positives: (Q,) false positives at each.
    """

    thresholds: FloatArray
    true_positives: IntArray
    false_positives: IntArray


def points_from_changes(
    thresholds: FloatArray, true_positives: IntArray, false_positives: IntArray
) -> Points:
    """Add changes up from the highest threshold down.

    Args:
        thresholds: (Q,) thresholds, ascending, each once.
        true_positives: (Q,) change of the true positives at each.
        false_positives: (Q,) change of the false positives at each.
    """
    return Points(
        thresholds[::-1], np.cumsum(true_positives[::-1]), np.cumsum(false_positives[::-1])
    )


def at_curve_thresholds(points: Points) -> Points:
    """The points at each of the protocol's ten thresholds, which may have no changes."""
    thresholds = np.array(CURVE_THRESHOLDS)
    # Number of points whose threshold is at least that of the curve; one more reaches the 0.
    reached = np.searchsorted(-points.thresholds, -thresholds, side="right")
    return Points(
        thresholds,
        np.append(0, points.true_positives)[reached],
        np.append(0, points.false_positives)[reached],
    )


def roc_curve(
    points: Points, objects: int, frames: int, domain: str, class_: str | None = None
) -> Curve:
    """The curve as it stands in a report.

    Args:
        points: Operating points.
        objects: Ground-truth objects; without any the detection rate is undefined.
        frames: Evaluated frames; without any the false positives per frame are undefined.
        domain: Domain of the curve.
        class_: Class of the curve, None for detection-only.
    """
    detected, false = points.true_positives.tolist(), points.false_positives.tolist()
    columns = {
        "threshold": points.thresholds.tolist(),
        "detection_rate": [count / objects if objects else None for count in detected],
        "false_positives_per_frame": [count / frames if frames else None for count in false],
        "true_positives": detected,
        "false_positives": false,
    }
    return Curve("roc", columns, domain, class_)


def area_under_curve(points: Points, objects: int, frames: int, limit: float) -> float | None:
    """Az: the area under the straight lines through the points, divided by its width.

    The lines go in order of false positives per frame, from (0, 0) unless a point has none. Of
    points that share an x the best counts. After the last point the curve runs level.

    Args:
        points: Operating points.
        objects: Ground-truth objects.
        frames: Evaluated frames.
        limit: False positives per frame up to which the area is taken.

    Returns:
        The area in [0, 1], rounded once; None without ground-truth objects.
    """
    if objects == 0:
        return None
    # In units of one false positive by one true positive, where every corner is a whole number.
    end = Fraction(limit) * frames
    doubled: int | Fraction = 0
    x, y = 0, 0
    for next_x, next_y in _best_by_false_positives(points):
        if next_x > end:
            height = y + Fraction(next_y - y, next_x - x) * (end - x)
            return float((doubled + (end - x) * (y + height)) / (2 * end * objects))
        doubled += (next_x - x) * (y + next_y)
        x, y = next_x, next_y
    return float((doubled + (end - x) * 2 * y) / (2 * end * objects))


def _best_by_false_positives(points: Points) -> list[tuple[int, int]]:
    """For each number of false positives, ascending, the most true positives."""
    order = np.lexsort((points.true_positives, points.false_positives))
    false, true = points.false_positives[order], points.true_positives[order]
    last = np.flatnonzero(np.append(false[1:] != false[:-1], len(false) > 0))
    return list(zip(false[last].tolist(), true[last].tolist(), strict=True))

"""Confidence levels: the few confidences at which anything can change.

Every detection is put on the greatest level that its confidence reaches. A score at a threshold
is then a sum over the levels from that threshold up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.protocols.neovision2.parameters import (
    CURVE_THRESHOLDS,
    Neovision2Parameters,
)

BELOW_ALL = -1
"""Level of a detection that no threshold lets through."""


@dataclass(frozen=True, eq=False)
class Levels:
    """L levels, ascending.

    Attributes:
        first_scored: The first level that counts in the scores; L where none does.
        curve_thresholds: (L,) threshold of the curve that a level counts for; NaN below the least.
        of_detections: (N,) level of each detection, or `BELOW_ALL`.
    """

    first_scored: int
    curve_thresholds: FloatArray
    of_detections: IntArray


def find_levels(parameters: Neovision2Parameters, confidences: FloatArray) -> Levels:
    """Find the levels that the parameters ask for.

    Args:
        parameters: Parameters of the evaluator.
        confidences: (N,) confidences of the detections.
    """
    if parameters.thresholds == "all":
        values, of_detections = np.unique(confidences, return_inverse=True)
        thresholds = values
    else:
        values = np.unique([*CURVE_THRESHOLDS, parameters.confidence_threshold])
        of_detections = np.searchsorted(values, confidences, side="right") - 1
        thresholds = _floors(values)
    first_scored = np.searchsorted(values, parameters.confidence_threshold, side="left")
    return Levels(int(first_scored), thresholds, of_detections)


def _floors(values: FloatArray) -> FloatArray:
    """The greatest threshold of the curve that does not exceed each value."""
    thresholds = np.array([np.nan, *sorted(CURVE_THRESHOLDS)])
    floors: FloatArray = thresholds[np.searchsorted(thresholds[1:], values, side="right")]
    return floors

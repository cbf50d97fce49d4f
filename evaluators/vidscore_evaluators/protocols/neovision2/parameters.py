"""Parameters of the Neovision2 protocol; section numbers are those of its document, version 3.0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.shapes import MergedShape

TOLERANCE = 1e-9
"""Slack of every comparison of an overlap ratio or a share of area with its threshold."""

CURVE_THRESHOLDS = tuple(percent / 100 for percent in range(95, 0, -10))
"""Confidence thresholds of the ROC curve, from 0.95 down to 0.05 (section 3.5)."""


@dataclass(frozen=True, slots=True)
class Neovision2Parameters:
    """What the protocol leaves to its user, and where readings of it may differ."""

    overlap_threshold: float = parameter(
        0.2,
        "Least overlap ratio of a detection and an object (section 3.1); boxes over it are merged "
        "in the detection-only score.",
        exclusive_minimum=0.0,
        maximum=1.0,
        grid=tuple(step / 20 for step in range(1, 20)),
    )
    region_share: float = parameter(
        0.2,
        "Share of a box's area inside don't-care regions over which it is taken out (section 3.7).",
        minimum=0.0,
        maximum=1.0,
    )
    c_m: float = parameter(
        1.0, "Cost of a missed detection (section 3.2, eq. 2).", minimum=0.0, maximum=1e9
    )
    c_f: float = parameter(
        1.0, "Cost of a false positive (section 3.2, eq. 2).", minimum=0.0, maximum=1e9
    )
    confidence_threshold: float = parameter(
        0.0,
        "Least confidence of a detection in the scores; curves have thresholds of their own.",
        minimum=0.0,
        maximum=1.0,
    )
    frames: Literal["listed", "all"] = parameter(
        "listed",
        "Evaluated frames: those that the truth lists, or all from 0 to the last listed one.",
    )
    merged_shape: MergedShape = parameter(
        "box",
        "What overlapping boxes become in the detection-only score: their enclosing box, or the "
        "union of their areas.",
    )
    thresholds: Literal["ten", "all"] = parameter(
        "ten",
        "Points of the ROC curve: the protocol's ten thresholds, or every confidence that occurs.",
    )
    az_limit: float = parameter(
        1.0,
        "False positives per frame up to which the area under the ROC curve is taken.",
        unit="false positives per frame",
        exclusive_minimum=0.0,
        maximum=1e6,
    )

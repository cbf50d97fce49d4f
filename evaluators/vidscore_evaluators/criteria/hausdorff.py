"""Hausdorff distance: how far the loneliest object or detection of a frame is from the others.

Source: the trustworthiness paper, section 4.2, eq. 1. How frames and classes are averaged is in
`vidscore_evaluators.criteria.set_distance`.
"""

from __future__ import annotations

from dataclasses import dataclass

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.criteria.set_distance import (
    COUNT_MEASURES,
    SetDistance,
    SetDistanceParameters,
    distance_measure,
)
from vidscore_evaluators.criteria.set_kernels import hausdorff


@dataclass(frozen=True)
class HausdorffParameters(SetDistanceParameters):
    """Parameters of `Hausdorff`."""


class Hausdorff(SetDistance[HausdorffParameters]):
    """The Hausdorff distance of references and predictions, frame by frame."""

    name = "hausdorff"
    version = "1.1.0"
    title = "Hausdorff distance of the objects and detections of a frame"
    Parameters = HausdorffParameters
    parts = ("hausdorff",)
    measures = (
        distance_measure("hausdorff", "Greatest distance to the nearest of the other side."),
        *COUNT_MEASURES,
    )
    ranking = ("hausdorff",)

    def distances(self, base: FloatArray) -> tuple[FloatArray, ...]:
        """Hausdorff distances."""
        return (hausdorff(base),)

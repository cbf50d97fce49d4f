"""Earth mover's distance of any order (Wasserstein distance) of objects and detections.

Source: the trustworthiness paper, section 4.2, eq. 2, with masses 1/m and 1/n. How frames and
classes are averaged is in `vidscore_evaluators.criteria.set_distance`.
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
from vidscore_evaluators.criteria.set_kernels import emd
from vidscore_evaluators.criteria.set_parameters import order_parameter


@dataclass(frozen=True)
class EmdParameters(SetDistanceParameters):
    """Parameters of `Emd`."""

    order: float = order_parameter()


class Emd(SetDistance[EmdParameters]):
    """The earth mover's distance of references and predictions, frame by frame."""

    name = "emd"
    version = "1.1.0"
    title = "Earth mover's distance of the objects and detections of a frame, of any order"
    Parameters = EmdParameters
    parts = ("emd",)
    measures = (
        distance_measure("emd", "Least cost of moving references of equal mass to predictions."),
        *COUNT_MEASURES,
    )
    ranking = ("emd",)

    def distances(self, base: FloatArray) -> tuple[FloatArray, ...]:
        """Earth mover's distances."""
        return (emd(base, self.parameters.order),)

"""OSPA: the optimal sub-pattern assignment distance, and what of it is localisation.

Source: the trustworthiness paper, section 4.2, eq. 3, and appendix 3.2, eq. 5; not divided by c.
The parts are those of D. Schuhmacher, B.-T. Vo and B.-N. Vo, "A consistent metric for performance
evaluation of multi-object filters": with order p, OSPA^p = localisation^p +
cardinality^p in each frame. How frames and classes are averaged is in
`vidscore_evaluators.criteria.set_distance`.

What else is to be known:

1. The parts are averaged over frames each for itself. Their means add up to that of OSPA for
   p = 1 alone.
2. Where one side is empty, all of the distance, c, is cardinality.
3. For a similarity threshold t the paper's OSPA_c has the cut-off 1 - t (IoU) or (1 - t)/2 (GIoU);
   the grid of `cutoff` is that of the thresholds -1 or 0 to 0.95 in steps of 0.05.
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
from vidscore_evaluators.criteria.set_kernels import ospa
from vidscore_evaluators.criteria.set_parameters import (
    cutoff_grid,
    cutoff_parameter,
    order_parameter,
)


@dataclass(frozen=True)
class OspaParameters(SetDistanceParameters):
    """Parameters of `Ospa`."""

    cutoff: float = cutoff_parameter()
    order: float = order_parameter()


class Ospa(SetDistance[OspaParameters]):
    """The OSPA distance of references and predictions, frame by frame."""

    name = "ospa"
    version = "1.1.0"
    title = "OSPA distance of the objects and detections of a frame, and its two parts"
    Parameters = OspaParameters
    parts = ("ospa", "localisation", "cardinality")
    measures = (
        distance_measure("ospa", "Least mean cost of pairing, c for what has no partner."),
        distance_measure("localisation", "Part of OSPA that is due to distances of pairs."),
        distance_measure("cardinality", "Part of OSPA that is due to what has no partner."),
        *COUNT_MEASURES,
    )
    ranking = ("ospa",)

    def grid(self, parameter: str) -> tuple[float, ...]:
        """The cut-offs that belong to thresholds of the base, and what other parameters declare."""
        if parameter == "cutoff":
            return cutoff_grid(self.parameters.similarity)
        return super().grid(parameter)

    def distances(self, base: FloatArray) -> tuple[FloatArray, ...]:
        """OSPA distances and their parts."""
        found = ospa(base, self.parameters.cutoff, self.parameters.order)
        return found.distance, found.localisation, found.cardinality

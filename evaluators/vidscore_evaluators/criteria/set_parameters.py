"""Cut-off and order: the parameters of distances of sets, of shapes and of tracks alike."""

from __future__ import annotations

from typing import Any

from vidscore_evaluators.criteria.similarity import GRID_STEPS, Similarity
from vidscore_evaluators.parameters import parameter

GREATEST_ORDER = 20.0
"""Of a base distance of 1e-15, the power of this order is still no subnormal number."""


def order_parameter() -> Any:
    """Declare the order p of a distance."""
    return parameter(
        1.0,
        "Order p of the distance: the larger, the more the worst pairs count.",
        minimum=1.0,
        maximum=GREATEST_ORDER,
        grid=(1.0, 2.0, 3.0, 4.0),
    )


def cutoff_parameter() -> Any:
    """Declare the cut-off c of OSPA."""
    return parameter(
        1.0,
        "Cut-off c: a base distance counts as c at most, and what has no partner as c.",
        exclusive_minimum=0.0,
        maximum=1.0,
        grid=cutoff_grid(Similarity()),
    )


def cutoff_grid(similarity: Similarity) -> tuple[float, ...]:
    """The cut-offs that belong to the thresholds of a similarity, without 0, ascending.

    Threshold t has the cut-off 1 - t, for GIoU (1 - t)/2 (appendix 4.3 of the paper).
    """
    steps = GRID_STEPS * round(1.0 - similarity.minimum)
    return tuple(step / steps for step in range(1, steps + 1))

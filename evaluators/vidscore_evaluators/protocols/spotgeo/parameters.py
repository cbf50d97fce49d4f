"""Parameters of spotGEO, and what they say of a single pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.parameters import parameter

TIE_WEIGHT = 1e-9
"""Weight of e / tau^2 in a pair's cost: decides between equal sums of distances, and no more."""


@dataclass(frozen=True)
class SpotGeoParameters:
    """Parameters of spotGEO; defaults are the challenge's."""

    profile: Literal["protocol", "kelvins"] = parameter(
        "protocol", "Whose rules: those of the metric document, or of the released scorer."
    )
    tau: float = parameter(
        10.0,
        "Greatest distance of a true positive; each miss and each false alarm costs its square.",
        unit="px",
        exclusive_minimum=0.0,
        maximum=1e6,
        grid=(4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0),
    )
    epsilon: float = parameter(
        3.0,
        "Distance up to which a true positive has no regression error; less than tau.",
        unit="px",
        minimum=0.0,
        maximum=1e6,
        grid=(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0),
    )
    image_width: int = parameter(
        640, "Width of the images; x lies in [-0.5, width - 0.5].", unit="px", minimum=1
    )
    image_height: int = parameter(
        480, "Height of the images; y lies in [-0.5, height - 0.5].", unit="px", minimum=1
    )
    maximum_detections: int = parameter(30, "Most detections that a frame may have.", minimum=1)
    frames_per_sequence: int = parameter(
        5, "Frames of a sequence; they are numbered from 1.", minimum=1
    )

    def faults(self) -> Iterator[Fault]:
        """What is wrong between parameters (metric document, section 1: 0 <= epsilon < tau)."""
        if self.epsilon >= self.tau:
            yield Fault(f"{self.epsilon:g}", f"less than tau, {self.tau:g}", field="epsilon")


def regression_errors(parameters: SpotGeoParameters, distances_px: FloatArray) -> FloatArray:
    """Regression errors of true positives.

    Metric document, eq. 11: d^2 where d > epsilon, else 0. Profile `kelvins`: d where
    epsilon <= d < tau, else 0.

    Args:
        parameters: The parameters.
        distances_px: (K,) distances, none over tau.

    Returns:
        (K,) errors, in px^2, or in px for `kelvins`.
    """
    if parameters.profile == "kelvins":
        counts = (distances_px >= parameters.epsilon) & (distances_px < parameters.tau)
        return distances_px * counts
    return distances_px * distances_px * (distances_px > parameters.epsilon)


def greatest_cost(parameters: SpotGeoParameters) -> float:
    """What no pair's cost is above: that of a distance of tau with the greatest error there is."""
    return parameters.tau + TIE_WEIGHT * max(1.0, 1.0 / parameters.tau)


def matching_costs(
    parameters: SpotGeoParameters, distances_px: FloatArray, errors: FloatArray
) -> FloatArray:
    """What a pair adds to the sum that the matching makes least: d + 1e-9 e / tau^2."""
    return distances_px + TIE_WEIGHT * (errors / (parameters.tau * parameters.tau))

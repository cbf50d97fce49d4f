"""NMOTDA (section 3.2, eq. 2) and its averages (section 3.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from vidscore_evaluators.report import Number


@dataclass(frozen=True, slots=True)
class Counts:
    """What a score is made of.

    Attributes:
        objects: Ground-truth objects.
        true_positives: Detected ones among them.
        false_positives: False positives.
    """

    objects: int
    true_positives: int
    false_positives: int

    @property
    def missed(self) -> int:
        """Missed detections."""
        return self.objects - self.true_positives


class Costs:
    """The costs c_m of a missed detection and c_f of a false positive, as exact fractions."""

    def __init__(self, c_m: float, c_f: float) -> None:
        """Bring both over one denominator, so that scores are quotients of whole numbers."""
        missed, false = Fraction(c_m), Fraction(c_f)
        self._unit = math.lcm(missed.denominator, false.denominator)
        self._missed = int(missed * self._unit)
        self._false = int(false * self._unit)

    def nmotda(self, counts: Counts) -> float | None:
        """Eq. 2, rounded once; None without ground-truth objects."""
        return self.weighted_mean([counts])

    def weighted_mean(self, several: Sequence[Counts]) -> float | None:
        """Mean of the defined NMOTDA values, each weighted with its ground-truth objects.

        The weights cancel the denominators of eq. 2, so that this too is one quotient of whole
        numbers. None where no value is defined.
        """
        defined = [counts for counts in several if counts.objects]
        objects = self._unit * sum(counts.objects for counts in defined)
        cost = sum(
            self._missed * counts.missed + self._false * counts.false_positives
            for counts in defined
        )
        return (objects - cost) / objects if defined else None


def averages(several: Sequence[Counts], costs: Costs) -> dict[str, Number]:
    """Weighted mean, mean and median of the NMOTDA values that are defined.

    Returns:
        The measures by name; None where no value is defined.
    """
    values = [value for counts in several if (value := costs.nmotda(counts)) is not None]
    return {
        "weighted_mean_nmotda": costs.weighted_mean(several),
        # Summed without rounding, so that the order of the values does not matter.
        "mean_nmotda": math.fsum(values) / len(values) if values else None,
        "median_nmotda": float(median(values)) if values else None,
    }

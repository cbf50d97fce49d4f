"""Confidences: any finite numbers where their order alone counts; from 0 to 1 for who needs more.

Released results often have scores of any size, such as logits. A `ConfidenceScale` maps them. It is
monotone, so that no order changes, and maps each by itself: nothing depends on the data, so that
a stream, a part and a whole have the same numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.errors import Fault, InputError, ParameterError

SIGMOID = "sigmoid"
EXPECTED = "sigmoid, or MIN,MAX such as 0,100"
ADVICE = f"map them with --confidence-scale {SIGMOID}, or MIN,MAX (in Python, confidence_scale)"


@dataclass(frozen=True, slots=True)
class ConfidenceScale:
    """The logistic function 1 / (1 + exp(-x)), or a straight line from 0 to 1 between two bounds.

    Attributes:
        bounds: What becomes 0 and what becomes 1; None for the logistic function.
    """

    bounds: tuple[float, float] | None = None

    @classmethod
    def parse(cls, text: str) -> ConfidenceScale:
        """Read ``sigmoid`` or ``MIN,MAX``.

        Raises:
            ParameterError: If it is neither, or MIN is not below MAX.
        """
        if text == SIGMOID:
            return cls()
        try:
            least, greatest = map(float, text.split(","))
        except ValueError:
            least = greatest = math.nan
        if not (least < greatest and math.isfinite(greatest - least)):
            raise ParameterError([Fault(repr(text), EXPECTED, field="confidence_scale")])
        return cls((least, greatest))

    def scaled(self, side: Annotations) -> Annotations:
        """The same with confidences from 0 to 1.

        Raises:
            InputError: If one lies outside the bounds; `entry` is the frame's row.
        """
        if self.bounds is not None:
            expected = "a number from {:g} to {:g}, as the confidence scale says"
            faults = confidence_faults(side, *self.bounds, expected.format(*self.bounds))
            if faults:
                raise InputError(faults)
        return replace(side, confidences=self._mapped(side.confidences))

    def _mapped(self, confidences: FloatArray) -> FloatArray:
        if self.bounds is not None:
            least, greatest = self.bounds
            return (confidences - least) / (greatest - least)
        # Of the negative size, so that nothing overflows.
        shrunk = np.exp(-np.abs(np.ascontiguousarray(confidences)))
        return np.where(confidences >= 0.0, 1.0, shrunk) / (1.0 + shrunk)


def confidence_faults(
    side: Annotations, least: float, greatest: float, expected: str, advice: str | None = None
) -> list[Fault]:
    """The first confidence out of bounds and how many there are; nothing where none is.

    Args:
        side: What is to be checked.
        least: Least confidence.
        greatest: Greatest confidence.
        expected: What should stand there.
        advice: What to do about it.

    Returns:
        A fault at most, whose `entry` is the frame's row.
    """
    confidences = side.confidences
    rows = np.flatnonzero((confidences < least) | (confidences > greatest))
    if len(rows) == 0:
        return []
    frame = int(np.searchsorted(side.frame_starts, rows[0], side="right")) - 1
    others = f" (and {len(rows) - 1} more like it)" if len(rows) > 1 else ""
    found = f"the confidence {confidences[rows[0]]:g} in {side.frame_name(frame)}{others}"
    return [Fault(found, expected, entry=frame, advice=advice)]


def unit_confidence_faults(name: str, side: Annotations) -> list[Fault]:
    """What keeps `name` from using confidences that must lie from 0 to 1."""
    return confidence_faults(side, 0.0, 1.0, f"a number from 0 to 1 for {name}", ADVICE)

"""The Ladder mechanism: release a score only if it is better by more than a step.

Blum and Hardt, "The Ladder: A Reliable Leaderboard for Machine Learning Competitions" (ICML 2015),
algorithm 1: a team that submits repeatedly learns about the hidden truth only through improvements
that are larger than the step, and only to the precision of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal

from msgspec import Struct

from vidscore_evaluators.evaluator import Direction


class Scale(Struct, frozen=True):
    """A measure for the Ladder, clipped, so that values far off reveal nothing.

    The mechanism needs scores of a bounded range. Without a bound, a team that starts very badly
    could improve a little again and again, and would learn its score each time.

    Attributes:
        direction: Whether higher or lower is better.
        least: Lower end of the clipped range; None for no lower end.
        greatest: Upper end; None for no upper end.
    """

    direction: Direction
    least: float | None = 0.0
    greatest: float | None = 1.0

    @property
    def span(self) -> float:
        """Length of the clipped range."""
        return 1.0 if self.least is None or self.greatest is None else self.greatest - self.least

    def clipped(self, value: float) -> float:
        """The value, clipped to the range."""
        if self.least is not None:
            value = max(value, self.least)
        return value if self.greatest is None else min(value, self.greatest)

    def gain(self, before: float, after: float) -> float:
        """By how much a value is better than another one; `span` at most, or twice that.

        If the range has no end on one side, x is replaced by x / (1 + |x|).
        """
        places = [self.clipped(value) for value in (before, after)]
        if self.least is None or self.greatest is None:
            places = [value / (1.0 + abs(value)) for value in places]
        gain = places[1] - places[0]
        return gain if self.direction is Direction.HIGHER else -gain


Values = tuple[float | None, ...]
"""Ranking measures, in rank order; None if undefined."""


def release(
    best: Values | None, new: Values, scales: Sequence[Scale], step: float
) -> Values | None:
    """A team's released values after a new score.

    The first ranking measure decides; the others are released with it, so that a tie-break is never
    shown without the score itself. Above 1 they are rounded to as many digits as the step gives
    below 1: an error of 33,838 px^2 to 34,000 if the step is 0.01 (project's choice: the paper has
    one measure).

    Args:
        best: The values released last; None if none were.
        new: The new score.
        scales: The scale of each measure.
        step: The step, in the unit of the first measure; 0 releases every improvement as it is.

    Returns:
        The new released values, rounded to the step, or None if `best` stays.
    """
    if new[0] is None:
        return None
    if best is None or best[0] is None:
        return _released(new, scales, step)
    gain = scales[0].gain(best[0], new[0])
    if gain < step or gain <= 0.0:
        return None
    return _released(new, scales, step)


def _released(values: Values, scales: Sequence[Scale], step: float) -> Values:
    first, *rest = [
        None if value is None else scale.clipped(value)
        for value, scale in zip(values, scales, strict=True)
    ]
    others = (None if value is None else round_digits(value, step) for value in rest)
    return (None if first is None else shown(first, scales[0], step), *others)


def shown(value: float, scale: Scale, step: float) -> float:
    """A score of the first ranking measure as shown; the step is in its unit."""
    bounded = None not in {scale.least, scale.greatest} and scale.clipped(value) == value
    return round_to_step(value, step) if bounded else round_digits(value, step)


def round_digits(value: float, step: float) -> float:
    """Round to as many digits as a step has below 1: 33,838 to 34,000 if it is 0.01.

    At least one digit, because a step of 1 or more is in the unit of one measure only.
    """
    if step == 0.0:
        return value
    digits = max(1, -Decimal(str(step)).adjusted())
    digits_before_point = max(0, Decimal(str(value)).adjusted() + 1)
    return round_to_step(value, float(Decimal(1).scaleb(digits_before_point - digits)))


def round_to_step(value: float, step: float) -> float:
    """Round to a multiple of a decimal step: 0.1234 to 0.12 if the step is 0.01."""
    if step == 0.0:
        return value
    unit = Decimal(str(step))
    steps = (Decimal(str(value)) / unit).quantize(Decimal(1), rounding=ROUND_HALF_EVEN)
    return float(steps * unit)

"""The Ladder mechanism: release a score only where it is better by more than a step.

Blum and Hardt, "The Ladder: A Reliable Leaderboard for Machine Learning Competitions" (ICML 2015),
algorithm 1: a team that submits again and again learns of the hidden truth only through
improvements that are larger than the step, and only to a step's precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal

from msgspec import Struct

from vidscore_evaluators.evaluator import Direction


class Scale(Struct, frozen=True):
    """A measure as the Ladder sees it: clipped, so that what is far off tells nothing.

    The mechanism is one for scores of a bounded range. Without a bound a team that is bad enough
    could be a little less bad again and again, and would be told its score each time.

    Attributes:
        direction: Which way it is better.
        least: Least value that is told apart from worse or better ones; None for no such value.
        greatest: Greatest such value.
    """

    direction: Direction
    least: float | None = 0.0
    greatest: float | None = 1.0

    @property
    def span(self) -> float:
        """From the worst to the best that is told apart."""
        return 1.0 if self.least is None or self.greatest is None else self.greatest - self.least

    def clipped(self, value: float) -> float:
        """A value, or the end of the range that it is beyond."""
        if self.least is not None:
            value = max(value, self.least)
        return value if self.greatest is None else min(value, self.greatest)

    def gain(self, before: float, after: float) -> float:
        """By how much a value is better than another one; `span` at most, or twice that.

        Where the measure has no end on one side, x is looked at as x / (1 + |x|).
        """
        places = [self.clipped(value) for value in (before, after)]
        if self.least is None or self.greatest is None:
            places = [value / (1.0 + abs(value)) for value in places]
        gain = places[1] - places[0]
        return gain if self.direction is Direction.HIGHER else -gain


Values = tuple[float | None, ...]
"""Ranking measures, first one first; None if undefined."""


def release(
    best: Values | None, new: Values, scales: Sequence[Scale], step: float
) -> Values | None:
    """What a team's released values become when a new score is there.

    The first ranking measure decides; the others are released with it, so that a tie-break cannot
    be read where the score itself is not. Above 1 they are rounded to as many digits as the step
    gives below 1: an error of 33,838 px^2 to 34,000 where the step is 0.01 (project's choice: the
    paper has one measure).

    Args:
        best: What was released last; None if nothing was.
        new: The new score.
        scales: How each measure is seen.
        step: The step, in the unit of the first measure; 0 releases every improvement as it is.

    Returns:
        The new released values, rounded to the step, or None where `best` stays.
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
    """A score as it is shown of the measure that ranks first, which the step is in the unit of."""
    bounded = None not in {scale.least, scale.greatest} and scale.clipped(value) == value
    return round_to_step(value, step) if bounded else round_digits(value, step)


def round_digits(value: float, step: float) -> float:
    """Round to as many digits as a step has below 1: 33,838 to 34,000 where it is 0.01.

    One at least, for a step of 1 or more is in the unit of some measure and says nothing of others.
    """
    if step == 0.0:
        return value
    digits = max(1, -Decimal(str(step)).adjusted())
    digits_before_point = max(0, Decimal(str(value)).adjusted() + 1)
    return round_to_step(value, float(Decimal(1).scaleb(digits_before_point - digits)))


def round_to_step(value: float, step: float) -> float:
    """Round to a multiple of a decimal step: 0.1234 to 0.12 where the step is 0.01."""
    if step == 0.0:
        return value
    unit = Decimal(str(step))
    steps = (Decimal(str(value)) / unit).quantize(Decimal(1), rounding=ROUND_HALF_EVEN)
    return float(steps * unit)

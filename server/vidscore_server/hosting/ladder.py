"""The Ladder mechanism: release a score only where it is better by more than a step.

Blum and Hardt, "The Ladder: A Reliable Leaderboard for Machine Learning Competitions" (ICML 2015),
algorithm 1: a team that submits again and again learns of the hidden truth only through
improvements that are larger than the step, and only to a step's precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal

from vidscore_evaluators.measures import Direction

Values = tuple[float | None, ...]
"""Ranking measures, first one first; None where undefined."""


def release(
    best: Values | None, new: Values, directions: Sequence[Direction], step: float
) -> Values | None:
    """What a team's released values become when a new score is there.

    The first ranking measure decides; the others are released with it, so that a tie-break cannot
    be read where the score itself is not. Above 1 they are rounded to as many digits as the step
    gives below 1: an error of 33,838 px^2 to 34,000 where the step is 0.01 (project's choice: the
    paper has one measure).

    Args:
        best: What was released last; None if nothing was.
        new: The new score.
        directions: Which way each measure is better.
        step: The step, in the unit of the first measure; 0 releases every improvement as it is.

    Returns:
        The new released values, rounded to the step, or None where `best` stays.
    """
    if new[0] is None:
        return None
    if best is None or best[0] is None:
        return _rounded(new, step)
    gain = new[0] - best[0] if directions[0] is Direction.HIGHER else best[0] - new[0]
    if gain < step or gain <= 0.0:
        return None
    return _rounded(new, step)


def _rounded(values: Values, step: float) -> Values:
    first, *rest = values
    rounded = (None if value is None else _round_digits(value, step) for value in rest)
    return (None if first is None else round_to_step(first, step), *rounded)


def _round_digits(value: float, step: float) -> float:
    digits_before_point = max(0, Decimal(str(value)).adjusted() + 1)
    return round_to_step(value, float(Decimal(str(step)).scaleb(digits_before_point)))


def round_to_step(value: float, step: float) -> float:
    """Round to a multiple of a decimal step: 0.1234 to 0.12 where the step is 0.01."""
    if step == 0.0:
        return value
    unit = Decimal(str(step))
    steps = (Decimal(str(value)) / unit).quantize(Decimal(1), rounding=ROUND_HALF_EVEN)
    return float(steps * unit)
